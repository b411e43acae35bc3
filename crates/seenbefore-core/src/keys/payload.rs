//! The payload digest: what the row can be proved to have held.

use super::find::{Finder, PAYLOAD};
use super::{Digest, sha256};
use crate::canonicalise::write_members;
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::ruleset::{Payload, Ruleset};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The digest of the record's payload; none where the named field is absent. `buffer` holds what was hashed, unless it was hashed in place.
pub(super) fn digest(
    rules: &Ruleset,
    record: Value<'_>,
    finder: &mut Finder,
    buffer: &mut Vec<u8>,
) -> Result<Option<Digest>, Refusal> {
    buffer.clear();
    let Some(payload) = &rules.payload else {
        write_members(record, |name| !rules.leaves_out(name), buffer)?;
        return Ok(Some(sha256(buffer)));
    };
    match finder.find(PAYLOAD, record, &payload.field) {
        None => Ok(None),
        Some(value) => named(payload, value).map_err(|refusal| refusal.at(&payload.field)),
    }
}

fn named(payload: &Payload, value: Value<'_>) -> Result<Option<Digest>, Refusal> {
    let text = match value.kind() {
        Kind::Null => return Ok(None),
        Kind::String => value.string(),
        _ => return Err(Refusal::line(Code::WrongType, "a payload that is not text")),
    };
    if text.is_empty() {
        return Ok(None);
    }
    if !payload.base64 {
        return Ok(Some(sha256(text.as_bytes())));
    }
    let bytes = STANDARD
        .decode(text.as_bytes())
        .map_err(|_| Refusal::line(Code::BadBase64, "not base64 (RFC 4648 section 4)"))?;
    Ok(Some(sha256(&bytes)))
}
