//! `Columns`: rows of JSON as CSV, and as the buffers that columnar formats take.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seenbefore_core::columns::{Columns as Core, Type};
use seenbefore_core::error::Refusal;

/// The columns of some rows, learned in a first pass over them and written in a second.
#[pyclass(module = "seenbefore._kernel")]
pub struct Columns {
    inner: Core,
}

type Buffers<'py> = (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl Columns {
    #[new]
    fn new(apart: Vec<String>) -> Self {
        Self { inner: Core::new(apart) }
    }

    /// Learns from lines which columns there are and what they hold.
    fn look(&mut self, py: Python<'_>, lines: &[u8]) -> PyResult<()> {
        let inner = &mut self.inner;
        py.detach(|| inner.look(lines)).map_err(|refusal| no_row(&refusal))
    }

    /// Name, type, digits and decimal places of each column.
    #[getter]
    fn named(&self) -> Vec<(String, &'static str, usize, usize)> {
        let named = |(name, kind)| match kind {
            Type::Text => (name, "text", 0, 0),
            Type::Boolean => (name, "boolean", 0, 0),
            Type::Integer => (name, "integer", 0, 0),
            Type::Decimal(digits, places) => (name, "decimal", digits, places),
            Type::Spelling => (name, "spelling", 0, 0),
            Type::Json => (name, "json", 0, 0),
        };
        self.inner.named().into_iter().map(named).collect()
    }

    /// The first row of CSV.
    fn csv_header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.csv_header())
    }

    /// Rows of CSV.
    fn csv<'py>(&self, py: Python<'py>, lines: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let rows = py.detach(|| self.inner.csv(lines)).map_err(|refusal| no_row(&refusal))?;
        Ok(PyBytes::new(py, &rows))
    }

    /// For each column how many values, and the bits, ends and texts of them.
    fn texts<'py>(&self, py: Python<'py>, lines: &[u8]) -> PyResult<Vec<Buffers<'py>>> {
        let texts = py.detach(|| self.inner.texts(lines)).map_err(|refusal| no_row(&refusal))?;
        let bytes = |part: &[u8]| PyBytes::new(py, part);
        Ok(texts.iter().map(|text| (text.values, bytes(&text.there), bytes(&text.ends), bytes(&text.text))).collect())
    }
}

fn no_row(refusal: &Refusal) -> PyErr {
    PyValueError::new_err(refusal.to_string())
}
