//! A store in memory: contents, places and sightings as maps, for runs and programs that keep nothing.
//!
//! The keys of a transaction's batches lie beside the maps until it is committed, so that nobody sees them before.

mod table;

use crate::batch::Claimed;
use crate::{Error, Rows, Written};
use seenbefore_core::batch::{Earlier, KnownContent, KnownPlace, SightingRow, StoredContent, StoredPlace};
use seenbefore_core::judge::Verdict;
use seenbefore_core::keys::Digest;
use std::collections::HashMap;
use table::ByKey;

/// The keys of one ruleset.
#[derive(Debug, Default)]
struct Keys {
    contents: ByKey<StoredContent>,
    places: ByKey<StoredPlace>,
}

/// Keys by ruleset.
#[derive(Debug, Default)]
struct Tables(HashMap<i64, Keys>);

/// The keys that a batch changed, as they are now.
#[derive(Debug)]
struct Recorded {
    ruleset: i64,
    contents: Vec<(Digest, StoredContent)>,
    places: Vec<(Digest, StoredPlace)>,
}

/// Stands for no number. Ids are positive, and so many microseconds before 1970 are in no calendar.
const NONE: i64 = i64::MIN;

/// One record at one place at one time.
#[derive(Clone, Copy, Debug)]
struct Fact {
    run: i64,
    seq: u64,
    source: i64,
    content: i64,
    place: i64,
    fetched_at: i64,
    /// Where its URL stands, and how long it is; behind all of them where there is none.
    url: usize,
    length: u32,
    verdict: Verdict,
    /// Where its payload digest stands; behind all of them where there is none.
    payload: usize,
}

/// Sightings in the order of their ids, with their URLs one after the other.
#[derive(Debug, Default)]
struct Sightings {
    facts: Vec<Fact>,
    urls: String,
    payloads: Vec<Digest>,
}

/// What has been seen, and what the open transaction saw beside it.
#[derive(Debug, Default)]
pub struct Memory {
    committed: Tables,
    /// The transaction's own, but for the batch that it took in last: most transactions take in one.
    open: Tables,
    last: Option<Recorded>,
    /// Those of the transaction stand behind the others.
    sightings: Sightings,
    /// How many facts, bytes of URLs and payload digests are committed.
    whole: (usize, usize, usize),
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
    pub fn claim(&mut self, ruleset: i64, contents: &[Digest], places: &[Digest]) -> Claimed {
        self.settle();
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

    /// The batch that was taken in last joins the others of the transaction.
    fn settle(&mut self) {
        if let Some(last) = self.last.take() {
            self.open.take(last);
        }
    }

    /// What the transaction knows of a content once it is settled.
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
        let found = at(id).and_then(|at| self.sightings.get(at, id));
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
        at(id).filter(|at| *at < self.whole.0).and_then(|at| self.sightings.get(at, id))
    }

    /// Takes a judged batch into the transaction. Gives how many sightings it has.
    ///
    /// # Errors
    /// [`Error::Contradiction`] where a content begins that is there already, or the sightings are not the next ones.
    pub fn record(&mut self, written: Written, rows: &impl Rows) -> Result<i64, Error> {
        self.settle();
        let before = self.sightings.facts.len();
        if usize::try_from(written.first) != Ok(before + 1) {
            return Err(Error::Contradiction("the sightings are not the next ones".to_owned()));
        }
        let mut contents: Vec<(Digest, StoredContent)> =
            rows.contents().map(|(key, id, first_seen)| (*key, (id, first_seen))).collect();
        if contents.iter().any(|(key, _)| self.content_now(written.ruleset, key).is_some()) {
            return Err(Error::Contradiction("a content begins that is there already".to_owned()));
        }
        contents.extend(rows.moved_keys().filter_map(|(key, time)| {
            let (id, before) = self.content_now(written.ruleset, key)?;
            Some((*key, (id, before.map_or(Some(time), |before| Some(before.min(time))))))
        }));
        let places = rows.places().map(|(key, id, latest, content)| (*key, (id, latest, content))).collect();
        self.last = Some(Recorded { ruleset: written.ruleset, contents, places });
        for (row, source) in rows.sightings() {
            self.sightings.add(written.run, row, source);
        }
        Ok(i64::try_from(self.sightings.facts.len() - before).unwrap_or(i64::MAX))
    }

    /// Takes one content or another state of it into the transaction.
    pub fn put_content(&mut self, ruleset: i64, key: Digest, content: StoredContent) {
        self.settle();
        self.open.0.entry(ruleset).or_default().contents.insert(key, content);
    }

