//! Looking keys up, all of a batch at once and in their order.

use super::entry::{bucket_of, entries, id, key};
use super::{Filters, Segment, bucket_id};
use crate::Error;
use rusqlite::{Connection, Statement};
use seenbefore_core::keys::Digest;

/// The keys that are there, as (index, id) sorted by index. `keys` are sorted, and a key is in one segment at most.
pub fn find(
    connection: &Connection,
    segments: &[Segment],
    filters: &Filters,
    keys: &[Digest],
) -> Result<Vec<(usize, i64)>, Error> {
    let mut statement = connection.prepare_cached("SELECT entries FROM bucket WHERE id = ?1")?;
    let mut found = Vec::new();
    let mut left: Vec<usize> = (0..keys.len()).collect();
    for segment in segments {
        let before = found.len();
        let asked: Vec<usize> = match filters.get(segment.id) {
            Some(filter) => {
                left.iter().copied().filter(|at| keys.get(*at).is_some_and(|key| filter.may_hold(key))).collect()
            }
            None => left.clone(),
        };
        look_into(&mut statement, *segment, keys, &asked, &mut found)?;
        if found.len() > before {
            let mut gone = found.get(before..).unwrap_or_default().iter().map(|(at, _)| *at).peekable();
            left.retain(|at| gone.next_if_eq(at).is_none());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Looks the keys at `asked` up in one segment, bucket by bucket.
fn look_into(
    statement: &mut Statement<'_>,
    segment: Segment,
    keys: &[Digest],
    asked: &[usize],
    found: &mut Vec<(usize, i64)>,
) -> Result<(), Error> {
    let bucket = |at: &usize| keys.get(*at).map(|key| bucket_of(key, segment.buckets));
    for group in asked.chunk_by(|one, other| bucket(one) == bucket(other)) {
        let Some(number) = group.first().and_then(bucket) else { continue };
        let mut rows = statement.query([bucket_id(segment.id, number)])?;
        let row = rows.next()?.ok_or_else(|| Error::damaged("a segment lacks a bucket of keys"))?;
        let bytes = row.get_ref(0)?.as_blob().map_err(|_| Error::damaged("a bucket of keys holds none"))?;
        let mut rest = entries(bytes)?;
        for at in group {
            let Some(wanted) = keys.get(*at) else { continue };
            match rest.binary_search_by(|entry| key(entry).cmp(wanted)) {
                Ok(place) => {
                    if let Some(entry) = rest.get(place) {
                        found.push((*at, id(entry)?));
                    }
                    rest = rest.get(place + 1..).unwrap_or_default();
                }
                Err(place) => rest = rest.get(place..).unwrap_or_default(),
            }
        }
    }
    Ok(())
}
