//! What is distinct in a batch, sorted, and which of it each record has.

use super::NONE;
use crate::keys::Digest;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The distinct keys of a batch in sorted order, and which of them each record has.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    pub keys: Vec<Digest>,
    pub of: Vec<u32>,
}

impl Distinct {
    /// Of each record's key, where it has one.
    pub fn new(digests: impl Iterator<Item = Option<Digest>>) -> Self {
        let mut of = Vec::new();
        let mut pairs: Vec<(Digest, u32)> = Vec::new();
        // Sorted are numbers of 96 bits: the start of a digest and the place of its pair.
        let mut order: Vec<u128> = Vec::new();
        for (record, digest) in (0..).zip(digests) {
            of.push(NONE);
            if let Some(digest) = digest {
                order.push(u128::from(start(&digest)) << 32 | pairs.len() as u128 & 0xFFFF_FFFF);
                pairs.push((digest, record));
            }
        }
        order.par_sort_unstable();
        let pair = |place: &u128| {
            let place = usize::try_from(place & 0xFFFF_FFFF).unwrap_or(usize::MAX);
            pairs.get(place).copied().unwrap_or_default()
        };
        let mut keys: Vec<Digest> = Vec::new();
        for same in order.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            let first = same.first().map(pair).unwrap_or_default().0;
            if same.iter().any(|place| pair(place).0 != first) {
                // Different digests with one start.
                same.sort_unstable_by_key(pair);
            }
            for (digest, record) in same.iter().map(pair) {
                if keys.last() != Some(&digest) {
                    keys.push(digest);
                }
                if let Some(slot) = of.get_mut(record as usize) {
                    *slot = u32::try_from(keys.len() - 1).unwrap_or(NONE);
                }
            }
        }
        Self { keys, of }
    }
}

/// The first eight bytes, as a number in whose order digests stand that differ there.
fn start(digest: &Digest) -> u64 {
    digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The distinct sources of a batch in sorted order, and which of them each record has.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub names: Vec<String>,
    pub of: Vec<u32>,
}

impl Sources {
    /// Of each record's source.
    pub fn new<'a>(sources: impl Iterator<Item = &'a str>) -> Self {
        let mut found: BTreeMap<&str, u32> = BTreeMap::new();
        let mut last: Option<(&str, u32)> = None;
        // In the order in which they are met, until all are known.
        let mut of: Vec<u32> = Vec::new();
        for name in sources {
            let number = match last {
                Some((same, number)) if same == name => number,
                _ => {
                    let next = u32::try_from(found.len()).unwrap_or(NONE);
                    *found.entry(name).or_insert(next)
                }
            };
            last = Some((name, number));
            of.push(number);
        }
        let mut sorted = vec![NONE; found.len()];
        for (place, number) in (0..).zip(found.values()) {
            if let Some(slot) = sorted.get_mut(*number as usize) {
                *slot = place;
            }
        }
        for number in &mut of {
            *number = sorted.get(*number as usize).copied().unwrap_or(NONE);
        }
        Self { of, names: found.keys().map(|name| (*name).to_owned()).collect() }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)] // a test stops where it finds something wrong
mod tests {
    use super::{Distinct, NONE, Sources};
    use crate::keys::Digest;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Digests of which many have the first eight bytes in common.
    fn digest() -> impl Strategy<Value = Option<Digest>> {
        prop::option::of((0..3_u8, prop_oneof![Just(0_u8), any::<u8>()], 0..3_u8).prop_map(|(first, middle, last)| {
            let mut digest = [7; 32];
            (digest[0], digest[7], digest[31]) = (first.wrapping_mul(127), middle, last);
            digest
        }))
    }

    proptest! {
        #[test]
        fn keys_are_those_of_a_sorted_set(digests in prop::collection::vec(digest(), 0..300)) {
            let set: Vec<Digest> = digests.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let distinct = Distinct::new(digests.iter().copied());
            prop_assert_eq!(&distinct.keys, &set);
            prop_assert_eq!(distinct.of.len(), digests.len());
            for (slot, digest) in distinct.of.iter().zip(&digests) {
                prop_assert_eq!(digest.is_none(), *slot == NONE);
                prop_assert!(digest.is_none_or(|digest| set[*slot as usize] == digest));
            }
        }

        #[test]
        fn sources_are_those_of_a_sorted_set(names in prop::collection::vec("[ab]{0,2}", 0..40)) {
            let set: Vec<String> = names.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
            let sources = Sources::new(names.iter().map(String::as_str));
            prop_assert_eq!(&sources.names, &set);
            let of: Vec<&String> = sources.of.iter().map(|slot| &set[*slot as usize]).collect();
            prop_assert_eq!(of, names.iter().collect::<Vec<_>>());
        }
    }
}
