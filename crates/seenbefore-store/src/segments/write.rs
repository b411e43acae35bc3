//! Writing a segment: keys in their order, a bucket at a time, at the end of the table.

use super::entry::{PER_BUCKET, bucket_of, push};
use super::filter::Filter;
use super::{BUCKET_BITS, Kind, bucket_id};
use crate::Error;
use rusqlite::{CachedStatement, Connection};
use seenbefore_core::keys::Digest;

/// Appends a segment with `count` keys, sorted; none where there are none.
pub fn append<'a>(
    connection: &Connection,
    kind: Kind,
    ruleset: i64,
    count: u64,
    rows: impl Iterator<Item = (&'a Digest, i64)>,
) -> Result<(), Error> {
    if count == 0 {
        return Ok(());
    }
    let mut writing = Writing::begin(connection, count)?;
    for (key, id) in rows {
        writing.key(key)?;
        push(&mut writing.entries, key, id)?;
    }
    writing.end(connection, kind, ruleset)
}

/// A segment that is being written.
pub struct Writing<'c> {
    id: i64,
    count: u64,
    written: u64,
    buckets: u64,
    number: u64,
    last: Digest,
    insert: CachedStatement<'c>,
    filter: Filter,
    pub entries: Vec<u8>,
}

impl<'c> Writing<'c> {
    pub fn begin(connection: &'c Connection, count: u64) -> Result<Self, Error> {
        let buckets = count.div_ceil(PER_BUCKET).clamp(1, 1 << BUCKET_BITS);
        let id =
            connection.prepare_cached("SELECT ifnull(max(id), 0) + 1 FROM segment")?.query_row([], |row| row.get(0))?;
        let insert = connection.prepare_cached("INSERT INTO bucket (id, entries) VALUES (?1, ?2)")?;
        let filter = Filter::new(count);
        Ok(Self { id, count, written: 0, buckets, number: 0, last: [0; 32], insert, filter, entries: Vec::new() })
    }

    /// Takes the next key; its entry is to be appended to `entries` then.
    pub fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        if self.written > 0 && *key <= self.last[..] {
            return Err(Error::Contradiction("the keys of a segment are not in order".to_owned()));
        }
        self.last.copy_from_slice(key);
        let number = bucket_of(key, self.buckets);
        while self.number < number {
            self.flush()?;
        }
        self.filter.insert(key);
        self.written += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.insert.execute((bucket_id(self.id, self.number), &self.entries[..]))?;
        self.entries.clear();
        self.number += 1;
        Ok(())
    }

    pub fn end(mut self, connection: &Connection, kind: Kind, ruleset: i64) -> Result<(), Error> {
        while self.number < self.buckets {
            self.flush()?;
        }
        if self.written != self.count {
            return Err(Error::Contradiction(format!("a segment of {} keys has {}", self.count, self.written)));
        }
        let (keys, buckets) = (self.count.cast_signed(), self.buckets.cast_signed());
        connection
            .prepare_cached(
                "INSERT INTO segment (id, kind, ruleset, keys, buckets, filter) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((self.id, kind.name(), ruleset, keys, buckets, self.filter.bytes()))?;
        Ok(())
    }
}
