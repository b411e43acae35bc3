//! A program's records, judged one at a time while the program still stores them: each may be taken back until the batch is committed.
//!
//! A verdict is given against what the store knows and the records before it in the batch. What a record changed is worked out again
//! from the records that are left when it is taken back, so the batch always believes what a store would that never saw it.

mod committing;

use super::judged::{ContentState, PlaceState, judge_record};
use super::{Batch, Earlier, Judgement, Outcome, Setting};
use crate::error::Refusal;
use crate::json::Tape;
use crate::judge::Verdict;
use crate::keys::{Digest, Given, Keyed, Maker, Texts};
use crate::ruleset::Ruleset;
use std::collections::HashMap;
use std::sync::Arc;

/// Sighting ids of records that are in no store yet: above all that a store will ever give out, within 64 bits.
const UNSTORED: i64 = 1 << 62;

/// A content that a store knows: its id, and the earliest time it was fetched.
pub type StoredContent = (i64, Option<i64>);
/// A place that a store knows: its id, its latest sighting, and the content that one showed.
pub type StoredPlace = (i64, i64, i64);

/// A store, asked about one record at a time.
pub trait Seen {
    /// Why it could not answer.
    type Error;

    /// What it knows of a record's content and of its place.
    ///
    /// # Errors
    /// What keeps the store from answering.
    fn look_up(
        &mut self,
        content: Option<&Digest>,
        place: Option<&Digest>,
    ) -> Result<(Option<StoredContent>, Option<StoredPlace>), Self::Error>;

    /// The facts of a sighting that it told of.
    ///
    /// # Errors
    /// What keeps the store from answering.
    fn earlier(&mut self, id: i64) -> Result<Earlier, Self::Error>;
}

/// What was decided about one record.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its position in the batch, from 0.
    pub position: usize,
    /// The row of the verdict table, and what follows from it.
    pub judgement: Judgement,
    /// The content's first sighting, where it was seen before.
    pub refers_to: Option<Earlier>,
    /// For `changed`: what the URL showed before.
    pub previous: Option<Earlier>,
    /// `payload` or `content`, where it was seen before.
    pub matched_on: Option<&'static str>,
    /// The first record of the batch, not yet confirmed, that the verdict rests on.
    pub waits_for: Option<usize>,
}

/// One record of the batch: its keys, and what became of it.
#[derive(Clone, Copy, Debug)]
struct Row {
    content: Option<Digest>,
    place: Option<Digest>,
    fetched_at: Option<i64>,
    keep: bool,
    seen_before: bool,
    /// Whether it marks anything as seen: a repeat of what was released does not, for nobody stored it.
    marks: bool,
    fate: Fate,
}

/// What the program did with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing was said yet; it counts as stored.
    Open,
    /// It is stored.
    Confirmed,
    /// It was not stored after all.
    Released,
}

/// Records judged one at a time. `P` holds a record's text; copying it should cost nothing.
#[derive(Debug)]
pub struct Provisional<P> {
    batch: Batch<P>,
    rows: Vec<Row>,
    /// What is believed of each key that a record asked about; none where neither the store nor the batch has it.
    contents: HashMap<Digest, Option<StoredContent>>,
    places: HashMap<Digest, Option<StoredPlace>>,
    with_content: HashMap<Digest, Vec<usize>>,
    with_place: HashMap<Digest, Vec<usize>>,
}

impl<P: AsRef<[u8]> + Send + Sync + Clone> Provisional<P> {
    /// An empty batch.
    #[must_use]
    pub fn new(rules: Arc<Ruleset>, setting: Setting) -> Self {
        Self {
            batch: Batch::new(rules, setting),
            rows: Vec::new(),
            contents: HashMap::new(),
            places: HashMap::new(),
            with_content: HashMap::new(),
            with_place: HashMap::new(),
        }
    }

    /// How many records were judged.
    #[must_use]
    pub fn records(&self) -> usize {
        self.rows.len()
    }

