//! A store in memory: contents, places and sightings as maps, for runs and programs that keep nothing.
//!
//! A transaction's batches lie beside the maps until it is committed, so that nobody sees them before.

use crate::batch::Claimed;
use crate::{Error, Rows, Written};
use seenbefore_core::batch::{Earlier, KnownContent, KnownPlace, SightingRow, StoredContent, StoredPlace};
use seenbefore_core::judge::Verdict;
use seenbefore_core::keys::Digest;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are SHA-256 digests: any eight bytes of one are a hash of it.
#[derive(Debug, Default)]
struct OwnBytes(u64);

impl Hasher for OwnBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_ne_bytes(*first);
        }
    }

    /// The length of the array comes first, and says nothing.
    fn write_usize(&mut self, _: usize) {}
}

type ByKey<T> = HashMap<Digest, T, BuildHasherDefault<OwnBytes>>;

/// The keys of one ruleset.
#[derive(Debug, Default)]
struct Keys {
    contents: ByKey<StoredContent>,
    places: ByKey<StoredPlace>,
}

/// One record at one place at one time; `url` says where its text stands.
#[derive(Clone, Copy, Debug)]
struct Fact {
    run: i64,
    seq: u64,
    source: i64,
    content: Option<i64>,
    place: Option<i64>,
    fetched_at: Option<i64>,
    payload: Option<Digest>,
    url: Option<(usize, u32)>,
    verdict: Verdict,
}

/// Keys by ruleset, sightings in the order of their ids, and their URLs one after the other.
#[derive(Debug, Default)]
struct Tables {
    keys: HashMap<i64, Keys>,
    sightings: Vec<Fact>,
    urls: String,
}

/// What has been seen, and what the open transaction saw beside it.
#[derive(Debug, Default)]
pub struct Memory {
    committed: Tables,
    open: Tables,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the transaction knows of the keys of a batch, which are sorted, each there once. Facts are asked for by
    /// [`Memory::earlier`].
    #[must_use]
    pub fn claim(&self, ruleset: i64, contents: &[Digest], places: &[Digest]) -> Claimed {
        let mut claimed = Claimed::default();
        for (key, digest) in contents.iter().enumerate() {
            if let Some((id, first_seen)) = self.content_now(ruleset, digest) {
                claimed.contents.push(KnownContent { key, id, first_seen });
            }
        }
        for (key, digest) in places.iter().enumerate() {
            let place = self.open.place(ruleset, digest).or_else(|| self.committed.place(ruleset, digest));
            if let Some((id, latest, content)) = place {
                claimed.places.push(KnownPlace { key, id, latest, content });
            }
        }
        claimed
    }

    fn content_now(&self, ruleset: i64, key: &Digest) -> Option<StoredContent> {
        self.open.content(ruleset, key).or_else(|| self.committed.content(ruleset, key))
    }

    /// What is committed about one content.
    #[must_use]
    pub fn content(&self, ruleset: i64, key: &Digest) -> Option<StoredContent> {
        self.committed.content(ruleset, key)
    }

    /// What is committed about one place.
    #[must_use]
    pub fn place(&self, ruleset: i64, key: &Digest) -> Option<StoredPlace> {
        self.committed.place(ruleset, key)
    }

    /// The facts of one sighting, also of one that the transaction took in.
    ///
    /// # Errors
    /// [`Error::Contradiction`] where it isn't there.
    pub fn earlier(&self, id: i64) -> Result<Earlier, Error> {
        let found = self.sighting(id).or_else(|| self.open.sighting(at(id)?.checked_sub(self.sightings())?, id));
        let (row, run, _) = found.ok_or_else(|| Error::Contradiction(format!("it has no sighting {id}")))?;
        let url = row.url.map(str::to_owned);
        Ok(Earlier {
            id,
            run: run.cast_unsigned(),
            seq: row.seq,
            url,
            fetched_at: row.fetched_at,
            payload: row.payload,
        })
    }

    /// One sighting that is committed, its run and its source's id.
    #[must_use]
    pub fn sighting(&self, id: i64) -> Option<(SightingRow<'_>, i64, i64)> {
        self.committed.sighting(at(id)?, id)
    }

