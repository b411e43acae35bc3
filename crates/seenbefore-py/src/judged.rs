//! `Judged` and `Blocks`: what a judged batch writes and changes. Rows become Python objects only where somebody asks for them.

use crate::batch::Piece;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use seenbefore_core::batch::{Batch, Counts, Earlier, SightingRow};
use seenbefore_core::judge::Verdict;
use seenbefore_core::keys::Digest;
use seenbefore_store::{Content, Moved, Packed, Place, Rows};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

type BlockTuple<'py> = (u64, usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);
type SightingTuple<'py> =
    (i64, u64, u64, i64, Option<i64>, Option<i64>, Option<i64>, u8, Option<&'py str>, Option<Bound<'py, PyBytes>>);

/// A batch that was judged and rendered: see `_kernel.pyi` for the shapes.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Judged {
    batch: Arc<Batch<Piece>>,
    /// Rendered when they are first asked for, where nothing had to be written.
    blocks: OnceLock<Vec<Packed>>,
    /// What rendering needs of earlier rows.
    earlier: Vec<Earlier>,
    source_ids: Vec<i64>,
    tally: Counts,
    /// The claim that it was judged by, where a store in `SQLite` judged it.
    claim: Option<u64>,
}

impl Judged {
    pub fn new(batch: Arc<Batch<Piece>>, blocks: Vec<Packed>, source_ids: Vec<i64>, claim: Option<u64>) -> Self {
        let tally = batch.counts();
        Self { batch, blocks: OnceLock::from(blocks), earlier: Vec::new(), source_ids, tally, claim }
    }

    /// A judged batch that is rendered only where somebody asks for what was written about it.
    pub fn unrendered(batch: Arc<Batch<Piece>>, earlier: Vec<Earlier>, source_ids: Vec<i64>, claim: u64) -> Self {
        let tally = batch.counts();
        Self { batch, blocks: OnceLock::new(), earlier, source_ids, tally, claim: Some(claim) }
    }

    fn rendered(&self) -> &[Packed] {
        self.blocks.get_or_init(|| {
            let blocks = self.batch.render(&self.earlier);
            blocks.into_iter().map(|block| Packed { block, ..Packed::default() }).collect()
        })
    }

    pub fn claim(&self) -> Option<u64> {
        self.claim
    }

    /// The run that it belongs to, and the sighting id of its first record.
    pub fn place(&self) -> (u64, i64) {
        (self.batch.setting().run, self.batch.first_sighting())
    }

    fn block<'py>(&self, py: Python<'py>, at: usize) -> Option<BlockTuple<'py>> {
        let block = &self.rendered().get(at)?.block;
        let part = |part: &[u8]| PyBytes::new(py, part);
        Some((block.first_seq, block.records, part(&block.receipts), part(&block.kept), part(&block.refused)))
    }
}

#[pymethods]
impl Judged {
    #[getter]
    fn blocks(slf: Py<Self>) -> Blocks {
        Blocks { of: slf, at: AtomicUsize::new(0) }
    }

    /// Bytes of receipts, kept rows and refused lines.
    #[getter]
    fn lengths(&self) -> (usize, usize, usize) {
        let blocks = || self.rendered().iter().map(|packed| &packed.block);
        let receipts = blocks().map(|block| block.receipts.len()).sum();
        let kept = blocks().map(|block| block.kept.len()).sum();
        (receipts, kept, blocks().map(|block| block.refused.len()).sum())
    }

    /// Whether it was judged by a claim of the kernel's own.
    #[getter]
    fn claimed(&self) -> bool {
        self.claim.is_some()
    }

