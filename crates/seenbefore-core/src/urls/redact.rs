//! Credentials cut out of a URL that is to be shown.

use super::parse::{Scheme, has_credentials, is_skipped, parse, path};
use std::borrow::Cow;

/// `text` without user and password, for receipts, logs, errors and reports.
///
/// A text that the WHATWG parser accepts, of whatever scheme, is given back as it is, or, where it has a user or a password,
/// as the parser writes it without them. Of any other text, what stands between the slashes (`//`, `\\`) and the last `@`
/// before the next `/`, `\`, `?`, `#` or the end goes, the `@` with it.
/// Where that leaves nothing between the slashes, slashes that follow count as part of the run.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    if let Ok(mut url) = parse(text) {
        if !has_credentials(&url) {
            return Cow::Borrowed(text);
        }
        // Only URLs without a host refuse, and those have no credentials.
        if url.set_username("").is_ok() && url.set_password(None).is_ok() {
            if let Cow::Owned(path) = path(url.path()) {
                url.set_path(&path);
            }
            return Cow::Owned(url.into());
        }
    }
    cut(text, "")
}

/// `text` with `mask` in place of what looks like credentials, whether it parses or not.
pub(super) fn cut<'a>(text: &'a str, mask: &str) -> Cow<'a, str> {
    let mut out = String::new();
    // In `https:user@host` the parser does without slashes, so the authority may follow the colon at once.
    let special = Scheme::of(text).filter(|scheme| scheme.is_special());
    let mut next = special.map_or_else(|| after_slashes(text), |scheme| Some(after_run(scheme.rest)));
    let mut rest = text;
    while let Some(authority) = next {
        out.push_str(before(rest, authority));
        let end = authority.find(|c| is_slash(c) || matches!(c, '?' | '#')).unwrap_or(authority.len());
        rest = authority.get(end..).unwrap_or_default();
        let authority = before(authority, rest);
        let kept = authority.rsplit_once('@').map_or(authority, |(_, host)| {
            out.push_str(mask);
            host
        });
        out.push_str(kept);
        // With nothing left between them the slashes on both sides are one run.
        let joined = kept.chars().all(is_gap) && rest.starts_with(is_slash);
        next = if joined { Some(after_run(rest)) } else { after_slashes(rest) };
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What of `text` stands before `tail`, its end.
fn before<'a>(text: &'a str, tail: &str) -> &'a str {
    text.get(..text.len() - tail.len()).unwrap_or_default()
}

/// What follows the first run of at least two slashes; tabs and line breaks in the run do not count.
fn after_slashes(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let start = rest.find(is_slash)?;
        let run = rest.get(start..)?;
        let after = after_run(run);
        if before(run, after).chars().filter(|c| is_slash(*c)).count() >= 2 {
            return Some(after);
        }
        rest = after;
    }
}

/// What follows slashes, tabs and line breaks.
fn after_run(text: &str) -> &str {
    text.trim_start_matches(|c| is_slash(c) || is_gap(c))
}

const fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

fn is_gap(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_skipped)
}
