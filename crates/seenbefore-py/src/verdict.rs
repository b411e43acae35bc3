//! `Verdict` and `Reference`: what was decided about one record, as a program sees it. Texts are made when they are asked for.

use crate::error::wrong_argument;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seenbefore_core::batch::Earlier;
use seenbefore_core::error::{Problem, Problems};
use seenbefore_core::keys::{Digest, hex};
use seenbefore_core::times::{read_fetched_at, write_utc};
use std::sync::Arc;

/// An earlier row that a verdict points at. `fetched_at` is RFC 3339 in UTC.
#[pyclass(frozen, eq, hash, from_py_object, module = "seenbefore._kernel")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    #[pyo3(get)]
    run: u64,
    #[pyo3(get)]
    seq: u64,
    #[pyo3(get)]
    url: Option<String>,
    time: Option<i64>,
}

#[pymethods]
impl Reference {
    #[new]
    #[pyo3(signature = (run, seq, url=None, fetched_at=None))]
    fn new(run: u64, seq: u64, url: Option<String>, fetched_at: Option<&str>) -> PyResult<Self> {
        Ok(Self { run, seq, url, time: fetched_at.map(time_of).transpose()? })
    }

    #[getter]
    fn fetched_at(&self) -> Option<String> {
        self.time.map(utc)
    }

    fn __getnewargs__(&self) -> (u64, u64, Option<&str>, Option<String>) {
        (self.run, self.seq, self.url.as_deref(), self.fetched_at())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let url = (&self.url).into_pyobject(py)?.repr()?;
        let fetched_at = self.fetched_at().into_pyobject(py)?.repr()?;
        Ok(format!("Reference(run={}, seq={}, url={url}, fetched_at={fetched_at})", self.run, self.seq))
    }
}

impl From<Earlier> for Reference {
    fn from(earlier: Earlier) -> Self {
        Self { run: earlier.run, seq: earlier.seq, url: earlier.url, time: earlier.fetched_at }
    }
}

/// What was decided about one record: the members of its receipt, and what only a program needs.
#[pyclass(frozen, eq, hash, module = "seenbefore._kernel")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Verdict {
    pub name: &'static str,
    pub keep: Option<bool>,
    pub seen_before: bool,
    pub run: u64,
    pub seq: u64,
    pub position: usize,
    pub source: Option<String>,
    pub url: Option<String>,
    pub label: Option<Arc<str>>,
    pub place: Option<Digest>,
    pub time: Option<i64>,
    pub payload: Option<Digest>,
    pub content: Option<Digest>,
    pub matched_on: Option<&'static str>,
    pub refers_to: Option<Reference>,
    pub previous: Option<Reference>,
    pub problems: Problems,
    pub code: Option<String>,
    pub detail: Option<String>,
    pub waits_for: Option<usize>,
}

