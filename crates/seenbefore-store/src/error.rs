//! What can go wrong, as data: the caller gives it a name.

use rusqlite::ffi;

/// What a store could not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite failed, or found something in the file that can't be there.
    #[error("{message}")]
    Sqlite {
        /// Extended result code: <https://sqlite.org/rescode.html>.
        code: i32,
        /// SQLite's own words.
        message: String,
    },
    /// A batch and the store contradict each other: a mistake in this program, found before anything was written.
    #[error("{0}")]
    Contradiction(String),
    /// The call itself is wrong: a closed database, the wrong number of parameters, several statements in one.
    #[error("{0}")]
    Misuse(String),
}

impl Error {
    /// Something in the file that no store writes.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::Sqlite { code: ffi::SQLITE_CORRUPT, message: message.into() }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(cause, message) => {
                Self::Sqlite { code: cause.extended_code, message: message.unwrap_or_else(|| cause.to_string()) }
            }
            rusqlite::Error::SqlInputError { error: cause, msg, .. } => {
                Self::Sqlite { code: cause.extended_code, message: msg }
            }
            rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::QueryReturnedNoRows => Self::damaged(error.to_string()),
            other => Self::Misuse(other.to_string()),
        }
    }
}
