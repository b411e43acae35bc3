//! Laws of `text/1`: the fast way gives the bytes of the list of steps, the normal form is a fixed point, and canonically
//! equivalent texts meet.

#![allow(clippy::expect_used)] // Writing to a String cannot fail.

use proptest::prelude::*;
use proptest::sample::select;
use seenbefore_core::canonicalise::write_string;
use seenbefore_core::normalise::{self, STEPS, Scratch, TextPolicy};
use seenbefore_core::unicode::{NFC, NFD, is_joiner, is_tag};

const POLICIES: [TextPolicy; 4] = [
    TextPolicy::TEXT,
    TextPolicy::NAME,
    TextPolicy { compatibility: true, casefold: true },
    TextPolicy { compatibility: true, casefold: false },
];

fn fast(input: &str, policy: TextPolicy) -> String {
    let mut out = String::from("left over");
    normalise::text(input, policy, &mut Scratch::default(), &mut out);
    out
}

fn decomposed(input: &str) -> String {
    let mut out = String::new();
    NFD.normalize_to(input, &mut out).expect("a String takes everything");
    out
}

fn composed(input: &str) -> String {
    let mut out = String::new();
    NFC.normalize_to(input, &mut out).expect("a String takes everything");
    out
}

/// Characters that have been the undoing of normalisers, by family.
const NASTY: &[&str] = &[
    // Letters and signs, and letters that fold oddly.
    "aeEKsio1-'\".ßẞİıŉΐᾴᾳΆΣςαιǅﬁﬗéếệÅїЙиёЖ\u{212B}\u{212A}\u{2126}\u{A7CB}\u{1DF95}\u{1E900}\u{1E922}",
    // Spaces and controls.
    "   \n\t\0\u{1C}\u{7F}\u{85}\u{90}\u{A0}\u{2000}\u{2028}\u{202F}\u{3000}",
    // Marks of many classes, composing and not.
    "\u{300}\u{301}\u{302}\u{304}\u{306}\u{307}\u{308}\u{30C}\u{313}\u{31B}\u{323}\u{327}\u{328}\u{331}\u{338}\u{340}\u{344}\u{345}\u{20E3}",
    // Invisible characters, some of which look like others that stay.
    "\u{AD}\u{34F}\u{61C}\u{180B}\u{180E}\u{200B}\u{200E}\u{202E}\u{2060}\u{2066}\u{FE00}\u{FE0F}\u{FEFF}\u{1D173}\u{E0001}\u{E0100}",
    // Joiners, tags, emoji.
    "\u{200C}\u{200D}\u{E0020}\u{E0067}\u{E007F}\u{1F468}\u{1F3FD}\u{1F3F4}\u{1F308}\u{1F1E6}\u{2764}\u{24C2}\u{2122}\u{A9}\u{2194}",
    // Arabic, Syriac, Mongolian.
    "میراوي\u{6C0}\u{6D5}\u{64B}\u{64E}\u{651}\u{653}\u{654}\u{670}\u{710}\u{712}\u{1820}\u{1886}",
    // Scripts of India and its neighbours: viramas, nuktas, vowels in two parts.
    "\u{915}\u{921}\u{93C}\u{94D}\u{951}\u{952}\u{958}\u{995}\u{9C7}\u{9BE}\u{9CD}\u{BC6}\u{BD7}\u{C46}\u{C56}\u{DD9}\u{DCA}\u{DCF}\u{DDC}",
    "\u{E01}\u{E38}\u{E3A}\u{E49}\u{F71}\u{F72}\u{F73}\u{1025}\u{102E}\u{1039}\u{10A3F}\u{11099}\u{110BA}\u{16D63}\u{16D67}\u{16D68}",
    // East Asia.
    "\u{1100}\u{1161}\u{11A8}\u{115F}\u{AC00}\u{AC01}\u{3164}中\u{F900}\u{2F800}か\u{3099}\u{309A}が\u{FF21}\u{FF76}\u{FF9E}",
    // Typography, compatibility characters, music, and what is no character of its own.
    "\u{2010}\u{2019}\u{201D}\u{2026}\u{2212}²①\u{FDFA}\u{FC5E}\u{1D165}\u{1D16E}\u{1D15E}\u{1E94A}\u{2800}\u{FFFD}\u{10FFFF}",
];

/// Pieces that make joiners stay, so that the way they are kept is tried as often as the way they go.
#[rustfmt::skip]
const JOINED: &[&str] = &[
    "\u{200C}", "\u{200D}", "\u{200C}\u{200D}", "م", "ی", "\u{64E}", "م\u{200C}ی", "\u{94D}", "\u{9CD}", "\u{DCA}", "\u{952}",
    "\u{915}\u{94D}\u{200D}", "\u{1F468}\u{200D}\u{1F469}", "\u{1F468}", "\u{1F3FD}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}",
    "\u{24C2}", "\u{1F468}\u{200D}\u{2194}", "\u{338}", "\u{E0067}\u{E007F}", "\u{1F3F4}\u{E0067}\u{E007F}", " ", "a", "\u{301}",
    "\u{345}", "\u{34F}", "\u{2019}", "\u{1E922}",
];

