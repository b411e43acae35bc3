//! Credentials cut out of a URL that is to be shown.

use super::parse::{Scheme, has_credentials, parse, path};
use crate::unicode::{is_invisible, is_space};
use std::borrow::Cow;

/// `text` without user and password, for receipts, logs, errors and reports.
///
/// A text in which the WHATWG parser finds a host, of whatever scheme but `file`, is given back as it is, or, where it has a user or a
/// password, as the parser writes it without them. Of any other text, what stands between the slashes (`//`, `\\`) and the
/// last `@` before the next `/`, `\`, `?`, `#` or the end goes, the `@` with it. Where what is left there is no host with or
/// without a port, a sign of the password may have ended it, as in `//ann:pa/ss@e.example`: then everything up to the last `@`
/// of the text goes.
/// Where that leaves nothing between the slashes, slashes that follow count as part of the run.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    if let Ok(mut url) = parse(text)
        && url.has_host()
        && url.scheme() != "file"
    {
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
    let Some((_, tail)) = text.rsplit_once('@') else { return Cow::Borrowed(text) };
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
        let (masked, kept) = authority.rsplit_once('@').map_or(("", authority), |(_, host)| (mask, host));
        if rest.len() > tail.len() && !is_address(kept) {
            out.push_str(mask);
            rest = tail;
            break;
        }
        out.push_str(masked);
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

/// Whether this is a host, whatever it is made of, with or without a colon and a port.
fn is_address(authority: &str) -> bool {
    let host = if authority.starts_with('[') { authority.find(']').map(|end| end + 1) } else { authority.find(':') };
    let Some(host) = host else { return !authority.starts_with('[') };
    let port: String = authority.get(host..).unwrap_or_default().chars().filter(|c| !is_gap(*c)).collect();
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| {
            port.is_empty() || (port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok())
        })
}

/// What of `text` stands before `tail`, its end.
fn before<'a>(text: &'a str, tail: &str) -> &'a str {
    text.get(..text.len() - tail.len()).unwrap_or_default()
}

/// What follows the first run of at least two slashes; gaps in the run do not count.
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

/// What follows slashes and gaps.
fn after_run(text: &str) -> &str {
    text.trim_start_matches(|c| is_slash(c) || is_gap(c))
}

const fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// What a parser or a reader doesn't see between slashes: the spaces, invisible characters and joiners of `text/1`.
fn is_gap(c: char) -> bool {
    is_space(c) || is_invisible(c) || matches!(c, '\u{200C}' | '\u{200D}')
}
