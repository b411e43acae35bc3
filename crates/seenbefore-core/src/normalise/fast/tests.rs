//! What the fast way takes on and what it leaves to the list of steps.

use super::joining::COMPOSING_EMOJI;
use super::*;
use crate::normalise::text_plain;
use crate::unicode::{NFC, NFD, compose_pair, is_pictographic, joins_back};

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
fn composing_changes_how_only_one_character_takes_a_joiner() {
    let mut changed = Vec::new();
    for composed in '\0'..=char::MAX {
        let mut parts = String::new();
        let _ = NFD.normalize_to(composed.encode_utf8(&mut [0; 4]), &mut parts);
        let second = parts.pop();
        let mut first = String::new();
        let _ = NFC.normalize_to(&parts, &mut first);
        if let (Some(first), Some(second)) = (first.chars().next(), second)
            && compose_pair(first, second) == Some(composed)
            && (joins_back(first), is_pictographic(first)) != (joins_back(composed), is_pictographic(composed))
        {
            changed.push(first);
        }
    }
    assert_eq!(changed, [COMPOSING_EMOJI]);
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
