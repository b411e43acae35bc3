//! `Provisional`: a program's records, judged one at a time while the program still stores them.

use crate::batch::{Batch, Piece};
use crate::convert::read_record;
use crate::error::{as_refusal, wrong_argument};
use crate::memory::Memory;
use crate::rules::Ruleset;
use crate::verdict::Verdict;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};
use seenbefore_core::batch::{Earlier, Provisional as Core, Said, Seen, Setting, StoredContent, StoredPlace};
use seenbefore_core::keys::{Digest, Given, Maker};
use std::sync::Arc;

/// Whom a record that is judged by itself is looked up in.
enum Asks<'a, 'py> {
    Store(Store<'a, 'py>),
    Memory(PyRef<'py, Memory>, i64),
}

impl<'a, 'py> Asks<'a, 'py> {
    /// A store, or a `Memory` with the id of a ruleset.
    fn of(store: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        match store.cast::<PyTuple>() {
            Ok(pair) => pair.extract().map(|(memory, ruleset)| Self::Memory(memory, ruleset)),
            Err(_) => Ok(Self::Store(Store(store))),
        }
    }
}

impl Seen for Asks<'_, '_> {
    type Error = PyErr;

    fn look_up(
        &mut self,
        content: Option<&Digest>,
        place: Option<&Digest>,
    ) -> PyResult<(Option<StoredContent>, Option<StoredPlace>)> {
        match self {
            Self::Store(store) => store.look_up(content, place),
            Self::Memory(memory, ruleset) => Ok(memory.look_up(*ruleset, content, place)),
        }
    }

    fn earlier(&mut self, id: i64) -> PyResult<Earlier> {
        match self {
            Self::Store(store) => store.earlier(id),
            Self::Memory(memory, _) => memory.earlier(id),
        }
    }
}

/// A store in Python: its `known(content_key, url_key)` and `earlier(id)`.
struct Store<'a, 'py>(&'a Bound<'py, PyAny>);

impl Seen for Store<'_, '_> {
    type Error = PyErr;

    fn look_up(
        &mut self,
        content: Option<&Digest>,
        place: Option<&Digest>,
    ) -> PyResult<(Option<StoredContent>, Option<StoredPlace>)> {
        let bytes = |digest: Option<&Digest>| digest.map(|digest| PyBytes::new(self.0.py(), digest));
        self.0.call_method1("known", (bytes(content), bytes(place)))?.extract()
    }

    fn earlier(&mut self, id: i64) -> PyResult<Earlier> {
        type Row = (i64, u64, u64, Option<String>, Option<i64>, Option<PyBackedBytes>);
        let (id, run, seq, url, fetched_at, payload): Row = self.0.call_method1("earlier", (id,))?.extract()?;
        let payload = payload.map(|bytes| Digest::try_from(&*bytes)).transpose();
        let payload = payload.map_err(|_| wrong_argument("a payload digest takes 32 bytes".to_owned()))?;
        Ok(Earlier { id, run, seq, url, fetched_at, payload })
    }
}

/// Records judged one at a time; each may be released until the batch is committed.
#[pyclass(module = "seenbefore._kernel")]
pub struct Provisional {
    inner: Core<Piece>,
    maker: Maker,
    label: Arc<str>,
}

#[pymethods]
impl Provisional {
    #[new]
    #[pyo3(signature = (rules, run, first_seq, *, source, fetched_at, replace_seen))]
    fn new(
        rules: &Ruleset,
        run: u64,
        first_seq: u64,
        source: Option<String>,
        fetched_at: Option<String>,
        replace_seen: bool,
    ) -> Self {
        let setting = Setting {
            run,
            first_seq,
            max_records: usize::MAX,
            max_bytes: usize::MAX,
            max_line: usize::MAX,
            source,
            fetched_at,
            replace_seen,
            digests: true,
        };
        let rules = &rules.inner;
        Self { inner: Core::new(Arc::clone(rules), setting), maker: Maker::new(), label: Arc::from(&*rules.label) }
    }

