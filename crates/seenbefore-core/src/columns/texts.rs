//! Columns written: rows of CSV, or the text of each value one column after the other.

use super::{Columns, Type, each_line};
use crate::error::Refusal;
use crate::json::{Kind, Tape, Value};
use std::borrow::Cow;

/// The texts of one column, laid out as Arrow has them: a bit for each value that is there, where each ends, and all of them.
#[derive(Debug, Default)]
pub struct Text {
    /// Lowest bit first.
    pub there: Vec<u8>,
    /// One more than there are values, in the machine's order of bytes.
    pub ends: Vec<u8>,
    /// The texts.
    pub text: Vec<u8>,
    /// How many values.
    pub values: usize,
}

impl Text {
    fn push(&mut self, value: Option<Cow<'_, str>>) {
        if self.values.is_multiple_of(8) {
            self.there.push(0);
        }
        if let Some(text) = value {
            if let Some(last) = self.there.last_mut() {
                *last |= 1 << (self.values % 8);
            }
            self.text.extend_from_slice(text.as_bytes());
        }
        self.ends.extend_from_slice(&(self.text.len() as u64).to_ne_bytes());
        self.values += 1;
    }
}

impl Columns {
    /// The first row of CSV.
    #[must_use]
    pub fn csv_header(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, (name, _)) in self.named().iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_cell(name, &mut out);
        }
        out.push(b'\n');
        out
    }

    /// Rows of CSV (RFC 4180, ended by LF): null and missing are an empty cell, an empty string is `""`.
    ///
    /// # Errors
    /// Where a line is no record.
    pub fn csv(&self, lines: &[u8]) -> Result<Vec<u8>, Refusal> {
        let order = self.order();
        let mut out = Vec::with_capacity(lines.len());
        each_line(lines, &mut Tape::new(), |record| {
            let values = self.values(record);
            for (index, at) in order.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                match values.get(*at).copied().flatten().and_then(|value| text_of(value, false)) {
                    Some(text) => write_cell(&text, &mut out),
                    // A row of one empty cell would be an empty line, which is no row.
                    None if order.len() == 1 => write_cell("", &mut out),
                    None => {}
                }
            }
            out.push(b'\n');
        })?;
        Ok(out)
    }

    /// The texts of all columns, in their order.
    ///
    /// # Errors
    /// Where a line is no record.
    pub fn texts(&self, lines: &[u8]) -> Result<Vec<Text>, Refusal> {
        let order: Vec<(usize, bool)> =
            self.order().into_iter().zip(self.named()).map(|(at, (_, kind))| (at, kind == Type::Json)).collect();
        let mut texts: Vec<Text> = Vec::new();
        texts.resize_with(order.len(), || Text { ends: 0_u64.to_ne_bytes().to_vec(), ..Text::default() });
        each_line(lines, &mut Tape::new(), |record| {
            let values = self.values(record);
            for (text, (at, json)) in texts.iter_mut().zip(&order) {
                text.push(values.get(*at).copied().flatten().and_then(|value| text_of(value, *json)));
            }
        })?;
        Ok(texts)
    }
}

/// The text of a value: a string's own, else (and as `json` always) its JSON text as it stands; none for null.
fn text_of(value: Value<'_>, json: bool) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::Null => None,
        Kind::String if !json => Some(value.string()),
        _ => Some(Cow::Borrowed(value.source())),
    }
}

fn write_cell(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if !bytes.is_empty() && !bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for (at, piece) in bytes.split(|byte| *byte == b'"').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(piece);
    }
    out.push(b'"');
}
