//! A connection for reading, on a thread of its own, with any number of iterations under way at once.
//!
//! All of them see one state of the store as long as one is not at its end, or a transaction is open: SQLite's own rule for
//! the statements of a connection. The thread owns the connection and its statements, because no other may touch them.

use crate::value::row;
use crate::{Database, Error, Parameters, Row, Value};
use rusqlite::{Rows, Statement};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use typed_arena::Arena;

/// Rows, or bytes in them, that go over at a time; the first goes alone, for those who want no more.
const ROWS: usize = 512;
const BYTES: usize = 1 << 20;
/// Steps of SQLite's machine after which a statement looks whether the reader was closed: it may be sorting for long.
const STEPS: i32 = 10_000;

type Rowset = Result<Vec<Row>, Error>;

enum Job {
    Execute(String, Parameters, Sender<Rowset>),
    Begin(u64, String, Parameters, Sender<Rowset>),
    Next(u64, Sender<Rowset>),
    End(u64),
}

/// A connection that reads.
#[derive(Debug)]
pub struct Reader {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    cursors: AtomicU64,
}

/// What was asked of a [`Reader`] and is still to come.
#[derive(Debug)]
pub struct Pending(Receiver<Rowset>);

impl Pending {
    /// The answer, where it comes within `patience`; none where it is still to come.
    ///
    /// # Errors
    /// As [`Database::execute`].
    pub fn wait(&mut self, patience: std::time::Duration) -> Result<Option<Vec<Row>>, Error> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.0.recv_timeout(patience) {
            Ok(answer) => answer.map(Some),
            Err(Timeout) => Ok(None),
            Err(Disconnected) => Err(closed()),
        }
    }
}

/// Rows of a statement, some at a time. Dropping it ends the statement.
#[derive(Debug)]
pub struct Cursor {
    id: u64,
    jobs: Sender<Job>,
}

impl Cursor {
    /// Asks for the next rows; none at the end.
    ///
    /// # Errors
    /// [`Error::Misuse`] where the reader is closed.
    pub fn next(&self) -> Result<Pending, Error> {
        ask(Some(&self.jobs), |to| Job::Next(self.id, to))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // Where nobody takes it, the statement has ended with its reader.
        let _ = self.jobs.send(Job::End(self.id));
    }
}

impl Reader {
    /// Opens a file: see [`Database::open`].
    ///
    /// # Errors
    /// [`Error::Sqlite`] where SQLite can't open it, [`Error::Misuse`] where no thread can be had.
    pub fn open(uri: &str, patience: u64) -> Result<Self, Error> {
        let stopped = Arc::new(AtomicBool::new(false));
        let mut database = Database::open(uri, patience)?;
        let stop = Arc::clone(&stopped);
        database.watch(STEPS, move || stop.load(Ordering::Relaxed))?;
        let (jobs, todo) = channel();
        let thread = Builder::new().name("seenbefore-rows".to_owned()).spawn(move || serve(&database, &todo));
        let thread = thread.map_err(|error| Error::Misuse(format!("no thread to read with: {error}")))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), stopped, cursors: AtomicU64::new(0) })
    }

    /// Asks for all rows of a statement.
    ///
    /// # Errors
    /// [`Error::Misuse`] where the reader is closed.
    pub fn execute(&self, sql: &str, parameters: Parameters) -> Result<Pending, Error> {
        ask(self.jobs.as_ref(), |to| Job::Execute(sql.to_owned(), parameters, to))
    }

    /// Begins a statement whose rows are asked for later; the answer that is pending holds none.
    ///
    /// # Errors
    /// [`Error::Misuse`] where the reader is closed.
    pub fn iterate(&self, sql: &str, parameters: Parameters) -> Result<(Cursor, Pending), Error> {
        let id = self.cursors.fetch_add(1, Ordering::Relaxed);
        let jobs = self.jobs.clone().ok_or_else(closed)?;
        let pending = ask(Some(&jobs), |to| Job::Begin(id, sql.to_owned(), parameters, to))?;
        Ok((Cursor { id, jobs }, pending))
    }

    /// Stops what it does and closes the connection; a second call does nothing.
    pub fn close(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Cursors may live on with their ends of the channel, so the thread is told by a word and not by its silence.
        if let Some(jobs) = self.jobs.take() {
            let _ = jobs.send(Job::End(u64::MAX));
        }
        if let Some(thread) = self.thread.take() {
            // It has nothing to say but what it answered.
            let _ = thread.join();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.close();
    }
}

fn closed() -> Error {
    Error::Misuse("the store is closed".to_owned())
}

fn ask(jobs: Option<&Sender<Job>>, job: impl FnOnce(Sender<Rowset>) -> Job) -> Result<Pending, Error> {
    let (to, answer) = channel();
    jobs.ok_or_else(closed)?.send(job(to)).map_err(|_| closed())?;
    Ok(Pending(answer))
}

/// An iteration under way.
struct Running<'a> {
    rows: Rows<'a>,
    columns: usize,
    limit: usize,
}

impl Running<'_> {
    fn next(&mut self) -> Rowset {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while chunk.len() < self.limit && bytes < BYTES {
            let Some(next) = self.rows.next()? else { break };
            let values = row(next, self.columns)?;
            bytes += values.iter().map(size).sum::<usize>();
            chunk.push(values);
        }
        self.limit = (self.limit * 4).min(ROWS);
        Ok(chunk)
    }
}

fn serve(database: &Database, todo: &Receiver<Job>) {
    loop {
        // Statements live until no iteration is left.
        let statements = Arena::new();
        let mut running = BTreeMap::new();
        while running.is_empty() && statements.len() == 0 || !running.is_empty() {
            let Ok(job) = todo.recv() else { return };
            match job {
                // Whoever asked may be gone by the time of the answer.
                Job::Execute(sql, parameters, to) => {
                    let _ = to.send(database.execute(&sql, &parameters));
                }
                Job::Begin(id, sql, parameters, to) => {
                    let begun = begin(database, &statements, &sql, &parameters);
                    let _ = to.send(begun.map(|one| {
                        running.insert(id, one);
                        Vec::new()
                    }));
                }
                Job::Next(id, to) => {
                    let rows = running.get_mut(&id).map_or_else(|| Ok(Vec::new()), Running::next);
                    if rows.as_ref().map_or(true, Vec::is_empty) {
                        running.remove(&id);
                    }
                    let _ = to.send(rows);
                }
                Job::End(u64::MAX) => return,
                Job::End(id) => {
                    running.remove(&id);
                }
            }
        }
    }
}

fn begin<'s, 'd>(
    database: &'d Database,
    statements: &'s Arena<Statement<'d>>,
    sql: &str,
    parameters: &Parameters,
) -> Result<Running<'s>, Error> {
    let statement = statements.alloc(database.connection.prepare(sql)?);
    parameters.bind(statement)?;
    let columns = statement.column_count();
    Ok(Running { rows: statement.raw_query(), columns, limit: 1 })
}

fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    }
}
