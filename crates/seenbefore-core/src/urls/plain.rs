//! A short cut past the steps for the most common URLs, those that are canonical and plainly so.
//!
//! It decides nothing: for every text it accepts, the steps give the same text back, which `tests/urls.rs` holds it to.

use super::site::INDEX_PAGES;
use super::{Strength, UrlRules};

/// The host of a URL that every step would leave alone; none where that takes more than a look.
///
/// That is: scheme and host in lower-case ASCII, without port, no label of an international name, a last label that cannot
/// be a number; a path without escapes, path parameters, dot segments and characters that are escaped; no query and no
/// fragment; no host rule; at `site` nothing that its steps look for.
pub(super) fn host<'a>(text: &'a str, rules: &UrlRules) -> Option<&'a str> {
    let site = rules.strength == Strength::Site;
    let rest = match text.strip_prefix("https://") {
        Some(rest) => rest,
        None if site => return None,
        None => text.strip_prefix("http://")?,
    };
    let (host, path) = rest.split_at_checked(rest.find('/')?)?;
    let plain = path.bytes().all(is_plain)
        && !path.contains("/.")
        && is_plain_host(host)
        && !(site && is_folded(host, path))
        && !rules.hosts.iter().any(|rule| rule.matches(host));
    plain.then_some(host)
}

/// A host of labels of small letters, digits and hyphens (RFC 1123 2.1), the last of which starts with a letter.
fn is_plain_host(host: &str) -> bool {
    let mut last = "";
    for label in host.split('.') {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if label.is_empty() || label.starts_with("xn--") || !label.bytes().all(plain) {
            return false;
        }
        last = label;
    }
    last.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a step of `site` may find something in the host or path.
fn is_folded(host: &str, path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    host.starts_with("www.") || (last.is_empty() && path.len() > 1) || INDEX_PAGES.contains(&last)
}

/// Bytes of a path that no step touches, `;` aside: those that RFC 3986 3.3 allows unescaped in it.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'/' | b'-'
                | b'.'
                | b'_'
                | b'~'
                | b'!'
                | b'$'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b','
                | b':'
                | b'@'
                | b'='
                | b'&'
                | b'+'
        )
}
