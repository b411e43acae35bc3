//! Rulesets: what identifies a record, how its fields are read, where its URL is. Versioned, with a fingerprint.

mod fingerprint;
mod load;
mod sections;
mod settings;

pub use settings::{Mistake, Read, Scope, Settings, nearest};

use crate::keys::Digest;
use crate::kinds::{Auto, FieldKind};
use crate::urls::UrlRules;

/// What a record's content key is made from.
#[derive(Debug)]
pub enum Identity {
    /// Named fields, in canonical order of their names.
    Fields(Vec<Field>),
    /// Every member that is neither volatile nor named under `[record]`; declared fields have their kind, others are `auto` with strings as `name`.
    Everything {
        /// The declared fields, in canonical order.
        declared: Vec<Field>,
        /// What all others are.
        other: Auto,
    },
    /// None: the payload digest is the content key (the two-hash mode).
    Payload,
}

/// One identity field.
#[derive(Debug)]
pub struct Field {
    /// The member's name.
    pub name: String,
    /// How its values are read.
    pub kind: Box<dyn FieldKind>,
    /// The kind's name.
    pub kind_name: &'static str,
    /// True where the ruleset requires it to be present.
    pub required: bool,
    /// The name as it stands in canonical JSON, with its colon.
    pub(crate) prefix: Vec<u8>,
}

/// The field whose bytes are the payload.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The member's name.
    pub field: String,
    /// True where it is base64 text of the bytes (RFC 4648 §4).
    pub base64: bool,
}

/// Where the facts about a record are: names of members.
#[derive(Clone, Debug, Default)]
pub struct RecordFields {
    /// The URL it was fetched from.
    pub url: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<String>,
    /// Who published it.
    pub source: Option<String>,
    /// Minutes east of UTC to assume for times without a zone; none means UTC.
    pub assume_offset: Option<i32>,
}

/// What is done with records of a verdict that leaves a choice. True means keep.
#[derive(Clone, Copy, Debug)]
pub struct Actions {
    /// Content known from another place.
    pub keep_syndicated: bool,
    /// A page that shows content known from before; unseen content is always kept.
    pub keep_changed: bool,
    /// No identity: kept (true) or refused as `no-identity`.
    pub keep_unkeyed: bool,
}

/// A ruleset, read and checked.
#[derive(Debug)]
pub struct Ruleset {
    /// `[a-z0-9][a-z0-9_-]*`
    pub name: String,
    /// From 1.
    pub version: u64,
    /// `name/version`: the label on every key.
    pub label: String,
    /// What is the same content.
    pub identity: Identity,
    /// Names of identity fields without which a record has no content key, sorted.
    pub require: Vec<String>,
    /// Names of members that change without the content changing, sorted.
    pub volatile: Vec<String>,
    /// Names of members whose character references are decoded as they are read, sorted.
    pub decode_entities: Vec<String>,
    /// The payload's field, where one is named.
    pub payload: Option<Payload>,
    /// Where the facts are.
    pub record: RecordFields,
    /// What is the same place.
    pub url: UrlRules,
    /// What is done.
    pub actions: Actions,
    /// Digest of what can change a key.
    pub fingerprint: Digest,
    /// Digest of everything else.
    pub configuration: Digest,
    /// What the fingerprint covers, as canonical JSON.
    pub identity_json: String,
    /// Every setting in force, defaults written out, as canonical JSON.
    pub settings_json: String,
}

impl Ruleset {
    /// True for members whose character references are decoded as they are read.
    #[must_use]
    pub fn decodes(&self, member: &str) -> bool {
        self.decode_entities.binary_search_by(|name| name.as_str().cmp(member)).is_ok()
    }

    /// True for members that belong to no payload and, under `identity = "*"`, to no content: volatile ones, those named under `[record]`, and `_seen`.
    #[must_use]
    pub fn leaves_out(&self, member: &str) -> bool {
        let named = |field: &Option<String>| field.as_deref() == Some(member);
        member == "_seen"
            || named(&self.record.url)
            || named(&self.record.fetched_at)
            || named(&self.record.source)
            || self.volatile.binary_search_by(|name| name.as_str().cmp(member)).is_ok()
    }
}
