//! `Sqlite`, `SqliteReader` and `Rows`: connections to a store's file, and rows one after the other. SQLite works without
//! the GIL.

use crate::batch::Batch;
use crate::error::wrong_argument;
use crate::judged::Judged;
use crate::rows::{ContentTuple, EarlierTuple, Given, GivenBlock, GivenSighting, PlaceTuple, digests};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyInt, PyString, PyTuple};
use seenbefore_core::batch::Earlier;
use seenbefore_store::{Cursor, Database, Error, Layout, Packer, Parameters, Pending, Reader, Row, Value, Written};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

create_exception!(seenbefore._kernel, SqliteError, PyException, "What SQLite said: message, extended result code.");

/// How often whoever waits looks for signals.
const OFTEN: Duration = Duration::from_millis(100);

/// A connection in autocommit mode.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Sqlite {
    database: Mutex<Option<Database>>,
    /// Counts claims: a judged batch may be recorded by the last one only, and once.
    claims: AtomicU64,
}

#[pymethods]
impl Sqlite {
    #[new]
    #[pyo3(signature = (uri, patience=0))]
    fn new(py: Python<'_>, uri: &str, patience: u64) -> PyResult<Self> {
        let database = py.detach(|| Database::open(uri, patience)).map_err(|error| raised(&error))?;
        Ok(Self { database: Mutex::new(Some(database)), claims: AtomicU64::new(0) })
    }

