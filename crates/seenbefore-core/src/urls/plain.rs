//! Short cuts for the most common URLs, those in plain ASCII.
//!
//! They decide nothing: what they accept the parser reads in the same way, and the steps leave alone. The traced path does
//! without them, and `tests/urls.rs` holds the two together.

use super::parse::Parts;
use super::site::INDEX_PAGES;
use super::{Strength, UrlRules};
use std::borrow::Cow;

/// The parts of a URL that the parser would only cut into pieces; none where it might do more.
///
/// That is: scheme and host in lower-case ASCII, without port, no label of an international name, a last label that cannot be
/// a number; a path without escapes and dot segments; nowhere a character that is escaped.
pub(super) fn parts(text: &str) -> Option<Parts<'_>> {
    let (https, rest) = match text.strip_prefix("https://") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("http://")?),
    };
    let (host, rest) = rest.split_at_checked(plain_host(rest.as_bytes())?)?;
    let end = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
    let (path, tail) = rest.split_at_checked(end)?;
    let (tail, fragment) = cut(tail, b'#');
    let (before_query, query) = cut(tail, b'?');
    let plain = before_query.is_empty()
        && !has_dot_segment(path)
        && query.is_none_or(|query| query.bytes().all(is_plain_in_query))
        && fragment.is_none_or(|fragment| fragment.bytes().all(is_plain_in_fragment));
    plain.then(|| Parts {
        https,
        credentials: false,
        host: Cow::Borrowed(host),
        port: None,
        path: Cow::Borrowed(path),
        query: query.map(Cow::Borrowed),
        fragment: fragment.map(Cow::Borrowed),
    })
}

/// Whether no step has anything to do for scheme, host and path as [`parts`] gives them.
pub(super) fn is_settled(parts: &Parts<'_>, rules: &UrlRules) -> bool {
    let folded = || {
        let last = parts.path.rsplit('/').next().unwrap_or_default();
        !parts.https
            || parts.host.starts_with("www.")
            || (last.is_empty() && parts.path.len() > 1)
            || INDEX_PAGES.contains(&last)
    };
    memchr::memchr(b';', parts.path.as_bytes()).is_none()
        && !(rules.strength == Strength::Site && folded())
        && !rules.hosts.iter().any(|rule| rule.matches(&parts.host))
}

/// What stands before the first `sign`, and what behind it.
fn cut(text: &str, sign: u8) -> (&str, Option<&str>) {
    let cut = memchr::memchr(sign, text.as_bytes()).and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?)));
    cut.map_or((text, None), |(before, behind)| (before, Some(behind)))
}

/// The length of a host of labels of small letters, digits and hyphens (RFC 1123 2.1), the last of which starts with a letter,
/// before a slash.
fn plain_host(bytes: &[u8]) -> Option<usize> {
    let mut label: &[u8] = bytes;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => {}
            b'.' | b'/' => {
                let starts_with_letter = label.first().is_some_and(u8::is_ascii_lowercase);
                if label.starts_with(b".") || label.starts_with(b"/") || label.starts_with(b"xn--") {
                    return None;
                }
                if *byte == b'/' {
                    return starts_with_letter.then_some(at);
                }
                label = bytes.get(at + 1..)?;
            }
            _ => return None,
        }
    }
    None
}

/// Whether a segment of the path starts with a dot: it may be `.` or `..`.
fn has_dot_segment(path: &str) -> bool {
    memchr::memchr(b'.', path.as_bytes()).is_some() && path.contains("/.")
}

/// Bytes that RFC 3986 3.3 allows unescaped in a path.
fn is_plain(byte: u8) -> bool {
    PLAIN_IN_PATH.get(usize::from(byte)).is_some_and(|plain| *plain)
}

static PLAIN_IN_PATH: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        plain[byte as usize] = byte.is_ascii_alphanumeric()
            || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'..=b',' | b':' | b';' | b'=' | b'@');
        byte += 1;
    }
    plain
};

/// Bytes that are not in the special-query percent-encode set (WHATWG URL 1.3).
const fn is_plain_in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\'')
}

/// Bytes that are not in the fragment percent-encode set.
const fn is_plain_in_fragment(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`')
}
