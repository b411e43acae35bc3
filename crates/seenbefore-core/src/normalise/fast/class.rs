//! What each character is to the fast way, worked out from the steps themselves.

use std::sync::LazyLock;

use crate::normalise::TextPolicy;
use crate::normalise::casefold::{casefold, fold_full};
use crate::normalise::typography::plain_sign;
use crate::unicode::{NFC, NFD, combining_class, compose_pair, decomposes, is_invisible, is_joiner, is_space, is_tag};

/// The class of a character in 32 bits: a scalar value where the character is *simple*, else one of the constants here,
/// which are surrogate code points and so can't be mistaken for one.
///
/// A simple character starts a combining sequence, is its own NFC, and comes out of `text/1` as the one character given here
/// (itself or its folding), whatever simple characters stand beside it.
pub(super) type Class = u32;

/// A space of step 2.
pub(super) const SPACE: Class = 0xD800;
/// A character that step 3 removes.
pub(super) const INVISIBLE: Class = 0xD801;
/// A typographic sign of step 4.
pub(super) const SIGN: Class = 0xD802;
/// U+200C or U+200D.
pub(super) const JOINER: Class = 0xD803;
/// Simple but for a folding of several characters, as ß.
pub(super) const EXPANDS: Class = 0xD804;
/// Everything whose outcome depends on its neighbours.
pub(super) const COMPLEX: Class = 0xD805;
/// A mark that never composes and folds to itself; its combining class is added to this.
pub(super) const MARK: Class = 0xD900;

/// Whether the class is that of a simple character.
pub(super) const fn is_simple(class: Class) -> bool {
    class & 0xFFFF_F800 != 0xD800
}

/// The combining class of a mark that never composes.
pub(super) const fn mark_class(class: Class) -> Option<u8> {
    if class & 0xFFFF_FF00 == MARK { Some((class & 0xFF) as u8) } else { None }
}

const TABLE_END: usize = 0x3400;

/// [`COMPLEX`], for a folding that does not fit in 16 bits.
const UNFIT: u16 = 0xD805;

/// The classes of the characters before U+3400, where scripts with and without case, marks and signs lie close together.
/// Worked out once a process, at the first text that needs it.
static TABLE: LazyLock<Box<[u16; TABLE_END]>> = LazyLock::new(|| {
    let mut table = Box::new([0; TABLE_END]);
    let mut describe = Describe::default();
    for (entry, code) in table.iter_mut().zip(0..) {
        let class = char::from_u32(code).map_or(COMPLEX, |c| describe.class(c));
        *entry = u16::try_from(class).unwrap_or(UNFIT);
    }
    table
});

