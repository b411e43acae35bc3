//! Joiners whose neighbours make it plain what becomes of them.

use super::Scan;
use super::class::{SIGN, SPACE};
use crate::unicode::{
    JOINER, NON_JOINER, is_emoji_modifier, is_invisible, is_joiner, is_pictographic, is_transparent, joins_back,
    joins_onward,
};

/// The one character that a mark after it may turn into one that takes joiners otherwise: with U+0338 it is no emoji.
pub(super) const COMPOSING_EMOJI: char = '\u{2194}';

impl Scan<'_> {
    /// A run of joiners from `at` on: keeps at most one where both neighbours make it plain what to do.
    pub(super) fn joiners(&mut self, at: usize) -> Option<usize> {
        let (head, tail) = (self.input.get(..at)?, self.input.get(at..)?);
        let length = tail.find(|c| !is_joiner(c) && !is_invisible(c)).unwrap_or(tail.len());
        let (run, rest) = tail.split_at(length);
        let before = head.chars().rev().find(|&c| !is_invisible(c));
        let kept = if self.virama {
            Some(if run.contains(JOINER) { JOINER } else { NON_JOINER })
        } else {
            let before = self.neighbour(before)?;
            let joiner = run.contains(JOINER) && (is_pictographic(before) || is_emoji_modifier(before));
            let non_joiner = run.contains(NON_JOINER) && joins_onward(before);
            // The character after the run counts only where the one before leaves a choice.
            let after = if joiner || non_joiner { self.neighbour(rest.chars().next())? } else { ' ' };
            if after == COMPOSING_EMOJI {
                return None;
            }
            if joiner && is_pictographic(after) {
                Some(JOINER)
            } else if non_joiner && joins_back(after) {
                Some(NON_JOINER)
            } else {
                None
            }
        };
        let end = at + length;
        match kept {
            Some(_) if length == NON_JOINER.len_utf8() => self.base(at),
            Some(kept) => {
                self.replace(at, end);
                self.out.push(kept);
            }
            None => self.drop(at, end),
        }
        Some(end)
    }

    /// The character beside a run of joiners; U+0020 for an end of the text, a space or a sign. Nothing where one character is
    /// not enough to judge by, in this round or a later one.
    fn neighbour(&self, c: Option<char>) -> Option<char> {
        let Some(c) = c else { return Some(' ') };
        match self.classes.of(u32::from(c)) {
            SPACE | SIGN => Some(' '),
            class => (class == u32::from(c) && !is_transparent(c)).then_some(c),
        }
    }
}
