//! The same bytes as the list of steps, in one pass over the text.
//!
//! Most characters of most texts are *simple* ([`class`]): what becomes of them does not depend on their neighbours, so stretches
//! of them are copied as they are. Where a character does depend on its neighbours, the steps are run over just the combining
//! sequence around it. Joiners are judged here where both neighbours are simple; where they are not, the scan gives up and
//! the caller repeats the steps over the whole text.

use super::casefold::{casefold, fold_full};
use super::class::{
    COMPLEX, Class, Classes, EXPANDS, INVISIBLE, JOINER, SIGN, SPACE, is_simple, mark_class, stands_beside,
};
use super::compose::compose;
use super::invisibles::invisibles;
use super::spaces::spaces;
use super::typography::{plain_sign, typography};
use super::{Scratch, TextPolicy};
use crate::unicode::{
    JOINER as JOINER_SIGN, NON_JOINER, combining_class, compose_pair, is_emoji_modifier, is_invisible, is_joiner,
    is_pictographic, is_tag, is_transparent, joins_back, joins_onward,
};

/// Puts the normal form of printable ASCII without doubled or outer spaces into `out`. False, and `out` untouched, for
/// everything else.
pub(super) fn copy_plain_ascii(input: &str, policy: TextPolicy, out: &mut String) -> bool {
    if !input.is_ascii() {
        return false;
    }
    let bytes = input.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        out.clear();
        return true;
    };
    let next_bytes = bytes.get(1..).unwrap_or_default();
    // Sums without early end, in single bytes, so that the compiler makes vector code of them.
    let other = bytes.iter().fold(0, |found, &b| found | u8::from(b.wrapping_sub(0x20) > 0x5E));
    let doubled =
        bytes.iter().zip(next_bytes).fold(0, |found, (&a, &b)| found | u8::from((a ^ b' ') | (b ^ b' ') == 0));
    if other | doubled != 0 || *first == b' ' || *last == b' ' {
        return false;
    }
    out.clear();
    out.push_str(input);
    if policy.casefold {
        out.make_ascii_lowercase();
    }
    true
}

/// Puts the normal form of `input` into `out` and says true, or says false where a joiner or tag needs the whole text.
pub(super) fn scan(input: &str, policy: TextPolicy, scratch: &mut Scratch, out: &mut String) -> bool {
    out.clear();
    let scan = Scan {
        input,
        classes: Classes::load(),
        casefold: policy.casefold,
        scratch,
        out,
        copy_from: 0,
        base_in: 0,
        base_out: 0,
        composed: (0, ' '),
        combining: 0,
        after_space: true,
    };
    scan.run().is_some()
}

/// The text judged so far, and where its last combining sequence began.
struct Scan<'a> {
    input: &'a str,
    classes: Classes,
    casefold: bool,
    scratch: &'a mut Scratch,
    out: &'a mut String,
    /// Everything from here on is to be copied as it is and has not been yet.
    copy_from: usize,
    /// Where in `input` the last combining sequence begins: its base, or the start of the text.
    base_in: usize,
    /// Where in `out` it begins, if that lies before `copy_from`.
    base_out: usize,
    /// What the base and what follows it up to this place in `input` have been composed into.
    composed: (usize, char),
    /// The combining class of the last mark; 0 after a base.
    combining: u8,
    /// Whether what was put out last is a space, or nothing.
    after_space: bool,
}

