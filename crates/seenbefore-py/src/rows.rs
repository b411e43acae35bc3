//! Rows of a judged batch as Python's tuples have them: for batches that were judged outside of the kernel.

use crate::error::wrong_argument;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use seenbefore_core::batch::SightingRow;
use seenbefore_core::judge::Verdict;
use seenbefore_core::keys::Digest;
use seenbefore_store::{Content, Error, Moved, Packed, Packer, Place, Rows};

type Bytes = PyBackedBytes;
/// Index of the key, content id, `first_seen`.
pub type ContentTuple = (usize, i64, Option<i64>);
/// Index of the key, place id, latest sighting, its content.
pub type PlaceTuple = (usize, i64, i64, i64);
/// First seq, records, receipts, kept rows, refused lines.
pub type GivenBlock = (u64, usize, Bytes, Bytes, Bytes);
/// Id, run, seq, url, `fetched_at`, payload digest.
pub type EarlierTuple<'py> = (i64, u64, u64, Option<String>, Option<i64>, Option<Bound<'py, PyBytes>>);
/// Id, run, seq, source id, content id, place id, `fetched_at`, verdict, url, payload digest.
pub type GivenSighting =
    (i64, i64, u64, i64, Option<i64>, Option<i64>, Option<i64>, usize, Option<String>, Option<PyBackedBytes>);

/// The rows, taken over.
pub struct Given {
    contents: Vec<(Digest, i64, Option<i64>)>,
    moved: Vec<Moved>,
    places: Vec<(Digest, i64, i64, i64)>,
    sightings: Vec<(GivenSighting, Option<Digest>, Verdict)>,
    blocks: Vec<Packed>,
}

impl Given {
    /// Reads them and packs the blocks.
    pub fn read(
        contents: Vec<(Bytes, i64, Option<i64>)>,
        moved: Vec<Moved>,
        places: Vec<(Bytes, i64, i64, i64)>,
        sightings: Vec<GivenSighting>,
        blocks: Vec<GivenBlock>,
        keep_rows: bool,
    ) -> PyResult<Self> {
        let contents = contents.into_iter().map(|(key, id, seen)| Ok((digest(&key)?, id, seen)));
        let places = places.into_iter().map(|(key, id, latest, content)| Ok((digest(&key)?, id, latest, content)));
        let sightings = sightings.into_iter().map(|row| {
            let verdict = Verdict::ALL.get(row.7).copied();
            let verdict = verdict.ok_or_else(|| wrong_argument(format!("there is no verdict {}", row.7)))?;
            let payload = row.9.as_deref().map(digest).transpose()?;
            Ok((row, payload, verdict))
        });
        let mut packer = Packer::new(keep_rows);
        let blocks = blocks.into_iter().map(|(first_seq, records, receipts, kept, _)| {
            let block = seenbefore_core::batch::Block {
                first_seq,
                records,
                receipts: receipts.to_vec(),
                kept: kept.to_vec(),
                ..Default::default()
            };
            packer.pack(block)
        });
        let blocks = blocks.collect::<Result<_, Error>>().map_err(|error| crate::sqlite::raised(&error))?;
        Ok(Self {
            contents: contents.collect::<PyResult<_>>()?,
            moved,
            places: places.collect::<PyResult<_>>()?,
            sightings: sightings.collect::<PyResult<_>>()?,
            blocks,
        })
    }
}

impl Given {
    /// The sightings with their runs and the ids of their sources.
    pub fn sightings_of_runs(&self) -> impl Iterator<Item = (SightingRow<'_>, i64, i64)> {
        let runs = self.sightings.iter().map(|(row, ..)| row.1);
        Rows::sightings(self).zip(runs).map(|((row, source), run)| (row, run, source))
    }
}

/// 32 bytes.
pub fn digest(bytes: &[u8]) -> PyResult<Digest> {
    Digest::try_from(bytes).map_err(|_| wrong_argument("a digest takes 32 bytes".to_owned()))
}

/// Digests one after the other.
pub fn digests(bytes: &[u8]) -> PyResult<&[Digest]> {
    let (digests, rest) = bytes.as_chunks();
    if rest.is_empty() { Ok(digests) } else { Err(wrong_argument("keys take 32 bytes each".to_owned())) }
}

impl Rows for Given {
    fn contents(&self) -> impl Iterator<Item = Content<'_>> {
        self.contents.iter().map(|(key, id, seen)| (key, *id, *seen))
    }

    fn moved(&self) -> impl Iterator<Item = Moved> {
        self.moved.iter().copied()
    }

    /// Ids are what this kind of batch has.
    fn moved_keys(&self) -> impl Iterator<Item = (&Digest, i64)> {
        std::iter::empty()
    }

    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.places.iter().map(|(key, id, latest, content)| (key, *id, *latest, *content))
    }

    fn sightings(&self) -> impl Iterator<Item = (SightingRow<'_>, i64)> {
        self.sightings.iter().map(|(row, payload, verdict)| {
            let url = row.8.as_deref();
            let (content, place, fetched_at, verdict) = (row.4, row.5, row.6, *verdict);
            (
                SightingRow {
                    id: row.0,
                    seq: row.2,
                    source: 0,
                    content,
                    place,
                    fetched_at,
                    verdict,
                    url,
                    payload: *payload,
                },
                row.3,
            )
        })
    }

    fn blocks(&self) -> impl Iterator<Item = (u64, usize, &[u8], Option<&[u8]>)> {
        self.blocks.iter().map(|packed| {
            (packed.block.first_seq, packed.block.records, packed.receipts.as_slice(), packed.kept.as_deref())
        })
    }
}
