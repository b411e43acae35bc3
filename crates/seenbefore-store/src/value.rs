//! Values of SQLite, owned, and the parameters of a statement.

use crate::Error;
use rusqlite::Statement;
pub use rusqlite::types::Value;

/// The columns of one row.
pub type Row = Vec<Value>;

/// The parameters of a statement: by position, or by name without the colon.
#[derive(Clone, Debug)]
pub enum Parameters {
    /// `?`, in order.
    Positional(Vec<Value>),
    /// `:name`
    Named(Vec<(String, Value)>),
}

impl Parameters {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::Positional(Vec::new())
    }

    pub(crate) fn bind(&self, statement: &mut Statement<'_>) -> Result<(), Error> {
        let (wanted, given) = (statement.parameter_count(), self.len());
        if wanted != given {
            return Err(Error::Misuse(format!("the statement takes {wanted} parameters, and {given} were given")));
        }
        match self {
            Self::Positional(values) => {
                for (index, value) in (1..).zip(values) {
                    statement.raw_bind_parameter(index, value)?;
                }
            }
            Self::Named(values) => {
                for (name, value) in values {
                    let index = statement.parameter_index(&format!(":{name}"))?;
                    let index = index.ok_or_else(|| Error::Misuse(format!("the statement has no :{name}")))?;
                    statement.raw_bind_parameter(index, value)?;
                }
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Positional(values) => values.len(),
            Self::Named(values) => values.len(),
        }
    }
}

/// One row of a result, copied out.
pub(crate) fn row(row: &rusqlite::Row<'_>, columns: usize) -> Result<Row, Error> {
    (0..columns).map(|column| Ok(row.get::<_, Value>(column)?)).collect()
}
