//! The form of article codes: kind `code`.

use super::{Scratch, TextPolicy, text, text_traced};
use crate::unicode::{is_digit, is_letter, is_mark, is_punctuation};

/// Puts the form of kind `code` into `out`, which is cleared first: `text/1`, then [`separators`] (or, with
/// `strip_punctuation`, [`punctuation`]), repeated until stable. Empty means absent.
pub fn code(input: &str, strip_punctuation: bool, scratch: &mut Scratch, out: &mut String) {
    text(input, TextPolicy::TEXT, scratch, out);
    let (_, form) = form(strip_punctuation);
    let mut changed = std::mem::take(&mut scratch.code);
    loop {
        changed.clear();
        form(out, &mut changed);
        if changed == *out {
            break;
        }
        if changed.is_ascii() {
            // Neither a second look nor text/1 finds anything to do: no space is left, and each run is the one sign it may be.
            std::mem::swap(&mut changed, out);
            break;
        }
        text(&changed, TextPolicy::TEXT, scratch, out);
    }
    scratch.code = changed;
}

/// Appends the form of kind `code`, without `strip_punctuation`, where `input` is printable ASCII without `"` and `\\`, and so the
/// inside of a JSON string. False, and `out` as it was, where [`code`] has to be asked.
///
/// In ASCII there are no marks, and what `text/1` does is done by the look at the runs: doubled and outer spaces are in runs that
/// become one sign or go, and it is the same whether letters are compared before or after they become small.
pub fn append_plain_code(input: &str, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut before = Side::Start;
    let mut minus = false;
    let mut run = false;
    for byte in input.bytes() {
        if matches!(byte, b' ' | b'-' | b'_') {
            run = true;
            minus |= byte == b'-';
            continue;
        }
        if byte.wrapping_sub(b' ') > b'~' - b' ' || matches!(byte, b'"' | b'\\') {
            out.truncate(start);
            return false;
        }
        let side = match byte {
            b'0'..=b'9' => Side::Digit,
            b'a'..=b'z' | b'A'..=b'Z' => Side::Letter,
            _ => Side::Other,
        };
        let kept = match (before, side) {
            (Side::Letter, Side::Letter) | (Side::Digit, Side::Digit) => true,
            (Side::Start, Side::Digit) => minus,
            _ => false,
        };
        if run && kept {
            out.push(b'-');
        }
        out.push(byte.to_ascii_lowercase());
        (before, run, minus) = (side, false, false);
    }
    true
}

/// As [`code`], telling `recorder` of each step that changed the text.
pub fn code_traced(input: &str, strip_punctuation: bool, mut recorder: impl FnMut(&'static str, &str, &str)) -> String {
    let (name, form) = form(strip_punctuation);
    let mut text = text_traced(input, TextPolicy::TEXT, &mut recorder);
    loop {
        let mut changed = String::with_capacity(text.len());
        form(&text, &mut changed);
        if changed == text {
            return text;
        }
        recorder(name, &text, &changed);
        text = text_traced(&changed, TextPolicy::TEXT, &mut recorder);
    }
}

type Form = fn(&str, &mut String);

fn form(strip_punctuation: bool) -> (&'static str, Form) {
    if strip_punctuation { ("punctuation", punctuation) } else { ("separators", separators) }
}

/// # What it folds
/// Runs of space, `-` and `_`: between two letters or two decimal digits a run becomes one `-`, elsewhere it goes. A mark
/// counts with the letter or digit that it follows.
/// # Why
/// People put separators into article codes at will, and leave them out at will where a letter meets a digit.
/// # Example
/// `sku-1299`, `sku 1299` and `sku1299` → `sku1299`; `ab_c` → `ab-c`
/// # What it must not fold
/// 1-10, 11-0 and 110; AB-C and A-BC; 1.5 and 15; a leading `-` before a digit, which may be a minus; a run before a mark,
/// which is what the mark sits on.
/// # Since
/// `keys/1`
fn separators(input: &str, out: &mut String) {
    let mut rest = input;
    let mut before = Side::Start;
    while let Some(c) = rest.chars().next() {
        if !is_separator(c) {
            out.push(c);
            before = before.then(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (run, after) = rest.split_at(rest.find(|c| !is_separator(c)).unwrap_or(rest.len()));
        let next = after.chars().next();
        if next.is_some_and(is_mark) {
            out.push_str(run);
            before = Side::Other;
        } else if keeps_apart(before, next, run) {
            out.push('-');
        }
        rest = after;
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-' | '_')
}

fn keeps_apart(before: Side, next: Option<char>, run: &str) -> bool {
    match (before, next) {
        (Side::Letter, Some(next)) => is_letter(next),
        (Side::Digit, Some(next)) => is_digit(next),
        (Side::Start, Some(next)) => run.contains('-') && is_digit(next),
        (_, None) | (Side::Other, _) => false,
    }
}

/// What stands before a run of separators.
#[derive(Clone, Copy)]
enum Side {
    /// The text begins here.
    Start,
    Letter,
    Digit,
    Other,
}

impl Side {
    /// What stands before the next character once `c` has passed.
    fn then(self, c: char) -> Self {
        if is_letter(c) {
            Self::Letter
        } else if is_digit(c) {
            Self::Digit
        } else if is_mark(c) && !matches!(self, Self::Start) {
            self
        } else {
            Self::Other
        }
    }
}

/// # What it folds
/// Removes U+0020 and every character of `General_Category` P.
/// # Why
/// Some sources punctuate the same code in many ways, and their owner knows that punctuation never tells two codes apart.
/// # Example
/// `ab-12/3.4` → `ab1234`
/// # What it must not fold
/// Symbols: C++ and C are two codes. Leading zeros: 00123 is not 123.
/// # Since
/// `keys/1`
fn punctuation(input: &str, out: &mut String) {
    out.extend(input.chars().filter(|&c| c != ' ' && !is_punctuation(c)));
}
