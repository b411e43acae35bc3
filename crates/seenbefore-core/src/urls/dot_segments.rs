//! Dot segments behind what looks like a Windows drive letter.
//!
//! The parser treats a path segment such as `C:` as a drive that `..` cannot leave. The standard does so for `file` alone
//! (WHATWG URL 4.4, "shorten a url's path"), so elsewhere such dot segments are resolved before the parser sees them:
//! `https://e.example/C:/../a` is `https://e.example/a`, not `https://e.example/C:/a`.

use super::parse::{Scheme, is_skipped};

/// `text` with the dot segments of its path resolved, if it has a drive letter and a `..`; none if it hasn't.
pub(super) fn resolve(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(':')?;
    memchr::memchr2(b':', b'|', rest.as_bytes())?;
    if !rest.contains("..") && memchr::memchr3(b'%', b'\t', b'\n', rest.as_bytes()).is_none() && !rest.contains('\r') {
        return None;
    }
    let cleaned: String =
        text.trim_matches(|c| c <= ' ').chars().filter(|c| !u8::try_from(*c).is_ok_and(is_skipped)).collect();
    let scheme = Scheme::of(&cleaned).filter(|scheme| scheme.is_special())?;
    let authority = scheme.rest.trim_start_matches(['/', '\\']);
    let path = authority.get(authority.find(['/', '\\', '?', '#'])?..)?;
    let (path, tail) = path.split_at_checked(path.find(['?', '#']).unwrap_or(path.len()))?;
    let given = || path.split(['/', '\\']).skip(1);
    if !given().any(is_drive) || !given().any(|segment| dots(segment) == 2) {
        return None;
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in given() {
        match dots(segment) {
            0 => segments.push(segment),
            1 => {}
            _ => drop(segments.pop()),
        }
    }
    if given().last().is_some_and(|last| dots(last) > 0) {
        segments.push("");
    }
    let before = cleaned.get(..cleaned.len() - path.len() - tail.len())?;
    Some(format!("{before}/{}{tail}", segments.join("/")))
}

/// Whether the parser takes a segment for a Windows drive letter (WHATWG URL 1.2).
fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// 1 for a single-dot segment, 2 for a double-dot segment, else 0 (WHATWG URL 4.1).
fn dots(segment: &str) -> u8 {
    match segment.replace("%2e", ".").replace("%2E", ".").as_str() {
        "." => 1,
        ".." => 2,
        _ => 0,
    }
}
