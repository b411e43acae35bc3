//! What is written about a record: its receipt, its kept row, its refused line (`spec/receipt-1.md`).
//!
//! The layout is that of exact canonical JSON, but the members stand in the order of the specification.

use crate::canonicalise::write_string;
use crate::error::Problems;
use crate::json::{Tape, parse};
use crate::keys::{Digest, push_hex};
use crate::times::write_utc;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::ops::Range;

/// An earlier sighting, as receipts name it.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// Ordinal of its run.
    pub run: u64,
    /// Ordinal in its run.
    pub seq: u64,
    /// URL as given, credentials redacted.
    pub url: Option<&'a str>,
    /// When it was fetched, in microseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
}

/// Everything a receipt says.
#[derive(Clone, Copy, Debug)]
pub struct Receipt<'a> {
    /// The record itself as a sighting.
    pub this: Sighting<'a>,
    /// Label of the ruleset.
    pub label: &'a str,
    /// The input's name; none for a program's record.
    pub input: Option<&'a str>,
    /// Its line there, from 1.
    pub line: u64,
    /// Who published it; none where nothing says so.
    pub source: Option<&'a str>,
    /// URL key.
    pub place: Option<&'a Digest>,
    /// Payload digest.
    pub payload: Option<&'a Digest>,
    /// Content key.
    pub content: Option<&'a Digest>,
    /// Name of the verdict.
    pub verdict: &'a str,
    /// Kept or skipped.
    pub keep: bool,
    /// Whether the content was seen before.
    pub seen_before: bool,
    /// `payload` or `content`, where seen before.
    pub matched_on: Option<&'a str>,
    /// The content's first sighting, where seen before.
    pub refers_to: Option<Sighting<'a>>,
    /// For `changed`: what the URL showed before.
    pub previous: Option<Sighting<'a>>,
    /// Remarks.
    pub problems: Problems,
    /// The earliest time of fetching known at this record.
    pub first_seen: Option<i64>,
}

impl Receipt<'_> {
    /// Appends the receipt as one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        object.number("run", self.this.run);
        object.number("seq", self.this.seq);
        object.text("input", self.input);
        object.name("line");
        match self.input {
            Some(_) => push_number(self.line, object.out),
            None => object.out.extend_from_slice(b"null"),
        }
        object.text("source", self.source);
        object.text("url", self.this.url);
        object.key("url_key", self.label, ":url", self.place);
        object.time("fetched_at", self.this.fetched_at);
        object.digest("payload_digest", self.payload);
        object.key("content_key", self.label, "", self.content);
        object.plain("verdict", self.verdict);
        object.plain("action", if self.keep { "keep" } else { "skip" });
        object.truth("seen_before", self.seen_before);
        object.text("matched_on", self.matched_on);
        object.sighting("refers_to", self.refers_to);
        object.sighting("previous", self.previous);
        object.name("problems");
        object.out.push(b'[');
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                object.out.push(b',');
            }
            write_string(problem.code(), object.out);
        }
        object.out.push(b']');
        object.close();
        out.push(b'\n');
    }

    /// Appends the record with its `_seen` member as one line; its other bytes stay as they are, outer white space aside.
    pub fn write_kept(&self, line: &[u8], out: &mut Vec<u8>) {
        let record = line.trim_ascii();
        let inside = record.strip_suffix(b"}").unwrap_or(record);
        out.extend_from_slice(inside);
        if inside.trim_ascii_end() != b"{" {
            out.push(b',');
        }
        out.extend_from_slice(b"\"_seen\":");
        self.write_seen(out);
        out.extend_from_slice(b"}\n");
    }

    /// Appends the value of `_seen`.
    pub fn write_seen(&self, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        object.digest("sha256", self.payload);
        object.key("content_key", self.label, "", self.content);
        object.plain("verdict", self.verdict);
        object.truth("seen_before", self.seen_before);
        object.time("first_seen", self.first_seen);
        object.sighting("refers_to", self.refers_to);
        object.close();
    }
}

/// A line that was set aside.
#[derive(Clone, Copy, Debug)]
pub struct RefusedLine<'a> {
    /// Ordinal of the run.
    pub run: u64,
    /// Ordinal in the run.
    pub seq: u64,
    /// The input's name.
    pub input: Option<&'a str>,
    /// Its line there, from 1.
    pub line: u64,
    /// Where it starts, in decompressed bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Refusal code.
    pub code: &'a str,
    /// What is wrong, for people.
    pub detail: &'a str,
    /// Digest of its bytes.
    pub sha256: Digest,
    /// Its bytes, or where they start in `refused.bin`.
    pub bytes: Result<&'a [u8], u64>,
}