    /// Runs one statement; gives all its rows.
    #[pyo3(signature = (sql, parameters=None))]
    fn execute<'py>(
        &self,
        py: Python<'py>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let parameters = parameters.map_or_else(|| Ok(Parameters::none()), read_parameters)?;
        let rows = self.with(py, |database| database.execute(sql, &parameters))?;
        rows.into_iter().map(|row| tuple(py, row)).collect()
    }

    /// Runs one statement for each row of parameters.
    fn execute_many(&self, py: Python<'_>, sql: &str, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = rows.try_iter()?.map(|row| read_parameters(&row?)).collect::<PyResult<Vec<_>>>()?;
        self.with(py, |database| database.execute_many(sql, &rows))
    }

    /// Runs statements one after the other.
    fn script(&self, py: Python<'_>, sql: &str) -> PyResult<()> {
        self.with(py, |database| database.script(sql))
    }

    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> bool {
        py.detach(|| locked(&self.database).as_ref().is_some_and(Database::in_transaction))
    }

    /// Calls `handler` every `steps` steps of SQLite; what it gives counts as "stop" where it is true.
    fn watch(&self, py: Python<'_>, steps: i32, handler: Py<PyAny>) -> PyResult<()> {
        let called = move || Python::attach(|py| handler.call0(py).and_then(|stop| stop.is_truthy(py)).unwrap_or(true));
        py.detach(|| locked(&self.database).as_mut().ok_or_else(closed)?.watch(steps, called))
            .map_err(|error| raised(&error))
    }

    /// See `Layout` of seenbefore-store.
    fn set_layout(&self, py: Python<'_>, small: u64, fan: usize, filters: usize) -> PyResult<()> {
        self.with(py, |database| {
            database.set_layout(Layout { small, fan, filters });
            Ok(())
        })
    }

    /// Claims the keys of a batch, judges it, and renders it with the earlier rows that it refers to.
    fn judge(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        ruleset: i64,
        first: i64,
        keep_rows: bool,
    ) -> PyResult<Judged> {
        let claim = self.claims.fetch_add(1, Ordering::Relaxed) + 1;
        let mut batch = batch.borrow_mut();
        let core = batch.open()?;
        let (earlier, source_ids) = self.with(py, |database| {
            let claimed = database.claim(ruleset, core.content_keys(), core.place_keys())?;
            let mut needed = core.judge(first, &claimed.contents, &claimed.places);
            let mut earlier = claimed.earlier;
            needed.retain(|id| earlier.binary_search_by_key(id, |one| one.id).is_err());
            earlier.append(&mut database.earlier(&needed)?);
            earlier.sort_unstable_by_key(|one| one.id);
            Ok((earlier, database.source_ids(core.sources())?))
        })?;
        let core = batch.share();
        let judged = py.detach(|| {
            let blocks = core.render_with(&earlier, || Packer::new(keep_rows), Packer::pack);
            Ok(Judged::new(core, blocks.into_iter().collect::<Result<_, _>>()?, source_ids, Some(claim)))
        });
        judged.map_err(|error: Error| raised(&error))
    }

    /// Writes a batch that `judge` gave; gives how many sightings it has.
    fn record(&self, py: Python<'_>, judged: &Judged, ruleset: i64, run: i64, first: i64) -> PyResult<i64> {
        let claim = self.claims.fetch_add(1, Ordering::Relaxed);
        if judged.claim() != Some(claim) || judged.place() != (run.cast_unsigned(), first) {
            let what = "the batch was not judged by this transaction's last claim".to_owned();
            return Err(raised(&Error::Contradiction(what)));
        }
        self.with(py, |database| database.record(Written { ruleset, run, first }, judged))
    }

    /// The known ones of sorted keys: (index, content id, `first_seen`), (index, place id, latest sighting, its content).
    fn claim(
        &self,
        py: Python<'_>,
        ruleset: i64,
        contents: &[u8],
        places: &[u8],
    ) -> PyResult<(Vec<ContentTuple>, Vec<PlaceTuple>)> {
        let (contents, places) = (digests(contents)?, digests(places)?);
        let claimed = self.with(py, |database| database.claim(ruleset, contents, places))?;
        let contents = claimed.contents.iter().map(|one| (one.key, one.id, one.first_seen));
        let places = claimed.places.iter().map(|one| (one.key, one.id, one.latest, one.content));
        Ok((contents.collect(), places.collect()))
    }

    /// (id, run, seq, url, `fetched_at`, payload digest) of sightings.
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives it away
    fn earlier<'py>(&self, py: Python<'py>, ids: Vec<i64>) -> PyResult<Vec<EarlierTuple<'py>>> {
        let found = self.with(py, |database| database.earlier(&ids))?;
        let payload = |one: &Earlier| one.payload.map(|payload| PyBytes::new(py, &payload));
        Ok(found
            .into_iter()
            .map(|one| (one.id, one.run, one.seq, one.url.clone(), one.fetched_at, payload(&one)))
            .collect())
    }

    /// The ids of sources; names that are not there get one.
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives it away
    fn source_ids(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<i64>> {
        self.with(py, |database| database.source_ids(&names))
    }

    /// Writes the rows of a batch that was judged elsewhere; gives how many sightings it has.
    #[allow(clippy::too_many_arguments)] // a list for each table
    fn record_rows(
        &self,
        py: Python<'_>,
        ruleset: i64,
        run: i64,
        first: i64,
        contents: Vec<(PyBackedBytes, i64, Option<i64>)>,
        moved: Vec<(i64, i64)>,
        places: Vec<(PyBackedBytes, i64, i64, i64)>,
        sightings: Vec<GivenSighting>,
        blocks: Vec<GivenBlock>,
        keep_rows: bool,
    ) -> PyResult<i64> {
        let given = Given::read(contents, moved, places, sightings, blocks, keep_rows)?;
        self.with(py, |database| database.record(Written { ruleset, run, first }, &given))
    }

    /// Closes it; a second call does nothing.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *locked(&self.database) = None);
    }
}

impl Sqlite {
    /// Calls `work` with the connection, without the GIL.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Database) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| locked(&self.database).as_mut().ok_or_else(closed).and_then(work));
        done.map_err(|error| raised(&error))
    }
}

/// A connection that only reads; iterations go on beside each other and see one state of the store.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct SqliteReader {
    reader: Mutex<Reader>,
}

#[pymethods]
impl SqliteReader {
    #[new]
    #[pyo3(signature = (uri, patience=0))]
    fn new(py: Python<'_>, uri: &str, patience: u64) -> PyResult<Self> {
        let reader = py.detach(|| Reader::open(uri, patience)).map_err(|error| raised(&error))?;
        Ok(Self { reader: Mutex::new(reader) })
    }

