//! CSV to lines (RFC 4180): cells are text, whatever they look like, and what is not a row by the book is set aside.

use super::{Place, Row, Rows};
use crate::canonicalise::{write_escape, write_string};
use crate::error::{Code, Refusal};
use crate::json::plain_until;
use memchr::{memchr, memchr_iter, memrchr};
use std::collections::HashSet;

const QUOTE: u8 = b'"';
const TOO_FAR: &str = "a quote that is not closed within the longest row allowed";

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// What stands between cells: a character of ASCII.
    pub delimiter: u8,
    /// Longer rows are set aside.
    pub max_line: usize,
}

/// What is wrong with a header: the file has no columns then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It is not UTF-8.
    #[error("its header is not UTF-8")]
    Encoding,
    /// It is not a row; says why.
    #[error("its header is no row of a table: {0}")]
    Row(Box<str>),
    /// A column has no name.
    #[error("column {0} has no name")]
    Unnamed(usize),
    /// Two columns have one name.
    #[error("two columns are named \"{0}\"")]
    Repeated(String),
}

/// A table being read: fed whole lines, it gives the rows that end in them.
#[derive(Debug)]
pub struct Table {
    dialect: Dialect,
    /// What stands before the text of each cell in a line of JSON; none until the header was read.
    before: Vec<Vec<u8>>,
    columns: Vec<String>,
    header_lines: u64,
    /// The lines of a row that has not ended yet, and its place.
    open: Vec<u8>,
    line: u64,
    offset: u64,
    cells: Vec<Cell>,
}

/// A cell as it stands in its row, quotes around it left out.
#[derive(Clone, Copy, Debug)]
struct Cell {
    start: usize,
    end: usize,
}

/// How the look for the end of a row ended.
enum Found {
    /// The row ends here, its line end included.
    Row(usize),
    /// The data ends inside quotes.
    Open,
    /// The quotes don't work out.
    Fault(&'static str),
}

impl Table {
    /// A table whose first line starts at `offset`.
    #[must_use]
    pub fn new(dialect: Dialect, offset: u64) -> Self {
        Self {
            dialect,
            before: Vec::new(),
            columns: Vec::new(),
            header_lines: 0,
            open: Vec::new(),
            line: 1,
            offset,
            cells: Vec::new(),
        }
    }

    /// The names of the columns; empty until the header was read.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where the first row that was not given out yet starts.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Lines before the first row that was not given out yet.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.line - 1
    }

    /// Lines of the header and before it.
    #[must_use]
    pub fn header_lines(&self) -> u64 {
        self.header_lines
    }

    /// Takes whole lines, gives the rows that end in them. The last line of an input may lack its line end.
    ///
    /// # Errors
    /// For a header that names no columns.
    pub fn feed(&mut self, lines: &[u8]) -> Result<Rows, HeaderFault> {
        if self.open.is_empty() {
            return self.split(lines, false);
        }
        let mut data = std::mem::take(&mut self.open);
        data.extend_from_slice(lines);
        // Inside quotes only a quote can end the row.
        if memchr(QUOTE, lines).is_none() && data.len() <= self.dialect.max_line {
            self.open = data;
            return Ok(Rows::of(b"", 0));
        }
        self.split(&data, false)
    }

    /// The rows of lines whose quotes are still open: at the end of the input, or where a line was too long to be held.
    ///
    /// # Errors
    /// As [`Table::feed`].
    pub fn finish(&mut self) -> Result<Rows, HeaderFault> {
        let data = std::mem::take(&mut self.open);
        self.split(&data, true)
    }

    /// Passes over a line that was too long to be held and ends before `after`.
    pub fn skip_line(&mut self, after: u64) {
        self.line += 1;
        self.offset = after;
    }