    /// Takes one place or another state of it into the transaction.
    pub fn put_place(&mut self, ruleset: i64, key: Digest, place: StoredPlace) {
        self.settle();
        self.open.0.entry(ruleset).or_default().places.insert(key, place);
    }

    /// Takes the next sighting into the transaction.
    pub fn put_sighting(&mut self, run: i64, row: SightingRow<'_>, source: i64) {
        self.sightings.add(run, row, source);
    }

    /// Makes visible what the transaction took in.
    pub fn commit(&mut self) {
        for (ruleset, keys) in std::mem::take(&mut self.open).0 {
            let (contents, places) = (keys.contents.into_entries(), keys.places.into_entries());
            self.committed.take(Recorded { ruleset, contents, places });
        }
        if let Some(last) = self.last.take() {
            self.committed.take(last);
        }
        self.whole = (self.sightings.facts.len(), self.sightings.urls.len(), self.sightings.payloads.len());
    }

    /// Forgets what the transaction took in.
    pub fn rollback(&mut self) {
        (self.open, self.last) = (Tables::default(), None);
        self.sightings.facts.truncate(self.whole.0);
        self.sightings.urls.truncate(self.whole.1);
        self.sightings.payloads.truncate(self.whole.2);
    }

    /// All contents that are committed: ruleset, key, id, earliest time of fetching.
    pub fn contents(&self) -> impl Iterator<Item = (i64, &Digest, StoredContent)> {
        self.committed
            .0
            .iter()
            .flat_map(|(ruleset, keys)| keys.contents.iter().map(move |(key, content)| (*ruleset, key, *content)))
    }

    /// All places that are committed: ruleset, key, id, latest sighting, its content.
    pub fn places(&self) -> impl Iterator<Item = (i64, &Digest, StoredPlace)> {
        self.committed
            .0
            .iter()
            .flat_map(|(ruleset, keys)| keys.places.iter().map(move |(key, place)| (*ruleset, key, *place)))
    }

    /// How many sightings are committed.
    #[must_use]
    pub fn sightings(&self) -> usize {
        self.whole.0
    }
}

impl Tables {
    fn content(&self, ruleset: i64, key: &Digest) -> Option<StoredContent> {
        self.0.get(&ruleset)?.contents.get(key).copied()
    }

    fn place(&self, ruleset: i64, key: &Digest) -> Option<StoredPlace> {
        self.0.get(&ruleset)?.places.get(key).copied()
    }

    fn take(&mut self, recorded: Recorded) {
        let keys = self.0.entry(recorded.ruleset).or_default();
        recorded.contents.into_iter().for_each(|(key, content)| keys.contents.insert(key, content));
        recorded.places.into_iter().for_each(|(key, place)| keys.places.insert(key, place));
    }
}

impl Sightings {
    fn get(&self, at: usize, id: i64) -> Option<(SightingRow<'_>, i64, i64)> {
        let fact = self.facts.get(at)?;
        let some = |number: i64| Some(number).filter(|number| *number != NONE);
        let row = SightingRow {
            id,
            seq: fact.seq,
            source: 0,
            content: some(fact.content),
            place: some(fact.place),
            fetched_at: some(fact.fetched_at),
            verdict: fact.verdict,
            url: fact.url.checked_add(fact.length as usize).and_then(|end| self.urls.get(fact.url..end)),
            payload: self.payloads.get(fact.payload).copied(),
        };
        Some((row, fact.run, fact.source))
    }

    fn add(&mut self, run: i64, row: SightingRow<'_>, source: i64) {
        // A URL comes out of one line, and lines are shorter than 4 GiB.
        let url = row.url.and_then(|url| Some((self.urls.len(), u32::try_from(url.len()).ok()?)));
        let (url, length) = url.unwrap_or((usize::MAX, 0));
        if url != usize::MAX {
            self.urls.push_str(row.url.unwrap_or_default());
        }
        let payload = row.payload.map_or(usize::MAX, |payload| {
            self.payloads.push(payload);
            self.payloads.len() - 1
        });
        self.facts.push(Fact {
            run,
            seq: row.seq,
            source,
            content: row.content.unwrap_or(NONE),
            place: row.place.unwrap_or(NONE),
            fetched_at: row.fetched_at.unwrap_or(NONE),
            url,
            length,
            verdict: row.verdict,
            payload,
        });
    }
}

/// Where the sighting with an id stands.
fn at(id: i64) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}
