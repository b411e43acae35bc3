//! `Records`, `Table` and `Array`: tables and arrays as the lines that a batch takes.

use crate::error::wrong_argument;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use seenbefore_core::error::{Code, Refusal};
use seenbefore_core::splitting::{
    Array as CoreArray, Dialect, Fault, HeaderFault, Part, Place, Recoded, Row, Rows as CoreRows, Table as CoreTable,
};
use std::sync::Arc;

/// Records that were cut out of an input.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Records {
    pub inner: Arc<CoreRows>,
}

impl Records {
    fn new(inner: CoreRows) -> Self {
        Self { inner: Arc::new(inner) }
    }

    fn row(&self, index: usize) -> PyResult<&Row> {
        self.inner.rows.get(index).ok_or_else(|| PyIndexError::new_err("no such row"))
    }
}

#[pymethods]
impl Records {
    /// The rows of a columnar file: see `_kernel.pyi`.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives them away
    fn of_lines(
        py: Python<'_>,
        lines: &[u8],
        first: u64,
        floats: Vec<Vec<Option<String>>>,
        refused: Vec<(usize, String, String)>,
    ) -> PyResult<Self> {
        let refused = refused
            .into_iter()
            .map(|(index, code, detail)| {
                let code = Code::ALL.iter().copied().find(|one| one.code() == code);
                let code = code.ok_or_else(|| wrong_argument("no such refusal code".to_owned()))?;
                Ok((index, Refusal::line(code, detail)))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let lines = lines.to_vec();
        Ok(Self::new(py.detach(|| CoreRows::of_lines(lines, first, floats.into(), refused))))
    }

    fn __len__(&self) -> usize {
        self.inner.rows.len()
    }

    /// Where a row came from.
    fn place(&self, index: usize) -> PyResult<(u64, u64, u64, u64)> {
        Ok(place(self.row(index)?.place))
    }

    /// A row's line of JSON, or its bytes as they stand.
    fn line<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let row = self.row(index)?;
        let range = if row.refusal.is_some() { &row.raw } else { &row.line };
        Ok(PyBytes::new(py, self.inner.text.get(range.clone()).unwrap_or_default()))
    }

    /// How many of the rows end at or before that offset.
    fn before(&self, offset: u64) -> usize {
        self.inner.rows.partition_point(|row| row.place.after <= offset)
    }
}

enum Reading {
    Plain(CoreTable),
    Recoded(Recoded),
}

/// A table being read.
#[pyclass(module = "seenbefore._kernel")]
pub struct Table {
    inner: Reading,
}

#[pymethods]
impl Table {
    #[new]
    fn new(
        delimiter: char,
        max_line: usize,
        offset: u64,
        line_feed: Option<&[u8]>,
        carriage_return: Option<&[u8]>,
    ) -> PyResult<Self> {
        let delimiter = u8::try_from(delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| wrong_argument("an ASCII delimiter".to_owned()))?;
        let table = CoreTable::new(Dialect { delimiter, max_line }, offset);
        let inner = match (line_feed, carriage_return) {
            (Some(line_feed), Some(carriage_return)) => {
                Reading::Recoded(Recoded::new(table, offset, line_feed, carriage_return))
            }
            _ => Reading::Plain(table),
        };
        Ok(Self { inner })
    }

    /// Takes whole lines, gives the rows that end in them.
    #[pyo3(signature = (lines, encoded=None, bad=None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 gives it away
    fn feed(
        &mut self,
        py: Python<'_>,
        lines: &[u8],
        encoded: Option<&[u8]>,
        bad: Option<Vec<usize>>,
    ) -> PyResult<Records> {
        let inner = &mut self.inner;
        let rows = py.detach(|| match inner {
            Reading::Plain(table) => table.feed(lines),
            Reading::Recoded(table) => table.feed(lines, encoded.unwrap_or(lines), bad.as_deref().unwrap_or_default()),
        });
        rows.map(Records::new).map_err(|fault| header_fault(&fault))
    }

    /// The rows of lines whose quotes are still open.
    fn finish(&mut self) -> PyResult<Records> {
        let rows = match &mut self.inner {
            Reading::Plain(table) => table.finish(),
            Reading::Recoded(table) => table.finish(),
        };
        rows.map(Records::new).map_err(|fault| header_fault(&fault))
    }

    /// Passes over a line that was too long to be held.
    fn skip_line(&mut self, after: u64) {
        match &mut self.inner {
            Reading::Plain(table) => table.skip_line(after),
            Reading::Recoded(table) => table.skip_line(after),
        }
    }

    /// Lines before the first row that was not given out yet.
    #[getter]
    fn lines(&self) -> u64 {
        match &self.inner {
            Reading::Plain(table) => table.lines(),
            Reading::Recoded(table) => table.lines(),
        }
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        match &self.inner {
            Reading::Plain(table) => table.columns().to_vec(),
            Reading::Recoded(table) => table.columns().to_vec(),
        }
    }

    #[getter]
    fn offset(&self) -> u64 {
        match &self.inner {
            Reading::Plain(table) => table.offset(),
            Reading::Recoded(table) => table.offset(),
        }
    }
}

/// A JSON array being read.
#[pyclass(module = "seenbefore._kernel")]
pub struct Array {
    inner: CoreArray,
}

#[pymethods]
impl Array {
    #[new]
    fn new(max_line: usize, offset: u64) -> Self {
        Self { inner: CoreArray::new(max_line, offset) }
    }

    /// Takes the next bytes; gives what ended in them, and what makes the rest unreadable.
    #[allow(clippy::type_complexity)] // the shape is in `_kernel.pyi`
    fn feed<'py>(
        &mut self,
        py: Python<'py>,
        data: &[u8],
    ) -> PyResult<(Bound<'py, PyList>, Option<(&'static str, String)>)> {
        let inner = &mut self.inner;
        let (parts, fault) = py.detach(|| inner.feed(data));
        let list = PyList::empty(py);
        for part in parts {
            match part {
                Part::Rows(rows) => list.append(Records::new(rows))?,
                Part::Bytes(bytes) => list.append(PyBytes::new(py, &bytes))?,
                Part::Long(long) => {
                    let end = (place(long.place), long.length, PyBytes::new(py, &long.sha256));
                    list.append(PyTuple::new(
                        py,
                        [end.0.into_pyobject(py)?.into_any(), end.1.into_pyobject(py)?.into_any(), end.2.into_any()],
                    )?)?;
                }
            }
        }
        Ok((list, fault.as_ref().map(array_fault)))
    }

    /// What is wrong with the end of the input, if something is.
    fn finish(&self) -> Option<(&'static str, String)> {
        self.inner.finish().err().as_ref().map(array_fault)
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.inner.offset()
    }
}

fn place(place: Place) -> (u64, u64, u64, u64) {
    (place.line, place.offset, place.lines_after, place.after)
}

fn header_fault(fault: &HeaderFault) -> PyErr {
    let what = match fault {
        HeaderFault::Encoding => "encoding",
        HeaderFault::Row(_) => "row",
        HeaderFault::Unnamed(_) => "unnamed",
        HeaderFault::Repeated(_) => "repeated",
    };
    PyValueError::new_err((what, fault.to_string()))
}

fn array_fault(fault: &Fault) -> (&'static str, String) {
    let what = match fault {
        Fault::Object => "object",
        Fault::NoArray(_) => "start",
        Fault::Expected(..) => "syntax",
        Fault::Bracket(_) => "bracket",
        Fault::Trailing(_) => "trailing",
        Fault::Cut(_) => "cut",
    };
    (what, fault.to_string())
}
