//! Kind `code`: article numbers and other codes that people space and hyphenate at will.

use super::text::write_present;
use super::{Context, FieldKind, Presence, Work, spelling};
use crate::error::Refusal;
use crate::json::Value;
use crate::normalise;
use crate::ruleset::Settings;

/// # Takes
/// A string, or a number as its exact decimal text.
/// # Canonical form
/// `text/1` with case folding, then separators (space, `-`, `_`) only where they tell apart: SKU-1299 = sku 1299 = SKU1299,
/// but 1-10, 11-0 and 110 are three codes. `strip_punctuation = true` drops all spaces and punctuation
/// (`General_Category` P) instead.
/// # Absent
/// Text that is empty then.
/// # Refuses
/// true, false, lists and objects: `wrong-type`.
#[derive(Debug)]
pub struct CodeKind {
    strip_punctuation: bool,
}

impl CodeKind {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self { strip_punctuation: settings.boolean("strip_punctuation", false) })
    }
}

impl FieldKind for CodeKind {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if context.recorder.is_none()
            && !self.strip_punctuation
            && let Some(input) = value.unescaped()
        {
            let start = out.len();
            out.push(b'"');
            if normalise::append_plain_code(input, out) {
                out.push(b'"');
                return Ok(if out.len() > start + 2 { Presence::Present } else { Presence::Absent });
            }
            out.truncate(start);
        }
        let Work { scratch, text, number, .. } = &mut *context.work;
        let input = spelling(value, number)?;
        text.clear();
        match context.recorder.as_deref_mut() {
            Some(record) => *text = normalise::code_traced(&input, self.strip_punctuation, record),
            None => normalise::code(&input, self.strip_punctuation, scratch, text),
        }
        Ok(write_present(text, out))
    }
}
