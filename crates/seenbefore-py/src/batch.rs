//! `Batch`: many records at once, without a Python object a record.

use crate::convert::read_record;
use crate::error::{refused, wrong_argument};
use crate::judged::{Judged, counts};
use crate::rules::Ruleset;
use crate::splitting::Records;
use crate::sqlite::raised;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use seenbefore_core::batch::{Batch as Core, Earlier, KnownContent, KnownPlace, LongLine, Setting};
use seenbefore_core::keys::{Digest, Given, Maker};
use seenbefore_core::splitting::Rows as CoreRows;
use seenbefore_store::{Error, Packed, Packer};
use std::sync::Arc;

/// Bytes of the input, held as Python holds them, records that were cut out of it, or the text of a program's record.
#[derive(Clone)]
pub enum Piece {
    Input(Arc<PyBackedBytes>),
    Rows(Arc<CoreRows>),
    Record(Arc<str>),
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Input(bytes) => bytes,
            Self::Rows(rows) => &rows.text,
            Self::Record(text) => text.as_bytes(),
        }
    }
}

/// Records to be keyed and judged together.
#[pyclass(module = "seenbefore._kernel")]
pub struct Batch {
    /// Shared with what was rendered of it, and not changed from then on.
    pub inner: Arc<Core<Piece>>,
    maker: Maker,
}

impl Batch {
    /// A batch whose records were keyed elsewhere.
    pub fn of(inner: Core<Piece>) -> Self {
        Self { inner: Arc::new(inner), maker: Maker::new() }
    }

    /// The batch, to be changed.
    pub fn open(&mut self) -> PyResult<&mut Core<Piece>> {
        Arc::get_mut(&mut self.inner).ok_or_else(|| wrong_argument("this batch was rendered already".to_owned()))
    }