#[pymethods]
impl Verdict {
    /// A verdict from the members of a receipt; `position` is the record's within its batch.
    #[new]
    #[pyo3(signature = (verdict, action, *, seen_before=false, run=0, seq=0, position=0, source=None, url=None, url_key=None,
        fetched_at=None, payload_digest=None, content_key=None, matched_on=None, refers_to=None, previous=None,
        problems=Vec::new(), code=None, detail=None, waits_for=None))]
    #[allow(clippy::too_many_arguments)] // keyword-only in Python, where each is named
    fn new(
        verdict: &str,
        action: &str,
        seen_before: bool,
        run: u64,
        seq: u64,
        position: usize,
        source: Option<String>,
        url: Option<String>,
        url_key: Option<&str>,
        fetched_at: Option<&str>,
        payload_digest: Option<&str>,
        content_key: Option<&str>,
        matched_on: Option<&str>,
        refers_to: Option<Reference>,
        previous: Option<Reference>,
        problems: Vec<String>,
        code: Option<String>,
        detail: Option<String>,
        waits_for: Option<usize>,
    ) -> PyResult<Self> {
        let found = seenbefore_core::judge::Verdict::ALL.iter().find(|known| known.code() == verdict);
        let found = found.ok_or_else(|| wrong_argument(format!("{verdict:?} is no verdict")))?;
        let keep = match action {
            "keep" => Some(true),
            "skip" => Some(false),
            "refuse" => None,
            _ => return Err(wrong_argument(format!("{action:?} is no action"))),
        };
        let matched_on = match matched_on {
            None => None,
            Some("payload") => Some("payload"),
            Some("content") => Some("content"),
            Some(other) => return Err(wrong_argument(format!("nothing is matched on {other:?}"))),
        };
        let mut listed = Problems::default();
        for code in problems {
            let known = Problem::ALL.iter().find(|problem| problem.code() == code);
            listed.add(*known.ok_or_else(|| wrong_argument(format!("{code:?} is no problem")))?);
        }
        let (content_label, content) = labelled(content_key, "")?;
        let (place_label, place) = labelled(url_key, ":url")?;
        Ok(Self {
            name: found.code(),
            keep,
            seen_before,
            run,
            seq,
            position,
            source,
            url,
            label: content_label.or(place_label),
            place,
            time: fetched_at.map(time_of).transpose()?,
            payload: payload_digest.map(digest_of).transpose()?,
            content,
            matched_on,
            refers_to,
            previous,
            problems: listed,
            code,
            detail,
            waits_for,
        })
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.name
    }

    #[getter]
    fn action(&self) -> &'static str {
        match self.keep {
            Some(true) => "keep",
            Some(false) => "skip",
            None => "refuse",
        }
    }

    #[getter]
    fn seen_before(&self) -> bool {
        self.seen_before
    }

    #[getter]
    fn run(&self) -> u64 {
        self.run
    }

    #[getter]
    fn seq(&self) -> u64 {
        self.seq
    }

    #[getter]
    fn position(&self) -> usize {
        self.position
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    #[getter]
    fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    #[getter]
    fn url_key(&self) -> Option<String> {
        self.key(":url", self.place.as_ref())
    }

    #[getter]
    fn fetched_at(&self) -> Option<String> {
        self.time.map(utc)
    }

    #[getter]
    fn payload_digest(&self) -> Option<String> {
        self.payload.as_ref().map(|digest| format!("sha256:{}", hex(digest)))
    }

    #[getter]
    fn content_key(&self) -> Option<String> {
        self.key("", self.content.as_ref())
    }

    #[getter]
    fn matched_on(&self) -> Option<&'static str> {
        self.matched_on
    }

    #[getter]
    fn refers_to(&self) -> Option<Reference> {
        self.refers_to.clone()
    }

    #[getter]
    fn previous(&self) -> Option<Reference> {
        self.previous.clone()
    }

    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.problems.iter().map(Problem::code).collect::<Vec<_>>())
    }

    #[getter]
    fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    #[getter]
    fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    #[getter]
    fn waits_for(&self) -> Option<usize> {
        self.waits_for
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let members = self.members(py)?;
        let first = PyTuple::new(py, [self.verdict(), self.action()])?;
        members.del_item("verdict")?;
        members.del_item("action")?;
        Ok((first, members))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let members = self.members(py)?;
        let shown: PyResult<Vec<String>> =
            members.iter().map(|(name, value)| Ok(format!("{name}={}", value.repr()?))).collect();
        Ok(format!("Verdict({})", shown?.join(", ")))
    }
}

impl Verdict {
    fn key(&self, infix: &str, digest: Option<&Digest>) -> Option<String> {
        let label = self.label.as_deref().unwrap_or_default();
        digest.map(|digest| format!("{label}{infix}:sha256:{}", hex(digest)))
    }

    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("verdict", self.verdict())?;
        dict.set_item("action", self.action())?;
        dict.set_item("seen_before", self.seen_before)?;
        dict.set_item("run", self.run)?;
        dict.set_item("seq", self.seq)?;
        dict.set_item("position", self.position)?;
        dict.set_item("source", self.source())?;
        dict.set_item("url", self.url())?;
        dict.set_item("url_key", self.url_key())?;
        dict.set_item("fetched_at", self.fetched_at())?;
        dict.set_item("payload_digest", self.payload_digest())?;
        dict.set_item("content_key", self.content_key())?;
        dict.set_item("matched_on", self.matched_on)?;
        dict.set_item("refers_to", self.refers_to())?;
        dict.set_item("previous", self.previous())?;
        dict.set_item("problems", self.problems(py)?)?;
        dict.set_item("code", self.code())?;
        dict.set_item("detail", self.detail())?;
        dict.set_item("waits_for", self.waits_for)?;
        Ok(dict)
    }
}

fn utc(time: i64) -> String {
    let mut out = Vec::new();
    write_utc(time, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn time_of(text: &str) -> PyResult<i64> {
    read_fetched_at(text, None).ok_or_else(|| wrong_argument(format!("{text:?} is no time")))
}

fn digest_of(text: &str) -> PyResult<Digest> {
    let refuse = || wrong_argument(format!("{text:?} is no digest"));
    let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64).ok_or_else(refuse)?;
    let mut digest = Digest::default();
    for (byte, pair) in digest.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| refuse())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| refuse())?;
    }
    Ok(digest)
}

/// A key's label and digest; `infix` stands between them.
fn labelled(key: Option<&str>, infix: &str) -> PyResult<(Option<Arc<str>>, Option<Digest>)> {
    let Some(text) = key else { return Ok((None, None)) };
    let refuse = || wrong_argument(format!("{text:?} is no key"));
    let at = text.find(":sha256:").ok_or_else(refuse)?;
    let (label, digest) = text.split_at_checked(at).ok_or_else(refuse)?;
    let label = label.strip_suffix(infix).ok_or_else(refuse)?;
    Ok((Some(Arc::from(label)), Some(digest_of(digest.get(1..).unwrap_or_default())?)))
}
