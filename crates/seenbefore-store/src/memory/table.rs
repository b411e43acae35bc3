//! A map from digests that only grows.
//!
//! Entries lie one behind the other in the order in which they came; beside them slots say where. The first bits of a digest
//! are its slot, so that the sorted keys of a batch go through the slots from one end to the other.

use seenbefore_core::keys::Digest;

/// Where a slot's tag begins: below stands the place of its entry, counted from 1.
const TAG: u32 = 40;
const PLACE: u64 = (1 << TAG) - 1;
const FEWEST: usize = 1 << 10;

/// A map from digests, which are hashes of themselves.
#[derive(Debug)]
pub(super) struct ByKey<T> {
    /// 0, or 24 bits of the digest and the place of its entry. Their number is 0 or a power of two.
    slots: Vec<u64>,
    entries: Vec<(Digest, T)>,
}

impl<T> Default for ByKey<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), entries: Vec::new() }
    }
}

impl<T> ByKey<T> {
    pub fn get(&self, key: &Digest) -> Option<&T> {
        self.find(key).ok().and_then(|place| self.entries.get(place)).map(|(_, value)| value)
    }

    pub fn insert(&mut self, key: Digest, value: T) {
        if self.entries.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        match self.find(&key) {
            Ok(place) => {
                if let Some(entry) = self.entries.get_mut(place) {
                    entry.1 = value;
                }
            }
            Err(slot) => {
                self.entries.push((key, value));
                let filled = slot_of(&key, self.entries.len());
                if let Some(slot) = self.slots.get_mut(slot) {
                    *slot = filled;
                }
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Digest, T)> {
        self.entries.iter()
    }

    pub fn into_entries(self) -> Vec<(Digest, T)> {
        self.entries
    }

    /// The place of the key's entry, else the slot that it would get.
    fn find(&self, key: &Digest) -> Result<usize, usize> {
        let mut at = first_slot(key, self.slots.len());
        let tag = slot_of(key, 0);
        while let Some(slot) = self.slots.get(at).filter(|slot| **slot != 0) {
            // The same tag twice is rare, and the whole digest decides.
            if slot & !PLACE == tag
                && let Some(place) = usize::try_from(slot & PLACE).ok().and_then(|count| count.checked_sub(1))
                && self.entries.get(place).is_some_and(|(found, _)| found == key)
            {
                return Ok(place);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        Err(at)
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(FEWEST);
        // Not copied: each entry gets its slot anew.
        self.slots.clear();
        self.slots.resize(count, 0);
        for (place, (key, _)) in (1..).zip(&self.entries) {
            let mut at = first_slot(key, count);
            while self.slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & (count - 1);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = slot_of(key, place);
            }
        }
    }
}

/// The slot where a key is looked for first: as many of its first bits as count slots.
fn first_slot(key: &Digest, slots: usize) -> usize {
    let first = key.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let place = (u128::from(first) * slots as u128) >> 64;
    // Less than the number of slots.
    usize::try_from(place).unwrap_or(0)
}

/// A slot with other bits of the key than those that choose it, and the place of the entry.
fn slot_of(key: &Digest, place: usize) -> u64 {
    let tag = key.last_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    tag << TAG | (place as u64 & PLACE)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test stops where it finds something wrong
mod tests {
    use super::ByKey;
    use proptest::prelude::*;
    use seenbefore_core::keys::Digest;
    use std::collections::BTreeMap;

    /// Keys of which many have their first bits or their tag in common, up to all but one byte.
    fn keys() -> impl Strategy<Value = Vec<Digest>> {
        let key = (0..4_u8, any::<u8>(), 0..3_u8, prop_oneof![Just(0_u8), any::<u8>()]).prop_map(
            |(first, second, middle, last)| {
                let mut key = [first.wrapping_mul(85); 32];
                key[1] = if first == 3 { 0xFF } else { second };
                (key[16], key[31]) = (middle, last);
                key
            },
        );
        prop::collection::vec(key, 0..3_000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_a_map(keys in keys(), others in keys()) {
            let (mut table, mut map) = (ByKey::default(), BTreeMap::new());
            prop_assert_eq!(table.get(&[0; 32]), None);
            for (value, key) in keys.iter().enumerate() {
                table.insert(*key, value);
                map.insert(*key, value);
            }
            for key in keys.iter().chain(&others) {
                prop_assert_eq!(table.get(key), map.get(key));
            }
            let mut entries = table.iter().copied().collect::<Vec<_>>();
            entries.sort_unstable();
            prop_assert_eq!(&entries, &map.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(table.into_entries().len(), entries.len());
        }
    }
}
