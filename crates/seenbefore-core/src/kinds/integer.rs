//! Kind `integer`: exact whole numbers.

use super::decimal::write_number;
use super::{Context, FieldKind, Presence, wrong_type};
use crate::decimal::Decimal;
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Settings;

/// # Takes
/// A number, or a string of the form `12`, `-5`, `1e6` in ASCII digits, spaces around it trimmed.
/// # Canonical form
/// The whole number as a JSON number, exact at any size: no exponent, no sign on zero, no leading zeros. 1.0, "1" and 10e-1 are one
/// value.
/// # Absent
/// A blank string.
/// # Refuses
/// A fraction: `wrong-type`; other text: `bad-number`; more than 1,000 digits: `number-too-long`; other JSON types: `wrong-type`.
#[derive(Debug)]
pub struct Integer;

impl Integer {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Integer {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let given = match value.kind() {
            Kind::Number | Kind::String => value.string(),
            other => return Err(wrong_type(other, "an integer")),
        };
        let text = trim_spaces(&given);
        if text.is_empty() {
            return Ok(Presence::Absent);
        }
        let start = out.len();
        write_number("integer", text, &given, context, out)?;
        if Decimal::read(text)?.is_integer() {
            return Ok(Presence::Present);
        }
        out.truncate(start);
        Err(Refusal::line(Code::WrongType, "a number with a fraction where an integer is needed"))
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, steps};

    #[test]
    fn whole_numbers_are_exact() {
        for (given, expected) in [
            ("1.0", "1"),
            ("\"10e-1\"", "1"),
            ("\" +007 \"", "7"),
            ("-0.0", "0"),
            ("9007199254740993", "9007199254740993"),
            ("\"1234567890123456789\"", "1234567890123456789"),
            ("\"5.\"", "5"),
            ("\" \"", "absent"),
        ] {
            assert_eq!(form("integer", "", given), expected, "{given}");
        }
        assert_eq!(steps("integer", "", "1e3"), ["integer: 1e3 > 1000"]);
        assert!(steps("integer", "", "12").is_empty());
    }

    #[test]
    fn fractions_and_other_things_are_refused() {
        for (given, expected) in [
            ("1.5", "wrong-type"),
            ("\"1e-1\"", "wrong-type"),
            ("true", "wrong-type"),
            ("[1]", "wrong-type"),
            ("\"1 000\"", "bad-number"),
            ("\"\u{661}\"", "bad-number"),
            ("\"0x1\"", "bad-number"),
            ("1e1000", "number-too-long"),
            ("1e-1000", "number-too-long"),
        ] {
            assert_eq!(form("integer", "", given), expected, "{given}");
        }
    }
}