    /// What the run says about all its records.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        self.batch.setting()
    }

    /// The rules it is judged by.
    #[must_use]
    pub fn rules(&self) -> &Arc<Ruleset> {
        self.batch.rules()
    }

    /// A record's keys and facts, and the texts that these point into.
    #[must_use]
    pub fn record(&self, position: usize) -> Option<(&Keyed, &Texts)> {
        match self.batch.outcome(position)? {
            (Outcome::Keyed(keyed), texts) => Some((keyed, texts)),
            (Outcome::Refused(_), _) => None,
        }
    }

    /// Judges one record, whose text and tape were built. It is not added where it is refused, or the store can't answer.
    ///
    /// # Errors
    /// What keeps the store from answering; inside, as [`Maker::keys`].
    pub fn judge<S: Seen>(
        &mut self,
        text: P,
        tape: &Tape,
        maker: &mut Maker,
        given: &Given<'_>,
        seen: &mut S,
    ) -> Result<Result<Said, Refusal>, S::Error> {
        let position = match self.batch.push(text, tape, maker, given) {
            Ok(position) => position,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let said = self.decide(position, seen);
        if said.is_err() {
            self.batch.forget_last();
        }
        said.map(Ok)
    }

    fn decide<S: Seen>(&mut self, position: usize, seen: &mut S) -> Result<Said, S::Error> {
        let id = unstored(position);
        let Some(Outcome::Keyed(keyed)) = self.batch.outcome(position).map(|(outcome, _)| outcome) else {
            // A record that was pushed was keyed.
            return Ok(Said::nothing(position));
        };
        let (payload, fetched_at) = (keyed.payload, keyed.fetched_at);
        let (content_key, place_key) = (keyed.content, keyed.content.and(keyed.place));
        let (mut content, mut place) = self.known(content_key.as_ref(), place_key.as_ref(), seen)?;
        let judgement = judge_record(self.batch.rules.actions, fetched_at, content.as_mut(), place.as_mut(), id);
        let refers_to = self.facts(judgement.refers_to, seen)?;
        let previous = self.facts(judgement.previous, seen)?;
        let rests_on = [judgement.refers_to, judgement.previous].into_iter().filter_map(own);
        let waits_for = rests_on.filter(|at| self.rows.get(*at).is_some_and(|row| row.fate != Fate::Confirmed)).min();
        let matched_on = refers_to
            .as_ref()
            .map(|earlier| if payload.is_some() && earlier.payload == payload { "payload" } else { "content" });
        self.rows.push(Row {
            content: content_key,
            place: place_key,
            fetched_at,
            keep: judgement.keep,
            seen_before: judgement.seen_before,
            marks: false,
            fate: Fate::Open,
        });
        if let Some(key) = content_key {
            self.with_content.entry(key).or_default().push(position);
            if let Some(key) = place_key {
                self.with_place.entry(key).or_default().push(position);
            }
            self.mark_content(position);
            self.mark_place(position);
        }
        Ok(Said { position, judgement, refers_to, previous, matched_on, waits_for })
    }

    /// The record is stored: what rests on it waits no longer. One that was taken back stays so.
    pub fn confirm(&mut self, position: usize) {
        if let Some(row) = self.rows.get_mut(position).filter(|row| row.fate == Fate::Open) {
            row.fate = Fate::Confirmed;
        }
    }

    /// Whether the record was taken back.
    #[must_use]
    pub fn released(&self, position: usize) -> bool {
        self.rows.get(position).is_some_and(|row| row.fate == Fate::Released)
    }

    /// The record was not stored: what it changed is worked out again from the records that are left.
    ///
    /// # Errors
    /// What keeps the store from answering.
    pub fn release<S: Seen>(&mut self, position: usize, seen: &mut S) -> Result<(), S::Error> {
        let Some(row) = self.rows.get_mut(position) else { return Ok(()) };
        row.fate = Fate::Released;
        let Some(key) = row.content else { return Ok(()) };
        let with_content = self.with_content.get(&key).cloned().unwrap_or_default();
        let mut places: Vec<Digest> =
            with_content.iter().filter_map(|at| self.rows.get(*at).and_then(|row| row.place)).collect();
        places.sort_unstable();
        places.dedup();
        let stored = seen.look_up(Some(&key), None)?.0;
        self.contents.insert(key, stored);
        for place in &places {
            let stored = seen.look_up(None, Some(place))?.1;
            self.places.insert(*place, stored);
        }
        for at in with_content {
            self.mark_content(at);
        }
        for place in places {
            for at in self.with_place.get(&place).cloned().unwrap_or_default() {
                self.mark_place(at);
            }
        }
        Ok(())
    }

    /// What is believed of one record's keys, asking the store for those not asked about before.
    fn known<S: Seen>(
        &mut self,
        content: Option<&Digest>,
        place: Option<&Digest>,
        seen: &mut S,
    ) -> Result<(Option<ContentState>, Option<PlaceState>), S::Error> {
        let ask_content = content.filter(|key| !self.contents.contains_key(*key));
        let ask_place = place.filter(|key| !self.places.contains_key(*key));
        if ask_content.is_some() || ask_place.is_some() {
            let (stored_content, stored_place) = seen.look_up(ask_content, ask_place)?;
            if let Some(key) = ask_content {
                self.contents.insert(*key, stored_content);
            }
            if let Some(key) = ask_place {
                self.places.insert(*key, stored_place);
            }
        }
        let content = content.map(|key| {
            let known = self.contents.get(key).copied().flatten();
            known.map_or_else(ContentState::default, |(id, first_seen)| ContentState {
                id,
                first_seen,
                known: true,
                moved: false,
            })
        });
        let place = place.map(|key| {
            let known = self.places.get(key).copied().flatten();
            known.map_or_else(PlaceState::default, |(id, latest, content)| PlaceState { id, latest, content })
        });
        Ok((content, place))
    }

    /// Moves what is believed of a record's content on by it, where it marks anything.
    fn mark_content(&mut self, position: usize) {
        let Some(row) = self.rows.get_mut(position) else { return };
        let Some(key) = row.content else { return };
        let content = self.contents.entry(key).or_default();
        row.marks = row.fate != Fate::Released && (content.is_some() || row.keep);
        if row.marks {
            let (first, first_seen) = content.unwrap_or((unstored(position), None));
            *content = Some((first, [first_seen, row.fetched_at].into_iter().flatten().min()));
        }
    }

    /// Moves what is believed of a record's place on by it, where it marks anything.
    fn mark_place(&mut self, position: usize) {
        let Some(row) = self.rows.get(position).filter(|row| row.marks) else { return };
        let (Some(content), Some(key)) = (row.content, row.place) else { return };
        let Some((content, _)) = self.contents.get(&content).copied().flatten() else { return };
        let place = self.places.entry(key).or_default();
        let id = unstored(position);
        *place = Some((place.map_or(id, |(known, ..)| known), id, content));
    }

    fn facts<S: Seen>(&self, id: i64, seen: &mut S) -> Result<Option<Earlier>, S::Error> {
        let Some(position) = own(id) else {
            return if id == 0 { Ok(None) } else { seen.earlier(id).map(Some) };
        };
        Ok(self.record(position).map(|(keyed, texts)| Earlier {
            id,
            run: self.batch.setting.run,
            seq: self.batch.setting.first_seq + position as u64,
            url: texts.get(keyed.url).map(str::to_owned),
            fetched_at: keyed.fetched_at,
            payload: keyed.payload,
        }))
    }
}

impl Said {
    fn nothing(position: usize) -> Self {
        let judgement = Judgement::of(Verdict::Refused);
        Self { position, judgement, refers_to: None, previous: None, matched_on: None, waits_for: None }
    }
}

/// The sighting id that a record of the batch has until it is committed.
fn unstored(position: usize) -> i64 {
    UNSTORED + i64::try_from(position).unwrap_or(0)
}

/// The position of a record of the batch, from the sighting id it has until it is committed.
fn own(id: i64) -> Option<usize> {
    usize::try_from(id.checked_sub(UNSTORED)?).ok()
}
