//! Judging: the verdict table applied in order, against what the store knows and what came earlier in the batch.

use super::{Batch, NONE, Outcome};
use crate::judge::{Place, Verdict, decide};
use crate::keys::Digest;
use crate::ruleset::Actions;

/// A content that the store knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownContent {
    /// Index into [`Batch::content_keys`].
    pub key: usize,
    /// The content's id: the sighting id of its first sighting.
    pub id: i64,
    /// The earliest time it was fetched, as far as any sighting said so.
    pub first_seen: Option<i64>,
}

/// A URL that the store knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownPlace {
    /// Index into [`Batch::place_keys`].
    pub key: usize,
    /// The place's id: the sighting id of its first sighting.
    pub id: i64,
    /// Its latest sighting.
    pub latest: i64,
    /// The content that sighting showed.
    pub content: i64,
}

/// What was found about one record. Ids are of sightings; 0 stands for none.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// The row of the table.
    pub verdict: Verdict,
    /// Whether its content was seen before.
    pub seen_before: bool,
    /// Whether it is kept.
    pub keep: bool,
    /// The content's first sighting, where seen before.
    pub refers_to: i64,
    /// For `changed`: the latest sighting of what the URL showed before.
    pub previous: i64,
    /// The content's id.
    pub content: i64,
    /// The place's id.
    pub place: i64,
    /// The earliest time of fetching known at this record.
    pub first_seen: Option<i64>,
}

impl Judgement {
    /// The verdict on a record that takes no part: it is not kept, and marks nothing as seen.
    pub(super) fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            seen_before: false,
            keep: false,
            refers_to: 0,
            previous: 0,
            content: 0,
            place: 0,
            first_seen: None,
        }
    }
}

/// A content while the batch is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContentState {
    pub id: i64,
    pub first_seen: Option<i64>,
    pub known: bool,
    pub moved: bool,
}

/// A place while the batch is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceState {
    pub id: i64,
    pub latest: i64,
    pub content: i64,
}

/// What changed in the store's tables.
#[derive(Debug, Default)]
pub(super) struct States {
    pub contents: Vec<ContentState>,
    pub places: Vec<PlaceState>,
}

impl<P: AsRef<[u8]> + Send + Sync> Batch<P> {
    /// Judges all records in order. The first gets the sighting id `first_sighting`, the others follow.
    ///
    /// Returns the ids of earlier sightings whose facts [`Batch::render`] needs, sorted, each once.
    pub fn judge(&mut self, first_sighting: i64, contents: &[KnownContent], places: &[KnownPlace]) -> Vec<i64> {
        let mut states = States {
            contents: vec![ContentState::default(); self.contents.keys.len()],
            places: vec![PlaceState::default(); self.places.keys.len()],
        };
        for known in contents {
            if let Some(state) = states.contents.get_mut(known.key) {
                *state = ContentState { id: known.id, first_seen: known.first_seen, known: true, moved: false };
            }
        }
        for known in places {
            if let Some(state) = states.places.get_mut(known.key) {
                *state = PlaceState { id: known.id, latest: known.latest, content: known.content };
            }
        }
        let judgements: Vec<Judgement> = (first_sighting..)
            .zip(0..self.entries.len())
            .map(|(id, index)| self.judge_one(index, id, &mut states))
            .collect();
        let mut needed: Vec<i64> = judgements
            .iter()
            .flat_map(|judgement| [judgement.refers_to, judgement.previous])
            .filter(|id| *id > 0 && *id < first_sighting)
            .collect();
        needed.sort_unstable();
        needed.dedup();
        self.judgements = judgements;
        self.first_sighting = first_sighting;
        self.states = states;
        needed
    }

    /// What was found about each record, in order.
    #[must_use]
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    fn judge_one(&self, index: usize, id: i64, states: &mut States) -> Judgement {
        let Some(keyed) = self.keyed(index) else { return Judgement::of(Verdict::Refused) };
        let slot = |of: &[u32]| of.get(index).copied().filter(|slot| *slot != NONE);
        let content = slot(&self.contents.of).and_then(|slot| states.contents.get_mut(slot as usize));
        let place = slot(&self.places.of).and_then(|slot| states.places.get_mut(slot as usize));
        judge_record(self.rules.actions, keyed.fetched_at, content, place, id)
    }
}

