//! The strict reader: RFC 8259's grammar, with RFC 7493's refusals.

use super::repeated::unrepeated;
use super::text::{hex4, plain_until};
use super::{Kind, Tape};
use crate::error::{Code, Refusal};

/// How deep a record may be nested; the record's own object is level 1.
pub const MAX_DEPTH: usize = 128;

/// Reads one JSON object from `text` onto `tape`, replacing what was there.
///
/// # Errors
/// The first fault in the order of `spec/keys-1.md`: syntax from left to right (`invalid-json` or `too-deep`),
/// then `not-an-object`, then `unpaired-surrogate`, then `repeated-member`. A text over 4 GiB is `line-too-long`.
pub fn parse(text: &str, tape: &mut Tape) -> Result<(), Refusal> {
    read_syntax(text, tape)?;
    if tape.node(0).kind != Kind::Object {
        return Err(Refusal::line(Code::NotAnObject, "a JSON value, but not an object"));
    }
    check_meaning(text, tape)
}

/// As [`parse`], but any JSON value will do.
///
/// # Errors
/// As [`parse`], without `not-an-object`.
pub fn parse_value(text: &str, tape: &mut Tape) -> Result<(), Refusal> {
    read_syntax(text, tape)?;
    check_meaning(text, tape)
}

fn read_syntax(text: &str, tape: &mut Tape) -> Result<(), Refusal> {
    tape.clear();
    if u32::try_from(text.len()).is_err() {
        return Err(Refusal::line(Code::LineTooLong, "longer than 4 GiB"));
    }
    Reader { bytes: text.as_bytes(), at: 0, tape }.document()
}

/// What RFC 7493 refuses beyond RFC 8259's grammar.
fn check_meaning(text: &str, tape: &mut Tape) -> Result<(), Refusal> {
    if tape.surrogate {
        return Err(Refusal::line(Code::UnpairedSurrogate, "a \\u escape of a surrogate without its partner"));
    }
    unrepeated(text, tape)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    tape: &'a mut Tape,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Refusal> {
        self.space();
        self.value()?;
        loop {
            self.space();
            let Some(open) = self.tape.open.last().copied() else { break };
            let object = self.tape.node(open).kind == Kind::Object;
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.space();
                    if object {
                        self.name()?;
                    }
                    self.value()?;
                }
                Some(b'}') if object => self.close(open),
                Some(b']') if !object => self.close(open),
                Some(_) => {
                    return Err(self.fault(if object { "\",\" or \"}\" expected" } else { "\",\" or \"]\" expected" }));
                }
                None => return Err(self.fault("the text ends inside an object or a list")),
            }
        }
        if self.at < self.bytes.len() { Err(self.fault("something follows the value")) } else { Ok(()) }
    }

    /// Reads a value; of a list or an object that is not empty, up to and with its first element or member.
    fn value(&mut self) -> Result<(), Refusal> {
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'"') => return self.string(),
                Some(b'-' | b'0'..=b'9') => return self.number(),
                Some(b't') => return self.word(b"true", Kind::True),
                Some(b'f') => return self.word(b"false", Kind::False),
                Some(b'n') => return self.word(b"null", Kind::Null),
                Some(bracket @ (b'{' | b'[')) => {
                    if self.tape.open.len() == MAX_DEPTH {
                        return Err(Refusal::line(Code::TooDeep, format!("nested deeper than {MAX_DEPTH} levels")));
                    }
                    let object = bracket == b'{';
                    let index = self.push(if object { Kind::Object } else { Kind::Array }, start, start, false);
                    self.tape.open.push(index);
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(if object { b'}' } else { b']' }) {
                        self.close(index);
                        return Ok(());
                    }
                    if object {
                        self.name()?;
                    }
                }
                Some(_) => return Err(self.fault("a value expected")),
                None => return Err(self.fault("the text ends where a value is expected")),
            }
        }
    }

    fn name(&mut self) -> Result<(), Refusal> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("a member name expected"));
        }
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.fault("\":\" expected"));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn string(&mut self) -> Result<(), Refusal> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        loop {
            self.at = plain_until(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.fault("a control character inside a string")),
                None => return Err(self.fault("the text ends inside a string")),
            }
        }
        self.push(Kind::String, start, self.at, escaped);
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Refusal> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let Some(unit) = hex4(self.bytes, self.at + 2) else {
                    return Err(self.fault("a \\u escape without four digits"));
                };
                self.at += 6;
                if (0xD800..0xDC00).contains(&unit)
                    && self.bytes.get(self.at..self.at + 2) == Some(b"\\u")
                    && let Some(0xDC00..0xE000) = hex4(self.bytes, self.at + 2)
                {
                    self.at += 6;
                    return Ok(());
                }
                self.tape.surrogate |= (0xD800..0xE000).contains(&unit);
            }
            _ => return Err(self.fault("an unknown escape")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        if let Some(b'0'..=b'9') = self.peek() {
            return Err(self.fault("a number with a leading zero"));
        }
        self.push(Kind::Number, start, self.at, false);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.fault("a digit expected")) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<(), Refusal> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word) {
            return Err(self.fault("a value expected"));
        }
        self.push(kind, self.at, end, false);
        self.at = end;
        Ok(())
    }

    fn close(&mut self, open: u32) {
        self.at += 1;
        self.tape.open.pop();
        let next = length(self.tape.nodes.len());
        if let Some(node) = self.tape.nodes.get_mut(open as usize) {
            node.end = length(self.at);
            node.next = next;
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, escaped: bool) -> u32 {
        self.tape.add(kind, start, end, escaped)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn fault(&self, what: &str) -> Refusal {
        Refusal::line(Code::InvalidJson, format!("{what}, at byte {}", self.at + 1))
    }
}

/// Lengths fit: `parse` and `Builder` refuse texts over 4 GiB, and a node takes at least one byte of text.
#[allow(clippy::cast_possible_truncation)] // checked once per text
pub(super) fn length(value: usize) -> u32 {
    value as u32
}
