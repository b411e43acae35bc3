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
            Some(second @ 0xDC00..0xE000) => (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12),
            _ => (None, 6),
        };
    }
    (char::from_u32(first), 6)
}

/// Four hexadecimal digits at `at`, as a number.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |sum, byte| Some(sum << 4 | char::from(*byte).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn reads_every_escape_and_pairs() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"#), "a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}z");
    }
}
