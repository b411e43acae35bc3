//! `Memory`: what a store in memory has seen.

use crate::batch::Batch;
use crate::judged::Judged;
use crate::rows::{Given, GivenSighting, digest};
use crate::sqlite::{locked, raised};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use seenbefore_core::batch::{Earlier, StoredContent, StoredPlace};
use seenbefore_core::keys::Digest;
use seenbefore_store::{Claimed, Error, Memory as Core, Written};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

type SightingTuple<'py> =
    (i64, i64, u64, i64, Option<i64>, Option<i64>, Option<i64>, u8, Option<String>, Option<Bound<'py, PyBytes>>);
type ContentTuple<'py> = (i64, Bound<'py, PyBytes>, i64, Option<i64>);
type PlaceTuple<'py> = (i64, Bound<'py, PyBytes>, i64, i64, i64);

/// Contents, places and sightings. Between two commits a transaction's own rows are seen by its own calls only.
#[pyclass(frozen, module = "seenbefore._kernel")]
pub struct Memory {
    core: Mutex<Core>,
    /// Counts claims: a judged batch may be recorded by the last one only, and once.
    claims: AtomicU64,
}

#[pymethods]
impl Memory {
    #[new]
    fn new() -> Self {
        Self { core: Mutex::new(Core::new()), claims: AtomicU64::new(0) }
    }

    /// Claims the keys of a batch and judges it. With `evidence` it is rendered when somebody asks for what was written
    /// about it, without it never.
    fn judge(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        ruleset: i64,
        first: i64,
        source_ids: Vec<i64>,
        evidence: bool,
    ) -> PyResult<Judged> {
        let claim = self.claims.fetch_add(1, Ordering::Relaxed) + 1;
        let mut batch = batch.borrow_mut();
        let inner = batch.open()?;
        let earlier = py.detach(|| {
            let mut core = locked(&self.core);
            let Claimed { contents, places, .. } = core.claim(ruleset, inner.content_keys(), inner.place_keys());
            let needed = inner.judge(first, &contents, &places);
            if evidence { needed.into_iter().map(|id| core.earlier(id)).collect() } else { Ok(Vec::new()) }
        });
        let earlier = earlier.map_err(|error: Error| raised(&error))?;
        let shared = batch.share();
        Ok(py.detach(|| {
            if evidence {
                Judged::unrendered(shared, earlier, source_ids, claim)
            } else {
                Judged::new(shared, Vec::new(), source_ids, Some(claim))
            }
        }))
    }

    /// Takes a batch that `judge` gave into the transaction; gives how many sightings it has.
    fn record(&self, py: Python<'_>, judged: &Judged, ruleset: i64, run: i64, first: i64) -> PyResult<i64> {
        let claim = self.claims.fetch_add(1, Ordering::Relaxed);
        let recorded = if judged.claim() != Some(claim) || judged.place() != (run.cast_unsigned(), first) {
            Err(Error::Contradiction("the batch was not judged by this transaction's last claim".to_owned()))
        } else {
            py.detach(|| locked(&self.core).record(Written { ruleset, run, first }, judged))
        };
        recorded.map_err(|error| raised(&error))
    }

    /// Takes rows into the transaction that were judged elsewhere: contents and places as they are now, and the next sightings.
    fn put(
        &self,
        contents: Vec<(i64, PyBackedBytes, i64, Option<i64>)>,
        places: Vec<(i64, PyBackedBytes, i64, i64, i64)>,
        sightings: Vec<GivenSighting>,
    ) -> PyResult<()> {
        let mut core = locked(&self.core);
        for (ruleset, key, id, first_seen) in contents {
            core.put_content(ruleset, digest(&key)?, (id, first_seen));
        }
        for (ruleset, key, id, latest, content) in places {
            core.put_place(ruleset, digest(&key)?, (id, latest, content));
        }
        let given = Given::read(Vec::new(), Vec::new(), Vec::new(), sightings, Vec::new(), false)?;
        for (row, run, source) in given.sightings_of_runs() {
            core.put_sighting(run, row, source);
        }
        Ok(())
    }

    /// Makes visible what the transaction took in.
    fn commit(&self, py: Python<'_>) {
        py.detach(|| locked(&self.core).commit());
    }

    /// Forgets what the transaction took in.
    fn rollback(&self, py: Python<'_>) {
        py.detach(|| locked(&self.core).rollback());
    }

    fn content(&self, ruleset: i64, key: &[u8]) -> PyResult<Option<StoredContent>> {
        Ok(locked(&self.core).content(ruleset, &digest(key)?))
    }

    fn place(&self, ruleset: i64, key: &[u8]) -> PyResult<Option<StoredPlace>> {
        Ok(locked(&self.core).place(ruleset, &digest(key)?))
    }

    fn sighting<'py>(&self, py: Python<'py>, id: i64) -> Option<SightingTuple<'py>> {
        let core = locked(&self.core);
        let (row, run, source) = core.sighting(id)?;
        let (content, place, fetched_at, verdict) = (row.content, row.place, row.fetched_at, row.verdict as u8);
        let payload = row.payload.map(|payload| PyBytes::new(py, &payload));
        Some((id, run, row.seq, source, content, place, fetched_at, verdict, row.url.map(str::to_owned), payload))
    }

    /// (ruleset, key, id, `first_seen`), in no order.
    fn contents<'py>(&self, py: Python<'py>) -> Vec<ContentTuple<'py>> {
        let core = locked(&self.core);
        core.contents().map(|(ruleset, key, (id, seen))| (ruleset, PyBytes::new(py, key), id, seen)).collect()
    }

    /// (ruleset, key, id, latest sighting, its content), in no order.
    fn places<'py>(&self, py: Python<'py>) -> Vec<PlaceTuple<'py>> {
        let core = locked(&self.core);
        let rows = core.places();
        rows.map(|(ruleset, key, (id, latest, content))| (ruleset, PyBytes::new(py, key), id, latest, content))
            .collect()
    }

    #[getter]
    fn sightings(&self) -> usize {
        locked(&self.core).sightings()
    }
}

impl Memory {
    /// What is committed about the keys of one record.
    pub fn look_up(
        &self,
        ruleset: i64,
        content: Option<&Digest>,
        place: Option<&Digest>,
    ) -> (Option<StoredContent>, Option<StoredPlace>) {
        let core = locked(&self.core);
        let content = content.and_then(|key| core.content(ruleset, key));
        (content, place.and_then(|key| core.place(ruleset, key)))
    }

    /// The facts of one sighting.
    pub fn earlier(&self, id: i64) -> PyResult<Earlier> {
        locked(&self.core).earlier(id).map_err(|error| raised(&error))
    }
}
