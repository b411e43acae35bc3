//! Printable ASCII, of which most texts consist.

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

/// How many bytes from `at` on are printable ASCII without doubled spaces, if any.
#[inline]
pub(super) fn ascii_stretch(bytes: &[u8], at: usize, mut after_space: bool) -> Option<usize> {
    let mut length = 0;
    for &byte in bytes.get(at..)? {
        let space = byte == b' ';
        if byte.wrapping_sub(b' ') > b'~' - b' ' || (space && after_space) {
            break;
        }
        after_space = space;
        length += 1;
    }
    (length > 0).then_some(length)
}