fn nasty_text() -> impl Strategy<Value = String> {
    let nasty = select(NASTY.concat().chars().map(String::from).collect::<Vec<_>>());
    let joined = select(JOINED.iter().copied().map(String::from).collect::<Vec<_>>());
    prop_oneof![
        2 => prop::collection::vec(nasty.clone(), 0..12),
        1 => prop::collection::vec(prop_oneof![3 => joined, 1 => nasty], 0..10),
    ]
    .prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![2 => any::<char>(), 1 => prop::char::range('\u{80}', '\u{33FF}'), 1 => prop::char::range(' ', '~')],
        0..10,
    )
    .prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The fast way gives what the list of steps gives.
    #[test]
    fn fast_equals_plain(input in prop_oneof![6 => nasty_text(), 1 => any_text()]) {
        for policy in POLICIES {
            prop_assert_eq!(fast(&input, policy), normalise::text_plain(&input, policy));
        }
    }

    /// The short cut for plain ASCII, where it takes a text, gives what the list of steps gives, spelt as in JSON; and it takes
    /// what is plain.
    #[test]
    fn short_cut_equals_plain(input in prop_oneof!["[ -~]{0,24}", "[a-cA-C .&\"\\\\\u{1F}\u{7F}é-]{0,20}", "[A-z]{1,9}( [A-z]{1,9}){0,4}"]) {
        for policy in POLICIES {
            let form = normalise::text_plain(&input, policy);
            let mut spelt = b"before\"".to_vec();
            let taken = normalise::append_plain(&input, policy, &mut spelt);
            let mut expected = b"before".to_vec();
            if taken {
                spelt.push(b'"');
                write_string(&form, &mut expected);
            } else {
                expected.push(b'"');
            }
            prop_assert_eq!(spelt, expected);
            let plain = |c: char| c == ' ' || (c.is_ascii_graphic() && !"&\"\\".contains(c));
            prop_assert_eq!(taken, !form.is_empty() && input.chars().all(plain) && form.len() == input.len());
        }
    }

    /// The short cut for codes in plain ASCII gives what the list of steps gives, spelt as in JSON.
    #[test]
    fn short_cut_for_codes_equals_plain(input in prop_oneof!["[ -~]{0,16}", "[a-bA-B0-2 _./-]{0,12}", "[a1 _\"\\\\\té-]{0,8}"]) {
        let mut spelt = b"before\"".to_vec();
        let taken = normalise::append_plain_code(&input, &mut spelt);
        let mut expected = b"before".to_vec();
        if taken {
            spelt.push(b'"');
            write_string(&normalise::code_traced(&input, false, |_, _, _| {}), &mut expected);
        } else {
            expected.push(b'"');
        }
        prop_assert_eq!(spelt, expected);
        prop_assert_eq!(taken, input.chars().all(|c| (' '..='~').contains(&c) && c != '"' && c != '\\'));
    }

    /// A normal form is its own normal form, is composed, and holds no doubled or outer space.
    #[test]
    fn normal_forms_are_stable(input in nasty_text()) {
        for policy in POLICIES {
            let form = fast(&input, policy);
            prop_assert_eq!(&fast(&form, policy), &form);
            prop_assert_eq!(&composed(&form), &form);
            prop_assert!(!form.contains("  ") && !form.starts_with(' ') && !form.ends_with(' '));
        }
    }

    /// Canonically equivalent texts have one normal form.
    #[test]
    fn canonically_equivalent_texts_meet(input in nasty_text()) {
        for policy in POLICIES {
            let form = fast(&input, policy);
            prop_assert_eq!(&fast(&decomposed(&input), policy), &form);
            prop_assert_eq!(&fast(&composed(&input), policy), &form);
        }
    }

    /// One round of the steps is enough where there is neither a joiner nor a tag, and NFC is asked for.
    #[test]
    fn one_round_is_enough_without_joiners(input in nasty_text()) {
        let input: String = input.chars().filter(|&c| !is_joiner(c) && !is_tag(c)).collect();
        for policy in [TextPolicy::TEXT, TextPolicy::NAME] {
            let mut told = Vec::new();
            normalise::text_traced(&input, policy, |step, _, _| told.push(step));
            let order = |step| STEPS.iter().position(|known| known.name == step);
            prop_assert!(told.is_sorted_by_key(|&step| order(step)), "{:?}", told);
        }
    }

    /// Buffers that were used before change nothing.
    #[test]
    fn kept_buffers_leave_no_trace(inputs in prop::collection::vec(nasty_text(), 1..4)) {
        let (mut scratch, mut out) = (Scratch::default(), String::new());
        for input in &inputs {
            for policy in POLICIES {
                normalise::text(input, policy, &mut scratch, &mut out);
                prop_assert_eq!(&out, &fast(input, policy));
            }
            normalise::code(input, false, &mut scratch, &mut out);
            prop_assert_eq!(&out, &normalise::code_traced(input, false, |_, _, _| {}));
        }
    }

    /// Codes are stable, and the fast way to them equals the plain one.
    #[test]
    fn codes_are_stable(input in prop_oneof![nasty_text(), "[a-c1-3 _/.-]{0,10}"]) {
        for strip in [false, true] {
            let form = normalise::code_traced(&input, strip, |_, _, _| {});
            let mut out = String::new();
            normalise::code(&input, strip, &mut Scratch::default(), &mut out);
            prop_assert_eq!(&out, &form);
            prop_assert_eq!(&normalise::code_traced(&form, strip, |_, _, _| {}), &form);
        }
    }

    /// Identifiers are stable, and canonically equivalent ones meet.
    #[test]
    fn identifiers_are_stable(input in nasty_text()) {
        let form = |input: &str| {
            let mut out = String::new();
            normalise::id(input, &mut out);
            out
        };
        let once = form(&input);
        prop_assert_eq!(&form(&once), &once);
        prop_assert_eq!(&form(&decomposed(&input)), &once);
        let composed = composed(&input);
        prop_assert_eq!(normalise::trim_spaces(&composed), &once);
    }
}

