//! Characters that may change what stands before them.

use super::class::{COMPLEX, Class, INVISIBLE, is_simple, mark_class, stands_beside};
use super::{Scan, char_at};
use crate::normalise::casefold::casefold;
use crate::normalise::compose::compose;
use crate::normalise::invisibles::invisibles;
use crate::normalise::spaces::spaces;
use crate::normalise::typography::typography;
use crate::normalise::{Scratch, TextPolicy};
use crate::unicode::{combining_class, compose_pair, is_joiner, is_tag};

impl Scan<'_> {
    /// A character that may change what stands before it: composes it with its base, leaves both where they stand beside each
    /// other, or else runs the steps over its combining sequence.
    pub(super) fn complex(&mut self, class: Class, at: usize, end: usize) -> Option<usize> {
        if class == COMPLEX && self.pair(at, end).is_some() { Some(end) } else { self.sequence(end) }
    }

    /// The plain cases of a base and a second character directly after it.
    fn pair(&mut self, at: usize, end: usize) -> Option<()> {
        let second = char_at(self.input, at)?;
        let (base, base_class) = self.base_before(at)?;
        if let Some(composed) = compose_pair(base, second) {
            let class = self.classes.of(u32::from(composed));
            let result = if self.casefold { char::from_u32(class)? } else { composed };
            if !is_simple(class) {
                return None;
            }
            self.take_back_base();
            self.out.push(result);
            self.copy_from = end;
            self.composed = (end, composed);
            self.combining = 0;
            self.virama = false;
            self.after_space = false;
            return Some(());
        }
        let folded = if self.casefold { char::from_u32(base_class)? } else { base };
        if !stands_beside(base, second, folded) {
            return None;
        }
        match combining_class(second) {
            0 => self.base(at),
            combining => self.mark(combining),
        }
        Some(())
    }

    /// The simple base that ends directly before `at`, and its class.
    fn base_before(&self, at: usize) -> Option<(char, Class)> {
        let (composed_until, composed) = self.composed;
        let base = if composed_until == at && at > 0 {
            composed
        } else {
            char_at(self.input, self.base_in).filter(|c| self.base_in + c.len_utf8() == at)?
        };
        let class = self.classes.of(u32::from(base));
        is_simple(class).then_some((base, class))
    }

    /// Runs the steps over the combining sequence that began at `base_in` and goes on after `from`; gives where it ends.
    fn sequence(&mut self, from: usize) -> Option<usize> {
        let rest = self.input.get(from..)?;
        let classes = self.classes;
        let goes_on = |c: char| {
            let class = classes.of(u32::from(c));
            class == COMPLEX || class == INVISIBLE || mark_class(class).is_some()
        };
        let end = rest.find(|c| !goes_on(c)).map_or(self.input.len(), |length| from + length);
        let sequence = self.input.get(self.base_in..end)?;
        let stuck = |c: char| is_joiner(c) || is_tag(c);
        if sequence.contains(stuck) || self.input.get(end..)?.starts_with(stuck) {
            return None;
        }
        self.take_back_base();
        let Scratch { before, after, .. } = &mut *self.scratch;
        before.clear();
        before.push_str(sequence);
        let policy = TextPolicy { compatibility: false, casefold: self.casefold };
        for step in [compose, spaces, invisibles, typography, casefold, compose] {
            after.clear();
            step(before, policy, after);
            std::mem::swap(before, after);
        }
        for c in before.chars() {
            if c != ' ' || !(self.out.is_empty() || self.out.ends_with(' ')) {
                self.out.push(c);
            }
        }
        self.copy_from = end;
        self.after_space = self.out.is_empty() || self.out.ends_with(' ');
        Some(end)
    }
}