    /// Judges one record against `store` and the records before it.
    #[pyo3(signature = (store, record, url=None, source=None, fetched_at=None))]
    fn judge(
        &mut self,
        store: &Bound<'_, PyAny>,
        record: &Bound<'_, PyAny>,
        url: Option<&str>,
        source: Option<&str>,
        fetched_at: Option<&str>,
    ) -> PyResult<Verdict> {
        let run = self.inner.setting().run;
        let (text, tape) = match read_record(record) {
            Ok(read) => read,
            Err(error) => return as_refusal(record.py(), error).map(|(code, detail)| refused(run, code, detail)),
        };
        let setting = self.inner.setting();
        let (own_source, own_time) = (setting.source.clone(), setting.fetched_at.clone());
        let given = Given {
            url,
            source: source.or(own_source.as_deref()),
            fetched_at: fetched_at.or(own_time.as_deref()),
            input: "",
        };
        let piece = Piece::Record(text.into());
        match self.inner.judge(piece, &tape, &mut self.maker, &given, &mut Asks::of(store)?)? {
            Ok(said) => Ok(self.verdict(said)),
            Err(refusal) => Ok(refused(run, refusal.code.code().to_owned(), refusal.detail.into())),
        }
    }

    #[getter]
    fn records(&self) -> usize {
        self.inner.records()
    }

    /// Says that a record is stored.
    fn confirm(&mut self, position: usize) {
        self.inner.confirm(position);
    }

    /// Says that a record was not stored after all.
    fn release(&mut self, store: &Bound<'_, PyAny>, position: usize) -> PyResult<()> {
        self.inner.release(position, &mut Asks::of(store)?)
    }

    /// The positions of the records that were not released.
    fn left(&self) -> Vec<usize> {
        (0..self.inner.records()).filter(|position| !self.inner.released(*position)).collect()
    }

    /// A keyed batch of the records at `positions`; the first gets the ordinal `first_seq`.
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives the list away
    fn batch(&self, py: Python<'_>, positions: Vec<usize>, first_seq: u64) -> Batch {
        Batch::of(py.detach(|| self.inner.batch(&positions, first_seq)))
    }

    /// After that batch was judged: what was skipped for the sake of a record that is not there any more.
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives the list away
    fn lost(&self, batch: &Batch, positions: Vec<usize>) -> Vec<usize> {
        self.inner.lost(&batch.inner, &positions)
    }

    /// After that batch was judged: what another writer made seen before.
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives the list away
    fn late(&self, batch: &Batch, positions: Vec<usize>) -> Vec<usize> {
        self.inner.late(&batch.inner, &positions)
    }
}

impl Provisional {
    fn verdict(&self, said: Said) -> Verdict {
        let judgement = said.judgement;
        let setting = self.inner.setting();
        let Some((keyed, texts)) = self.inner.record(said.position) else { return Verdict::default() };
        Verdict {
            name: judgement.verdict.code(),
            keep: Some(judgement.keep),
            seen_before: judgement.seen_before,
            run: setting.run,
            seq: setting.first_seq + said.position as u64,
            position: said.position,
            source: texts.get(keyed.source).filter(|source| !source.is_empty()).map(str::to_owned),
            url: texts.get(keyed.url).map(str::to_owned),
            label: Some(Arc::clone(&self.label)),
            place: keyed.place,
            time: keyed.fetched_at,
            payload: keyed.payload,
            content: keyed.content,
            matched_on: said.matched_on,
            refers_to: said.refers_to.map(Into::into),
            previous: said.previous.map(Into::into),
            problems: keyed.problems,
            code: None,
            detail: None,
            waits_for: said.waits_for,
        }
    }
}

fn refused(run: u64, code: String, detail: String) -> Verdict {
    let name = seenbefore_core::judge::Verdict::Refused.code();
    Verdict { name, run, code: Some(code), detail: Some(detail), ..Verdict::default() }
}
