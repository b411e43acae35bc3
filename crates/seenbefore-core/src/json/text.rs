//! Escapes of JSON strings (RFC 8259 §7).

/// Reads the escapes of a string's inside that [`parse`](super::parse) has accepted.
///
/// An escape that it would not have accepted is left as it stands.
#[must_use]
pub fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let (read, length) = one(escape);
        match read {
            Some(scalar) => out.push(scalar),
            None => out.push_str(escape.get(..length).unwrap_or_default()),
        }
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The scalar that the escape at the start of `text` stands for, and the escape's length in bytes.
fn one(text: &str) -> (Option<char>, usize) {
    let scalar = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(plain @ (b'"' | b'\\' | b'/')) => char::from(*plain),
        Some(b'u') => return unicode(text),
        _ => return (None, 1),
    };
    (Some(scalar), 2)
}

fn unicode(text: &str) -> (Option<char>, usize) {
    let Some(first) = hex4(text.as_bytes(), 2) else { return (None, 2) };
    if (0xD800..0xDC00).contains(&first) {
        let second = if text.get(6..8) == Some("\\u") { hex4(text.as_bytes(), 8) } else { None };
        return match second {
            Some(second @ 0xDC00..0xE000) => {
                (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12)
            }
            _ => (None, 6),
        };
    }
    (char::from_u32(first), 6)
}

/// Four hexadecimal digits at `at`, as a number.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |sum, byte| Some(sum << 4 | char::from(*byte).to_digit(16)?))
}

/// The first `"`, `\` or control below U+0020 from `at` on, or the end. Eight bytes are looked at together, and from the 33rd on
/// blocks of 64.
#[inline]
#[must_use]
pub fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const SHORT: usize = 32;
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    // Sets the high bit of the lowest byte that is below n, and of none below that one.
    let below = |word: u64, n: u64| word.wrapping_sub(n * EACH) & !word & HIGH;
    let start = at;
    while let Some(word) = bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes) {
        let found =
            below(word, 0x20) | below(word ^ (u64::from(b'"') * EACH), 1) | below(word ^ (u64::from(b'\\') * EACH), 1);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at - start == SHORT {
            at += plain_blocks(bytes.get(at..).unwrap_or_default());
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(rest.len())
}

/// How many bytes stand in the blocks of 64 before the first that has a `"`, a `\` or a control.
#[inline(never)]
fn plain_blocks(bytes: &[u8]) -> usize {
    // Without an early end and in single bytes, so that the compiler makes vector code of it.
    let other =
        |found: u8, byte: &u8| found | u8::from(*byte == b'"') | u8::from(*byte == b'\\') | u8::from(*byte < b' ');
    64 * bytes.as_chunks::<64>().0.iter().take_while(|block| block.iter().fold(0, other) == 0).count()
}

#[cfg(test)]
mod tests {
    use super::{plain_until, unescape};
    use proptest::prelude::*;
    use proptest::sample::select;

    #[test]
    fn reads_every_escape_and_pairs() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"#), "a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}z");
    }

    proptest! {
        /// The look at eight bytes finds what a look at each byte finds.
        #[test]
        fn finds_the_first_sign(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(0x1F), Just(b' '), Just(b'a')], 0..40), at in 0_usize..10) {
            let plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
            let at = at.min(bytes.len());
            let expected = at + bytes[at..].iter().take_while(|byte| plain(byte)).count();
            prop_assert_eq!(plain_until(&bytes, at), expected);
        }

        /// And so does the look at blocks.
        #[test]
        fn finds_the_first_sign_in_long_texts(length in 0_usize..400, at in 0_usize..10, signs in prop::collection::vec((0_usize..400, select(vec![b'"', b'\\', 0x1F, 0x80, 0xFF])), 0..3)) {
            let mut bytes = vec![b'a'; length];
            for (place, sign) in signs {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = sign;
                }
            }
            let plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
            let at = at.min(length);
            let expected = at + bytes[at..].iter().take_while(|byte| plain(byte)).count();
            prop_assert_eq!(plain_until(&bytes, at), expected);
        }
    }
}
