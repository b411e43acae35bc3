//! The verdict table over receipts in their order, from prior state on (`spec/verdicts-1.md`).

use super::stated::{Judged, Mark, Named, Prior};
use crate::judge::{Place as Found, Verdict, decide};
use crate::keys::Digest;
use crate::ruleset::Actions;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A key with the index of its label.
type Key = (u32, Digest);

/// Takes eight bytes of a key for its hash: keys are digests already.
#[derive(Default)]
pub struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let piece = piece.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
            self.0 = self.0.rotate_left(7) ^ piece;
        }
    }
}

type Map<V> = HashMap<Key, V, BuildHasherDefault<FirstBytes>>;

/// What is known only where history is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// This.
    Is(T),
    /// It rests on sightings that are not here.
    Unknown,
}

/// A sighting as it is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Remembered {
    run: u64,
    seq: u64,
    mark: Mark,
}

impl Remembered {
    fn of(named: &Named) -> Self {
        Self { run: named.run, seq: named.seq, mark: named.mark() }
    }

    fn is(&self, named: &Named) -> bool {
        (self.run, self.seq) == (named.run, named.seq) && self.mark == named.mark()
    }
}

struct Content {
    first: Remembered,
    payload: Known<Option<Digest>>,
    first_seen: Known<Option<i64>>,
}

struct Place {
    latest: Remembered,
    /// Unknown: another than any that is here.
    content: Known<Digest>,
}

