//! `Batch` and `Judged`: many records at once, without a Python object a record but for what a database driver binds.

use crate::convert::read_record;
use crate::error::{refused, wrong_argument};
use crate::rules::Ruleset;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};
use seenbefore_core::batch::{Batch as Core, Block, Counts, Earlier, KnownContent, KnownPlace, LongLine, Setting};
use seenbefore_core::judge::Verdict;
use seenbefore_core::keys::{Digest, Given, Maker};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of the input, held as Python holds them, or the text of a program's record.
#[derive(Clone)]
pub enum Piece {
    Input(Arc<PyBackedBytes>),
    Record(Arc<str>),
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Input(bytes) => bytes,
            Self::Record(text) => text.as_bytes(),
        }
    }
}

/// Records to be keyed and judged together.
#[pyclass(module = "seenbefore._kernel")]
pub struct Batch {
    pub inner: Core<Piece>,
    maker: Maker,
}

impl Batch {
    /// A batch whose records were keyed elsewhere.
    pub fn of(inner: Core<Piece>) -> Self {
        Self { inner, maker: Maker::new() }
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
        Self { inner: Core::new(Arc::clone(&rules.inner), setting), maker: Maker::new() }
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
    ) -> (usize, u64) {
        let inner = &mut self.inner;
        py.detach(|| inner.feed(Piece::Input(Arc::new(data)), start, input, offset, line))
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
        self.inner.refuse_long(input, line, offset, LongLine { length, sha256, bin_offset });
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
        let pushed = self.inner.push(Piece::Record(text.into()), &tape, &mut self.maker, &given);
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
    fn key(&mut self, py: Python<'_>) {
        let inner = &mut self.inner;
        py.detach(|| inner.key());
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
    ) -> Vec<i64> {
        let inner = &mut self.inner;
        py.detach(|| {
            let contents: Vec<_> =
                contents.into_iter().map(|(key, id, first_seen)| KnownContent { key, id, first_seen }).collect();
            let places: Vec<_> =
                places.into_iter().map(|(key, id, latest, content)| KnownPlace { key, id, latest, content }).collect();
            inner.judge(first_sighting, &contents, &places)
        })
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
    #[allow(clippy::type_complexity, clippy::needless_pass_by_value)] // the shape of a database row, and pyo3 gives it away
    fn render(
        &self,
        py: Python<'_>,
        earlier: Vec<(i64, u64, u64, Option<String>, Option<i64>, Option<PyBackedBytes>)>,
        source_ids: Vec<i64>,
    ) -> PyResult<Judged> {
        let earlier = earlier
            .into_iter()
            .map(|(id, run, seq, url, fetched_at, payload)| {
                let payload = payload.map(|bytes| Digest::try_from(&*bytes)).transpose();
                let payload = payload.map_err(|_| wrong_argument("a payload digest takes 32 bytes".to_owned()))?;
                Ok(Earlier { id, run, seq, url, fetched_at, payload })
            })
            .collect::<PyResult<Vec<_>>>()?;
        let (blocks, tally) = py.detach(|| (self.inner.render(&earlier), self.inner.counts()));
        Judged::new(py, &self.inner, blocks, &tally, &source_ids)
    }
}

/// What a judged batch writes and changes: see `_kernel.pyi` for the shapes.
#[pyclass(frozen, get_all, module = "seenbefore._kernel")]
pub struct Judged {
    blocks: Py<PyList>,
    contents_new: Py<PyList>,
    contents_earlier: Py<PyList>,
    places: Py<PyList>,
    sightings: Py<PyList>,
    counts: Py<PyDict>,
}

impl Judged {
    fn new(
        py: Python<'_>,
        batch: &Core<Piece>,
        blocks: Vec<Block>,
        tally: &Counts,
        source_ids: &[i64],
    ) -> PyResult<Self> {
        let bytes = |digest: &Digest| PyBytes::new(py, digest);
        let block = |block: Block| {
            let part = |part: &[u8]| PyBytes::new(py, part);
            (block.first_seq, block.records, part(&block.receipts), part(&block.kept), part(&block.refused))
        };
        let run = batch.setting().run;
        let contents_new: Vec<_> =
            batch.contents_new().map(|(key, id, first_seen)| (bytes(key), id, first_seen)).collect();
        let contents_earlier: Vec<_> =
            batch.contents_earlier().map(|(key, first_seen)| (bytes(key), first_seen)).collect();
        let sightings: Vec<_> = batch
            .sightings()
            .map(|row| {
                let source = source_ids.get(row.source as usize).copied().unwrap_or(0);
                let payload = row.payload.as_ref().map(bytes);
                (
                    row.id,
                    run,
                    row.seq,
                    source,
                    row.content,
                    row.place,
                    row.fetched_at,
                    row.verdict as u8,
                    row.url,
                    payload,
                )
            })
            .collect();
        let places: Vec<_> =
            batch.places_now().map(|(key, id, latest, content)| (bytes(key), id, latest, content)).collect();
        Ok(Self {
            blocks: PyList::new(py, blocks.into_iter().map(block).collect::<Vec<_>>())?.unbind(),
            contents_new: PyList::new(py, contents_new)?.unbind(),
            contents_earlier: PyList::new(py, contents_earlier)?.unbind(),
            places: PyList::new(py, places)?.unbind(),
            sightings: PyList::new(py, sightings)?.unbind(),
            counts: counts(py, tally, batch.sources())?.unbind(),
        })
    }
}

fn counts<'py>(py: Python<'py>, counts: &Counts, sources: &[String]) -> PyResult<Bound<'py, PyDict>> {
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
