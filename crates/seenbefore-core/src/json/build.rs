//! A tape made from a program's values instead of from text.

use super::parse::length;
use super::repeated::unrepeated;
use super::{Kind, MAX_DEPTH, Tape};
use crate::canonicalise::write_string;
use crate::error::{Code, Refusal};

/// Writes JSON text and its tape at the same time, so that a program's record and the same record in a file take one path.
///
/// Call `object` / `array`, their contents and `close` in reading order; in objects `string` for each name before its value.
#[derive(Debug, Default)]
pub struct Builder {
    text: Vec<u8>,
    tape: Tape,
    /// For each open object or array: how many names and values stand in it.
    counts: Vec<u32>,
}

impl Builder {
    /// An empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens an object (`Kind::Object`) or an array (`Kind::Array`).
    ///
    /// # Errors
    /// `too-deep` beyond 128 levels.
    pub fn open(&mut self, kind: Kind) -> Result<(), Refusal> {
        if self.tape.open.len() == MAX_DEPTH {
            return Err(Refusal::line(Code::TooDeep, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.separate();
        let index = self.push(kind, self.text.len(), false);
        self.tape.open.push(index);
        self.counts.push(0);
        self.text.push(if kind == Kind::Object { b'{' } else { b'[' });
        Ok(())
    }

    /// Closes what was opened last.
    pub fn close(&mut self) {
        let Some(open) = self.tape.open.pop() else { return };
        self.counts.pop();
        let next = length(self.tape.nodes.len());
        let object = self.tape.node(open).kind == Kind::Object;
        self.text.push(if object { b'}' } else { b']' });
        if let Some(node) = self.tape.nodes.get_mut(open as usize) {
            node.next = next;
            node.end = length(self.text.len());
        }
    }

    /// A string value, or a member's name.
    pub fn string(&mut self, value: &str) {
        self.separate();
        let start = self.text.len() + 1;
        write_string(value, &mut self.text);
        let escaped = self.text.get(start..).is_some_and(|inside| inside.contains(&b'\\'));
        let end = self.text.len() - 1;
        let index = self.push(Kind::String, start, escaped);
        self.end(index, end);
    }

    /// A number in JSON's spelling, `true`, `false` or `null`; or a float in its shortest round-trip spelling.
    pub fn token(&mut self, kind: Kind, spelling: &str) {
        self.separate();
        let index = self.push(kind, self.text.len(), false);
        self.text.extend_from_slice(spelling.as_bytes());
        self.end(index, self.text.len());
    }

    /// The text and its tape.
    ///
    /// # Errors
    /// `line-too-long` over 4 GiB of text; `repeated-member` (a mapping whose keys differ but read the same).
    pub fn finish(mut self) -> Result<(String, Tape), Refusal> {
        let text = String::from_utf8(self.text).map_err(|_| Refusal::line(Code::InvalidUtf8, "not UTF-8"))?;
        if u32::try_from(text.len()).is_err() {
            return Err(Refusal::line(Code::LineTooLong, "longer than 4 GiB"));
        }
        unrepeated(&text, &mut self.tape)?;
        Ok((text, self.tape))
    }

    /// The comma or colon that goes before the next value.
    fn separate(&mut self) {
        let (Some(open), Some(count)) = (self.tape.open.last(), self.counts.last_mut()) else { return };
        if *count > 0 {
            let object = self.tape.node(*open).kind == Kind::Object;
            self.text.push(if object && *count % 2 == 1 { b':' } else { b',' });
        }
        *count += 1;
    }

    fn push(&mut self, kind: Kind, start: usize, escaped: bool) -> u32 {
        self.tape.add(kind, start, start, escaped)
    }

    fn end(&mut self, index: u32, end: usize) {
        if let Some(node) = self.tape.nodes.get_mut(index as usize) {
            node.end = length(end);
        }
    }
}
