//! Rows of a judged batch as `PostgreSQL`'s binary COPY takes them: one bytes object for a table, no Python object a row.
//!
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format": a header, then for each row the number of
//! its fields, and for each field its length (-1 for NULL) and its bytes in network order; -1 at the end.

use crate::batch::Batch;
use crate::error::wrong_argument;
use crate::judged::Judged;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seenbefore_store::Rows as _;

/// The sighting ids of a batch that was given none yet begin here, above all that any store gave.
pub const OWN: i64 = 1 << 62;
/// The signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A number of fields that no row has.
const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();

/// Rows as they are written. Ids of the batch itself become those that begin with `base`.
struct Copy {
    bytes: Vec<u8>,
    base: i64,
}

impl Copy {
    fn new(base: i64) -> Self {
        Self { bytes: HEADER.to_vec(), base }
    }

    fn row(&mut self, fields: i16) {
        self.bytes.extend_from_slice(&fields.to_be_bytes());
    }

    fn field(&mut self, value: &[u8]) -> PyResult<()> {
        let length =
            i32::try_from(value.len()).map_err(|_| wrong_argument("a field takes 2 GiB at most".to_owned()))?;
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    fn null(&mut self) {
        self.bytes.extend_from_slice(&(-1_i32).to_be_bytes());
    }

    fn optional_field(&mut self, value: Option<&[u8]>) -> PyResult<()> {
        if let Some(value) = value {
            return self.field(value);
        }
        self.null();
        Ok(())
    }

    fn number(&mut self, value: i64) -> PyResult<()> {
        self.field(&value.to_be_bytes())
    }

    fn optional(&mut self, value: Option<i64>) -> PyResult<()> {
        self.optional_field(value.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice))
    }

    fn id(&mut self, id: i64) -> PyResult<()> {
        self.number(self.outward(id))
    }

    fn optional_id(&mut self, id: Option<i64>) -> PyResult<()> {
        self.optional(id.map(|id| self.outward(id)))
    }

    fn outward(&self, id: i64) -> i64 {
        if id >= OWN { id - OWN + self.base } else { id }
    }

    /// A text may not hold U+0000, which stands as U+001A and a 0; U+001A itself as it is and a 1.
    fn text(&mut self, text: Option<&str>) -> PyResult<()> {
        let escaped = text.filter(|text| text.contains(['\0', '\x1a']));
        let escaped = escaped.map(|text| text.replace('\x1a', "\x1a1").replace('\0', "\x1a0"));
        self.optional_field(escaped.as_deref().or(text).map(str::as_bytes))
    }

    fn finish(mut self, py: Python<'_>) -> Bound<'_, PyBytes> {
        self.bytes.extend_from_slice(&TRAILER);
        PyBytes::new(py, &self.bytes)
    }
}

/// Contents first seen in a batch as it was judged last: index, key, id, `first_seen`; and how many.
#[pyfunction]
pub fn copy_contents<'py>(py: Python<'py>, batch: &Batch, base: i64) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let mut copy = Copy::new(base);
    let mut count = 0;
    for (index, (key, id, seen)) in (0_i64..).zip(batch.inner.contents_new()) {
        copy.row(4);
        copy.number(index)?;
        copy.field(key)?;
        copy.id(id)?;
        copy.optional(seen)?;
        count += 1;
    }
    Ok((count, copy.finish(py)))
}

/// Places as they are after a batch was judged last: index, key, id, latest sighting, its content; and how many.
///
/// With `known` only those that a store knew before.
#[pyfunction]
pub fn copy_places<'py>(
    py: Python<'py>,
    batch: &Batch,
    base: i64,
    known: bool,
) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let mut copy = Copy::new(base);
    let mut count = 0;
    for (index, (key, id, latest, content)) in (0_i64..).zip(batch.inner.places_now()) {
        if known && id >= OWN {
            continue;
        }
        copy.row(5);
        copy.number(index)?;
        copy.field(key)?;
        copy.id(id)?;
        copy.id(latest)?;
        copy.id(content)?;
        count += 1;
    }
    Ok((count, copy.finish(py)))
}

/// One row a record: id, run, seq, source, content, place, `fetched_at`, verdict, url, payload; and how many.
#[pyfunction]
pub fn copy_sightings<'py>(py: Python<'py>, judged: &Judged, base: i64) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let run = judged.place().0.cast_signed();
    let mut copy = Copy::new(base);
    let mut count = 0;
    for (row, source) in judged.sightings() {
        copy.row(10);
        copy.id(row.id)?;
        copy.number(run)?;
        copy.number(row.seq.cast_signed())?;
        copy.number(source)?;
        copy.optional_id(row.content)?;
        copy.optional_id(row.place)?;
        copy.optional(row.fetched_at)?;
        copy.field(&i16::from(row.verdict as u8).to_be_bytes())?;
        copy.text(row.url)?;
        copy.optional_field(row.payload.as_ref().map(<[u8; 32]>::as_slice))?;
        count += 1;
    }
    Ok((count, copy.finish(py)))
}

/// The blocks of a batch that was rendered to be kept: run, first seq, id of the first sighting, records, receipts, rows.
#[pyfunction]
pub fn copy_blocks<'py>(py: Python<'py>, judged: &Judged, base: i64) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let run = judged.place().0.cast_signed();
    let mut copy = Copy::new(base);
    let (mut count, mut first) = (0, OWN);
    for (seq, records, receipts, kept) in judged.blocks() {
        copy.row(6);
        copy.number(run)?;
        copy.number(seq.cast_signed())?;
        copy.id(first)?;
        copy.number(i64::try_from(records).unwrap_or(i64::MAX))?;
        copy.field(receipts)?;
        copy.optional_field(kept)?;
        first += i64::try_from(records).unwrap_or(0);
        count += 1;
    }
    Ok((count, copy.finish(py)))
}
