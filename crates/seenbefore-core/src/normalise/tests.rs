//! Known answers of `text/1` and of kind `code`.

use super::*;

fn fast(input: &str, policy: TextPolicy) -> String {
    let mut out = String::from("left over");
    text(input, policy, &mut Scratch::default(), &mut out);
    out
}

fn both(input: &str, policy: TextPolicy) -> String {
    let plain = text_plain(input, policy);
    assert_eq!(fast(input, policy), plain, "{input:?}");
    assert_eq!(text_plain(&plain, policy), plain, "{input:?} is not stable");
    plain
}

fn norm(input: &str) -> String {
    both(input, TextPolicy::TEXT)
}

fn code_form(input: &str, strip_punctuation: bool) -> String {
    let mut out = String::from("left over");
    code(input, strip_punctuation, &mut Scratch::default(), &mut out);
    assert_eq!(code_traced(input, strip_punctuation, |_, _, _| {}), out, "{input:?}");
    out
}

#[test]
fn composing_folding_and_composing_again_meet() {
    assert_eq!(norm("H\u{0331}"), "\u{1E96}");
    assert_eq!(norm("\u{1E96}"), "\u{1E96}");
    assert_eq!(norm("e\u{200B}\u{0301}"), "é");
    assert_eq!(norm("\u{1FB4}"), "\u{03AC}\u{03B9}");
    assert_eq!(norm("\u{03B1}\u{0345}\u{0301}"), "\u{03AC}\u{03B9}");
    assert_eq!(norm("\u{03B1}\u{0345}\u{200B}\u{0301}"), "\u{03AC}\u{03B9}");
    assert_eq!(norm("\u{1FB3}\u{0323}"), "\u{03B1}\u{0323}\u{03B9}");
}

#[test]
fn case_folds_fully_and_without_locale() {
    assert_eq!(norm("STRASSE"), norm("Straße"));
    assert_eq!(norm("ΛΌΓΟΣ"), norm("λόγος"));
    assert_ne!(norm("İZMİR"), norm("izmir"));
    assert_ne!(norm("ILICA"), norm("ılıca"));
    assert_eq!(norm("\u{A7CB}"), "\u{0264}");
    assert_ne!(both("Van Dyke", TextPolicy::NAME), both("van dyke", TextPolicy::NAME));
}

#[test]
fn joiners_are_kept_as_content_and_dropped_as_noise() {
    assert_ne!(norm("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"), norm("\u{1F468}\u{1F469}\u{1F467}"));
    assert_ne!(norm("می\u{200C}رویم"), norm("میرویم"));
    assert_eq!(norm("tab\u{200D}le"), "table");
    assert_eq!(norm("I \u{2764}\u{FE0F} tea"), "i \u{2764} tea");
    assert_eq!(norm("\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}"), norm("\u{1F3F3}\u{200D}\u{1F308}"));
}

#[test]
fn invisible_characters_go() {
    for (input, output) in [
        ("desk\u{AD}top", "desktop"),
        ("\u{FEFF}Blue lamp", "blue lamp"),
        ("AX\u{200E}-77", "ax-77"),
        ("zero\u{200B}width", "zerowidth"),
        ("a\u{180E}b", "ab"),
    ] {
        assert_eq!(norm(input), output);
    }
    assert_eq!(norm("\u{3164}"), "\u{3164}");
    assert_eq!(norm("a\u{2800}b"), "a\u{2800}b");
}

#[test]
fn every_space_is_one_space() {
    for (input, output) in [
        ("hello\u{A0}world", "hello world"),
        ("a\u{2009}b\u{3000}c", "a b c"),
        ("one\r\n\r\n\ttwo", "one two"),
        ("x\u{2028}y", "x y"),
        ("a\u{1C}b", "a b"),
        ("\u{A0}\u{200B} \u{FEFF}", ""),
    ] {
        assert_eq!(norm(input), output);
    }
}

#[test]
fn typographic_signs_become_plain_but_compatibility_characters_stay() {
    assert_eq!(norm("it\u{2019}s late"), "it's late");
    assert_eq!(norm("5 \u{2212} 3"), "5 - 3");
    assert_eq!(norm("\u{201C}yes\u{201D}"), "\"yes\"");
    assert_eq!(norm("wait\u{2026}"), "wait...");
    assert_eq!(norm("co\u{2010}op A\u{2011}12"), "co-op a-12");
    assert_eq!(norm("6\u{2032}"), "6\u{2032}");
    assert_eq!(norm("10 m\u{B2}"), "10 m\u{B2}");
    assert_eq!(norm("\u{FF11}\u{FF12}\u{FF13} yen"), "\u{FF11}\u{FF12}\u{FF13} yen");
    assert_eq!(norm("Henry \u{2163}"), "henry \u{2173}");
}

#[test]
fn compatibility_folds_more_where_the_field_says_so() {
    let policy = TextPolicy { compatibility: true, casefold: true };
    assert_eq!(both("10 m\u{B2}", policy), "10 m2");
    assert_eq!(both("\u{FF11}\u{FF12}\u{FF13} yen", policy), "123 yen");
    assert_eq!(both("Henry \u{2163}", policy), "henry iv");
    assert_eq!(both("\u{2460} lamp", policy), "1 lamp");
}

#[test]
fn the_trace_names_the_steps_that_changed_something() {
    let mut seen = Vec::new();
    let out = text_traced("It\u{2019}s  \u{AD}ÀE\u{0301}", TextPolicy::TEXT, |name, before, after| {
        assert_ne!(before, after);
        seen.push(name);
    });
    assert_eq!(out, "it's àé");
    assert_eq!(seen, ["compose", "invisibles", "typography", "casefold", "recompose", "collapse"]);
}

#[test]
fn codes_differ_only_where_separators_tell_them_apart() {
    for same in ["SKU-1299", "sku 1299", "SKU1299", "sku_1299", " Sku\u{2010}1299 "] {
        assert_eq!(code_form(same, false), "sku1299");
    }
    let distinct = ["1-10", "11-0", "110", "AB-C", "A-BC", "ABC", "1.5", "15", "00123", "123", "-5", "5"];
    for (i, a) in distinct.iter().enumerate() {
        for b in &distinct[i + 1..] {
            assert_ne!(code_form(a, false), code_form(b, false), "{a} {b}");
        }
    }
}

#[test]
fn separators_follow_their_neighbours() {
    for (input, output) in [
        ("a _-_ b", "a-b"),
        ("1_2", "1-2"),
        ("a-1-b", "a1b"),
        ("--a", "a"),
        ("_-_7", "-7"),
        ("_7", "7"),
        ("a/-b", "a/b"),
        ("a-", "a"),
        ("-", ""),
        ("\u{0E01}\u{0E49}-\u{0E02}", "\u{0E01}\u{0E49}-\u{0E02}"),
        ("a-\u{20DD}_b", "a-\u{20DD}b"),
        ("\u{0661}-\u{0662}", "\u{0661}-\u{0662}"),
    ] {
        assert_eq!(code_form(input, false), output, "{input:?}");
    }
}

#[test]
fn stripped_codes_lose_spaces_and_punctuation_only() {
    assert_eq!(code_form("AB-12/3.4 (\u{2460})", true), "ab1234\u{2460}");
    assert_eq!(code_form("e-\u{0301}", true), "é");
    assert_ne!(code_form("C++", true), code_form("C", true));
    assert_eq!(code_form("--- ", true), "");
}
