//! Tables and arrays to lines: every format but NDJSON becomes the lines that the boundary reads (`spec/inputs-1.md`).
//!
//! A splitter is fed the bytes of an input piece by piece and gives [`Rows`]: each record as a line of JSON with its place in the
//! input, or its bytes as they stand with the reason why they are none. Nothing here reads a file.

mod array;
mod csv;
mod recoded;

pub use array::{Array, Fault, Long, Part};
pub use csv::{Dialect, HeaderFault, Table};
pub use recoded::Recoded;

use crate::boundary::line_end;
use crate::error::Refusal;
use std::ops::Range;
use std::sync::Arc;

/// Where a record stands in its input, and where the next one begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its number: of its first line in a CSV file, of the element or row elsewhere; from 1.
    pub line: u64,
    /// Where it starts: in bytes, or in rows where the input has no bytes of its own order.
    pub offset: u64,
    /// How many lines, elements or rows lie before what follows it.
    pub lines_after: u64,
    /// Where what follows it starts.
    pub after: u64,
}

/// One record of [`Rows`].
#[derive(Clone, Debug)]
pub struct Row {
    /// Its line of JSON in the text. Nothing where it is no record.
    pub line: Range<usize>,
    /// Its bytes as they stand in the input, in the text too.
    pub raw: Range<usize>,
    /// Where it came from.
    pub place: Place,
    /// Why it is no record, where that is known before its line is read.
    pub refusal: Option<Box<Refusal>>,
}

/// A way from a record to binary floats in it: member names, and none for every element or member.
pub type FloatPath = Vec<Option<String>>;

/// Records that were cut out of an input, in order.
#[derive(Debug)]
pub struct Rows {
    /// What the ranges of the records are ranges of.
    pub text: Vec<u8>,
    /// The records.
    pub rows: Vec<Row>,
    /// Where numbers in them are binary floats.
    pub floats: Arc<[FloatPath]>,
}

impl Rows {
    /// The rows of a columnar file: lines of JSON that end at LF, of which the first is row `first` from 0.
    ///
    /// `refused` says for some of them, by index and sorted, why they are no records.
    #[must_use]
    pub fn of_lines(lines: Vec<u8>, first: u64, floats: Arc<[FloatPath]>, refused: Vec<(usize, Refusal)>) -> Self {
        let mut rows = Vec::new();
        let mut refused = refused.into_iter().peekable();
        let (mut start, mut offset) = (0, first);
        while start < lines.len() {
            let (end, next) = line_end(&lines, start);
            let refusal = refused.next_if(|(index, _)| *index == rows.len()).map(|(_, refusal)| Box::new(refusal));
            let place = Place { line: offset + 1, offset, lines_after: offset + 1, after: offset + 1 };
            rows.push(Row { line: start..end, raw: start..end, place, refusal });
            (start, offset) = (next, offset + 1);
        }
        Self { text: lines, rows, floats }
    }

    /// No records yet. `input` becomes the start of the text; there is room for `more` bytes behind it.
    fn of(input: &[u8], more: usize) -> Self {
        let mut text = Vec::with_capacity(input.len() + more);
        text.extend_from_slice(input);
        Self { text, rows: Vec::new(), floats: Arc::from([]) }
    }
}

impl AsRef<[u8]> for Rows {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}