    /// The batch, which is not changed any more.
    pub fn share(&self) -> Arc<Core<Piece>> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (rules, run, first_seq, *, max_records, max_bytes, max_line, source, fetched_at, replace_seen, digests))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // keyword-only in Python, where each is named
    fn new(
        rules: &Ruleset,
        run: u64,
        first_seq: u64,
        max_records: usize,
        max_bytes: usize,
        max_line: usize,
        source: Option<String>,
        fetched_at: Option<String>,
        replace_seen: bool,
        digests: bool,
    ) -> Self {
        let setting =
            Setting { run, first_seq, max_records, max_bytes, max_line, source, fetched_at, replace_seen, digests };
        Self { inner: Arc::new(Core::new(Arc::clone(&rules.inner), setting)), maker: Maker::new() }
    }

    /// Takes lines of `data` from index `start` until the batch is full; gives the first index not taken and the lines passed.
    fn feed(
        &mut self,
        py: Python<'_>,
        data: PyBackedBytes,
        start: usize,
        input: &str,
        offset: u64,
        line: u64,
    ) -> PyResult<(usize, u64)> {
        let inner = self.open()?;
        Ok(py.detach(|| inner.feed(Piece::Input(Arc::new(data)), start, input, offset, line)))
    }

    /// Takes records of `rows` from index `start` until the batch is full; gives the first index not taken.
    fn feed_rows(&mut self, py: Python<'_>, rows: &Records, start: usize, input: &str) -> PyResult<usize> {
        let (inner, rows) = (self.open()?, &rows.inner);
        Ok(py.detach(|| inner.feed_rows(Piece::Rows(Arc::clone(rows)), &rows.rows, &rows.floats, start, input)))
    }

    /// What the name of an input says about its records, before the first of them is fed.
    fn facts(&mut self, input: &str, source: Option<String>, fetched_at: Option<String>) -> PyResult<()> {
        self.open()?.facts(input, source, fetched_at);
        Ok(())
    }

    /// Notes a line that was too long to be held.
    fn refuse_long(
        &mut self,
        input: &str,
        line: u64,
        offset: u64,
        length: u64,
        sha256: &[u8],
        bin_offset: u64,
    ) -> PyResult<()> {
        let sha256 = Digest::try_from(sha256).map_err(|_| wrong_argument("sha256 takes 32 bytes".to_owned()))?;
        self.open()?.refuse_long(input, line, offset, LongLine { length, sha256, bin_offset });
        Ok(())
    }

    /// Adds a program's record; gives its position in the batch. Raises `errors.Refused`, and then adds nothing.
    #[pyo3(signature = (record, url=None, source=None, fetched_at=None))]
    fn push(
        &mut self,
        record: &Bound<'_, PyAny>,
        url: Option<&str>,
        source: Option<&str>,
        fetched_at: Option<&str>,
    ) -> PyResult<usize> {
        let (text, tape) = read_record(record)?;
        let setting = self.inner.setting();
        let (source, fetched_at) = (
            source.map(str::to_owned).or(setting.source.clone()),
            fetched_at.or(setting.fetched_at.as_deref()).map(str::to_owned),
        );
        let given = Given { url, source: source.as_deref(), fetched_at: fetched_at.as_deref(), input: "" };
        let taken = || wrong_argument("this batch was rendered already".to_owned());
        let inner = Arc::get_mut(&mut self.inner).ok_or_else(taken)?;
        let pushed = inner.push(Piece::Record(text.into()), &tape, &mut self.maker, &given);
        pushed.map_err(|refusal| refused(record.py(), &refusal))
    }

    #[getter]
    fn full(&self) -> bool {
        self.inner.is_full()
    }

    #[getter]
    fn records(&self) -> usize {
        self.inner.records()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    /// Makes all keys, on all cores, without the GIL.
    fn key(&mut self, py: Python<'_>) -> PyResult<()> {
        let inner = self.open()?;
        py.detach(|| inner.key());
        Ok(())
    }

    /// The distinct content keys, sorted, 32 bytes each.
    fn content_keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.content_keys().as_flattened())
    }

    /// The distinct URL keys, sorted, 32 bytes each.
    fn place_keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.place_keys().as_flattened())
    }

    /// The distinct sources, sorted.
    fn sources(&self) -> Vec<String> {
        self.inner.sources().to_vec()
    }

    /// Judges all records in order; gives the ids of earlier sightings that `render` needs.
    fn judge(
        &mut self,
        py: Python<'_>,
        first_sighting: i64,
        contents: Vec<(usize, i64, Option<i64>)>,
        places: Vec<(usize, i64, i64, i64)>,
    ) -> PyResult<Vec<i64>> {
        let inner = self.open()?;
        Ok(py.detach(|| {
            let contents: Vec<_> =
                contents.into_iter().map(|(key, id, first_seen)| KnownContent { key, id, first_seen }).collect();
            let places: Vec<_> =
                places.into_iter().map(|(key, id, latest, content)| KnownPlace { key, id, latest, content }).collect();
            inner.judge(first_sighting, &contents, &places)
        }))
    }

    /// Each record's verdict, in order.
    fn verdicts(&self) -> Vec<&'static str> {
        self.inner.judgements().iter().map(|judgement| judgement.verdict.code()).collect()
    }

    /// Counts alone, for runs that write nothing.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, &self.inner.counts(), self.inner.sources())
    }

    /// Writes receipts, kept rows and refused lines; `earlier` holds what `judge` asked for, sorted by id.
    ///
    /// With `keep_rows` they are compressed too, for a store that keeps receipts, and rows where it is true.
    #[pyo3(signature = (earlier, source_ids, keep_rows=None))]
    #[allow(clippy::type_complexity, clippy::needless_pass_by_value)] // the shape of a database row, and pyo3 gives it away
    fn render(
        &self,
        py: Python<'_>,
        earlier: Vec<(i64, u64, u64, Option<String>, Option<i64>, Option<PyBackedBytes>)>,
        source_ids: Vec<i64>,
        keep_rows: Option<bool>,
    ) -> PyResult<Judged> {
        let earlier = earlier
            .into_iter()
            .map(|(id, run, seq, url, fetched_at, payload)| {
                let payload = payload.map(|bytes| Digest::try_from(&*bytes)).transpose();
                let payload = payload.map_err(|_| wrong_argument("a payload digest takes 32 bytes".to_owned()))?;
                Ok(Earlier { id, run, seq, url, fetched_at, payload })
            })
            .collect::<PyResult<Vec<_>>>()?;
        let judged = py.detach(|| {
            let blocks: Result<_, Error> = match keep_rows {
                None => Ok(self.inner.render_with(&earlier, || (), |(), block| Packed { block, ..Packed::default() })),
                Some(keep) => {
                    self.inner.render_with(&earlier, || Packer::new(keep), Packer::pack).into_iter().collect()
                }
            };
            Ok(Judged::new(self.share(), blocks?, source_ids, None))
        });
        judged.map_err(|error: Error| raised(&error))
    }
}
