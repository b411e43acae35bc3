//! Step 6 of `text/1`.

use std::fmt;

use super::TextPolicy;
use crate::unicode::{NFD, fold_simple};

/// # What it folds
/// Capitals and small letters: NFD, then full case folding, statuses C and F of `CaseFolding.txt`, without any locale
/// (Unicode Standard section 3.13, D145). Left out where the field says `casefold = false`.
/// # Why
/// Shops shout, and lower-casing is not enough: it splits STRASSE from Straße and ς from σ. Decomposing first keeps
/// U+0345 (which folds to a letter) from pulling an accent over to the wrong letter.
/// # Example
/// `Straße` → `strasse`; `ΛΌΓΟΣ` → `λόγοσ` (composed again by the next step)
/// # What it must not fold
/// The Turkish letters of status T: `İ` becomes `i` U+0307 and `ı` stays, so İZMİR is not izmir.
/// # Since
/// `text/1`
pub(super) fn casefold(input: &str, policy: TextPolicy, out: &mut String) {
    if policy.casefold {
        // Writing to a String cannot fail.
        let _ = NFD.normalize_to(input, &mut Folding(out));
    } else {
        out.push_str(input);
    }
}

/// Folds each character on its way into the buffer.
struct Folding<'a>(&'a mut String);

impl fmt::Write for Folding<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| self.write_char(c))
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        match fold_full(c) {
            Some(folded) => self.0.push_str(folded),
            None => self.0.push(fold_simple(c)),
        }
        Ok(())
    }
}

/// The full case folding (status F) of a character that NFD leaves as it is. All other characters of status F decompose,
/// and their parts fold by themselves; a test holds this list to the whole of `CaseFolding.txt`.
pub(super) const fn fold_full(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{00DF}' | '\u{1E9E}' => "ss",
        '\u{0149}' => "\u{02BC}n",
        '\u{0587}' => "\u{0565}\u{0582}",
        '\u{1E9A}' => "a\u{02BE}",
        '\u{FB00}' => "ff",
        '\u{FB01}' => "fi",
        '\u{FB02}' => "fl",
        '\u{FB03}' => "ffi",
        '\u{FB04}' => "ffl",
        '\u{FB05}' | '\u{FB06}' => "st",
        '\u{FB13}' => "\u{0574}\u{0576}",
        '\u{FB14}' => "\u{0574}\u{0565}",
        '\u{FB15}' => "\u{0574}\u{056B}",
        '\u{FB16}' => "\u{057E}\u{0576}",
        '\u{FB17}' => "\u{0574}\u{056D}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use icu_casemap::CaseMapper;

    use super::*;

    #[test]
    fn every_character_folds_as_nfd_and_full_case_folding_say() {
        let mapper = CaseMapper::new();
        let (mut decomposed, mut folded) = (String::new(), String::new());
        for c in '\0'..=char::MAX {
            decomposed.clear();
            folded.clear();
            let text = c.encode_utf8(&mut [0; 4]).to_owned();
            let _ = NFD.normalize_to(&text, &mut decomposed);
            casefold(&text, TextPolicy::TEXT, &mut folded);
            assert_eq!(folded, mapper.fold_string(&decomposed), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn capitals_stay_where_the_field_says_so() {
        let mut out = String::new();
        casefold("Van Dyke É", TextPolicy::NAME, &mut out);
        assert_eq!(out, "Van Dyke É");
    }
}
