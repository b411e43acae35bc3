//! The three digests of a record, and the facts that go with them.

mod content;
mod facts;
mod find;
mod floats;
mod payload;

pub use facts::{Given, Span, Texts};

use crate::error::{Code, Problems, Refusal};
use crate::json::Value;
use crate::kinds::Work;
use crate::ruleset::{Identity, Ruleset};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest (FIPS 180-4), raw.
pub type Digest = [u8; 32];

/// SHA-256 of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

/// Appends a digest as 64 small hexadecimal digits.
pub fn push_hex(digest: &Digest, out: &mut Vec<u8>) {
    let mut digits = [[0_u8; 2]; 32];
    for (pair, byte) in digits.iter_mut().zip(digest) {
        *pair = [hex_digit(byte >> 4), hex_digit(byte & 15)];
    }
    out.extend_from_slice(digits.as_flattened());
}

/// The digit of a number below 16, by arithmetic alone, so that the compiler makes vector code of many.
const fn hex_digit(number: u8) -> u8 {
    number + b'0' + (number > 9) as u8 * (b'a' - b'0' - 10)
}

/// A digest as 64 small hexadecimal digits.
#[must_use]
pub fn hex(digest: &Digest) -> String {
    let mut out = Vec::with_capacity(64);
    push_hex(digest, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// What a record is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// Digest of the identity fields in canonical form; none for a record without identity.
    pub content: Option<Digest>,
    /// Digest of the canonical URL; none where no URL was given or it cannot be keyed.
    pub place: Option<Digest>,
    /// Digest of the payload; none where a payload field is named and absent, or digests are not wanted.
    pub payload: Option<Digest>,
    /// What the receipt remarks.
    pub problems: Problems,
    /// The URL as given, credentials redacted.
    pub url: Span,
    /// Who published it.
    pub source: Span,
    /// When it was fetched, in microseconds since 1970 UTC.
    pub fetched_at: Option<i64>,
}

/// Makes keys, keeping its buffers from record to record.
#[derive(Debug, Default)]
pub struct Maker {
    work: Work,
    finder: find::Finder,
    canonical: Vec<u8>,
    floats: Vec<String>,
}

impl Maker {
    /// A maker with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The keys and facts of one record. URL and source are appended to `texts`.
    ///
    /// # Errors
    /// The first value that its kind refuses, in canonical order of the identity fields; then the payload's; then
    /// `no-identity` where the ruleset says so.
    pub fn keys(
        &mut self,
        rules: &Ruleset,
        record: Value<'_>,
        given: &Given<'_>,
        want_payload: bool,
        texts: &mut Texts,
    ) -> Result<Keyed, Refusal> {
        let mut problems = Problems::default();
        let mut content = None;
        let buffers = (&mut self.work, &mut self.finder, self.floats.as_slice());
        if content::write(rules, record, buffers, &mut problems, None, &mut self.canonical)? {
            content = Some(sha256(&self.canonical));
        }
        let in_payload_mode = matches!(rules.identity, Identity::Payload);
        let payload = if want_payload || in_payload_mode {
            payload::digest(rules, record, &mut self.finder, &mut self.canonical)?
        } else {
            None
        };
        if in_payload_mode {
            content = payload.filter(|_| self.canonical != b"{}");
        }
        if content.is_none() && !rules.actions.keep_unkeyed {
            return Err(Refusal::line(
                Code::NoIdentity,
                "no identity field is present, and the ruleset refuses such records",
            ));
        }
        let facts = facts::read(rules, record, given, (&mut self.finder, texts), &mut problems);
        Ok(Keyed {
            content,
            place: facts.place,
            payload,
            problems,
            url: facts.url,
            source: facts.source,
            fetched_at: facts.fetched_at,
        })
    }

    /// The canonical form that the content key is the digest of, each field and step told to `recorder`; none for a record without identity.
    ///
    /// # Errors
    /// As [`Maker::keys`].
    pub fn explain(
        &mut self,
        rules: &Ruleset,
        record: Value<'_>,
        recorder: &mut dyn FnMut(content::Told<'_>),
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let mut problems = Problems::default();
        let buffers = (&mut self.work, &mut self.finder, self.floats.as_slice());
        let present = content::write(rules, record, buffers, &mut problems, Some(recorder), &mut self.canonical)?;
        Ok(present.then(|| self.canonical.clone()))
    }
}

pub use content::Told;
