//! Recording: the rows of a judged batch, bound from the batch's own memory.

use super::later;
use crate::segments::{Kind, append, merge_due};
use crate::{Database, Error};
use rusqlite::params;
use seenbefore_core::batch::SightingRow;
use seenbefore_core::keys::Digest;

/// A content: key, id, earliest time of fetching.
pub type Content<'a> = (&'a Digest, i64, Option<i64>);
/// A known content whose earliest time of fetching moved back: id, time.
pub type Moved = (i64, i64);
/// A place as it is now: key, id, latest sighting, its content.
pub type Place<'a> = (&'a Digest, i64, i64, i64);

/// What a batch writes. Lists are sorted by their keys, sightings by their ids.
pub trait Rows {
    /// Contents that the claim did not find.
    fn contents(&self) -> impl Iterator<Item = Content<'_>>;
    /// Contents that it found, with an earlier time.
    fn moved(&self) -> impl Iterator<Item = Moved>;
    /// The same by their keys.
    fn moved_keys(&self) -> impl Iterator<Item = (&Digest, i64)>;
    /// Places, found or not.
    fn places(&self) -> impl Iterator<Item = Place<'_>>;
    /// One row a record; `source` is the source's id here.
    fn sightings(&self) -> impl Iterator<Item = (SightingRow<'_>, i64)>;
    /// First ordinal, records, receipts and kept rows of each block, compressed.
    fn blocks(&self) -> impl Iterator<Item = (u64, usize, &[u8], Option<&[u8]>)>;
}

/// What belongs to all rows of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The ruleset's id.
    pub ruleset: i64,
    /// The run's ordinal.
    pub run: i64,
    /// The sighting id of the first record.
    pub first: i64,
}

impl Database {
    /// Writes a judged batch, and merges what is due. Gives how many sightings were written.
    ///
    /// # Errors
    /// [`Error::Sqlite`], and [`Error::Contradiction`] where a content or a place that begins in the batch is written
    /// twice or not at all, or the sightings are not the next ones; the transaction is to be rolled back then.
    pub fn record(&mut self, written: Written, rows: &impl Rows) -> Result<i64, Error> {
        let contents = Beginnings::of(written.first, rows.contents().map(|(_, id, seen)| (id, seen)))?;
        let beginning = |id: &i64| *id >= written.first;
        let places =
            Beginnings::of(written.first, rows.places().filter(|row| beginning(&row.1)).map(|row| (row.1, ())))?;
        let new_places = rows.places().filter(|row| beginning(&row.1)).map(|(key, id, ..)| (key, id));
        append(
            &self.connection,
            Kind::Content,
            written.ruleset,
            contents.count,
            rows.contents().map(|row| (row.0, row.1)),
        )?;
        append(&self.connection, Kind::Place, written.ruleset, places.count, new_places)?;
        let count = self.write_sightings(written, rows, &contents, &places)?;
        self.write_facts(rows)?;
        self.write_blocks(written, rows)?;
        for kind in [Kind::Content, Kind::Place] {
            merge_due(&self.connection, kind, written.ruleset, self.layout)?;
        }
        Ok(count)
    }

    fn write_sightings(
        &self,
        written: Written,
        rows: &impl Rows,
        contents: &Beginnings<Option<i64>>,
        places: &Beginnings<()>,
    ) -> Result<i64, Error> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO sighting (id, run, seq, source, content, place, fetched_at, verdict, url, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        let mut seen = self.connection.prepare_cached("INSERT INTO content_seen (id, first_seen) VALUES (?1, ?2)")?;
        let (mut next, mut new_contents, mut new_places) = (written.first, 0, 0);
        let (mut later_contents, mut later_places) = (Vec::new(), Vec::new());
        for (row, source) in rows.sightings() {
            if row.id != next {
                return Err(contradiction("the sightings are not the next ones"));
            }
            next += 1;
            later_contents.extend(row.content.filter(|id| *id != row.id).map(|id| (id, row.id)));
            later_places.extend(row.place.filter(|id| *id != row.id).map(|id| (id, row.id)));
            if row.content == Some(row.id) {
                new_contents += 1;
                let first_seen =
                    contents.get(row.id).ok_or_else(|| contradiction("a content begins without its key"))?;
                if let Some(first_seen) = first_seen.filter(|time| Some(*time) != row.fetched_at) {
                    seen.execute((row.id, first_seen))?;
                }
            }
            if row.place == Some(row.id) {
                new_places += 1;
                places.get(row.id).ok_or_else(|| contradiction("a place begins without its key"))?;
            }
            insert.execute(params![
                row.id,
                written.run,
                row.seq.cast_signed(),
                source,
                row.content,
                row.place,
                row.fetched_at,
                row.verdict as u8,
                row.url,
                row.payload.as_ref().map(Digest::as_slice),
            ])?;
        }
        if new_contents != contents.count || new_places != places.count {
            return Err(contradiction("a key is written that no sighting begins"));
        }
        later::write(&self.connection, Kind::Content, written.first, later_contents)?;
        later::write(&self.connection, Kind::Place, written.first, later_places)?;
        Ok(next - written.first)
    }

    /// What changes of contents and places after their first sighting.
    fn write_facts(&self, rows: &impl Rows) -> Result<(), Error> {
        let mut seen = self.connection.prepare_cached(
            "INSERT INTO content_seen (id, first_seen) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET first_seen = excluded.first_seen",
        )?;
        for (id, first_seen) in rows.moved() {
            seen.execute((id, first_seen))?;
        }
        let mut now: Vec<(i64, i64, i64)> =
            rows.places().map(|(_, id, latest, content)| (id, latest, content)).collect();
        // A place that was seen once, with a content that began there, needs no row.
        now.retain(|(id, latest, content)| id != latest || id != content);
        now.sort_unstable();
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO place_now (id, latest, content) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET latest = excluded.latest, content = excluded.content",
        )?;
        for row in now {
            insert.execute(row)?;
        }
        Ok(())
    }

    fn write_blocks(&self, written: Written, rows: &impl Rows) -> Result<(), Error> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO block (run, first_seq, first_sighting, records, receipts, kept) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let mut first = written.first;
        for (seq, records, receipts, kept) in rows.blocks() {
            let records = i64::try_from(records).map_err(|_| contradiction("a block of too many records"))?;
            insert.execute(params![written.run, seq.cast_signed(), first, records, receipts, kept])?;
            first += records;
        }
        Ok(())
    }
}

fn contradiction(what: &str) -> Error {
    Error::Contradiction(what.to_owned())
}

/// Contents or places that begin in a batch, by the sighting that they begin with.
struct Beginnings<T> {
    first: i64,
    of: Vec<Option<T>>,
    count: u64,
}

impl<T: Copy> Beginnings<T> {
    fn of(first: i64, rows: impl Iterator<Item = (i64, T)>) -> Result<Self, Error> {
        let mut this = Self { first, of: Vec::new(), count: 0 };
        for (id, fact) in rows {
            let at =
                this.at(id).ok_or_else(|| contradiction("a content that begins in the batch is an earlier one"))?;
            if this.of.len() <= at {
                this.of.resize(at + 1, None);
            }
            match this.of.get_mut(at) {
                Some(slot @ None) => *slot = Some(fact),
                _ => return Err(contradiction("two keys begin with one sighting")),
            }
            this.count += 1;
        }
        Ok(this)
    }

    fn at(&self, id: i64) -> Option<usize> {
        usize::try_from(id - self.first).ok()
    }

    fn get(&self, id: i64) -> Option<T> {
        self.at(id).and_then(|at| self.of.get(at).copied().flatten())
    }
}
