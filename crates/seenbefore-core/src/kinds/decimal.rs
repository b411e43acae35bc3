//! Kind `decimal`: exact numbers.

use super::{Context, FieldKind, Presence, wrong_type};
use crate::decimal::Decimal;
use crate::error::Refusal;
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Settings;

/// # Takes
/// A number, or a string of the form `12`, `-0.5`, `1e6` in ASCII digits, spaces around it trimmed.
/// # Canonical form
/// The exact decimal as a JSON number: no exponent, no sign on zero, no leading or trailing zeros. 9.90, "9.9" and 99e-1 are one value.
/// # Absent
/// A blank string.
/// # Refuses
/// Other text: `bad-number`; more than 1,000 digits: `number-too-long`; other JSON types: `wrong-type`.
#[derive(Debug)]
pub struct DecimalKind;

impl DecimalKind {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for DecimalKind {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let given = match value.kind() {
            Kind::Number | Kind::String => value.string(),
            other => return Err(wrong_type(other, "a number")),
        };
        let text = trim_spaces(&given);
        if text.is_empty() {
            return Ok(Presence::Absent);
        }
        write_number("decimal", text, &given, context, out)?;
        Ok(Presence::Present)
    }
}

/// Writes the exact decimal that `text` spells; the recorder is told of `step` and that it was `given` before.
pub(super) fn write_number(
    step: &'static str,
    text: &str,
    given: &str,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let start = out.len();
    Decimal::read(text)?.write_plain(out)?;
    if let Some(record) = context.recorder.as_deref_mut() {
        let after = String::from_utf8_lossy(out.get(start..).unwrap_or_default());
        if after != given {
            record(step, given, &after);
        }
    }
    Ok(())
}
