//! The members of an object, taken one after the other, each of the type that it must have.

use super::stated::Named;
use crate::error::{Problem, Problems};
use crate::json::{Kind, Tape, Value, parse};
use crate::keys::Digest;
use crate::times::read_fetched_at;

/// Why a line is not what it must be.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The member, or `line`.
    pub member: &'static str,
    /// What must stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

pub fn fault<T>(member: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { member, expected: expected.into(), found: found.into() })
}

/// A line as text, parsed onto the tape.
pub fn text_of<'a>(line: &'a [u8], tape: &mut Tape) -> Result<&'a str, Fault> {
    let Ok(text) = std::str::from_utf8(line) else { return fault("line", "UTF-8", "other bytes") };
    match parse(text, tape) {
        Ok(()) => Ok(text),
        Err(refusal) => fault("line", "one JSON object", refusal.to_string()),
    }
}

/// Compares a line with what it would be, written again; `written` ends in the LF that `line` lacks.
pub fn same_bytes(written: &[u8], line: &[u8]) -> Result<(), Fault> {
    let written = written.strip_suffix(b"\n").unwrap_or(written);
    if written == line {
        return Ok(());
    }
    let at = written.iter().zip(line).take_while(|(one, other)| one == other).count();
    let from = at.saturating_sub(20);
    let piece = |bytes: &[u8]| {
        let end = bytes.len().min(at + 40);
        format!("… {} (at byte {})", String::from_utf8_lossy(bytes.get(from..end).unwrap_or_default()), at + 1)
    };
    fault("spelling", piece(written), piece(line))
}

/// The digest of a key with this label.
pub fn key_of(member: &'static str, text: &str, label: &str, infix: &str) -> Result<Digest, Fault> {
    let hex = text.strip_prefix(label).and_then(|rest| rest.strip_prefix(infix));
    match hex.and_then(|rest| rest.strip_prefix(":sha256:")).and_then(digest_of) {
        Some(digest) => Ok(digest),
        None => fault(member, format!("{label}{infix}:sha256:<64 hex digits>"), text),
    }
}

fn digest_of(hex: &str) -> Option<Digest> {
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut digest = Digest::default();
    if hex.len() != 2 * digest.len() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(digest)
}

/// The members of an object, to be taken one after the other.
pub struct Members<'a> {
    list: Vec<(Value<'a>, Value<'a>)>,
    at: usize,
}

impl<'a> Members<'a> {
    pub fn of(tape: &'a Tape, text: &'a str) -> Result<Self, Fault> {
        match tape.root(text) {
            Some(root) => Ok(Self { list: root.members().collect(), at: 0 }),
            None => fault("line", "one JSON object", "nothing"),
        }
    }

    pub fn is_next(&self, name: &str) -> bool {
        self.list.get(self.at).is_some_and(|(member, _)| member.is(name))
    }

    pub fn after_is(&self, name: &str) -> bool {
        self.list.get(self.at + 1).is_some_and(|(member, _)| member.is(name))
    }

    fn take(&mut self, name: &'static str) -> Result<Value<'a>, Fault> {
        match self.list.get(self.at) {
            Some((member, value)) if member.is(name) => {
                self.at += 1;
                Ok(*value)
            }
            Some((member, _)) => fault(name, format!("the member {name}"), format!("the member {}", member.string())),
            None => fault(name, format!("the member {name}"), "no further member"),
        }
    }

    pub fn end(&self) -> Result<(), Fault> {
        match self.list.get(self.at) {
            None => Ok(()),
            Some((member, _)) => fault("line", "no further member", format!("the member {}", member.string())),
        }
    }

    pub fn number(&mut self, name: &'static str) -> Result<u64, Fault> {
        let value = self.take(name)?;
        match value.raw().parse() {
            Ok(number) if value.kind() == Kind::Number && number > 0 => Ok(number),
            _ => fault(name, "a whole number from 1", value.source()),
        }
    }

    pub fn null(&mut self, name: &'static str) -> Result<u64, Fault> {
        let value = self.take(name)?;
        if value.kind() == Kind::Null { Ok(0) } else { fault(name, "null", value.source()) }
    }

    pub fn text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        let value = self.take(name)?;
        match value.kind() {
            Kind::Null => Ok(None),
            Kind::String => Ok(Some(value.string().into_owned())),
            _ => fault(name, "text or null", value.source()),
        }
    }

    pub fn truth(&mut self, name: &'static str) -> Result<bool, Fault> {
        let value = self.take(name)?;
        match value.kind() {
            Kind::True => Ok(true),
            Kind::False => Ok(false),
            _ => fault(name, "true or false", value.source()),
        }
    }

    pub fn one_of(
        &mut self,
        name: &'static str,
        words: impl Iterator<Item = &'static str>,
    ) -> Result<&'static str, Fault> {
        let value = self.take(name)?;
        let words: Vec<_> = words.collect();
        let known = words.iter().find(|word| value.kind() == Kind::String && value.is(word));
        known.copied().map_or_else(|| fault(name, words.join(", "), value.source()), Ok)
    }

    pub fn word(&mut self, name: &'static str, words: &[&'static str]) -> Result<&'static str, Fault> {
        self.one_of(name, words.iter().copied())
    }

    pub fn optional(&mut self, name: &'static str, words: &[&'static str]) -> Result<Option<&'static str>, Fault> {
        let is_null = self.list.get(self.at).is_some_and(|(_, value)| value.kind() == Kind::Null);
        if is_null { self.take(name).map(|_| None) } else { self.word(name, words).map(Some) }
    }

    pub fn digest(&mut self, name: &'static str) -> Result<Option<Digest>, Fault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.strip_prefix("sha256:").and_then(digest_of) {
            Some(digest) => Ok(Some(digest)),
            None => fault(name, "sha256:<64 hex digits>", text),
        }
    }

    pub fn key(&mut self, name: &'static str, label: &str, infix: &str) -> Result<Option<Digest>, Fault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        key_of(name, &text, label, infix).map(Some)
    }

    pub fn time(&mut self, name: &'static str) -> Result<Option<i64>, Fault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match read_fetched_at(&text, None) {
            Some(time) => Ok(Some(time)),
            None => fault(name, "a time in UTC", text),
        }
    }

    pub fn named(&mut self, name: &'static str) -> Result<Option<Named>, Fault> {
        let value = self.take(name)?;
        if value.kind() == Kind::Null {
            return Ok(None);
        }
        let mut members = Members { list: value.members().collect(), at: 0 };
        let named = Named {
            run: members.number("run")?,
            seq: members.number("seq")?,
            url: members.text("url")?,
            fetched_at: members.time("fetched_at")?,
        };
        members.end()?;
        Ok(Some(named))
    }

    pub fn problems(&mut self) -> Result<Problems, Fault> {
        let value = self.take("problems")?;
        let mut problems = Problems::default();
        if value.kind() != Kind::Array {
            return fault("problems", "a list", value.source());
        }
        for item in value.elements() {
            let known = Problem::ALL.iter().find(|problem| item.kind() == Kind::String && item.is(problem.code()));
            let Some(problem) = known else { return fault("problems", "known codes", item.source()) };
            problems.add(*problem);
        }
        Ok(problems)
    }
}
