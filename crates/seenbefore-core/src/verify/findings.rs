//! What a check found: each thing that is not as it must be, and how many things were looked at.

use crate::error::codes;
use std::collections::BTreeMap;
use std::sync::Arc;

codes! {
    /// The checks of `spec/bundle-1.md` §7 that are made record by record.
    Check {
        /// The sequence of a run's receipts.
        Runs = "runs",
        /// Prior state: its form.
        Prior = "prior",
        /// Receipts: their form and their keys' labels.
        Receipts = "receipts",
        /// URL keys of receipts.
        Urls = "urls",
        /// The verdict table.
        Replay = "replay",
        /// Rows: one for each receipt with `keep`, with the right `_seen`.
        Rows = "rows",
        /// Keys and facts recomputed from rows.
        Keys = "keys",
    }
}

/// Most findings of one check that are kept; all are counted.
pub const LISTED: u64 = 1000;
/// Most characters of a value that a finding shows.
const SHOWN: usize = 300;

/// One thing that is not as it must be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which check found it.
    pub check: Check,
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// The line in it, from 1.
    pub line: u64,
    /// What it is about, such as `verdict of 1:7`.
    pub what: String,
    /// What must stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// How many things a check looked at.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// As they must be.
    pub passed: u64,
    /// Findings.
    pub failed: u64,
    /// What could not be decided, by reason.
    pub unchecked: BTreeMap<&'static str, u64>,
}

/// All findings and counts.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    tallies: BTreeMap<Check, Tally>,
}

impl Findings {
    /// Counts what is as it must be.
    pub fn passed(&mut self, check: Check, count: u64) {
        self.tallies.entry(check).or_default().passed += count;
    }

    /// Counts what cannot be decided.
    pub fn unchecked(&mut self, check: Check, reason: &'static str, count: u64) {
        *self.tallies.entry(check).or_default().unchecked.entry(reason).or_default() += count;
    }

    /// Adds a finding.
    pub fn add(&mut self, mut finding: Finding) {
        let tally = self.tallies.entry(finding.check).or_default();
        tally.failed += 1;
        if tally.failed <= LISTED {
            cut(&mut finding.expected);
            cut(&mut finding.found);
            self.list.push(finding);
        }
    }

    /// Adds what was found about one thing, or counts it as passed.
    pub fn settle(&mut self, check: Check, findings: Vec<Finding>) {
        if findings.is_empty() {
            self.passed(check, 1);
        }
        for finding in findings {
            self.add(finding);
        }
    }

    /// The counts of each check that looked at something.
    #[must_use]
    pub fn tallies(&self) -> &BTreeMap<Check, Tally> {
        &self.tallies
    }

    /// The findings since the last call.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.list)
    }
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push_str(" …");
    }
}
