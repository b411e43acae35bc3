//! Kind `id`: opaque, case-sensitive identifiers, hashes and paths.

use super::text::write_present;
use super::{Context, FieldKind, Presence, Work, spelling};
use crate::error::Refusal;
use crate::json::Value;
use crate::normalise;
use crate::ruleset::Settings;

/// # Takes
/// A string, or a number as its exact decimal text.
/// # Canonical form
/// NFC, and the spaces of `text/1` trimmed from both ends; nothing else.
/// # Absent
/// Text that is empty then.
/// # Refuses
/// true, false, lists and objects: `wrong-type`.
#[derive(Debug)]
pub struct Id;

impl Id {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Id {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let Work { text, number, .. } = &mut *context.work;
        let input = spelling(value, number)?;
        text.clear();
        normalise::id(&input, text);
        if let Some(record) = context.recorder.as_deref_mut()
            && *text != *input
        {
            record("id", &input, text);
        }
        Ok(write_present(text, out))
    }
}