impl RefusedLine<'_> {
    /// Appends the short receipt as one line.
    pub fn write_receipt(&self, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        object.number("run", self.run);
        object.number("seq", self.seq);
        object.text("input", self.input);
        object.number("line", self.line);
        object.plain("verdict", "refused");
        object.plain("action", "refuse");
        object.plain("code", self.code);
        object.digest("sha256", Some(&self.sha256));
        object.close();
        out.push(b'\n');
    }

    /// Appends the line for `refused.ndjson`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        object.text("input", self.input);
        object.number("line", self.line);
        object.number("seq", self.seq);
        object.number("offset", self.offset);
        object.number("length", self.length);
        object.plain("code", self.code);
        object.text("detail", Some(self.detail));
        object.digest("sha256", Some(&self.sha256));
        match self.bytes.map(|bytes| (bytes, std::str::from_utf8(bytes))) {
            Err(start) => object.number("bin_offset", start),
            Ok((_, Ok(text))) => object.text("raw", Some(text)),
            Ok((bytes, Err(_))) => object.plain("raw_base64", &STANDARD.encode(bytes)),
        }
        object.close();
        out.push(b'\n');
    }
}

/// An object being written, members in the order of the calls.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    pub(crate) fn close(&mut self) {
        self.out.push(b'}');
    }

    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        push_number(value, self.out);
    }

    pub(crate) fn truth(&mut self, name: &str, value: bool) {
        self.name(name);
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Text that needs no escapes.
    fn plain(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.push(b'"');
        self.out.extend_from_slice(value.as_bytes());
        self.out.push(b'"');
    }

    pub(crate) fn text(&mut self, name: &str, value: Option<&str>) {
        self.name(name);
        match value {
            Some(text) => write_string(text, self.out),
            None => self.out.extend_from_slice(b"null"),
        }
    }

    pub(crate) fn key(&mut self, name: &str, label: &str, infix: &str, digest: Option<&Digest>) {
        self.name(name);
        let Some(digest) = digest else { return self.out.extend_from_slice(b"null") };
        self.out.push(b'"');
        for part in [label, infix, ":sha256:"] {
            self.out.extend_from_slice(part.as_bytes());
        }
        push_hex(digest, self.out);
        self.out.push(b'"');
    }

    pub(crate) fn digest(&mut self, name: &str, digest: Option<&Digest>) {
        self.name(name);
        let Some(digest) = digest else { return self.out.extend_from_slice(b"null") };
        self.out.extend_from_slice(b"\"sha256:");
        push_hex(digest, self.out);
        self.out.push(b'"');
    }

    pub(crate) fn time(&mut self, name: &str, time: Option<i64>) {
        self.name(name);
        match time {
            None => self.out.extend_from_slice(b"null"),
            Some(time) => {
                self.out.push(b'"');
                write_utc(time, self.out);
                self.out.push(b'"');
            }
        }
    }

    pub(crate) fn sighting(&mut self, name: &str, sighting: Option<Sighting<'_>>) {
        self.name(name);
        let Some(sighting) = sighting else { return self.out.extend_from_slice(b"null") };
        let mut object = Object::open(self.out);
        object.number("run", sighting.run);
        object.number("seq", sighting.seq);
        object.text("url", sighting.url);
        object.time("fetched_at", sighting.fetched_at);
        object.close();
    }
}

/// Appends a whole number in decimal digits.
fn push_number(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut rest = value;
    let mut count = 0;
    for slot in digits.iter_mut().rev() {
        // The remainder of a division by ten is a digit.
        *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - count..).unwrap_or_default());
}

/// A record's text without its `_seen` member, where that is to be replaced; none where it has no such member.
///
/// What is cut goes up to the next member, else from the end of the member before it (`spec/receipt-1.md` §2); no other byte moves.
#[must_use]
pub fn without_seen(line: &str) -> Option<String> {
    let mut tape = Tape::new();
    parse(line, &mut tape).ok()?;
    let members: Vec<(Range<usize>, Range<usize>, bool)> =
        tape.root(line)?.members().map(|(name, value)| (name.span(), value.span(), name.is("_seen"))).collect();
    let at = members.iter().position(|(.., seen)| *seen)?;
    let (name, value, _) = members.get(at)?;
    let (start, end) = match (members.get(at + 1), at.checked_sub(1).and_then(|before| members.get(before))) {
        (Some((next, ..)), _) => (name.start, next.start),
        (None, Some((_, before, _))) => (before.end, value.end),
        (None, None) => (name.start, value.end),
    };
    Some([line.get(..start)?, line.get(end..)?].concat())
}