impl Scan<'_> {
    fn run(mut self) -> Option<()> {
        let bytes = self.input.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                if let Some(stretch) = ascii_stretch(bytes, at, self.after_space) {
                    at += stretch;
                    self.base(at - 1);
                    self.after_space = bytes.get(at - 1) == Some(&b' ');
                    continue;
                }
            }
            let (mut code, mut length) = decode(bytes, at, byte);
            let mut class = self.classes.of(code);
            if class == code {
                let mut last = at;
                while class == code {
                    last = at;
                    at += length;
                    let Some(&byte) = bytes.get(at).filter(|&&byte| byte >= 0x80) else { break };
                    (code, length) = decode(bytes, at, byte);
                    class = self.classes.of(code);
                }
                self.base(last);
                continue;
            }
            let end = at + length;
            if is_simple(class) && !self.casefold {
                self.base(at);
            } else if is_simple(class) {
                self.replace(at, end);
                self.out.extend(char::from_u32(class));
            } else if let Some(combining) = mark_class(class).filter(|&combining| combining >= self.combining) {
                self.combining = combining;
                self.after_space = false;
            } else {
                at = self.special(class, at, end)?;
                continue;
            }
            at = end;
        }
        self.copy_until(bytes.len());
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        if self.casefold {
            self.out.make_ascii_lowercase();
        }
        Some(())
    }

    /// Deals with a character that is neither simple nor a mark in its place; gives where to go on.
    fn special(&mut self, class: Class, at: usize, end: usize) -> Option<usize> {
        match class {
            SPACE => self.space(at, end),
            INVISIBLE => self.drop(at, end),
            SIGN => {
                self.replace(at, end);
                self.out.push_str(char_at(self.input, at).and_then(plain_sign).unwrap_or_default());
            }
            EXPANDS if self.casefold => {
                self.replace(at, end);
                self.out.push_str(char_at(self.input, at).and_then(fold_full).unwrap_or_default());
            }
            EXPANDS => self.base(at),
            JOINER => return self.joiners(at),
            _ => return self.complex(class, at, end),
        }
        Some(end)
    }

    /// The character at `at` begins a combining sequence and is copied.
    #[inline]
    fn base(&mut self, at: usize) {
        self.base_in = at;
        self.combining = 0;
        self.after_space = false;
    }

    /// The character at `at` begins a combining sequence, and the caller puts out something else for it.
    fn replace(&mut self, at: usize, end: usize) {
        self.copy_until(at);
        self.base(at);
        self.base_out = self.out.len();
        self.copy_from = end;
    }

    /// A space that is not copied as it is: it follows another, or is none of U+0020.
    fn space(&mut self, at: usize, end: usize) {
        let doubled = self.after_space;
        self.replace(at, end);
        if !doubled {
            self.out.push(' ');
        }
        self.after_space = true;
    }

    /// Nothing is put out for what stands between `at` and `end`.
    fn drop(&mut self, at: usize, end: usize) {
        self.copy_until(at);
        self.copy_from = end;
    }

    fn copy_until(&mut self, at: usize) {
        if self.base_in >= self.copy_from {
            self.base_out = self.out.len() + (self.base_in - self.copy_from);
        }
        self.out.push_str(self.input.get(self.copy_from..at).unwrap_or_default());
        self.copy_from = at;
    }

    /// Takes back what was put out for the last combining sequence.
    fn take_back_base(&mut self) {
        if self.copy_from <= self.base_in {
            self.copy_until(self.base_in);
        }
        self.out.truncate(self.base_out);
    }

    /// A character that may change what stands before it: composes it with its base, leaves both where they stand beside each
    /// other, or else runs the steps over its combining sequence.
    fn complex(&mut self, class: Class, at: usize, end: usize) -> Option<usize> {
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
            self.after_space = false;
            return Some(());
        }
        let folded = if self.casefold { char::from_u32(base_class)? } else { base };
        if !stands_beside(base, second, folded) {
            return None;
        }
        match combining_class(second) {
            0 => self.base(at),
            combining => self.combining = combining,
        }
        self.after_space = false;
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

    /// A run of joiners from `at` on: keeps at most one where both neighbours make it plain what to do.
    fn joiners(&mut self, at: usize) -> Option<usize> {
        let (head, tail) = (self.input.get(..at)?, self.input.get(at..)?);
        let length = tail.find(|c| !is_joiner(c) && !is_invisible(c)).unwrap_or(tail.len());
        let (run, rest) = tail.split_at(length);
        let before = head.chars().rev().find(|&c| !is_invisible(c));
        let kept = if self.combining == 9 {
            Some(if run.contains(JOINER_SIGN) { JOINER_SIGN } else { NON_JOINER })
        } else {
            let before = self.neighbour(before)?;
            let joiner = run.contains(JOINER_SIGN) && (is_pictographic(before) || is_emoji_modifier(before));
            let non_joiner = run.contains(NON_JOINER) && joins_onward(before);
            // The character after the run counts only where the one before leaves a choice.
            let after = if joiner || non_joiner { self.neighbour(rest.chars().next())? } else { ' ' };
            if joiner && is_pictographic(after) {
                Some(JOINER_SIGN)
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

/// How many bytes from `at` on are printable ASCII without doubled spaces, if any.
#[inline]
fn ascii_stretch(bytes: &[u8], at: usize, mut after_space: bool) -> Option<usize> {
    let mut length = 0;
    for &byte in bytes.get(at..)? {
        let space = byte == b' ';
        if byte.wrapping_sub(b' ') > b'~' - b' ' || (space && after_space) {
            break;
        }
        after_space = space;
        length += 1;
    }
    (length > 0).then_some(length)
}

/// The scalar value of the character that begins with `first` at `at`, and its length in bytes. `bytes` are UTF-8.
#[inline]
fn decode(bytes: &[u8], at: usize, first: u8) -> (u32, usize) {
    let continued = |nth: usize| bytes.get(at + nth).map_or(0, |&byte| u32::from(byte & 0x3F));
    let first = u32::from(first);
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | continued(1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | continued(1) << 6 | continued(2), 3),
        _ => ((first & 0x07) << 18 | continued(1) << 12 | continued(2) << 6 | continued(3), 4),
    }
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::text_plain;

    /// The outcome of the scan, or nothing where it gave up.
    fn scanned(input: &str, policy: TextPolicy) -> Option<String> {
        let mut out = String::from("left over");
        scan(input, policy, &mut Scratch::default(), &mut out).then_some(out)
    }

    #[test]
    fn usual_texts_are_done_in_one_pass() {
        for input in [
            "",
            " \n ",
            "Ünïcödé  Straße\t№ 5…",
            "\u{FEFF}Кофе «Жокей» — 250 г",
            "I\u{0301}n NFD: cafe\u{0301}, и\u{0306}, e\u{0302}\u{0323}",
            "می\u{200C}رویم خانه\u{200C} ها",
            "\u{1F468}\u{200D}\u{1F469}\u{FE0F}\u{200D}\u{1F467} \u{2764}\u{FE0F}\u{200D}\u{1F525} tab\u{200D}le",
            "क\u{094D}\u{200D}ष ड\u{093C} ง\u{0E34}\u{0E19}\u{0E17}\u{0E35}\u{0E48} ঢাকা ভা\u{09B2}ো",
            "日本語　ガラス 「カ\u{3099}」 한국어 \u{1112}\u{1161}\u{11AB}",
            "x \u{0301}\u{0323}y",
        ] {
            for policy in [TextPolicy::TEXT, TextPolicy::NAME] {
                assert_eq!(scanned(input, policy), Some(text_plain(input, policy)), "{input:?}");
            }
        }
    }

    #[test]
    fn joiners_in_doubtful_places_and_tags_are_left_to_the_whole_list() {
        for input in
            ["m\u{064E}\u{200C}m", "e\u{0301}\u{200D}e", "\u{24C2}\u{200D}\u{24C2}", "a\u{E0067}", "م\u{200C}\u{064E}م"]
        {
            assert_eq!(scanned(input, TextPolicy::TEXT), None, "{input:?}");
        }
    }

    #[test]
    fn printable_ascii_is_copied_and_nothing_else() {
        let mut out = String::from("left over");
        for input in [" a", "a ", "a  b", "a\nb", "a\u{7F}", "é"] {
            assert!(!copy_plain_ascii(input, TextPolicy::TEXT, &mut out), "{input:?}");
        }
        assert_eq!(out, "left over");
        assert!(copy_plain_ascii("A b-C~ !", TextPolicy::TEXT, &mut out));
        assert_eq!(out, "a b-c~ !");
        assert!(copy_plain_ascii("A b", TextPolicy::NAME, &mut out));
        assert_eq!(out, "A b");
        assert!(copy_plain_ascii("", TextPolicy::NAME, &mut out));
        assert_eq!(out, "");
    }
}
