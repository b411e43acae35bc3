//! Keys in segments: immutable sorted runs, each with a filter; eight of a size are merged into one of the next.
//!
//! Random keys make one large index slow as it grows, because each of them falls on a page of its own. Here the new keys of
//! a batch are appended in order, and a look-up reads one bucket of each segment whose filter does not rule the key out.
//! `docs/explanation/store-layout.md` says why, with figures; the tables are in `python/seenbefore/stores/schema.py`.

mod entry;
mod filter;
mod lookup;
mod merge;
mod write;

pub(crate) use filter::Filters;
pub(crate) use lookup::find;
pub(crate) use merge::merge_due;
pub(crate) use write::append;

use crate::Error;
use rusqlite::Connection;

/// Which keys a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Content keys.
    Content,
    /// URL keys.
    Place,
}

impl Kind {
    /// As the table has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Place => "place",
        }
    }
}

/// When segments are merged, and how much memory their filters may take.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Segments with fewer keys are of the lowest class; each next class has `fan` times as many.
    pub small: u64,
    /// So many segments of one class are merged into one.
    pub fan: usize,
    /// Bytes of filters in memory. Segments beyond it are looked into for every key.
    pub filters: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { small: 4_096, fan: 8, filters: 192 << 20 }
    }
}

impl Layout {
    fn class(&self, keys: u64) -> u32 {
        let fan = self.fan.max(2) as u64;
        let (mut class, mut limit) = (0, self.small.max(1));
        while keys >= limit {
            class += 1;
            limit = limit.saturating_mul(fan);
        }
        class
    }
}

/// One segment, without its filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub id: i64,
    pub keys: u64,
    pub buckets: u64,
}

/// The segments of one kind and ruleset, the one written last first.
pub(crate) fn segments(connection: &Connection, kind: Kind, ruleset: i64) -> Result<Vec<Segment>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT id, keys, buckets FROM segment WHERE kind = ?1 AND ruleset = ?2 ORDER BY id DESC")?;
    let mut rows = statement.query((kind.name(), ruleset))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = |column| row.get(column).map(i64::cast_unsigned);
        found.push(Segment { id: row.get(0)?, keys: number(1)?, buckets: number(2)? });
    }
    Ok(found)
}

/// The id of a segment's bucket.
fn bucket_id(segment: i64, number: u64) -> i64 {
    (segment << BUCKET_BITS) | number.cast_signed()
}

/// Bits of a bucket's id that are its number: room for some three billion keys in a segment.
const BUCKET_BITS: u32 = 24;