    #[getter]
    fn contents_new<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, i64, Option<i64>)> {
        self.batch.contents_new().map(|(key, id, seen)| (PyBytes::new(py, key), id, seen)).collect()
    }

    #[getter]
    fn contents_earlier<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, i64)> {
        self.batch.contents_earlier().map(|(key, _, seen)| (PyBytes::new(py, key), seen)).collect()
    }

    #[getter]
    fn places<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, i64, i64, i64)> {
        let places = self.batch.places_now();
        places.map(|(key, id, latest, content)| (PyBytes::new(py, key), id, latest, content)).collect()
    }

    #[getter]
    fn sightings<'py>(&'py self, py: Python<'py>) -> Vec<SightingTuple<'py>> {
        let run = self.batch.setting().run;
        Rows::sightings(self)
            .map(|(row, source)| {
                let payload = row.payload.as_ref().map(|payload| PyBytes::new(py, payload));
                let (content, place, fetched_at) = (row.content, row.place, row.fetched_at);
                (row.id, run, row.seq, source, content, place, fetched_at, row.verdict as u8, row.url, payload)
            })
            .collect()
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, &self.tally, self.batch.sources())
    }
}

impl Rows for Judged {
    fn contents(&self) -> impl Iterator<Item = Content<'_>> {
        self.batch.contents_new()
    }

    fn moved(&self) -> impl Iterator<Item = Moved> {
        self.batch.contents_earlier().map(|(_, id, seen)| (id, seen))
    }

    fn moved_keys(&self) -> impl Iterator<Item = (&Digest, i64)> {
        self.batch.contents_earlier().map(|(key, _, seen)| (key, seen))
    }

    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.batch.places_now()
    }

    fn sightings(&self) -> impl Iterator<Item = (SightingRow<'_>, i64)> {
        let source = |row: &SightingRow<'_>| self.source_ids.get(row.source as usize).copied().unwrap_or(0);
        self.batch.sightings().map(move |row| (row, source(&row)))
    }

    fn blocks(&self) -> impl Iterator<Item = (u64, usize, &[u8], Option<&[u8]>)> {
        self.rendered().iter().map(|packed| {
            (packed.block.first_seq, packed.block.records, packed.receipts.as_slice(), packed.kept.as_deref())
        })
    }
}

/// The blocks of a judged batch, one after the other.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Blocks {
    of: Py<Judged>,
    at: AtomicUsize,
}

#[pymethods]
impl Blocks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Option<BlockTuple<'py>> {
        self.of.get().block(py, self.at.fetch_add(1, Ordering::Relaxed))
    }
}

/// Counts as Python has them.
pub fn counts<'py>(py: Python<'py>, counts: &Counts, sources: &[String]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("records", counts.records)?;
    dict.set_item("verdicts", verdicts(py, &counts.verdicts)?)?;
    dict.set_item("changed_seen_before", counts.changed_seen_before)?;
    dict.set_item("kept", counts.kept)?;
    dict.set_item("skipped", counts.skipped)?;
    dict.set_item("refusals", by_code(py, &counts.refusals, seenbefore_core::error::Code::code)?)?;
    dict.set_item("problems", by_code(py, &counts.problems, seenbefore_core::error::Problem::code)?)?;
    let by_source = PyDict::new(py);
    for (name, source) in sources.iter().zip(&counts.sources) {
        let one = PyDict::new(py);
        one.set_item("keyed", source.keyed)?;
        one.set_item("seen_before", source.seen_before)?;
        one.set_item("verdicts", verdicts(py, &source.verdicts)?)?;
        by_source.set_item(name, one)?;
    }
    dict.set_item("sources", by_source)?;
    Ok(dict)
}

/// Every verdict, those that did not occur as 0.
fn verdicts<'py>(py: Python<'py>, counts: &BTreeMap<Verdict, u64>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for verdict in Verdict::ALL {
        dict.set_item(verdict.code(), counts.get(verdict).copied().unwrap_or(0))?;
    }
    Ok(dict)
}

fn by_code<'py, C: Copy + Ord>(
    py: Python<'py>,
    counts: &BTreeMap<C, u64>,
    code: fn(C) -> &'static str,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, count) in counts {
        dict.set_item(code(*key), count)?;
    }
    Ok(dict)
}