/// Judges one record against what is known of its content and its place, and moves both on.
pub(super) fn judge_record(
    actions: Actions,
    fetched_at: Option<i64>,
    content: Option<&mut ContentState>,
    place: Option<&mut PlaceState>,
    id: i64,
) -> Judgement {
    let mut judgement = Judgement::of(Verdict::Unkeyed);
    let Some(content) = content else {
        judgement.keep = actions.keep(Verdict::Unkeyed, false);
        return judgement;
    };
    judgement.seen_before = content.id != 0;
    let found = match &place {
        None => Place::NoneGiven,
        Some(place) if place.id == 0 => Place::Unseen,
        Some(place) if place.content == content.id => Place::ShowsThis,
        Some(_) => Place::ShowsOther,
    };
    judgement.verdict = decide(judgement.seen_before, found);
    judgement.keep = actions.keep(judgement.verdict, judgement.seen_before);
    if judgement.seen_before {
        judgement.refers_to = content.id;
    } else {
        content.id = id;
    }
    if let Some(time) = fetched_at
        && content.first_seen.is_none_or(|first| time < first)
    {
        content.first_seen = Some(time);
        content.moved = true;
    }
    judgement.content = content.id;
    judgement.first_seen = content.first_seen;
    if let Some(place) = place {
        if judgement.verdict == Verdict::Changed {
            judgement.previous = place.latest;
        }
        if place.id == 0 {
            place.id = id;
        }
        place.latest = id;
        place.content = content.id;
        judgement.place = place.id;
    }
    judgement
}

/// What a judged batch changes in a store, in the order in which stores want it.
impl<P: AsRef<[u8]> + Send + Sync> Batch<P> {
    /// Contents first seen in this batch: key, id, earliest time of fetching; sorted by key.
    pub fn contents_new(&self) -> impl Iterator<Item = (&Digest, i64, Option<i64>)> {
        let states = self.contents.keys.iter().zip(&self.states.contents);
        states.filter(|(_, state)| !state.known && state.id != 0).map(|(key, state)| (key, state.id, state.first_seen))
    }

    /// Contents known before whose earliest time of fetching moved back: key, id, time; sorted by key.
    pub fn contents_earlier(&self) -> impl Iterator<Item = (&Digest, i64, i64)> {
        let states = self.contents.keys.iter().zip(&self.states.contents);
        let moved = states.filter(|(_, state)| state.known && state.moved);
        moved.filter_map(|(key, state)| Some((key, state.id, state.first_seen?)))
    }

    /// The sighting id of the first record.
    #[must_use]
    pub fn first_sighting(&self) -> i64 {
        self.first_sighting
    }

    /// Places as they are now: key, id, latest sighting, its content; sorted by key.
    pub fn places_now(&self) -> impl Iterator<Item = (&Digest, i64, i64, i64)> {
        let states = self.places.keys.iter().zip(&self.states.places);
        states.filter(|(_, state)| state.id != 0).map(|(key, state)| (key, state.id, state.latest, state.content))
    }

    /// One row a record: its sighting.
    pub fn sightings(&self) -> impl Iterator<Item = SightingRow<'_>> {
        (self.first_sighting..).zip(self.judgements.iter().enumerate()).map(|(id, (index, judgement))| {
            let (url, payload, fetched_at) = match self.outcome(index) {
                Some((Outcome::Keyed(keyed), texts)) => (texts.get(keyed.url), keyed.payload, keyed.fetched_at),
                _ => (None, None, None),
            };
            SightingRow {
                id,
                seq: self.setting.first_seq + index as u64,
                source: self.sources.of.get(index).copied().unwrap_or(NONE),
                content: Some(judgement.content).filter(|id| *id != 0),
                place: Some(judgement.place).filter(|id| *id != 0),
                fetched_at,
                verdict: judgement.verdict,
                url,
                payload,
            }
        })
    }
}

/// One record at one place at one time, as stores hold it.
#[derive(Clone, Copy, Debug)]
pub struct SightingRow<'a> {
    /// Its id.
    pub id: i64,
    /// Ordinal in its run.
    pub seq: u64,
    /// Index into [`Batch::sources`].
    pub source: u32,
    /// The content's id.
    pub content: Option<i64>,
    /// The place's id.
    pub place: Option<i64>,
    /// When it was fetched, in microseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
    /// What was found.
    pub verdict: Verdict,
    /// URL as given, credentials redacted.
    pub url: Option<&'a str>,
    /// Payload digest.
    pub payload: Option<Digest>,
}