    fn split(&mut self, data: &[u8], last: bool) -> Result<Rows, HeaderFault> {
        let mut rows = Rows::of(data, data.len() * 2);
        let valid = std::str::from_utf8(data).is_ok();
        let mut at = 0;
        while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
            let found = match self.row(rest) {
                Found::Open if last => Found::Fault("a quote that is never closed"),
                Found::Open if rest.len() > self.dialect.max_line => Found::Fault(TOO_FAR),
                Found::Row(length) if self.is_far(rest.get(..length).unwrap_or_default()) => Found::Fault(TOO_FAR),
                found => found,
            };
            at += match found {
                Found::Open => break,
                Found::Row(length) => self.end(rest.get(..length).unwrap_or_default(), at, valid, &mut rows)?,
                // Where the row was meant to end can't be told: its first line is set aside and the next is read afresh.
                Found::Fault(why) => self.fault(rest, at, why, &mut rows)?,
            };
        }
        self.open = data.get(at..).unwrap_or_default().to_vec();
        Ok(rows)
    }

    /// Whether the lines of a row before its last one, through which its quotes stay open, are over the limit together.
    fn is_far(&self, row: &[u8]) -> bool {
        let last = || memrchr(b'\n', row.strip_suffix(b"\n").unwrap_or(row));
        row.len() > self.dialect.max_line && last().is_some_and(|at| at >= self.dialect.max_line)
    }

    /// Finds the end of the row at the start of `data`, and its cells.
    fn row(&mut self, data: &[u8]) -> Found {
        self.cells.clear();
        let delimiter = self.dialect.delimiter;
        let mut at = 0;
        loop {
            let quoted = data.get(at) == Some(&QUOTE);
            let cell = if quoted {
                match quoted_cell(data, at + 1) {
                    Some(cell) => cell,
                    None => return Found::Open,
                }
            } else {
                let rest = data.get(at..).unwrap_or_default();
                let stop = |byte: &u8| matches!(*byte, b'\n' | b'\r' | QUOTE) || *byte == delimiter;
                let length = rest.iter().position(stop).unwrap_or(rest.len());
                Cell { start: at, end: at + length }
            };
            self.cells.push(cell);
            at = cell.end + usize::from(quoted);
            match (data.get(at), data.get(at + 1)) {
                (None, _) | (Some(b'\r'), None) => return Found::Row(data.len()),
                (Some(b'\n'), _) => return Found::Row(at + 1),
                (Some(b'\r'), Some(b'\n')) => return Found::Row(at + 2),
                (Some(byte), _) if *byte == delimiter => at += 1,
                (Some(b'\r'), _) => return Found::Fault("a carriage return without a line feed"),
                _ if quoted => return Found::Fault("text behind a closing quote"),
                _ => return Found::Fault("a quote inside a cell that doesn't start with one"),
            }
        }
    }

    /// Reads the row that starts at `at`, whose cells were found; gives its length.
    fn end(&mut self, row: &[u8], at: usize, valid: bool, rows: &mut Rows) -> Result<usize, HeaderFault> {
        let place = self.advance(row);
        let content = without_line_end(row);
        let invalid = if valid { None } else { std::str::from_utf8(content).err() };
        if content.is_empty() {
            // An empty line is no row.
            return Ok(row.len());
        }
        if self.columns.is_empty() {
            if invalid.is_some() {
                return Err(HeaderFault::Encoding);
            }
            self.header(row)?;
            self.header_lines = self.line - 1;
            return Ok(row.len());
        }
        let refusal = if let Some(error) = invalid {
            Some(Refusal::line(Code::InvalidUtf8, format!("not UTF-8 at byte {}", error.valid_up_to() + 1)))
        } else if self.cells.len() == self.columns.len() {
            None
        } else {
            let detail = format!("{} cells, where the header has {}", self.cells.len(), self.columns.len());
            Some(Refusal::line(Code::RaggedRow, detail))
        };
        let start = rows.text.len();
        if refusal.is_none() {
            for (cell, before) in self.cells.iter().zip(&self.before) {
                rows.text.extend_from_slice(before);
                write_cell(row, *cell, &mut rows.text);
            }
            rows.text.push(b'}');
        }
        rows.rows.push(Row {
            line: start..rows.text.len(),
            raw: at..at + content.len(),
            place,
            refusal: refusal.map(Box::new),
        });
        Ok(row.len())
    }

    /// Sets aside the first line of `data`, which starts at `at`; gives its length.
    fn fault(&mut self, data: &[u8], at: usize, why: &str, rows: &mut Rows) -> Result<usize, HeaderFault> {
        if self.columns.is_empty() {
            return Err(HeaderFault::Row(why.into()));
        }
        let line = data.get(..memchr(b'\n', data).map_or(data.len(), |at| at + 1)).unwrap_or_default();
        let raw = at..at + without_line_end(line).len();
        let place = self.advance(line);
        let refusal = Some(Box::new(Refusal::line(Code::InvalidCsv, why)));
        rows.rows.push(Row { line: 0..0, raw, place, refusal });
        Ok(line.len())
    }

    /// The place of the lines that come next, which are passed.
    fn advance(&mut self, lines: &[u8]) -> Place {
        let (line, offset) = (self.line, self.offset);
        self.line += memchr_iter(b'\n', lines).count() as u64 + u64::from(!lines.ends_with(b"\n"));
        self.offset += lines.len() as u64;
        Place { line, offset, lines_after: self.line - 1, after: self.offset }
    }

    fn header(&mut self, row: &[u8]) -> Result<(), HeaderFault> {
        let columns: Vec<String> = self
            .cells
            .iter()
            .map(|cell| {
                String::from_utf8_lossy(&undoubled(row.get(cell.start..cell.end).unwrap_or_default())).into_owned()
            })
            .collect();
        if let Some(at) = columns.iter().position(String::is_empty) {
            return Err(HeaderFault::Unnamed(at + 1));
        }
        let mut names = HashSet::new();
        if let Some(name) = columns.iter().find(|name| !names.insert(name.as_str())) {
            return Err(HeaderFault::Repeated(name.clone()));
        }
        self.before = columns
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let mut before = vec![if at == 0 { b'{' } else { b',' }];
                write_string(name, &mut before);
                before.push(b':');
                before
            })
            .collect();
        self.columns = columns;
        Ok(())
    }
}

/// The cell whose text starts at `start`, behind its opening quote; none where the data ends before its closing one.
///
/// The cell ends before the closing quote.
fn quoted_cell(data: &[u8], start: usize) -> Option<Cell> {
    let mut at = start;
    loop {
        at += memchr(QUOTE, data.get(at..)?)?;
        if data.get(at + 1) != Some(&QUOTE) {
            return Some(Cell { start, end: at });
        }
        at += 2;
    }
}

/// Writes a cell as a JSON string. `row` is UTF-8; two quotes in a cell are one.
fn write_cell(row: &[u8], cell: Cell, out: &mut Vec<u8>) {
    let bytes = row.get(cell.start..cell.end).unwrap_or_default();
    out.push(QUOTE);
    let mut at = 0;
    loop {
        let plain = plain_until(bytes, at);
        out.extend_from_slice(bytes.get(at..plain).unwrap_or_default());
        let Some(byte) = bytes.get(plain) else { break };
        write_escape(*byte, out);
        at = plain + if *byte == QUOTE { 2 } else { 1 };
    }
    out.push(QUOTE);
}

/// A quoted cell's text: two quotes are one. (Cells that aren't quoted hold none.)
fn undoubled(cell: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = memchr(QUOTE, rest) {
        text.extend_from_slice(rest.get(..=at).unwrap_or_default());
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

/// A row without its line feed and one carriage return before it.
fn without_line_end(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}
