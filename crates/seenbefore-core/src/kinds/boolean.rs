//! Kind `boolean`: true and false.

use super::{Context, FieldKind, Presence, wrong_type};
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Settings;

/// # Takes
/// true, false, and the strings "true" and "false", spaces around them trimmed.
/// # Canonical form
/// true or false.
/// # Absent
/// A blank string.
/// # Refuses
/// Everything else, "True", "yes" and 1 among it: `wrong-type`. What they mean is not for a key to guess.
#[derive(Debug)]
pub struct Boolean;

impl Boolean {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Boolean {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let given = match value.kind() {
            Kind::True | Kind::False => {
                out.extend_from_slice(value.raw().as_bytes());
                return Ok(Presence::Present);
            }
            Kind::String => value.string(),
            other => return Err(wrong_type(other, "true or false")),
        };
        let text = trim_spaces(&given);
        match text {
            "" => return Ok(Presence::Absent),
            "true" | "false" => out.extend_from_slice(text.as_bytes()),
            _ => return Err(Refusal::line(Code::WrongType, "text that is neither true nor false")),
        }
        if let Some(record) = context.recorder.as_deref_mut() {
            record("boolean", &given, text);
        }
        Ok(Presence::Present)
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, steps};

    #[test]
    fn two_values_and_their_names() {
        for (given, expected) in [
            ("true", "true"),
            ("\"\\ttrue \"", "true"),
            ("false", "false"),
            ("\"false\"", "false"),
            ("\"\"", "absent"),
            ("\"True\"", "wrong-type"),
            ("\"yes\"", "wrong-type"),
            ("1", "wrong-type"),
            ("[true]", "wrong-type"),
            ("{}", "wrong-type"),
        ] {
            assert_eq!(form("boolean", "", given), expected, "{given}");
        }
        assert_eq!(steps("boolean", "", "\" true\""), ["boolean:  true > true"]);
        assert!(steps("boolean", "", "true").is_empty());
    }
}
