//! Character references left in a text: a sign that a decoding was forgotten, or done twice before. They change no key.

/// The names that are looked for; others may well be meant as they stand (`&copy;` in a tutorial).
const NAMES: [&[u8]; 6] = [b"amp", b"lt", b"gt", b"quot", b"apos", b"nbsp"];

/// True where `text` holds `&` and one of [`NAMES`], or `#` and 1 to 7 digits, or `#x` and 1 to 6 hexadecimal digits, then `;`
/// (`spec/keys-1.md`, "Problems").
pub(super) fn has_residue(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'&', bytes).any(|at| bytes.get(at + 1..).is_some_and(is_reference))
}

fn is_reference(after: &[u8]) -> bool {
    let Some(end) = after.iter().take(10).position(|byte| *byte == b';') else { return false };
    let Some(body) = after.get(..end) else { return false };
    match body {
        [b'#', b'x' | b'X', hex @ ..] => (1..=6).contains(&hex.len()) && hex.iter().all(u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => (1..=7).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        name => NAMES.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::has_residue;

    #[test]
    fn finds_references_and_leaves_plain_text() {
        for text in ["AT&amp;T", "&#38;", "a&#x1F600;", "&nbsp;", "& &lt;"] {
            assert!(has_residue(text), "{text}");
        }
        for text in ["AT&T", "&copy;", "&amp", "&#;", "&#x;", "&#12345678;", "&#x1234567;", "&AMP;", "a & b; c"] {
            assert!(!has_residue(text), "{text}");
        }
    }
}
