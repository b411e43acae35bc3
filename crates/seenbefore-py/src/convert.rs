//! A program's values to a record's text and tape, exactly: no number passes through a binary float unseen.

use crate::error::refused;
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType};
use seenbefore_core::error::{Code, Refusal};
use seenbefore_core::json::{Builder, Kind, Tape, Value, parse, parse_value};

static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A value: its JSON text and tape. `bytes` are read as one JSON text, everything else value by value.
pub fn read(value: &Bound<'_, PyAny>) -> PyResult<(String, Tape)> {
    read_with(value, parse_value)
}

/// As [`read`], for what must be a record.
pub fn read_record(value: &Bound<'_, PyAny>) -> PyResult<(String, Tape)> {
    let (text, tape) = read_with(value, parse)?;
    match tape.root(&text).map(Value::kind) {
        Some(Kind::Object) => Ok((text, tape)),
        _ => Err(refused(value.py(), &Refusal::line(Code::NotAnObject, "a record is a mapping from names to values"))),
    }
}

fn read_with(value: &Bound<'_, PyAny>, reader: fn(&str, &mut Tape) -> Result<(), Refusal>) -> PyResult<(String, Tape)> {
    let py = value.py();
    if let Ok(bytes) = value.cast::<PyBytes>() {
        let invalid = |_| refused(py, &Refusal::line(Code::InvalidUtf8, "not UTF-8"));
        let text = String::from_utf8(bytes.as_bytes().to_vec()).map_err(invalid)?;
        let mut tape = Tape::new();
        reader(&text, &mut tape).map_err(|refusal| refused(py, &refusal))?;
        return Ok((text, tape));
    }
    let mut builder = Builder::new();
    write(value, &mut builder)?;
    builder.finish().map_err(|refusal| refused(py, &refusal))
}

fn write(value: &Bound<'_, PyAny>, builder: &mut Builder) -> PyResult<()> {
    let py = value.py();
    if let Ok(text) = value.cast::<PyString>() {
        builder.string(utf8(text)?.as_ref());
    } else if value.is_none() {
        builder.token(Kind::Null, "null");
    } else if let Ok(truth) = value.cast::<PyBool>() {
        if truth.is_true() { builder.token(Kind::True, "true") } else { builder.token(Kind::False, "false") }
    } else if let Ok(number) = value.cast::<PyInt>() {
        integer(number.as_any(), builder)?;
    } else if let Ok(float) = value.cast::<PyFloat>() {
        binary_float(float.as_any(), builder)?;
    } else if let Ok(dict) = value.cast::<PyDict>() {
        builder.open(Kind::Object).map_err(|refusal| refused(py, &refusal))?;
        for (name, member) in dict.iter() {
            name_and_value(&name, &member, builder)?;
        }
        builder.close();
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        builder.open(Kind::Array).map_err(|refusal| refused(py, &refusal))?;
        for element in value.try_iter()? {
            write(&element?, builder)?;
        }
        builder.close();
    } else {
        rare(value, builder)?;
    }
    Ok(())
}

/// Types that are looked at after the usual ones.
fn rare(value: &Bound<'_, PyAny>, builder: &mut Builder) -> PyResult<()> {
    let py = value.py();
    if value.is_instance(DECIMAL.import(py, "decimal", "Decimal")?)? {
        if !value.call_method0("is_finite")?.is_truthy()? {
            return Err(refused(py, &Refusal::line(Code::BadNumber, "a Decimal that is not a finite number")));
        }
        builder.token(Kind::Number, &value.str()?.to_cow()?);
    } else if value.is_instance(DATE.import(py, "datetime", "date")?)? {
        builder.string(&value.call_method0("isoformat")?.cast_into::<PyString>()?.to_cow()?);
    } else if value.hasattr("__index__")? {
        integer(&py.import("operator")?.call_method1("index", (value,))?, builder)?;
    } else if value.hasattr("__float__")? {
        binary_float(&py.get_type::<PyFloat>().call1((value,))?, builder)?;
    } else if let Ok(mapping) = value.cast::<PyMapping>() {
        builder.open(Kind::Object).map_err(|refusal| refused(py, &refusal))?;
        for pair in mapping.items()?.iter() {
            let (name, member): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            name_and_value(&name, &member, builder)?;
        }
        builder.close();
    } else {
        let found = value.get_type().name()?;
        let message = format!("a Python {found} has no one reading as JSON; give text, a number, a list or a dict");
        return Err(refused(py, &Refusal::line(Code::WrongType, message)));
    }
    Ok(())
}

fn name_and_value(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, builder: &mut Builder) -> PyResult<()> {
    match name.cast::<PyString>() {
        Ok(text) => builder.string(utf8(text)?.as_ref()),
        Err(_) => return Err(refused(name.py(), &Refusal::line(Code::WrongType, "a member name that is not text"))),
    }
    write(value, builder)
}

fn integer(number: &Bound<'_, PyAny>, builder: &mut Builder) -> PyResult<()> {
    // `int.__repr__` rather than `str`, so that subclasses such as IntEnum give their digits; Python refuses over 4,300 of them.
    let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,)).map_err(|_| {
        refused(number.py(), &Refusal::line(Code::NumberTooLong, "an integer with too many digits to write out"))
    })?;
    builder.token(Kind::Number, &digits.cast_into::<PyString>()?.to_cow()?);
    Ok(())
}

/// `repr` of a float is the shortest decimal that reads back as the same float.
fn binary_float(float: &Bound<'_, PyAny>, builder: &mut Builder) -> PyResult<()> {
    let spelling = float.py().get_type::<PyFloat>().call_method1("__repr__", (float,))?.cast_into::<PyString>()?;
    let spelling = spelling.to_cow()?;
    if !spelling.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(refused(float.py(), &Refusal::line(Code::Float, "NaN and Infinity are no JSON numbers")));
    }
    builder.token(Kind::Float, &spelling);
    Ok(())
}

fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<std::borrow::Cow<'a, str>> {
    text.to_cow().map_err(|error| {
        let py = text.py();
        if error.is_instance_of::<PyUnicodeEncodeError>(py) {
            refused(py, &Refusal::line(Code::UnpairedSurrogate, "text with a surrogate without its partner"))
        } else {
            error
        }
    })
}