/// A member of a receipt that is not what the table gives: its name, what the table gives, what is stated.
pub type Difference = (&'static str, String, String);

/// What one receipt comes to.
pub struct Replayed {
    /// What is wrong with it.
    pub differences: Vec<Difference>,
    /// The content's `first_seen` after it.
    pub first_seen: Known<Option<i64>>,
    /// True where it rests on sightings that are not here, and is believed so far.
    pub assumed: bool,
}

/// What was remembered so far.
#[derive(Default)]
pub struct Replay {
    contents: Map<Content>,
    places: Map<Place>,
    /// Whether sightings of runs that are not here are believed: for the files of one run.
    open: bool,
}

impl Replay {
    /// A replay from nothing; `open` where what came before is not given.
    #[must_use]
    pub fn new(open: bool) -> Self {
        Self { open, ..Self::default() }
    }

    /// Remembers a line of prior state. False where another line said so already.
    pub fn remember(&mut self, label: u32, prior: &Prior) -> bool {
        let this = Remembered::of(&prior.this);
        let mut alone = true;
        if prior.first {
            let content =
                Content { first: this, payload: Known::Is(prior.payload), first_seen: Known::Is(prior.first_seen) };
            alone &= self.contents.insert((label, prior.content), content).is_none();
        }
        if let (true, Some(place)) = (prior.latest, prior.place) {
            let shows = Place { latest: this, content: Known::Is(prior.content) };
            alone &= self.places.insert((label, place), shows).is_none();
        }
        alone
    }

    /// Compares a receipt with the table, and remembers its sighting.
    pub fn step(&mut self, label: u32, actions: Actions, stated: &Judged) -> Replayed {
        let Some(digest) = stated.content else { return unkeyed(actions, stated) };
        let key = (label, digest);
        let place_key = stated.place.map(|place| (label, place));
        let assumed = self.open && self.assume(key, place_key, stated);
        let this = Remembered::of(&stated.this);
        let found = match place_key.map(|place| self.places.get(&place)) {
            None => Found::NoneGiven,
            Some(None) => Found::Unseen,
            Some(Some(place)) if place.content == Known::Is(digest) => Found::ShowsThis,
            Some(Some(_)) => Found::ShowsOther,
        };
        let content = self.contents.get(&key);
        let verdict = decide(content.is_some(), found);
        let mut differences = Differences(Vec::new());
        differences.compare("verdict", verdict.code(), stated.verdict.code());
        let keep = actions.keep(verdict, content.is_some());
        let action = |keep| if keep { "keep" } else { "skip" };
        differences.compare("action", action(keep), action(stated.keep));
        differences.compare("seen_before", truth(content.is_some()), truth(stated.seen_before));
        let matched_on = content.map(|content| match content.payload {
            Known::Is(payload) => payload.is_some() && payload == stated.payload,
            Known::Unknown => stated.matched_on == Some(true),
        });
        differences.compare("matched_on", matched(matched_on), matched(stated.matched_on));
        differences.sighting("refers_to", content.map(|content| content.first), stated.refers_to.as_ref());
        let shown = place_key.and_then(|place| self.places.get(&place)).map(|place| place.latest);
        let previous = shown.filter(|_| verdict == Verdict::Changed);
        differences.sighting("previous", previous, stated.previous.as_ref());
        let first_seen = self.count(key, this, stated);
        if let Some(place) = place_key {
            self.places.insert(place, Place { latest: this, content: Known::Is(digest) });
        }
        Replayed { differences: differences.0, first_seen, assumed }
    }

    fn count(&mut self, key: Key, this: Remembered, stated: &Judged) -> Known<Option<i64>> {
        let time = stated.this.fetched_at;
        let content = self.contents.entry(key).or_insert(Content {
            first: this,
            payload: Known::Is(stated.payload),
            first_seen: Known::Is(None),
        });
        if let Known::Is(seen) = content.first_seen {
            content.first_seen = Known::Is(seen.into_iter().chain(time).min());
        }
        content.first_seen
    }

    /// Believes what a receipt says of sightings in other runs, where nothing here says otherwise. True where it did.
    fn assume(&mut self, key: Key, place: Option<Key>, stated: &Judged) -> bool {
        let elsewhere = |named: &&Named| named.run != stated.this.run;
        let mut assumed = false;
        if let (None, Some(first)) = (self.contents.get(&key), stated.refers_to.as_ref().filter(elsewhere)) {
            let payload = if stated.matched_on == Some(true) { Known::Is(stated.payload) } else { Known::Unknown };
            let content = Content { first: Remembered::of(first), payload, first_seen: Known::Unknown };
            self.contents.insert(key, content);
            assumed = true;
        }
        let Some(place) = place else { return assumed };
        let other = stated.previous.as_ref().filter(elsewhere);
        let shows = match (stated.verdict, other, stated.refers_to.as_ref().filter(elsewhere)) {
            // Another run may have shown something else in between, so a place that is known here may have moved on.
            (Verdict::Changed, Some(previous), _) => (previous, Known::Unknown),
            (Verdict::Duplicate, _, Some(first)) if !self.places.contains_key(&place) => (first, Known::Is(key.1)),
            _ => return assumed,
        };
        self.places.insert(place, Place { latest: Remembered::of(shows.0), content: shows.1 });
        true
    }
}

fn unkeyed(actions: Actions, stated: &Judged) -> Replayed {
    let mut differences = Differences(Vec::new());
    differences.compare("verdict", Verdict::Unkeyed.code(), stated.verdict.code());
    let action = if actions.keep(Verdict::Unkeyed, false) { "keep" } else { "refuse" };
    differences.compare("action", action, if stated.keep { "keep" } else { "skip" });
    differences.compare("seen_before", truth(false), truth(stated.seen_before));
    differences.compare("matched_on", matched(None), matched(stated.matched_on));
    differences.sighting("refers_to", None, stated.refers_to.as_ref());
    differences.sighting("previous", None, stated.previous.as_ref());
    Replayed { differences: differences.0, first_seen: Known::Is(None), assumed: false }
}

struct Differences(Vec<Difference>);

impl Differences {
    fn compare(&mut self, member: &'static str, expected: &str, found: &str) {
        if expected != found {
            self.0.push((member, expected.to_owned(), found.to_owned()));
        }
    }

    fn sighting(&mut self, member: &'static str, expected: Option<Remembered>, found: Option<&Named>) {
        let name = |run, seq| format!("{run}:{seq}");
        match (expected, found) {
            (None, None) => {}
            (Some(expected), Some(found)) if expected.is(found) => {}
            (Some(expected), Some(found)) if (expected.run, expected.seq) == (found.run, found.seq) => {
                let expected = format!("URL and time of {}", name(expected.run, expected.seq));
                let text = format!("{} at {:?}", found.url.as_deref().unwrap_or("no URL"), found.fetched_at);
                self.0.push((member, expected, text));
            }
            (expected, found) => {
                let expected = expected.map_or_else(|| "null".to_owned(), |one| name(one.run, one.seq));
                let found = found.map_or_else(|| "null".to_owned(), |one| name(one.run, one.seq));
                self.0.push((member, expected, found));
            }
        }
    }
}

const fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

const fn matched(on: Option<bool>) -> &'static str {
    match on {
        None => "null",
        Some(true) => "payload",
        Some(false) => "content",
    }
}
