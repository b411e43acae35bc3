//! The pure functions: one value in, its canonical form out.

use crate::convert::read;
use crate::error::{refused, rules_invalid, url_refused, wrong_argument};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use seenbefore_core::canonicalise;
use seenbefore_core::error::Problems;
use seenbefore_core::json::{Tape, parse_value};
use seenbefore_core::kinds::{Context, Presence, Work, write};
use seenbefore_core::ruleset::{Identity, Ruleset};
use seenbefore_core::urls::{self, Strength, UrlRules};

/// The canonical form of a value of a kind as text: a string's own text, else its canonical JSON; None where it is absent.
#[pyfunction]
#[pyo3(signature = (value, kind="text", **settings))]
pub fn normalise(
    value: &Bound<'_, PyAny>,
    kind: &str,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<String>> {
    let py = value.py();
    let rules = one_field(py, kind, settings)?;
    let Identity::Fields(fields) = &rules.identity else { return Ok(None) };
    let Some(field) = fields.first() else { return Ok(None) };
    let (text, tape) = read(value)?;
    let Some(root) = tape.root(&text) else { return Ok(None) };
    let mut context = Context {
        work: &mut Work::default(),
        problems: &mut Problems::default(),
        record: root,
        urls: &rules.url,
        recorder: None,
    };
    let mut out = Vec::new();
    let presence = write(&*field.kind, root, &mut context, &mut out).map_err(|refusal| refused(py, &refusal))?;
    if presence == Presence::Absent {
        return Ok(None);
    }
    let form = String::from_utf8_lossy(&out).into_owned();
    Ok(Some(if form.starts_with('"') { string_of(&form) } else { form }))
}

/// A ruleset of one field, so that settings are read and checked in one place only.
fn one_field(py: Python<'_>, kind: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Ruleset> {
    let mut toml = "name = \"value\"\nversion = 1\nidentity = [\"value\"]\n[fields.value]\n".to_owned();
    let mut setting = |name: &str, value: &str| toml.extend([name, " = ", value, "\n"]);
    setting("kind", &quoted(kind));
    for (name, value) in settings.into_iter().flatten() {
        setting(&quoted(&name.extract::<String>()?), &toml_of(&value)?);
    }
    Ruleset::from_toml(&toml).map_err(|mistakes| rules_invalid(py, mistakes))
}

/// A setting given from Python as TOML.
fn toml_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(truth.to_string());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(quoted(&text));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!("{} = {}", quoted(&name.extract::<String>()?), toml_of(&value)?))
        };
        return Ok(format!("{{ {} }}", table.iter().map(one).collect::<PyResult<Vec<_>>>()?.join(", ")));
    }
    if let Ok(list) = value.cast::<PyList>() {
        let items = list.iter().map(|item| toml_of(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    let number = value.extract::<i64>();
    number.map(|number| number.to_string()).map_err(|_| wrong_argument(format!("{value} is no setting of a field")))
}

/// Text as a TOML basic string; JSON's escapes are among TOML's, but U+007F must be escaped too (TOML 1.0, "String").
fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    canonicalise::write_string(text, &mut out);
    String::from_utf8_lossy(&out).replace('\u{7f}', "\\u007f")
}

fn string_of(json: &str) -> String {
    let mut tape = Tape::new();
    let read = parse_value(json, &mut tape).ok().and_then(|()| tape.root(json));
    read.map(|value| value.string().into_owned()).unwrap_or_default()
}

/// The canonical URL at a strength; raises `errors.UrlRefused`.
#[pyfunction]
#[pyo3(signature = (url, strength="page"))]
pub fn canonical_url(py: Python<'_>, url: &str, strength: &str) -> PyResult<String> {
    let known = || wrong_argument(format!("\"{strength}\" is no strength; there are \"exact\", \"page\" and \"site\""));
    let strength = Strength::from_name(strength).ok_or_else(known)?;
    let rules = UrlRules { strength, hosts: Vec::new() };
    urls::canonical_url(url, &rules)
        .map(|canonical| canonical.url.into_owned())
        .map_err(|problem| url_refused(py, problem))
}

/// Exact canonical JSON of a value; raises `errors.Refused` for floats.
#[pyfunction]
pub fn canonical_json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    let (text, tape) = read(value)?;
    let Some(root) = tape.root(&text) else { return Ok(PyBytes::new(py, b"null")) };
    let out = canonicalise::canonical_json(root).map_err(|refusal| refused(py, &refusal))?;
    Ok(PyBytes::new(py, &out))
}
