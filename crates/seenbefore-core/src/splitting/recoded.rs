//! A table in another encoding than UTF-8: rows are found in its text, and named by its bytes.

use super::{HeaderFault, Rows, Table};
use crate::error::{Code, Refusal};
use std::collections::VecDeque;

/// A [`Table`] that is fed text beside the bytes that it was decoded from, line for line.
#[derive(Debug)]
pub struct Recoded {
    table: Table,
    /// A line feed in the encoding; it stands at multiples of its own length.
    line_feed: Vec<u8>,
    carriage_return: Vec<u8>,
    /// Lines from which no row was given out yet: offset, bytes with the line end, whether they could not be decoded.
    lines: VecDeque<(u64, Vec<u8>, bool)>,
    offset: u64,
}

impl Recoded {
    /// A table whose bytes start at `offset`; the two controls as they are encoded.
    #[must_use]
    pub fn new(table: Table, offset: u64, line_feed: &[u8], carriage_return: &[u8]) -> Self {
        Self {
            table,
            line_feed: line_feed.to_vec(),
            carriage_return: carriage_return.to_vec(),
            lines: VecDeque::new(),
            offset,
        }
    }

    /// The names of the columns; empty until the header was read.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        self.table.columns()
    }

    /// Lines before the first row that was not given out yet.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.table.lines()
    }

    /// Where the first row that was not given out yet starts.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.lines.front().map_or(self.offset, |line| line.0)
    }

    /// Takes whole lines as `text` and as the `bytes` that it was decoded from. `bad` are the lines, from 0, that can't be decoded.
    ///
    /// # Errors
    /// As [`Table::feed`].
    pub fn feed(&mut self, text: &[u8], bytes: &[u8], bad: &[usize]) -> Result<Rows, HeaderFault> {
        let mut rest = bytes;
        for index in 0.. {
            if rest.is_empty() {
                break;
            }
            let (line, after) = rest.split_at(self.line_length(rest));
            self.lines.push_back((self.offset, line.to_vec(), bad.contains(&index)));
            self.offset += line.len() as u64;
            rest = after;
        }
        let first = self.table.lines();
        let rows = self.table.feed(text)?;
        self.named(first, rows)
    }

    /// As [`Table::finish`].
    ///
    /// # Errors
    /// As [`Table::feed`].
    pub fn finish(&mut self) -> Result<Rows, HeaderFault> {
        let first = self.table.lines();
        let rows = self.table.finish()?;
        self.named(first, rows)
    }

    /// Passes over a line that was too long to be held and ends before `after`.
    pub fn skip_line(&mut self, after: u64) {
        self.table.skip_line(after);
        self.offset = after;
    }

    /// Puts the bytes of the input in place of offsets and bytes of the text. `first` lines lie before `self.lines`.
    fn named(&mut self, first: u64, mut rows: Rows) -> Result<Rows, HeaderFault> {
        let held = self.lines.len();
        let at = |line: u64| usize::try_from(line.saturating_sub(first)).unwrap_or(usize::MAX).min(held);
        if self.lines.range(..at(self.table.header_lines())).any(|line| line.2) {
            return Err(HeaderFault::Encoding);
        }
        for row in &mut rows.rows {
            let (start, end) = (at(row.place.line - 1), at(row.place.lines_after));
            row.place.offset = self.lines.get(start).map_or(self.offset, |line| line.0);
            row.place.after = self.lines.get(end).map_or(self.offset, |line| line.0);
            let raw = rows.text.len();
            for (_, bytes, bad) in self.lines.range(start..end) {
                rows.text.extend_from_slice(bytes);
                if *bad {
                    let refusal = Refusal::line(Code::InvalidEncoding, "bytes that the declared encoding doesn't have");
                    row.refusal = Some(Box::new(refusal));
                }
            }
            let length = self.without_line_end(rows.text.get(raw..).unwrap_or_default()).len();
            row.raw = raw..raw + length;
        }
        self.lines.drain(..at(self.table.lines()));
        Ok(rows)
    }

    /// The length of the first line of `bytes`, its line end included.
    fn line_length(&self, bytes: &[u8]) -> usize {
        let unit = self.line_feed.len().max(1);
        if unit == 1 {
            return memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        }
        let found = bytes.chunks(unit).position(|scalar| scalar == self.line_feed);
        found.map_or(bytes.len(), |at| (at + 1) * unit)
    }

    fn without_line_end<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let line = line.strip_suffix(self.line_feed.as_slice()).unwrap_or(line);
        line.strip_suffix(self.carriage_return.as_slice()).unwrap_or(line)
    }
}
