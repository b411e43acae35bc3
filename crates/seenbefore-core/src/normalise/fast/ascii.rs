//! Stretches that are copied as they are: printable ASCII, of which most texts consist, and letters of two bytes.

use super::class::Classes;
use crate::normalise::TextPolicy;

/// Puts the normal form of printable ASCII without doubled or outer spaces into `out`. False, and `out` untouched, for
/// everything else.
pub(in crate::normalise) fn copy_plain_ascii(input: &str, policy: TextPolicy, out: &mut String) -> bool {
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

/// Appends the normal form of printable ASCII without doubled or outer spaces and without `&`, `"` and `\\`: what `text/1`
/// and the spelling of JSON strings leave alone but for capitals, and what cannot hold a character reference. False, and `out`
/// as it was, for everything else. Eight bytes are looked at together.
pub(in crate::normalise) fn append_plain_ascii(input: &str, policy: TextPolicy, out: &mut Vec<u8>) -> bool {
    let (Some(first), Some(last)) = (input.as_bytes().first(), input.as_bytes().last()) else { return false };
    if *first == b' ' || *last == b' ' {
        return false;
    }
    let start = out.len();
    let folded = |word: u64| if policy.casefold { small_word(word) } else { word };
    let (words, rest) = input.as_bytes().as_chunks::<8>();
    out.reserve(input.len());
    let mut after_space = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let Some(spaces) = printable_word(word, after_space).filter(|_| !has_reserved(word)) else {
            out.truncate(start);
            return false;
        };
        after_space = spaces >> 63;
        out.extend_from_slice(&folded(word).to_le_bytes());
    }
    if !rest.is_empty() {
        // A full stop is plain too, and no space.
        let mut padded = [b'.'; 8];
        padded.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
        let word = u64::from_le_bytes(padded);
        if has_reserved(word) || printable_word(word, after_space).is_none() {
            out.truncate(start);
            return false;
        }
        out.extend_from_slice(folded(word).to_le_bytes().get(..rest.len()).unwrap_or_default());
    }
    true
}

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

/// The high bit of each byte that is `n` or more, `n` from 1 to 80. No byte reaches into the next where all are below 80.
const fn from(word: u64, n: u64) -> u64 {
    word + (0x80 - n) * EACH
}

/// For eight bytes of printable ASCII the high bit of each space; none where one of them is something else, or a space stands
/// after a space, the first after one if `after_space` is 1.
#[inline]
fn printable_word(word: u64, after_space: u64) -> Option<u64> {
    if word & HIGH != 0 {
        return None;
    }
    let spaces = !from(word ^ (u64::from(b' ') * EACH), 1) & HIGH;
    let other = (!from(word, 0x20) | from(word, 0x7F)) & HIGH;
    let doubled = spaces & (spaces << 8 | after_space << 7);
    (other | doubled == 0).then_some(spaces)
}

/// Whether `&`, `"` or `\\` is among eight bytes of ASCII.
#[inline]
fn has_reserved(word: u64) -> bool {
    // `"` and `&` differ in one bit, which is 0 in the one that is looked for.
    let quote = (word & !(0x04 * EACH)) ^ (u64::from(b'"') * EACH);
    let backslash = word ^ (u64::from(b'\\') * EACH);
    (!from(quote, 1) | !from(backslash, 1)) & HIGH != 0
}

/// Eight bytes of ASCII with small letters for capitals.
fn small_word(word: u64) -> u64 {
    let capitals = from(word, u64::from(b'A')) & !from(word, u64::from(b'Z') + 1) & HIGH;
    word | capitals >> 2
}

/// How many bytes from `at` on are characters of two bytes that come out as they are, if any.
#[inline]
pub(super) fn settled_stretch(bytes: &[u8], at: usize, classes: Classes) -> Option<usize> {
    let (pairs, _) = bytes.get(at..)?.as_chunks::<2>();
    let settled = |[first, second]: &&[u8; 2]| {
        let code = u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F);
        (0xC0..0xE0).contains(first) && classes.of(code) == code
    };
    let count = pairs.iter().take_while(settled).count();
    (count > 0).then_some(2 * count)
}

/// How many bytes from `at` on are printable ASCII without doubled spaces, if any.
#[inline]
pub(super) fn ascii_stretch(bytes: &[u8], at: usize, mut after_space: bool) -> Option<usize> {
    let mut length = 0;
    let rest = bytes.get(at..)?;
    for word in rest.as_chunks::<8>().0 {
        let Some(spaces) = printable_word(u64::from_le_bytes(*word), u64::from(after_space)) else { break };
        after_space = spaces >> 63 == 1;
        length += 8;
    }
    for &byte in rest.get(length..)? {
        let space = byte == b' ';
        if byte.wrapping_sub(b' ') > b'~' - b' ' || (space && after_space) {
            break;
        }
        after_space = space;
        length += 1;
    }
    (length > 0).then_some(length)
}
