//! Kind `name`: text whose capitals matter.

use super::text::write_text;
use super::{Context, FieldKind, Presence};
use crate::error::Refusal;
use crate::json::Value;
use crate::normalise::TextPolicy;
use crate::ruleset::Settings;

/// # Takes
/// A string, or a number as its exact decimal text.
/// # Canonical form
/// `text/1` without case folding: Van Dyke and van dyke are two names.
/// # Absent
/// Text that is empty once normalised.
/// # Refuses
/// true, false, lists and objects: `wrong-type`.
#[derive(Debug)]
pub struct Name(TextPolicy);

impl Name {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self(TextPolicy { compatibility: settings.boolean("compatibility", false), casefold: false }))
    }
}

impl FieldKind for Name {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        write_text(value, self.0, context, out)
    }
}
