//! The verdict table of `spec/verdicts-1.md`: content seen or not × URL seen or not.

use crate::error::codes;
use crate::ruleset::Actions;

codes! {
    /// What was found about a record. The position in this list is what stores hold.
    Verdict {
        /// Content and URL unseen.
        New = "new",
        /// A seen URL shows something else than before.
        Changed = "changed",
        /// Seen content at an unseen URL.
        Syndicated = "syndicated",
        /// Seen content at a URL that shows it already, or without a URL.
        Duplicate = "duplicate",
        /// No identity: never a duplicate of anything.
        Unkeyed = "unkeyed",
        /// Set aside.
        Refused = "refused",
    }
}

/// What is known of a record's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The record has none, or it cannot be keyed.
    NoneGiven,
    /// Not seen before.
    Unseen,
    /// Seen, and its latest content is this very content.
    ShowsThis,
    /// Seen, and its latest content is another.
    ShowsOther,
}

/// The verdict on a record with a content key, and whether its content was seen before.
#[must_use]
pub fn decide(content_seen: bool, place: Place) -> Verdict {
    match (content_seen, place) {
        (false, Place::NoneGiven | Place::Unseen) => Verdict::New,
        // A place cannot show unseen content; the pair stands here so that the table is total.
        (false, Place::ShowsOther | Place::ShowsThis) | (true, Place::ShowsOther) => Verdict::Changed,
        (true, Place::Unseen) => Verdict::Syndicated,
        (true, Place::NoneGiven | Place::ShowsThis) => Verdict::Duplicate,
    }
}

impl Actions {
    /// Whether a record of this verdict is kept. Unseen content always is.
    #[must_use]
    pub fn keep(self, verdict: Verdict, seen_before: bool) -> bool {
        match verdict {
            Verdict::New => true,
            Verdict::Changed => !seen_before || self.keep_changed,
            Verdict::Syndicated => self.keep_syndicated,
            Verdict::Unkeyed => self.keep_unkeyed,
            Verdict::Duplicate | Verdict::Refused => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Verdict, decide};

    #[test]
    fn the_table_of_the_specification() {
        for (content_seen, place, verdict) in [
            (false, Place::Unseen, Verdict::New),
            (false, Place::ShowsOther, Verdict::Changed),
            (true, Place::Unseen, Verdict::Syndicated),
            (true, Place::ShowsThis, Verdict::Duplicate),
            (true, Place::ShowsOther, Verdict::Changed),
            (true, Place::NoneGiven, Verdict::Duplicate),
            (false, Place::NoneGiven, Verdict::New),
        ] {
            assert_eq!(decide(content_seen, place), verdict, "{content_seen} {place:?}");
        }
    }
}
