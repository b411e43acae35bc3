//! The pinned crates carry the Unicode version that `UNICODE_VERSION` names.

use super::*;

#[test]
fn letters_of_version_17_are_known() {
    // Sidetic, Tolong Siki, Beria Erfe, Tai Yo and CJK extension J came with 17.0.
    for c in ['\u{10940}', '\u{11DB0}', '\u{16EA0}', '\u{1E6C0}', '\u{323B0}'] {
        assert!(is_letter(c), "U+{:04X}", u32::from(c));
    }
    assert!(is_digit('\u{11DE0}'), "Tolong Siki digit zero");
}

#[test]
fn folding_of_versions_16_and_17_is_known() {
    assert_eq!(fold_simple('\u{A7CB}'), '\u{0264}');
    assert_eq!(fold_simple('\u{A7CE}'), '\u{A7CF}');
    assert_eq!(fold_simple('\u{A7D2}'), '\u{A7D3}');
    assert_eq!(fold_simple('\u{16EA0}'), '\u{16EBB}');
}

#[test]
fn marks_of_version_17_are_known() {
    for (mark, class) in [('\u{1ACF}', 230), ('\u{1AEB}', 234), ('\u{10EFA}', 220), ('\u{1E6E3}', 230)] {
        assert!(is_mark(mark), "U+{:04X}", u32::from(mark));
        assert_eq!(combining_class(mark), class, "U+{:04X}", u32::from(mark));
    }
}

#[test]
fn nothing_newer_than_version_17_is_known() {
    // U+1DF95 is a capital only since 18.0; the others are unassigned in every version so far.
    for c in ['\u{1DF95}', '\u{0378}', '\u{2FE0}', '\u{1FFFD}', '\u{40000}'] {
        assert!(!is_letter(c) && !is_mark(c) && !is_digit(c), "U+{:04X}", u32::from(c));
        assert_eq!(fold_simple(c), c, "U+{:04X}", u32::from(c));
        assert_eq!(combining_class(c), 0, "U+{:04X}", u32::from(c));
    }
}

#[test]
fn no_character_is_in_two_written_sets() {
    for c in '\0'..=char::MAX {
        let sets = [is_space(c), is_invisible(c), is_joiner(c), is_tag(c)];
        assert!(sets.iter().filter(|&&in_set| in_set).count() <= 1, "U+{:04X}", u32::from(c));
    }
}

#[test]
fn the_written_spaces_are_white_space_and_four_controls() {
    let white_space = CodePointSetData::new::<icu_properties::props::WhiteSpace>();
    for c in '\0'..=char::MAX {
        let expected = white_space.contains(c) || matches!(c, '\u{1C}'..='\u{1F}');
        assert_eq!(is_space(c), expected, "U+{:04X}", u32::from(c));
    }
}