/// Each of `all` but joiners and tags, many to a text, in each of the frames of what stands before and after it.
fn in_frames(all: impl Iterator<Item = char>, frames: &[(&str, &str)], mut check: impl FnMut(&str)) {
    let all: Vec<char> = all.filter(|&c| !is_joiner(c) && !is_tag(c)).collect();
    for some in all.chunks(64) {
        for (before, after) in frames {
            let text: String = some
                .iter()
                .flat_map(|c| {
                    ["x ", before, c.encode_utf8(&mut [0; 4]), after, " x"].concat().chars().collect::<Vec<_>>()
                })
                .collect();
            check(&text);
        }
    }
}

/// Every scalar value of the scripts, signs and emoji. What is left out are ideographs, Hangul syllables and planes of
/// unassigned and private characters, without case, marks or joining.
fn characters_of_scripts() -> impl Iterator<Item = char> {
    ('\0'..='\u{33FF}')
        .chain('\u{A4D0}'..='\u{AC20}')
        .chain('\u{F8F0}'..='\u{120FF}')
        .chain('\u{16000}'..='\u{16FFF}')
        .chain('\u{1D100}'..='\u{1D3FF}')
        .chain('\u{1DF00}'..='\u{1FBFF}')
        .chain('\u{2F7F0}'..='\u{2FA20}')
        .chain('\u{E0000}'..='\u{E01FF}')
}

#[test]
fn every_character_comes_out_as_the_steps_say() {
    in_frames('\0'..=char::MAX, &[("", ""), ("a", "b")], |text| {
        for policy in [TextPolicy::TEXT, TextPolicy::NAME] {
            assert_eq!(fast(text, policy), normalise::text_plain(text, policy));
        }
    });
}

#[test]
fn every_character_comes_out_as_the_steps_say_beside_marks() {
    let frames =
        [("", "\u{301}"), ("e\u{301}", "\u{323}z"), ("\u{E01}\u{E49}", "\u{E38}"), ("e\u{200B}", "\u{200B}\u{345}")];
    in_frames(characters_of_scripts(), &frames, |text| {
        for policy in [TextPolicy::TEXT, TextPolicy::NAME] {
            assert_eq!(fast(text, policy), normalise::text_plain(text, policy));
        }
    });
}

#[test]
fn every_character_comes_out_as_the_steps_say_beside_joiners() {
    let frames = [("", "\u{200D}\u{1F468}\u{200D}"), ("", "\u{200C}م\u{200C}"), ("a", "\u{200C}\u{200D}")];
    for c in characters_of_scripts() {
        for (before, between) in frames {
            let text = format!("{before}{c}{between}{c}\u{338}");
            assert_eq!(fast(&text, TextPolicy::TEXT), normalise::text_plain(&text, TextPolicy::TEXT), "{text:?}");
        }
    }
}

#[test]
fn every_character_meets_its_decomposition() {
    in_frames('\0'..=char::MAX, &[("", "")], |text| {
        let form = fast(text, TextPolicy::TEXT);
        assert_eq!(fast(&decomposed(text), TextPolicy::TEXT), form);
        assert_eq!(fast(&form, TextPolicy::TEXT), form);
    });
}

#[test]
fn identifiers_equal_composing_and_then_trimming() {
    for c in '\0'..=char::MAX {
        let (text, mut out) = (format!(" {c}"), String::new());
        normalise::id(&text, &mut out);
        assert_eq!(out, normalise::trim_spaces(&composed(&text)), "{text:?}");
    }
}
