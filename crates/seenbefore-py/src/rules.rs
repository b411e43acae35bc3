//! `Ruleset`, the keys of single records, and explanations.

use crate::convert::read_record;
use crate::error::{refused, rules_invalid};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};
use seenbefore_core::batch::{Batch, Setting};
use seenbefore_core::keys::{Digest, Given, Maker, Texts, Told, hex};
use seenbefore_core::ruleset::Ruleset as Core;
use seenbefore_core::times::write_utc;
use seenbefore_core::urls::canonical_url;
use std::sync::Arc;

/// Rules of what is the same content and the same place. Immutable.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Ruleset {
    pub inner: Arc<Core>,
}

#[pymethods]
impl Ruleset {
    /// Reads a ruleset from TOML text; raises `errors.RulesInvalid` with every mistake in it.
    #[staticmethod]
    fn from_toml(py: Python<'_>, text: &str) -> PyResult<Self> {
        let inner = Arc::new(Core::from_toml(text).map_err(|mistakes| rules_invalid(py, mistakes))?);
        Ok(Self { inner })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn version(&self) -> u64 {
        self.inner.version
    }

    #[getter]
    fn label(&self) -> &str {
        &self.inner.label
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint_text()
    }

    #[getter]
    fn configuration(&self) -> String {
        self.inner.configuration_text()
    }

    #[getter]
    fn identity_json(&self) -> &str {
        &self.inner.identity_json
    }

    #[getter]
    fn settings_json(&self) -> &str {
        &self.inner.settings_json
    }

    /// The keys of one record; raises `errors.Refused`.
    #[pyo3(signature = (record, url=None, source=None, fetched_at=None, floats=None))]
    fn keys(
        &self,
        py: Python<'_>,
        record: &Bound<'_, PyAny>,
        url: Option<&str>,
        source: Option<&str>,
        fetched_at: Option<&str>,
        floats: Option<Vec<String>>,
    ) -> PyResult<Keys> {
        let (text, tape) = read_record(record)?;
        let mut texts = Texts::default();
        let given = Given { url, source, fetched_at, input: "" };
        let Some(root) = tape.root(&text) else { return Err(crate::error::wrong_argument("no record".to_owned())) };
        let mut maker = Maker::new();
        maker.read_as_floats(floats.unwrap_or_default());
        let keyed = maker.keys(&self.inner, root, &given, true, &mut texts).map_err(|refusal| refused(py, &refusal))?;
        let address = given.url_of(&self.inner, root).and_then(Result::ok);
        let canonical = address.as_deref().and_then(|text| canonical_url(text, &self.inner.url).ok());
        Ok(Keys {
            content_key: keyed.content.map(|digest| self.labelled("", &digest)),
            url_key: keyed.place.map(|digest| self.labelled(":url", &digest)),
            payload_digest: keyed.payload.map(|digest| format!("sha256:{}", hex(&digest))),
            problems: keyed.problems.iter().map(seenbefore_core::error::Problem::code).collect(),
            url: texts.get(keyed.url).map(str::to_owned),
            canonical_url: canonical.map(|canonical| canonical.url.into_owned()),
            source: texts.get(keyed.source).filter(|source| !source.is_empty()).map(str::to_owned),
            fetched_at: keyed.fetched_at.map(utc),
        })
    }

    /// The fields whose numbers were binary floats when the record got that content key; none where that is not so.
    fn float_reading(&self, record: &Bound<'_, PyAny>, content: [u8; 32]) -> PyResult<Option<Vec<String>>> {
        let (text, tape) = read_record(record)?;
        Ok(tape.root(&text).and_then(|root| Maker::new().float_reading(&self.inner, root, &content)))
    }

    /// The keys of every line of NDJSON `data`, as columns.
    fn keys_ndjson(&self, py: Python<'_>, data: PyBackedBytes) -> KeyBatch {
        let setting = Setting {
            run: 1,
            first_seq: 1,
            max_records: usize::MAX,
            max_bytes: usize::MAX,
            max_line: usize::MAX,
            digests: true,
            ..Setting::default()
        };
        let mut batch = Batch::new(Arc::clone(&self.inner), setting);
        let start = if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        py.detach(|| {
            batch.feed(data, start, "", 0, 0);
            batch.key();
        });
        let mut columns = KeyBatch::default();
        let push = |column: &mut Vec<u8>, digest: Option<Digest>| column.extend_from_slice(&digest.unwrap_or([0; 32]));
        for outcome in batch.outcomes() {
            let keyed = outcome.ok();
            push(&mut columns.contents, keyed.and_then(|keyed| keyed.content));
            push(&mut columns.places, keyed.and_then(|keyed| keyed.place));
            push(&mut columns.payloads, keyed.and_then(|keyed| keyed.payload));
            columns.codes.push(outcome.err().map(seenbefore_core::error::Code::code));
        }
        columns
    }

    /// One dict a field: `field`, `kind`, `value` and `form` as JSON text or None, `steps` as (step, before, after).
    #[pyo3(signature = (record, floats=None))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        record: &Bound<'py, PyAny>,
        floats: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (text, tape) = read_record(record)?;
        let Some(root) = tape.root(&text) else { return Err(crate::error::wrong_argument("no record".to_owned())) };
        let mut fields: Vec<FieldTrace> = Vec::new();
        let mut maker = Maker::new();
        maker.read_as_floats(floats.unwrap_or_default());
        let explained = maker.explain(&self.inner, root, &mut |told| match (told, fields.last_mut()) {
            (Told::Field(field, kind, value), _) => {
                fields.push(FieldTrace {
                    field: field.to_owned(),
                    kind,
                    value: value.map(str::to_owned),
                    ..FieldTrace::default()
                });
            }
            (Told::Step(step, before, after), Some(field)) => {
                field.steps.push((step, before.to_owned(), after.to_owned()));
            }
            (Told::Form(form), Some(field)) => field.form = form.map(str::to_owned),
            _ => {}
        });
        explained.map_err(|refusal| refused(py, &refusal))?;
        let list = PyList::empty(py);
        for field in fields {
            let dict = PyDict::new(py);
            dict.set_item("field", field.field)?;
            dict.set_item("kind", field.kind)?;
            dict.set_item("value", field.value)?;
            dict.set_item("form", field.form)?;
            dict.set_item("steps", field.steps)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// The steps that change `url` under this ruleset, as (step, before, after); raises `errors.UrlRefused`.
    fn trace_url(&self, py: Python<'_>, url: &str) -> PyResult<Vec<(String, String, String)>> {
        let mut steps = Vec::new();
        let record =
            |step: &str, before: &str, after: &str| steps.push((step.to_owned(), before.to_owned(), after.to_owned()));
        let traced = seenbefore_core::urls::trace_url(url, &self.inner.url, record);
        traced.map_err(|problem| crate::error::url_refused(py, problem))?;
        Ok(steps)
    }

    fn __repr__(&self) -> String {
        format!("<Ruleset {} {}>", self.inner.label, self.inner.fingerprint_text())
    }
}

impl Ruleset {
    fn labelled(&self, infix: &str, digest: &Digest) -> String {
        format!("{}{infix}:sha256:{}", self.inner.label, hex(digest))
    }
}

#[derive(Default)]
struct FieldTrace {
    field: String,
    kind: &'static str,
    value: Option<String>,
    form: Option<String>,
    steps: Vec<(&'static str, String, String)>,
}

fn utc(time: i64) -> String {
    let mut out = Vec::new();
    write_utc(time, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// What one record is judged by.
#[pyclass(frozen, get_all, module = "seenbefore._kernel")]
pub struct Keys {
    content_key: Option<String>,
    url_key: Option<String>,
    payload_digest: Option<String>,
    problems: Vec<&'static str>,
    url: Option<String>,
    canonical_url: Option<String>,
    source: Option<String>,
    fetched_at: Option<String>,
}

#[pymethods]
impl Keys {
    fn __repr__(&self) -> String {
        let show = |text: &Option<String>| text.as_deref().map_or("None".to_owned(), |text| format!("'{text}'"));
        format!(
            "Keys(content_key={}, url_key={}, payload_digest={})",
            show(&self.content_key),
            show(&self.url_key),
            show(&self.payload_digest)
        )
    }
}

/// Keys of many records as columns: 32 bytes a record, zero bytes where there is none.
#[pyclass(frozen, module = "seenbefore._kernel")]
#[derive(Default)]
pub struct KeyBatch {
    contents: Vec<u8>,
    places: Vec<u8>,
    payloads: Vec<u8>,
    codes: Vec<Option<&'static str>>,
}

#[pymethods]
impl KeyBatch {
    fn __len__(&self) -> usize {
        self.codes.len()
    }

    #[getter]
    fn content_keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.contents)
    }

    #[getter]
    fn url_keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.places)
    }

    #[getter]
    fn payload_digests<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.payloads)
    }

    #[getter]
    fn codes(&self) -> Vec<Option<&'static str>> {
        self.codes.clone()
    }
}
