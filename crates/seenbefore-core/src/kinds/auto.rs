//! Kind `auto`: what an undeclared identity field is.

use super::decimal::write_number;
use super::nested::{write_list, write_object};
use super::text::write_text;
use super::{Context, FieldKind, Presence, wrong_type};
use crate::error::Refusal;
use crate::json::{Kind, Value};
use crate::normalise::TextPolicy;
use crate::ruleset::Settings;

/// # Takes
/// Anything.
/// # Canonical form
/// Strings as `text` (as `name` under `identity = "*"`), numbers as exact decimals, true and false, lists in their order with absent
/// elements as null, objects with absent members dropped; recursively. 5 and "5" stay different, and so do 1 and true.
/// # Absent
/// Blank strings, empty lists and objects, and lists of nothing but absent elements.
/// # Refuses
/// Binary floats: `float`; numbers of more than 1,000 digits: `number-too-long`.
#[derive(Debug)]
pub struct Auto {
    policy: TextPolicy,
}

impl Auto {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(if settings.scope().keep_case { Self::keeping_case() } else { Self::folding() })
    }

    /// Strings as `text`.
    #[must_use]
    pub fn folding() -> Self {
        Self { policy: TextPolicy { compatibility: false, casefold: true } }
    }

    /// Strings as `name`: for `identity = "*"`.
    #[must_use]
    pub fn keeping_case() -> Self {
        Self { policy: TextPolicy { compatibility: false, casefold: false } }
    }
}

impl FieldKind for Auto {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        match value.kind() {
            Kind::Null => return Ok(Presence::Absent),
            Kind::True | Kind::False => out.extend_from_slice(value.raw().as_bytes()),
            Kind::Number => write_number("decimal", value.raw(), value.raw(), context, out)?,
            Kind::Float => return Err(wrong_type(Kind::Float, "a number")),
            Kind::String => return write_text(value, self.policy, context, out),
            Kind::Array => return write_list(value, context, out, |item, context, out| self.write(item, context, out)),
            Kind::Object => {
                return write_object(value, context, out, |_, member, context, out| self.write(member, context, out));
            }
        }
        Ok(Presence::Present)
    }
}