    /// Runs one statement; gives all its rows.
    #[pyo3(signature = (sql, parameters=None))]
    fn execute<'py>(
        &self,
        py: Python<'py>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let parameters = parameters.map_or_else(|| Ok(Parameters::none()), read_parameters)?;
        let pending = locked(&self.reader).execute(sql, parameters).map_err(|error| raised(&error))?;
        waited(py, pending)?.into_iter().map(|row| tuple(py, row)).collect()
    }

    /// The rows of one statement, one after the other; it is under way when this returns.
    #[pyo3(signature = (sql, parameters=None))]
    fn iterate(&self, py: Python<'_>, sql: &str, parameters: Option<&Bound<'_, PyAny>>) -> PyResult<Rows> {
        let parameters = parameters.map_or_else(|| Ok(Parameters::none()), read_parameters)?;
        let (cursor, pending) = locked(&self.reader).iterate(sql, parameters).map_err(|error| raised(&error))?;
        waited(py, pending)?;
        Ok(Rows { cursor, chunk: Mutex::new(Vec::new().into_iter()) })
    }

    /// Closes it, whatever it does; a second call does nothing.
    fn close(&self, py: Python<'_>) {
        py.detach(|| locked(&self.reader).close());
    }
}

/// Rows of one statement.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Rows {
    cursor: Cursor,
    chunk: Mutex<std::vec::IntoIter<Row>>,
}

#[pymethods]
impl Rows {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut next = locked(&self.chunk).next();
        if next.is_none() {
            let pending = self.cursor.next().map_err(|error| raised(&error))?;
            let mut rows = waited(py, pending)?.into_iter();
            next = rows.next();
            *locked(&self.chunk) = rows;
        }
        next.map(|row| tuple(py, row)).transpose()
    }
}

/// The answer, once it is there; a signal that comes meanwhile is heard.
fn waited(py: Python<'_>, mut pending: Pending) -> PyResult<Vec<Row>> {
    loop {
        if let Some(rows) = py.detach(|| pending.wait(OFTEN)).map_err(|error| raised(&error))? {
            return Ok(rows);
        }
        py.check_signals()?;
    }
}

/// Content or place and sighting, of a piece of a store's table `later`, whose row has this `owner` and `since`.
#[pyfunction]
pub fn read_later(entries: &[u8], owner: i64, since: i64) -> PyResult<Vec<(i64, i64)>> {
    seenbefore_store::read_later(entries, owner, since).map_err(|error| raised(&error))
}

/// The receipts or kept rows of a row of a store's table `block`.
#[pyfunction]
pub fn unpack<'py>(py: Python<'py>, packed: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let text = py.detach(|| seenbefore_store::unpack(packed)).map_err(|error| raised(&error))?;
    Ok(PyBytes::new(py, &text))
}

fn closed() -> Error {
    Error::Misuse("the store is closed".to_owned())
}

/// A lock whose last holder panicked guards nothing that could be half done: SQLite's own state is whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From the store's error to Python's.
pub fn raised(error: &Error) -> PyErr {
    match error {
        Error::Sqlite { code, message } => SqliteError::new_err((message.clone(), *code)),
        // SQLITE_INTERNAL: a mistake in the program itself.
        Error::Contradiction(message) => SqliteError::new_err((message.clone(), 2)),
        Error::Misuse(message) => PyValueError::new_err(message.clone()),
    }
}

fn read_parameters(given: &Bound<'_, PyAny>) -> PyResult<Parameters> {
    if let Ok(named) = given.cast::<PyDict>() {
        let pairs = named.iter().map(|(name, value)| Ok((name.extract()?, read_value(&value)?)));
        return Ok(Parameters::Named(pairs.collect::<PyResult<_>>()?));
    }
    Ok(Parameters::Positional(given.try_iter()?.map(|value| read_value(&value?)).collect::<PyResult<_>>()?))
}

fn read_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        Ok(Value::Null)
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::Text(text.to_cow()?.into_owned()))
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        Ok(Value::Blob(bytes.as_bytes().to_vec()))
    } else if value.is_instance_of::<PyInt>() {
        Ok(Value::Integer(value.extract()?))
    } else {
        Err(wrong_argument(format!("a store takes no {}", value.get_type().name()?)))
    }
}

fn tuple(py: Python<'_>, row: Row) -> PyResult<Bound<'_, PyTuple>> {
    let values = row.into_iter().map(|value| -> PyResult<Bound<'_, PyAny>> {
        Ok(match value {
            Value::Null => py.None().into_bound(py),
            Value::Integer(number) => number.into_pyobject(py)?.into_any(),
            Value::Real(number) => number.into_pyobject(py)?.into_any(),
            Value::Text(text) => text.into_pyobject(py)?.into_any(),
            Value::Blob(bytes) => PyBytes::new(py, &bytes).into_any(),
        })
    });
    PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
}