    /// Takes a judged batch into the transaction. Gives how many sightings it has.
    ///
    /// # Errors
    /// [`Error::Contradiction`] where a content begins that is there already, or the sightings are not the next ones.
    pub fn record(&mut self, written: Written, rows: &impl Rows) -> Result<i64, Error> {
        let next = self.committed.sightings.len() + self.open.sightings.len() + 1;
        if usize::try_from(written.first) != Ok(next) {
            return Err(Error::Contradiction("the sightings are not the next ones".to_owned()));
        }
        for (key, ..) in rows.contents() {
            if self.content_now(written.ruleset, key).is_some() {
                return Err(Error::Contradiction("a content begins that is there already".to_owned()));
            }
        }
        let moved: Vec<(Digest, StoredContent)> = rows
            .moved_keys()
            .filter_map(|(key, time)| {
                let (id, before) = self.content_now(written.ruleset, key)?;
                Some((*key, (id, before.map_or(Some(time), |before| Some(before.min(time))))))
            })
            .collect();
        let keys = self.open.keys.entry(written.ruleset).or_default();
        keys.contents.extend(moved);
        keys.contents.extend(rows.contents().map(|(key, id, first_seen)| (*key, (id, first_seen))));
        keys.places.extend(rows.places().map(|(key, id, latest, content)| (*key, (id, latest, content))));
        let before = self.open.sightings.len();
        for (row, source) in rows.sightings() {
            self.open.add(written.run, row, source);
        }
        Ok(i64::try_from(self.open.sightings.len() - before).unwrap_or(i64::MAX))
    }

    /// Takes one content or another state of it into the transaction.
    pub fn put_content(&mut self, ruleset: i64, key: Digest, content: StoredContent) {
        self.open.keys.entry(ruleset).or_default().contents.insert(key, content);
    }

    /// Takes one place or another state of it into the transaction.
    pub fn put_place(&mut self, ruleset: i64, key: Digest, place: StoredPlace) {
        self.open.keys.entry(ruleset).or_default().places.insert(key, place);
    }

    /// Takes the next sighting into the transaction.
    pub fn put_sighting(&mut self, run: i64, row: SightingRow<'_>, source: i64) {
        self.open.add(run, row, source);
    }

    /// Makes visible what the transaction took in.
    pub fn commit(&mut self) {
        let open = std::mem::take(&mut self.open);
        let shift = self.committed.urls.len();
        self.committed.urls.push_str(&open.urls);
        self.committed.sightings.extend(
            open.sightings
                .into_iter()
                .map(|fact| Fact { url: fact.url.map(|(start, length)| (start + shift, length)), ..fact }),
        );
        for (ruleset, keys) in open.keys {
            let known = self.committed.keys.entry(ruleset).or_default();
            known.contents.extend(keys.contents);
            known.places.extend(keys.places);
        }
    }

    /// Forgets what the transaction took in.
    pub fn rollback(&mut self) {
        self.open = Tables::default();
    }

    /// All contents that are committed: ruleset, key, id, earliest time of fetching.
    pub fn contents(&self) -> impl Iterator<Item = (i64, &Digest, StoredContent)> {
        self.committed
            .keys
            .iter()
            .flat_map(|(ruleset, keys)| keys.contents.iter().map(move |(key, content)| (*ruleset, key, *content)))
    }

    /// All places that are committed: ruleset, key, id, latest sighting, its content.
    pub fn places(&self) -> impl Iterator<Item = (i64, &Digest, StoredPlace)> {
        self.committed
            .keys
            .iter()
            .flat_map(|(ruleset, keys)| keys.places.iter().map(move |(key, place)| (*ruleset, key, *place)))
    }

    /// How many sightings are committed.
    #[must_use]
    pub fn sightings(&self) -> usize {
        self.committed.sightings.len()
    }
}

impl Tables {
    fn content(&self, ruleset: i64, key: &Digest) -> Option<StoredContent> {
        self.keys.get(&ruleset)?.contents.get(key).copied()
    }

    fn place(&self, ruleset: i64, key: &Digest) -> Option<StoredPlace> {
        self.keys.get(&ruleset)?.places.get(key).copied()
    }

    fn sighting(&self, at: usize, id: i64) -> Option<(SightingRow<'_>, i64, i64)> {
        let fact = self.sightings.get(at)?;
        let row = SightingRow {
            id,
            seq: fact.seq,
            source: 0,
            content: fact.content,
            place: fact.place,
            fetched_at: fact.fetched_at,
            verdict: fact.verdict,
            url: fact.url.and_then(|(start, length)| self.urls.get(start..start + length as usize)),
            payload: fact.payload,
        };
        Some((row, fact.run, fact.source))
    }

    fn add(&mut self, run: i64, row: SightingRow<'_>, source: i64) {
        let start = self.urls.len();
        // A URL comes out of one line, and lines are shorter than 4 GiB.
        let url = row.url.and_then(|url| Some((start, u32::try_from(url.len()).ok()?)));
        self.urls.push_str(row.url.unwrap_or_default());
        self.sightings.push(Fact {
            run,
            seq: row.seq,
            source,
            content: row.content,
            place: row.place,
            fetched_at: row.fetched_at,
            payload: row.payload,
            url,
            verdict: row.verdict,
        });
    }
}

/// Where the sighting with an id stands.
fn at(id: i64) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}
