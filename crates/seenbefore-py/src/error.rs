//! From the core's errors to the classes of `seenbefore.errors`: one function for each.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use seenbefore_core::error::Refusal;
use seenbefore_core::ruleset::Mistake;
use seenbefore_core::urls::UrlProblem;

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = ERRORS.get_or_try_init(py, || py.import("seenbefore.errors").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

fn made(error: PyResult<Bound<'_, PyAny>>) -> PyErr {
    error.map_or_else(|failed| failed, PyErr::from_value)
}

/// `errors.Refused(code, field, detail)`
pub fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let arguments = (refusal.code.code(), refusal.field.as_deref(), &*refusal.detail);
    made(class(py, "Refused").and_then(|class| class.call1(arguments)))
}

/// The code and the detail of an `errors.Refused`; the error itself where it is another.
pub fn as_refusal(py: Python<'_>, error: PyErr) -> PyResult<(String, String)> {
    if !error.is_instance(py, &class(py, "Refused")?) {
        return Err(error);
    }
    let value = error.value(py);
    Ok((value.getattr("code")?.extract()?, value.getattr("detail")?.extract()?))
}

/// `errors.RulesInvalid(mistakes)`
pub fn rules_invalid(py: Python<'_>, mistakes: Vec<Mistake>) -> PyErr {
    let mistakes: Vec<_> = mistakes.into_iter().map(|mistake| (mistake.path, mistake.message)).collect();
    made(class(py, "RulesInvalid").and_then(|class| class.call1((mistakes,))))
}

/// `errors.UrlRefused(code)`
pub fn url_refused(py: Python<'_>, problem: UrlProblem) -> PyErr {
    made(class(py, "UrlRefused").and_then(|class| class.call1((problem.code(),))))
}

/// A wrong argument of a program.
pub fn wrong_argument(message: String) -> PyErr {
    PyTypeError::new_err(message)
}
