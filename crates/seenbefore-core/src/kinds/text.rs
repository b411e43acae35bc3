//! Kind `text`: prose, by the rule `text/1`.

use super::entities::has_residue;
use super::{Context, FieldKind, Presence, Recorder, Work, spelling};
use crate::canonicalise::write_string;
use crate::error::{Problem, Refusal};
use crate::json::Value;
use crate::normalise::{self, TextPolicy};
use crate::ruleset::Settings;

/// # Takes
/// A string, or a number as its exact decimal text.
/// # Canonical form
/// `text/1` with case folding; NFKC instead of NFC where `compatibility = true`.
/// # Absent
/// Text that is empty once normalised.
/// # Refuses
/// true, false, lists and objects: `wrong-type`.
#[derive(Debug)]
pub struct Text(TextPolicy);

impl Text {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        let compatibility = settings.boolean("compatibility", false);
        let casefold = settings.boolean("casefold", true);
        Box::new(Self(TextPolicy { compatibility, casefold }))
    }
}

impl FieldKind for Text {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        write_text(value, self.0, context, out)
    }
}

/// The canonical form of a string or number under `policy`, as a JSON string.
pub(super) fn write_text(
    value: Value<'_>,
    policy: TextPolicy,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Presence, Refusal> {
    if context.recorder.is_none()
        && let Some(input) = value.unescaped()
    {
        let start = out.len();
        out.push(b'"');
        if normalise::append_plain(input, policy, out) {
            out.push(b'"');
            return Ok(Presence::Present);
        }
        out.truncate(start);
    }
    let Work { scratch, text, number, .. } = &mut *context.work;
    let input = spelling(value, number)?;
    if has_residue(&input) {
        context.problems.add(Problem::EntityResidue);
    }
    normal_form(&input, policy, scratch, context.recorder.as_deref_mut(), text);
    Ok(write_present(text, out))
}

/// `text/1` of `input` into `text`, telling the recorder where there is one.
pub(super) fn normal_form(
    input: &str,
    policy: TextPolicy,
    scratch: &mut normalise::Scratch,
    recorder: Option<&mut Recorder<'_>>,
    text: &mut String,
) {
    text.clear();
    match recorder {
        Some(record) => *text = normalise::text_traced(input, policy, record),
        None => normalise::text(input, policy, scratch, text),
    }
}

/// Writes `text` as a JSON string unless it is empty.
pub(super) fn write_present(text: &str, out: &mut Vec<u8>) -> Presence {
    if text.is_empty() {
        return Presence::Absent;
    }
    write_string(text, out);
    Presence::Present
}
