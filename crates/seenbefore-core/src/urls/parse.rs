//! Step `parse`: the text as the WHATWG URL parser reads it.

use super::{MAX_URL_BYTES, Recorder, UrlProblem, dot_segments, redact};
use std::borrow::Cow;
use std::fmt::Write as _;
use url::Url;

pub(super) const STEP_NAME: &str = "parse";

/// What stands for user and password where a trace shows a URL that has them.
const MASK: &str = "***@";

/// A parsed `http` or `https` URL: what the steps change. Every text in it is ASCII, percent-encoded by the parser.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    /// `https` rather than `http`.
    pub https: bool,
    /// Whether a user or password stood in the text. They themselves are not kept.
    pub credentials: bool,
    pub host: Cow<'a, str>,
    /// None for the scheme's own port.
    pub port: Option<u16>,
    /// Starts with `/`.
    pub path: Cow<'a, str>,
    /// Without its `?`.
    pub query: Option<Cow<'a, str>>,
    /// Without its `#`.
    pub fragment: Option<Cow<'a, str>>,
}

impl<'a> Parts<'a> {
    /// The parts of a URL. One without a host is [`UrlProblem::Invalid`]; the parser gives every http URL one.
    pub fn of(url: &'a Url) -> Result<Self, UrlProblem> {
        Ok(Self {
            https: url.scheme() == "https",
            credentials: has_credentials(url),
            host: Cow::Borrowed(url.host_str().ok_or(UrlProblem::Invalid)?),
            port: url.port(),
            path: path(url.path()),
            query: url.query().map(Cow::Borrowed),
            fragment: url.fragment().map(Cow::Borrowed),
        })
    }

    /// The parts as a URL (WHATWG URL 4.5), with a mask in place of user and password.
    pub fn text(&self) -> String {
        let length = |part: &Option<Cow<'_, str>>| part.as_ref().map_or(0, |text| text.len() + 1);
        let mut text = String::with_capacity(
            "https://".len()
                + MASK.len()
                + self.host.len()
                + ":65535".len()
                + self.path.len()
                + length(&self.query)
                + length(&self.fragment),
        );
        text.push_str(if self.https { "https://" } else { "http://" });
        if self.credentials {
            text.push_str(MASK);
        }
        text.push_str(&self.host);
        if let Some(port) = self.port {
            // Writing to a String cannot fail.
            let _ = write!(text, ":{port}");
        }
        text.push_str(&self.path);
        for (sign, part) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(part) = part {
                text.push(sign);
                text.push_str(part);
            }
        }
        text
    }
}

/// The path with `^` percent-encoded, as the standard has it since 2024 (WHATWG URL 1.3, path percent-encode set) and this
/// version of the parser does not.
pub(super) fn path(path: &str) -> Cow<'_, str> {
    if path.contains('^') { Cow::Owned(path.replace('^', "%5E")) } else { Cow::Borrowed(path) }
}

/// Whether the URL has a user name or a password that is not empty.
pub(super) fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Refuses what is too long, has no scheme, or another scheme than `http` and `https`, before anything is parsed.
pub(super) fn check(text: &str) -> Result<(), UrlProblem> {
    if text.len() > MAX_URL_BYTES {
        return Err(UrlProblem::TooLong);
    }
    match Scheme::of(text) {
        None => Err(UrlProblem::Relative),
        Some(scheme) if scheme.is("https") || scheme.is("http") => Ok(()),
        Some(_) => Err(UrlProblem::Scheme),
    }
}

/// What it folds: case of scheme and host, a default port, dot segments, the many spellings of an IPv4 or IPv6 address,
/// international domain names (UTS #46, non-transitional), backslashes, tabs and line breaks inside, white space around,
/// characters that have to be percent-encoded, a missing slash after the host.
///
/// Why: a browser requests the same thing for all of these (WHATWG URL 4.4).
///
/// Example: `HTTP://Example.COM:80/a/./b/../c` → `http://example.com/a/c`.
///
/// What it must not fold: case of the path; a trailing dot of the host; ß and ss; anything already percent-encoded.
///
/// Since: url/1, from strength `exact`.
pub(super) fn parse(text: &str) -> Result<Url, UrlProblem> {
    match dot_segments::resolve(text) {
        Some(resolved) => Url::parse(&resolved),
        None => Url::parse(text),
    }
    .map_err(|_| UrlProblem::Invalid)
}

/// Tells the recorder what the parse made of the text.
pub(super) fn record(text: &str, parts: &Parts<'_>, recorder: &mut Recorder<'_>) {
    let before = if parts.credentials { redact::cut(text, MASK) } else { Cow::Borrowed(text) };
    let after = parts.text();
    if *before != after {
        recorder(STEP_NAME, &before, &after);
    }
}

/// The scheme that a text starts with, as the WHATWG parser sees it: C0 controls and spaces before it and tabs and line
/// breaks inside do not count (WHATWG URL 4.4, "basic URL parser", 1 to 3 and "scheme state").
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme<'a> {
    /// The scheme as written, without the colon.
    written: &'a str,
    /// What follows the colon.
    pub rest: &'a str,
}

impl<'a> Scheme<'a> {
    /// The scheme, or none.
    pub fn of(text: &'a str) -> Option<Self> {
        let text = text.trim_start_matches(|c| c <= ' ');
        let (written, rest) = text.split_once(':')?;
        let mut characters = written.bytes().filter(|byte| !is_skipped(*byte));
        let first = characters.next()?;
        let valid = first.is_ascii_alphabetic()
            && characters.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        valid.then_some(Self { written, rest })
    }

    /// Whether this is the scheme of that lower-case name.
    pub fn is(self, name: &str) -> bool {
        let written = self.written.bytes().filter(|byte| !is_skipped(*byte)).map(|byte| byte.to_ascii_lowercase());
        written.eq(name.bytes())
    }

    /// Whether the parser treats the scheme as one that has a host whatever follows (WHATWG URL 4.2, "special scheme"),
    /// `file` aside.
    pub fn is_special(self) -> bool {
        ["https", "http", "ftp", "wss", "ws"].into_iter().any(|name| self.is(name))
    }
}

/// ASCII tab and line breaks, which the parser drops wherever they stand.
pub(super) const fn is_skipped(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}
