//! The pinned tables against the files of the Unicode Character Database 17.0. `SEENBEFORE_SHARED` names the folder that has
//! them; without it these tests say that they are skipped.

#![allow(clippy::expect_used)] // A test that cannot read its data has failed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use seenbefore_core::normalise::{TextPolicy, text_plain};
use seenbefore_core::unicode::{
    NFC, NFD, NFKC, UNICODE_VERSION, combining_class, is_digit, is_emoji_modifier, is_letter, is_mark, is_pictographic,
    is_punctuation, is_space,
};

/// A file of the database, unpacked by the system's gzip; nothing where no folder is named.
fn database(name: &str) -> Option<String> {
    let Some(shared) = std::env::var_os("SEENBEFORE_SHARED") else {
        println!("skipped: SEENBEFORE_SHARED does not name a folder with the Unicode Character Database");
        return None;
    };
    let path = Path::new(&shared).join("data/conformance/unicode/17.0").join(format!("{name}.gz"));
    let unpacked = Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip can be run");
    assert!(unpacked.status.success(), "{} cannot be unpacked", path.display());
    Some(String::from_utf8(unpacked.stdout).expect("UTF-8"))
}

/// The fields of each line, without comments and blank lines.
fn rows(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('@'))
        .map(|line| line.split(';').map(str::trim).collect())
}

fn scalar(hex: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(hex, 16).expect("hexadecimal"))
}

fn string(hex: &str) -> String {
    hex.split(' ').map(|code| scalar(code).expect("a scalar value")).collect()
}

/// The characters of `FIRST..LAST` or `ONE`; surrogates are left out.
fn range(field: &str) -> impl Iterator<Item = char> + use<> {
    let (first, last) = field.split_once("..").unwrap_or((field, field));
    let code = |hex| u32::from_str_radix(hex, 16).expect("hexadecimal");
    (code(first)..=code(last)).filter_map(char::from_u32)
}

/// Holds a property to the characters that the file lists under a name.
fn hold_property(file: &str, name: &str, has: impl Fn(char) -> bool) {
    let listed: BTreeSet<char> = rows(file).filter(|row| row[1] == name).flat_map(|row| range(row[0])).collect();
    assert!(!listed.is_empty(), "the file lists no {name}");
    for c in '\0'..=char::MAX {
        assert_eq!(has(c), listed.contains(&c), "{name} of U+{:04X}", u32::from(c));
    }
}

#[test]
fn normalization_test() {
    let Some(file) = database("NormalizationTest.txt") else { return };
    let forms = |input: &str| {
        let (mut c, mut d, mut kc) = (String::new(), String::new(), String::new());
        NFC.normalize_to(input, &mut c).expect("a String takes everything");
        NFD.normalize_to(input, &mut d).expect("a String takes everything");
        NFKC.normalize_to(input, &mut kc).expect("a String takes everything");
        [c, d, kc]
    };
    let mut single = BTreeSet::new();
    let compatibility = TextPolicy { compatibility: true, casefold: true };
    for row in rows(&file) {
        let [source, c, d, kc, kd] = [0, 1, 2, 3, 4].map(|column| string(row[column]));
        for text in [&source, &c, &d] {
            assert_eq!(forms(text), [c.clone(), d.clone(), kc.clone()], "{row:?}");
            assert_eq!(text_plain(text, TextPolicy::TEXT), text_plain(&source, TextPolicy::TEXT), "{row:?}");
        }
        for text in [&kc, &kd] {
            assert_eq!(forms(text)[2], kc, "{row:?}");
            assert_eq!(text_plain(text, compatibility), text_plain(&source, compatibility), "{row:?}");
        }
        let mut chars = source.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            single.insert(only);
        }
    }
    // Part 1: every character that is not listed there is its own normal form in all of them.
    for c in ('\0'..=char::MAX).filter(|c| !single.contains(c)) {
        let text = String::from(c);
        assert_eq!(forms(&text), [text.clone(), text.clone(), text.clone()], "U+{:04X}", u32::from(c));
    }
}

#[test]
fn case_folding() {
    let Some(file) = database("CaseFolding.txt") else { return };
    let full: BTreeMap<char, String> = rows(&file)
        .filter(|row| row[1] == "C" || row[1] == "F")
        .map(|row| (scalar(row[0]).expect("a scalar value"), string(row[2])))
        .collect();
    assert!(full.len() > 1500, "the file lists {} foldings", full.len());
    let mut decomposed = String::new();
    for c in '\0'..=char::MAX {
        decomposed.clear();
        NFD.normalize_to(c.encode_utf8(&mut [0; 4]), &mut decomposed).expect("a String takes everything");
        let folded: String = decomposed.chars().map(|c| full.get(&c).cloned().unwrap_or_else(|| c.into())).collect();
        let kept = text_plain(&folded, TextPolicy::NAME);
        assert_eq!(text_plain(&String::from(c), TextPolicy::TEXT), kept, "U+{:04X}", u32::from(c));
        if let Some(folded) = full.get(&c) {
            assert_eq!(text_plain(folded, TextPolicy::TEXT), kept, "U+{:04X} and its folding", u32::from(c));
        }
    }
}

#[test]
fn categories_and_combining_classes() {
    let Some(file) = database("UnicodeData.txt") else { return };
    let mut known: BTreeMap<char, (String, u8)> = BTreeMap::new();
    let mut first = None;
    for row in rows(&file) {
        let properties = (row[2].to_owned(), row[3].parse().expect("a combining class"));
        if row[1].ends_with(", First>") {
            first = Some(row[0]);
        } else {
            let span = format!("{}..{}", first.take().unwrap_or(row[0]), row[0]);
            known.extend(range(&span).map(|c| (c, properties.clone())));
        }
    }
    for c in '\0'..=char::MAX {
        let (category, class) = known.get(&c).map_or(("Cn", 0), |(category, class)| (category.as_str(), *class));
        assert_eq!(combining_class(c), class, "U+{:04X}", u32::from(c));
        assert_eq!(is_letter(c), category.starts_with('L'), "U+{:04X} {category}", u32::from(c));
        assert_eq!(is_mark(c), category.starts_with('M'), "U+{:04X} {category}", u32::from(c));
        assert_eq!(is_punctuation(c), category.starts_with('P'), "U+{:04X} {category}", u32::from(c));
        assert_eq!(is_digit(c), category == "Nd", "U+{:04X} {category}", u32::from(c));
    }
}

#[test]
fn spaces_and_emoji() {
    if let Some(file) = database("PropList.txt") {
        hold_property(&file, "White_Space", |c| is_space(c) && !matches!(c, '\u{1C}'..='\u{1F}'));
    }
    if let Some(file) = database("emoji-data.txt") {
        hold_property(&file, "Extended_Pictographic", is_pictographic);
        hold_property(&file, "Emoji_Modifier", is_emoji_modifier);
    }
}

#[test]
fn the_files_are_of_the_pinned_version() {
    if let Some(file) = database("CaseFolding.txt") {
        assert!(file.starts_with(&format!("# CaseFolding-{UNICODE_VERSION}.txt")));
    }
}
