//! The form of opaque identifiers, and trimming.

use crate::unicode::{NFC, is_space};

/// `text` without the spaces of `text/1` (step 2) at both ends.
#[must_use]
pub fn trim_spaces(text: &str) -> &str {
    let shown = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if shown(text.as_bytes().first()) && shown(text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(is_space)
}

/// Puts the form of kind `id` into `out`, which is cleared first: NFC and trimmed, nothing else. Case, inner spaces and
/// invisible characters all count, for identifiers, hashes and paths are not prose.
pub fn id(input: &str, out: &mut String) {
    out.clear();
    let trimmed = trim_spaces(input);
    if trimmed.is_ascii() {
        out.push_str(trimmed);
    } else {
        // Writing to a String cannot fail. A composed text neither gains nor loses a space at its ends.
        let _ = NFC.normalize_to(trimmed, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(input: &str) -> String {
        let mut out = String::from("left over");
        id(input, &mut out);
        out
    }

    #[test]
    fn only_composition_and_the_ends_change() {
        assert_eq!(form("\u{A0}\u{1F} AbC  \u{AD}x\u{3000}\n"), "AbC  \u{AD}x");
        assert_eq!(form("e\u{301}"), "é");
        assert_eq!(form("\u{200B}"), "\u{200B}", "an invisible character is no space");
        assert_eq!(form(" \t"), "");
    }

    #[test]
    fn canonical_spaces_at_the_ends_go_whether_composed_or_not() {
        assert_eq!(form("\u{2000}a\u{2001}"), "a", "U+2000 and U+2001 are U+2002 and U+2003 in NFC");
    }
}
