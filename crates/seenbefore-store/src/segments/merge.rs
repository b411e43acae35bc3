//! Merging: the segments of a class into one of the next, in the transaction that filled the class.
//!
//! What is merged follows from the table `segment` alone, so a run that was killed and goes on ends with the same segments.

use super::entry::{WIDTH, entries, key};
use super::write::Writing;
use super::{Kind, Layout, Segment, bucket_id, segments};
use crate::Error;
use rusqlite::{Connection, Rows};
use std::collections::BTreeMap;

/// Segments with so many keys are left as they are: a filter more costs every look-up a few nanoseconds, while merging them
/// would hold up the one batch that brings the last of them for many seconds.
const LARGE: u64 = 1 << 21;

/// Merges classes until none is full.
pub fn merge_due(connection: &Connection, kind: Kind, ruleset: i64, layout: Layout) -> Result<(), Error> {
    loop {
        let mut classes: BTreeMap<u32, Vec<Segment>> = BTreeMap::new();
        for segment in segments(connection, kind, ruleset)?.into_iter().filter(|one| one.keys < LARGE) {
            classes.entry(layout.class(segment.keys)).or_default().push(segment);
        }
        let Some(full) = classes.into_values().find(|class| class.len() >= layout.fan.max(2)) else { return Ok(()) };
        merge(connection, kind, ruleset, &full)?;
    }
}

fn merge(connection: &Connection, kind: Kind, ruleset: i64, from: &[Segment]) -> Result<(), Error> {
    let range = "SELECT entries FROM bucket WHERE id >= ?1 AND id < ?2 ORDER BY id";
    let mut statements = from.iter().map(|_| connection.prepare(range)).collect::<Result<Vec<_>, _>>()?;
    let mut sources = Vec::new();
    for (statement, segment) in statements.iter_mut().zip(from) {
        let rows = statement.query((bucket_id(segment.id, 0), bucket_id(segment.id + 1, 0)))?;
        let mut source = Source { rows, bucket: Vec::new(), at: 0, head: 0 };
        if source.fill()? {
            sources.push(source);
        }
    }
    let mut writing = Writing::begin(connection, from.iter().map(|segment| segment.keys).sum())?;
    // Eight bytes tell nearly all keys apart.
    while let Some(least) = sources.iter().map(|source| source.head).min() {
        let ahead = sources.iter().enumerate().filter(|(_, source)| source.head == least);
        let Some(least) = ahead.min_by_key(|(_, source)| source.key()).map(|(at, _)| at) else { break };
        let Some(source) = sources.get_mut(least) else { break };
        if let Some(entry) = source.bucket.get(source.at) {
            writing.key(key(entry))?;
            writing.entries.extend_from_slice(entry);
        }
        source.at += 1;
        if !source.fill()? {
            sources.swap_remove(least);
        }
    }
    drop(sources);
    drop(statements);
    writing.end(connection, kind, ruleset)?;
    for segment in from {
        connection
            .prepare_cached("DELETE FROM bucket WHERE id >= ?1 AND id < ?2")?
            .execute((bucket_id(segment.id, 0), bucket_id(segment.id + 1, 0)))?;
        connection.prepare_cached("DELETE FROM segment WHERE id = ?1")?.execute([segment.id])?;
    }
    Ok(())
}

/// A segment that is being read.
struct Source<'s> {
    rows: Rows<'s>,
    bucket: Vec<[u8; WIDTH]>,
    at: usize,
    /// The first eight bytes of the next key.
    head: u64,
}

impl Source<'_> {
    /// Makes the next entry available; false at the end.
    fn fill(&mut self) -> Result<bool, Error> {
        while self.at >= self.bucket.len() {
            let Some(row) = self.rows.next()? else { return Ok(false) };
            let bytes = row.get_ref(0)?.as_blob().map_err(|_| Error::damaged("a bucket of keys holds none"))?;
            self.bucket.clear();
            self.bucket.extend_from_slice(entries(bytes)?);
            self.at = 0;
        }
        let head = self.bucket.get(self.at).and_then(|entry| entry.first_chunk());
        self.head = head.copied().map_or(0, u64::from_be_bytes);
        Ok(true)
    }

    fn key(&self) -> Option<&[u8]> {
        self.bucket.get(self.at).map(key)
    }
}
