//! Claiming: which keys of a batch are known, and the facts of the sightings that they refer to.

use crate::segments::{self, Kind, find};
use crate::{Database, Error};
use rusqlite::OptionalExtension;
use seenbefore_core::batch::{Earlier, KnownContent, KnownPlace};
use seenbefore_core::keys::Digest;
use std::collections::BTreeSet;

/// What a claim found. Each list is sorted by the index of the key.
#[derive(Debug, Default)]
pub struct Claimed {
    /// Known contents.
    pub contents: Vec<KnownContent>,
    /// Known places.
    pub places: Vec<KnownPlace>,
    /// The first sightings of the known contents, sorted by id.
    pub earlier: Vec<Earlier>,
}

impl Database {
    /// Looks the keys of a batch up; they are sorted, each is there once. Needs the write lock, so that the answer holds.
    ///
    /// # Errors
    /// [`Error::Sqlite`], also where a key has no first sighting.
    pub fn claim(&mut self, ruleset: i64, contents: &[Digest], places: &[Digest]) -> Result<Claimed, Error> {
        self.forget_old_filters()?;
        let known = self.find(Kind::Content, ruleset, contents)?;
        let known_places = self.find(Kind::Place, ruleset, places)?;
        let mut ids: Vec<i64> = known.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        let earlier = self.earlier(&ids)?;
        // Contents that were fetched earlier than their first sighting: there are few or none.
        let any = "SELECT EXISTS (SELECT 1 FROM content_seen)";
        let any: bool = self.connection.prepare_cached(any)?.query_row([], |row| row.get(0))?;
        let mut moved = self.connection.prepare_cached("SELECT first_seen FROM content_seen WHERE id = ?1")?;
        let contents = known.into_iter().map(|(key, id)| {
            let first = earlier.binary_search_by_key(&id, |one| one.id).ok().and_then(|at| earlier.get(at));
            let moved = if any { moved.query_row([id], |row| row.get(0)).optional()? } else { None };
            let first_seen = moved.or_else(|| first.and_then(|first| first.fetched_at));
            Ok(KnownContent { key, id, first_seen })
        });
        let contents = contents.collect::<Result<_, Error>>()?;
        let mut now = self.connection.prepare_cached("SELECT latest, content FROM place_now WHERE id = ?1")?;
        let places = known_places.into_iter().map(|(key, id)| {
            // A place without such a row was seen once, with a content that was new there.
            let now = now.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let (latest, content) = now.unwrap_or((id, id));
            Ok(KnownPlace { key, id, latest, content })
        });
        Ok(Claimed { contents, places: places.collect::<Result<_, Error>>()?, earlier })
    }

    /// Forgets the filters of segments that were merged since, or that came to nothing with their transaction.
    fn forget_old_filters(&mut self) -> Result<(), Error> {
        self.forget_what_was_rolled_back();
        let mut statement = self.connection.prepare_cached("SELECT id FROM segment")?;
        let known = statement.query_map([], |row| row.get(0))?.collect::<Result<BTreeSet<i64>, _>>()?;
        self.filters.retain(&known);
        Ok(())
    }

    fn find(&mut self, kind: Kind, ruleset: i64, keys: &[Digest]) -> Result<Vec<(usize, i64)>, Error> {
        let segments = segments::segments(&self.connection, kind, ruleset)?;
        self.filters.load(&self.connection, &segments, keys, self.layout.filters)?;
        find(&self.connection, &segments, &self.filters, keys)
    }

    /// The facts of sightings by their ids, which are sorted, each once.
    ///
    /// # Errors
    /// [`Error::Sqlite`], also where one isn't there.
    pub fn earlier(&self, ids: &[i64]) -> Result<Vec<Earlier>, Error> {
        let sql = "SELECT run, seq, url, fetched_at, payload FROM sighting WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        ids.iter()
            .map(|id| {
                let found = statement.query_row([*id], |row| {
                    let number = |column| row.get(column).map(i64::cast_unsigned);
                    let (run, seq, url) = (number(0)?, number(1)?, row.get(2)?);
                    Ok(Earlier { id: *id, run, seq, url, fetched_at: row.get(3)?, payload: row.get(4)? })
                });
                found.optional()?.ok_or_else(|| Error::damaged(format!("it has no sighting {id}")))
            })
            .collect()
    }

    /// The ids of sources; names that are not there get one.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn source_ids(&self, names: &[String]) -> Result<Vec<i64>, Error> {
        let mut known = self.connection.prepare_cached("SELECT id FROM source WHERE name = ?1")?;
        let mut insert = self.connection.prepare_cached("INSERT INTO source (name) VALUES (?1)")?;
        names
            .iter()
            .map(|name| match known.query_row([name], |row| row.get(0)).optional()? {
                Some(id) => Ok(id),
                None => Ok(insert.insert([name])?),
            })
            .collect()
    }
}
