//! `Verifier`: evidence checked record by record, without a Python object a record.

use crate::rules::Ruleset;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use seenbefore_core::verify::Verifier as Core;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Check, file, line, what, expected, found.
type Finding = (&'static str, String, u64, String, String, String);

/// How many receipts have a verdict, an action, a code or a problem.
type Counts = BTreeMap<&'static str, u64>;

/// Receipts read strictly and replayed, rows recomputed.
#[pyclass(module = "seenbefore._kernel")]
pub struct Verifier {
    inner: Core<PyBackedBytes>,
}

#[pymethods]
impl Verifier {
    #[new]
    #[pyo3(signature = (*, open, rows))]
    fn new(open: bool, rows: bool) -> Self {
        Self { inner: Core::new(open, rows) }
    }

    /// Names a run and the ruleset that it was judged by.
    fn add_run(&mut self, run: u64, rules: &Ruleset) {
        self.inner.add_run(run, Arc::clone(&rules.inner));
    }

    /// Whole lines of prior state; `line` lines of the file came before.
    fn prior(&mut self, py: Python<'_>, data: &[u8], file: &str, line: u64) {
        let inner = &mut self.inner;
        py.detach(|| inner.prior(data, file, line));
    }

    /// Whole lines of receipts, in the order of sightings.
    fn receipts(&mut self, py: Python<'_>, data: &[u8], file: &str, line: u64) {
        let inner = &mut self.inner;
        py.detach(|| inner.receipts(data, file, line));
    }

    /// Whole lines of kept rows. They wait until `check`.
    fn rows(&mut self, py: Python<'_>, data: PyBackedBytes, file: &str, line: u64) {
        let inner = &mut self.inner;
        py.detach(|| inner.rows(data, file, line));
    }

    /// Pairs and checks what waits, on all cores; everything once no more receipts and no more rows will come.
    fn check(&mut self, py: Python<'_>, no_more_receipts: bool, no_more_rows: bool) {
        let inner = &mut self.inner;
        py.detach(|| inner.check(no_more_receipts, no_more_rows));
    }

    /// How many receipts wait for their rows, and how many rows for their receipts.
    #[getter]
    fn waiting(&self) -> (usize, usize) {
        self.inner.waiting()
    }

    /// Run, number of receipts, SHA-256 of them, counts.
    fn runs<'py>(&self, py: Python<'py>) -> Vec<(u64, u64, Bound<'py, PyBytes>, Counts)> {
        let runs = self.inner.runs().into_iter();
        runs.map(|run| (run.run, run.records, PyBytes::new(py, &run.receipts), run.counts)).collect()
    }

    /// The findings since the last call.
    fn findings(&mut self) -> Vec<Finding> {
        let findings = self.inner.findings().take().into_iter();
        findings
            .map(|one| (one.check.code(), one.file.to_string(), one.line, one.what, one.expected, one.found))
            .collect()
    }

    /// For each check: how many things passed, how many failed, and by reason how many could not be decided.
    fn tallies<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (check, tally) in self.inner.findings().tallies() {
            dict.set_item(check.code(), (tally.passed, tally.failed, tally.unchecked.clone()))?;
        }
        Ok(dict)
    }
}
