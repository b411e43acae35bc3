//! Filters: which keys a segment certainly does not hold, in twelve bits a key.
//!
//! A blocked Bloom filter: each key has seven bits in one block of 64 bytes. Keys are SHA-256, so their own bytes serve as
//! the hashes: the first four choose the block, in the order of the keys, and bytes 8 to 15 hold the seven numbers of bits,
//! nine bits each from the least significant on. About one foreign key in 150 is not ruled out, and is looked up.

use super::Segment;
use crate::Error;
use rusqlite::{Connection, OptionalExtension};
use seenbefore_core::keys::Digest;
use std::collections::{BTreeMap, BTreeSet};

const BLOCK: usize = 64;
const BITS_PER_KEY: u64 = 12;
const PROBES: u32 = 7;

/// The filter of one segment.
#[derive(Debug)]
pub struct Filter(Vec<u8>);

impl Filter {
    /// An empty one for so many keys.
    pub fn new(keys: u64) -> Self {
        let blocks = (keys * BITS_PER_KEY).div_ceil(BLOCK as u64 * 8).max(1);
        Self(vec![0; usize::try_from(blocks).unwrap_or(usize::MAX / BLOCK) * BLOCK])
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn insert(&mut self, key: &[u8]) {
        let (at, bits) = self.place(key);
        let Some(block) = self.0.get_mut(at..at + BLOCK) else { return };
        for probe in 0..PROBES {
            let (byte, bit) = bit(bits, probe);
            if let Some(byte) = block.get_mut(byte) {
                *byte |= bit;
            }
        }
    }

    /// False where the key was certainly not inserted.
    pub fn may_hold(&self, key: &[u8]) -> bool {
        let (at, bits) = self.place(key);
        let Some(block) = self.0.get(at..at + BLOCK) else { return true };
        (0..PROBES).all(|probe| {
            let (byte, bit) = bit(bits, probe);
            block.get(byte).is_none_or(|byte| byte & bit != 0)
        })
    }

    fn place(&self, key: &[u8]) -> (usize, u64) {
        let blocks = (self.0.len() / BLOCK) as u64;
        let bits = key.get(8..16).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
        (usize::try_from(super::entry::bucket_of(key, blocks)).unwrap_or(0) * BLOCK, bits)
    }
}

fn bit(bits: u64, probe: u32) -> (usize, u8) {
    let number = (bits >> (9 * probe)) & 0x1FF;
    (usize::try_from(number / 8).unwrap_or(0), 1 << (number % 8))
}

/// The filters in memory, by segment. Segments never change, so a filter holds as long as its segment is there.
#[derive(Debug, Default)]
pub struct Filters {
    loaded: BTreeMap<i64, Filter>,
}

impl Filters {
    /// For a claim of few keys it is cheaper to look into the segments than to read their filters.
    const FEW: usize = 64;

    /// Forgets all: after a rollback another process may give a segment's id again.
    pub fn clear(&mut self) {
        self.loaded.clear();
    }

    pub fn get(&self, segment: i64) -> Option<&Filter> {
        self.loaded.get(&segment)
    }

    /// Reads the filters that `keys` keys need, smallest segments first, as far as the memory allows.
    pub fn load(
        &mut self,
        connection: &Connection,
        segments: &[Segment],
        keys: &[Digest],
        memory: usize,
    ) -> Result<(), Error> {
        if keys.len() < Self::FEW {
            return Ok(());
        }
        let mut used: usize = self.loaded.values().map(|filter| filter.0.len()).sum();
        let mut missing: Vec<_> = segments.iter().filter(|one| !self.loaded.contains_key(&one.id)).collect();
        missing.sort_unstable_by_key(|segment| segment.keys);
        let mut statement = connection.prepare_cached("SELECT filter FROM segment WHERE id = ?1")?;
        for segment in missing {
            let expected = Filter::new(segment.keys).0.len();
            used += expected;
            if used > memory {
                break;
            }
            let filter: Option<Vec<u8>> = statement.query_row([segment.id], |row| row.get(0)).optional()?;
            let filter = filter.filter(|bytes| bytes.len() == expected);
            let filter = filter.ok_or_else(|| Error::damaged("the filter of a segment has not its length"))?;
            self.loaded.insert(segment.id, Filter(filter));
        }
        Ok(())
    }

    /// Forgets filters of segments that are no more.
    pub fn retain(&mut self, known: &BTreeSet<i64>) {
        self.loaded.retain(|id, _| known.contains(id));
    }
}
