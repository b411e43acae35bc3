//! Credentials cut out of a URL that is to be shown.

use super::parse::{Scheme, has_credentials, is_skipped};
use std::borrow::Cow;
use url::Url;

/// `text` without user and password, for receipts, logs, errors and reports.
///
/// A text that the WHATWG parser accepts, of whatever scheme, is given back as it is, or, where it has a user or a password,
/// as the parser writes it without them. Of any other text, what stands between the slashes (`//`, `\\`) and the last `@`
/// before the next `/`, `\`, `?`, `#` or the end goes, the `@` with it.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    match Url::parse(text) {
        Ok(url) if !has_credentials(&url) => Cow::Borrowed(text),
        Ok(mut url) => match (url.set_username(""), url.set_password(None)) {
            (Ok(()), Ok(())) => Cow::Owned(url.into()),
            // Only URLs without a host refuse, and those have no credentials.
            _ => cut(text, ""),
        },
        Err(_) => cut(text, ""),
    }
}

/// `text` with `mask` in place of what looks like credentials, whether it parses or not.
pub(super) fn cut<'a>(text: &'a str, mask: &str) -> Cow<'a, str> {
    let mut out = String::new();
    let mut rest = text;
    // In `https:user@host` the parser does without slashes, so the authority may follow the colon at once.
    if let Some(after_colon) = Scheme::of(text)
        .filter(|scheme| scheme.is_special())
        .map(|scheme| scheme.rest)
    {
        let authority = after_colon.trim_start_matches(|c| is_slash(c) || is_gap(c));
        rest = take(text, authority, mask, &mut out);
    }
    while let Some(authority) = after_slashes(rest) {
        rest = take(rest, authority, mask, &mut out);
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Writes what of `text` stands before `authority`, its tail, then the authority without credentials; gives back the rest.
fn take<'a>(text: &'a str, authority: &'a str, mask: &str, out: &mut String) -> &'a str {
    let before = text.len() - authority.len();
    out.push_str(text.get(..before).unwrap_or_default());
    let end = authority
        .find(|c| is_slash(c) || matches!(c, '?' | '#'))
        .unwrap_or(authority.len());
    let (authority, rest) = authority.split_at_checked(end).unwrap_or((authority, ""));
    match authority.rsplit_once('@') {
        Some((_, host)) => {
            out.push_str(mask);
            out.push_str(host);
        }
        None => out.push_str(authority),
    }
    rest
}

/// What follows the first run of at least two slashes; tabs and line breaks in the run do not count.
fn after_slashes(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let start = rest.find(is_slash)?;
        let run = rest.get(start..)?;
        let after = run.trim_start_matches(|c| is_slash(c) || is_gap(c));
        let slashes = run
            .get(..run.len() - after.len())?
            .chars()
            .filter(|c| is_slash(*c))
            .count();
        if slashes >= 2 {
            return Some(after);
        }
        rest = after;
    }
}

const fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

fn is_gap(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_skipped)
}