/// Looks up classes.
#[derive(Clone, Copy)]
pub(super) struct Classes(&'static [u16; TABLE_END]);

impl Classes {
    pub(super) fn load() -> Self {
        Self(&TABLE)
    }

    #[inline]
    pub(super) fn of(self, code: u32) -> Class {
        match self.0.get(code as usize) {
            Some(&class) => Class::from(class),
            None if is_inert(code) => code,
            None => outside_table(code),
        }
    }
}

/// Ranges of characters that are simple and come out unchanged: ideographs, Hangul syllables, Yi, private use, Arabic
/// presentation forms, full-width signs, mathematical letters, emoji. A test holds every one of them to [`Describe`].
#[inline]
const fn is_inert(code: u32) -> bool {
    matches!(
        code,
        0x3400..=0xA63F
            | 0xAC00..=0xD7A3
            | 0xE000..=0xF8FF
            | 0xFB50..=0xFDFF
            | 0xFE30..=0xFEFE
            | 0xFF00..=0xFF20
            | 0xFF3B..=0xFF9D
            | 0x1D400..=0x1D7FF
            | 0x1F000..=0x1FBFF
            | 0x20000..=0x2F7FF
            | 0x30000..=0x3FFFF
    )
}

#[cold]
fn outside_table(code: u32) -> Class {
    char::from_u32(code).map_or(COMPLEX, |c| Describe::default().class(c))
}

/// Works out classes, with buffers of its own.
#[derive(Default)]
struct Describe {
    composed: String,
    decomposed: String,
    folded: String,
    result: String,
}

impl Describe {
    fn class(&mut self, c: char) -> Class {
        if is_space(c) {
            return SPACE;
        }
        if is_invisible(c) {
            return INVISIBLE;
        }
        if plain_sign(c).is_some() {
            return SIGN;
        }
        if is_joiner(c) {
            return JOINER;
        }
        if is_tag(c) {
            return COMPLEX;
        }
        self.run_steps(c);
        if !is_just(&self.composed, c) {
            return COMPLEX;
        }
        let combining = combining_class(c);
        if combining != 0 {
            let stays = is_just(&self.result, c) && is_just(&self.decomposed, c) && !composes_back(c);
            return if stays { MARK | Class::from(combining) } else { COMPLEX };
        }
        if !begins_sequence(&self.decomposed) {
            return COMPLEX;
        }
        if fold_full(c).is_some() {
            return EXPANDS;
        }
        let mut result = self.result.chars();
        match (result.next(), result.next()) {
            (Some(only), None) if begins_sequence(&self.folded) => Class::from(only),
            _ => COMPLEX,
        }
    }

    fn run_steps(&mut self, c: char) {
        for buffer in [&mut self.composed, &mut self.decomposed, &mut self.folded, &mut self.result] {
            buffer.clear();
        }
        let mut bytes = [0; 4];
        let text = c.encode_utf8(&mut bytes);
        // Writing to a String cannot fail.
        let _ = NFC.normalize_to(text, &mut self.composed);
        let _ = NFD.normalize_to(text, &mut self.decomposed);
        casefold(text, TextPolicy::TEXT, &mut self.result);
        let _ = NFD.normalize_to(&self.result, &mut self.folded);
        self.result.clear();
        let _ = NFC.normalize_to(&self.folded, &mut self.result);
    }
}

/// Whether nothing before a text in NFD can compose or change places with its first character. (U+16D68 is a starter, but
/// its decomposition begins with U+16D67, which composes with U+16D63.)
fn begins_sequence(decomposed: &str) -> bool {
    decomposed.chars().next().is_some_and(|first| combining_class(first) == 0 && !composes_back(first))
}

fn is_just(text: &str, c: char) -> bool {
    let mut chars = text.chars();
    chars.next() == Some(c) && chars.next().is_none()
}

/// Whether `c` stands second in some primary composite. Written out, since the properties at hand cannot say; a test holds
/// the list to the compositions.
const fn composes_back(c: char) -> bool {
    matches!(
        c,
            '\u{0300}'..='\u{0304}'
            | '\u{0306}'..='\u{030C}'
            | '\u{030F}'
            | '\u{0311}'
            | '\u{0313}'
            | '\u{0314}'
            | '\u{031B}'
            | '\u{0323}'..='\u{0328}'
            | '\u{032D}'
            | '\u{032E}'
            | '\u{0330}'
            | '\u{0331}'
            | '\u{0338}'
            | '\u{0342}'
            | '\u{0345}'
            | '\u{0653}'..='\u{0655}'
            | '\u{093C}'
            | '\u{09BE}'
            | '\u{09D7}'
            | '\u{0B3E}'
            | '\u{0B56}'
            | '\u{0B57}'
            | '\u{0BBE}'
            | '\u{0BD7}'
            | '\u{0C56}'
            | '\u{0CC2}'
            | '\u{0CD5}'
            | '\u{0CD6}'
            | '\u{0D3E}'
            | '\u{0D57}'
            | '\u{0DCA}'
            | '\u{0DCF}'
            | '\u{0DDF}'
            | '\u{102E}'
            | '\u{1161}'..='\u{1175}'
            | '\u{11A8}'..='\u{11C2}'
            | '\u{1B35}'
            | '\u{3099}'
            | '\u{309A}'
            | '\u{110BA}'
            | '\u{11127}'
            | '\u{1133E}'
            | '\u{11357}'
            | '\u{113B8}'
            | '\u{113BB}'
            | '\u{113C2}'
            | '\u{113C9}'
            | '\u{114B0}'
            | '\u{114BA}'
            | '\u{114BD}'
            | '\u{115AF}'
            | '\u{11930}'
            | '\u{1611E}'..='\u{16120}'
            | '\u{16129}'
            | '\u{16D67}'
    )
}

/// Whether a character of class [`COMPLEX`] that does not compose with the simple `base` directly before it leaves both as
/// they are: then nothing hides in `base` that it could change places with.
pub(super) fn stands_beside(base: char, second: char, folded_base: char) -> bool {
    second != '\u{345}'
        && !is_tag(second)
        && !decomposes(second)
        && !decomposes(base)
        && !decomposes(folded_base)
        && compose_pair(folded_base, second).is_none()
        && casefold_leaves(second)
}

fn casefold_leaves(c: char) -> bool {
    fold_full(c).is_none() && crate::unicode::fold_simple(c) == c
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::unicode::is_letter;

    #[test]
    fn the_ranges_without_table_are_inert() {
        let mut describe = Describe::default();
        for c in ('\u{3400}'..=char::MAX).filter(|&c| is_inert(u32::from(c))) {
            assert_eq!(describe.class(c), u32::from(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn characters_that_compose_with_what_is_before_them_are_listed() {
        let mut composing = BTreeSet::new();
        for c in '\0'..=char::MAX {
            let mut text = String::new();
            let _ = NFD.normalize_to(c.encode_utf8(&mut [0; 4]), &mut text);
            let last = text.pop();
            let mut first = String::new();
            let _ = NFC.normalize_to(&text, &mut first);
            if let (Some(first), Some(last)) = (first.chars().next(), last)
                && compose_pair(first, last).is_some()
            {
                composing.insert(last);
            }
        }
        for c in '\0'..=char::MAX {
            assert_eq!(composes_back(c), composing.contains(&c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn common_letters_are_simple() {
        let classes = Classes::load();
        for c in "żЖйéمیกขあ中한ệΆ".chars() {
            assert!(is_letter(c) && is_simple(classes.of(u32::from(c))), "{c}");
        }
        assert_eq!(classes.of(u32::from('Ж')), u32::from('ж'));
        assert_eq!(classes.of(u32::from('ß')), EXPANDS);
        assert_eq!(mark_class(classes.of(0x0E49)), Some(107));
        assert_eq!(classes.of(0x0301), COMPLEX);
        assert_eq!(classes.of(0x1FB3), COMPLEX);
        assert_eq!(classes.of(0x1161), COMPLEX);
    }
}
