//! One connection to a file.

use crate::segments::{Filters, Layout};
use crate::value::row;
use crate::{Error, Parameters, Row};
use rusqlite::{Connection, OpenFlags};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many statements stay prepared.
const PREPARED: usize = 128;

/// A connection in autocommit mode: transactions begin and end by statements.
#[derive(Debug)]
pub struct Database {
    pub(crate) connection: Connection,
    pub(crate) layout: Layout,
    pub(crate) filters: Filters,
    rolled_back: Arc<AtomicBool>,
}

impl Database {
    /// Opens a file by its URI (`file:…?mode=ro`) or `:memory:`. Statements that meet a lock wait up to `patience` milliseconds.
    ///
    /// # Errors
    /// [`Error::Sqlite`] where SQLite can't open it.
    pub fn open(uri: &str, patience: u64) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(uri, flags)?;
        connection.busy_timeout(std::time::Duration::from_millis(patience))?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        let rolled_back = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&rolled_back);
        connection.rollback_hook(Some(move || noted.store(true, Ordering::Relaxed)))?;
        Ok(Self { connection, layout: Layout::default(), filters: Filters::default(), rolled_back })
    }

    /// Runs one statement to its end and gives all its rows.
    ///
    /// # Errors
    /// What SQLite says, and [`Error::Misuse`] where the parameters are not those of the statement.
    pub fn execute(&self, sql: &str, parameters: &Parameters) -> Result<Vec<Row>, Error> {
        let mut statement = self.connection.prepare_cached(sql)?;
        parameters.bind(&mut statement)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(next) = rows.next()? {
            found.push(row(next, columns)?);
        }
        Ok(found)
    }

    /// Runs one statement for each row of parameters.
    ///
    /// # Errors
    /// As [`Database::execute`].
    pub fn execute_many(&self, sql: &str, rows: &[Parameters]) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(sql)?;
        for parameters in rows {
            parameters.bind(&mut statement)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    /// Runs the statements of a script one after the other, without beginning or ending a transaction by itself.
    ///
    /// # Errors
    /// What SQLite says of the first that fails.
    pub fn script(&self, sql: &str) -> Result<(), Error> {
        Ok(self.connection.execute_batch(sql)?)
    }

    /// True between BEGIN and the end of the transaction.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// How keys are laid out from now on; what is there stays as it is, and is found all the same.
    pub fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// Segments of a transaction that came to nothing are forgotten before anything is looked up again.
    pub(crate) fn forget_what_was_rolled_back(&mut self) {
        if self.rolled_back.swap(false, Ordering::Relaxed) {
            self.filters.clear();
        }
    }

    /// Has `handler` called every `steps` steps of SQLite's machine, for those who watch it from inside.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn watch(&mut self, steps: i32, handler: impl FnMut() -> bool + Send + 'static) -> Result<(), Error> {
        Ok(self.connection.progress_handler(steps, Some(handler))?)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Closing would roll back too, but by then rusqlite has freed the hook that SQLite calls.
        if self.in_transaction() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let _ = self.connection.rollback_hook(None::<fn()>);
    }
}
