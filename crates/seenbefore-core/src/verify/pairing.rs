//! Which row is that of which receipt: the next of the next, unless rows are missing, added, repeated or out of place.

use super::findings::{Check, Finding, Findings};
use super::rows::{self, Checked, Expected, Where, Worker};
use crate::boundary;
use crate::json::Tape;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// How far ahead a row or a receipt is looked for that has no partner in its place.
const AHEAD: usize = 64;
/// Rows that are checked at once.
const MOST: usize = 8192;
/// Rows that were asked for and not found, of which is remembered whose they were.
const MISSING: usize = 64;

struct Row<P> {
    piece: Arc<P>,
    start: usize,
    end: usize,
    file: Arc<str>,
    line: u64,
    record: OnceLock<bool>,
}

impl<P: AsRef<[u8]>> Row<P> {
    fn bytes(&self) -> &[u8] {
        (*self.piece).as_ref().get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it can be read at all: what can't is nobody's row, and isn't read once for each receipt.
    fn is_record(&self) -> bool {
        *self.record.get_or_init(|| boundary::read(self.bytes(), usize::MAX, true, &mut Tape::new()).is_ok())
    }

    fn place(&self) -> Where<'_> {
        Where { file: &self.file, line: self.line }
    }
}

/// The receipts that ask for rows, and the rows, both in their order.
pub struct Pairing<P> {
    expected: VecDeque<Expected>,
    rows: VecDeque<Row<P>>,
    missing: VecDeque<Expected>,
    last: Option<Row<P>>,
}

impl<P> Default for Pairing<P> {
    fn default() -> Self {
        Self { expected: VecDeque::new(), rows: VecDeque::new(), missing: VecDeque::new(), last: None }
    }
}

impl<P: AsRef<[u8]> + Send + Sync> Pairing<P> {
    pub fn expect(&mut self, expected: Expected) {
        self.expected.push_back(expected);
    }

    pub fn rows(&mut self, data: P, file: &Arc<str>, line: u64) {
        let piece = Arc::new(data);
        let bytes = (*piece).as_ref();
        let mut start = 0;
        let mut line = line;
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            line += 1;
            self.rows.push_back(Row {
                piece: Arc::clone(&piece),
                start,
                end,
                file: Arc::clone(file),
                line,
                record: OnceLock::new(),
            });
            start = end + 1;
        }
    }

    pub fn waiting(&self) -> (usize, usize) {
        (self.expected.len(), self.rows.len())
    }

    /// Pairs what waits. Some are held back to be looked ahead to, unless no more receipts, or no more rows, will come.
    pub fn check(&mut self, no_more_receipts: bool, no_more_rows: bool, findings: &mut Findings) {
        let held = |no_more: bool| if no_more { 0 } else { AHEAD + 1 };
        let mut window = MOST;
        loop {
            let expected = self.expected.len().saturating_sub(held(no_more_receipts));
            let count = self.rows.len().saturating_sub(held(no_more_rows)).min(expected).min(window);
            if count == 0 {
                break;
            }
            let shifted = self.window(count, findings);
            // After a shift only a few are tried at once, so that many shifts cost little.
            window = if shifted { AHEAD } else { (window * 2).min(MOST) };
        }
        if no_more_rows && self.rows.is_empty() {
            while let Some(expected) = self.expected.pop_front() {
                self.absent(expected, findings);
            }
        }
        if no_more_receipts && self.expected.is_empty() {
            while let Some(row) = self.rows.pop_front() {
                self.surplus(row, findings);
            }
        }
    }

    /// Checks so many pairs from the front. True where rows or receipts were passed over to find partners.
    fn window(&mut self, count: usize, findings: &mut Findings) -> bool {
        let pairs: Vec<_> = self.expected.iter().zip(self.rows.iter()).take(count).collect();
        let checked: Vec<Checked> = pairs
            .par_iter()
            .with_min_len(16)
            .map_init(Worker::default, |worker, (expected, row)| {
                rows::check(worker, expected, row.bytes(), &row.place())
            })
            .collect();
        for checked in checked {
            if !checked.is_of && self.shift(findings) {
                return true;
            }
            settle(checked, findings);
            self.expected.pop_front();
            self.last = self.rows.pop_front();
        }
        false
    }

    /// Looks for partners of the first row and the first receipt further on; passes over what stands between.
    fn shift(&mut self, findings: &mut Findings) -> bool {
        let mut worker = Worker::default();
        let mut is_of = |expected: Option<&Expected>, row: Option<&Row<P>>| match (expected, row) {
            (Some(expected), Some(row)) => rows::check(&mut worker, expected, row.bytes(), &row.place()).is_of,
            _ => false,
        };
        let here = self.rows.front().is_some_and(Row::is_record);
        for distance in 1..=AHEAD {
            if here && is_of(self.expected.get(distance), self.rows.front()) {
                for expected in self.expected.drain(..distance).collect::<Vec<_>>() {
                    self.absent(expected, findings);
                }
                return true;
            }
            let there = self.rows.get(distance).filter(|row| row.is_record());
            if is_of(self.expected.front(), there) {
                for row in self.rows.drain(..distance).collect::<Vec<_>>() {
                    self.surplus(row, findings);
                }
                return true;
            }
        }
        false
    }

    fn absent(&mut self, expected: Expected, findings: &mut Findings) {
        findings.add(Finding {
            check: Check::Rows,
            file: Arc::clone(&expected.file),
            line: expected.line,
            what: format!("row of {}", expected.name()),
            expected: "a row in its place, because the receipt says keep".to_owned(),
            found: "none".to_owned(),
        });
        if self.missing.len() == MISSING {
            self.missing.pop_front();
        }
        self.missing.push_back(expected);
    }

    fn surplus(&mut self, row: Row<P>, findings: &mut Findings) {
        let mut worker = Worker::default();
        let again = self.last.as_ref().is_some_and(|last| last.bytes() == row.bytes());
        let is_record = row.is_record();
        let of =
            self.missing.iter().find(|one| is_record && rows::check(&mut worker, one, row.bytes(), &row.place()).is_of);
        let found = match of {
            Some(expected) => format!("the row of {}, out of its place", expected.name()),
            None if again => "the row before, once more".to_owned(),
            None => "a row that no receipt asks for".to_owned(),
        };
        findings.add(Finding {
            check: Check::Rows,
            file: Arc::clone(&row.file),
            line: row.line,
            what: "row".to_owned(),
            expected: "none here".to_owned(),
            found,
        });
        self.last = Some(row);
    }
}

fn settle(checked: Checked, findings: &mut Findings) {
    match checked.seen_unchecked.filter(|_| checked.seen.is_empty()) {
        Some(reason) => findings.unchecked(Check::Rows, reason, 1),
        None => findings.settle(Check::Rows, checked.seen),
    }
    if !checked.is_record {
        return;
    }
    // What was given beside a record can't be recomputed; its digests and keys were.
    if let Some(reason) = checked.unchecked.filter(|_| checked.keys.is_empty()) {
        findings.unchecked(Check::Keys, reason, 1);
    }
    findings.settle(Check::Keys, checked.keys);
}
