//! Kind `issn`: numbers of journals and other serials.

use super::check_digit::{Identifier, modulo_11, write_identifier};
use super::{Context, FieldKind, Presence};
use crate::error::Refusal;
use crate::json::Value;
use crate::ruleset::Settings;

const ISSN: Identifier = Identifier { step: "issn", form };

/// # Takes
/// A string, or an integer number.
/// # Canonical form
/// The eight characters (ISO 3297) as a string, without the hyphen, a last `x` as `X`: `text/1` without case folding, then
/// without space, `-` and `_`.
/// # Absent
/// A blank string, and one of nothing but separators.
/// # Refuses
/// Numbers with a fraction, true, false, lists and objects: `wrong-type`. What is no valid ISSN is not refused: its form is that
/// of `code`, and the receipt remarks `bad-check-digit`.
#[derive(Debug)]
pub struct Issn;

impl Issn {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Issn {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        write_identifier(value, &ISSN, context, out)
    }
}

fn form(characters: &[u8]) -> Option<String> {
    let valid = characters.len() == 8 && modulo_11(characters).is_some();
    valid.then(|| characters.iter().map(|byte| char::from(byte.to_ascii_uppercase())).collect())
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, problems};

    #[test]
    fn one_serial_has_one_number() {
        for (given, expected) in [
            ("\"0317-8471\"", "\"03178471\""),
            ("\"2434-561x\"", "\"2434561X\""),
            ("\"2434\u{2013}561X\"", "\"2434561X\""),
            ("20493630", "\"20493630\""),
        ] {
            assert_eq!(form("issn", "", given), expected, "{given}");
            assert!(problems("issn", given).is_empty(), "{given}");
        }
    }

    #[test]
    fn what_is_no_serial_number_is_a_code_and_remarked() {
        for (given, expected) in [
            ("\"0317-8472\"", "\"0317-8472\""),
            ("\"3178471\"", "\"3178471\""),
            ("3178471", "\"3178471\""),
            ("\"0317-847\u{661}\"", "\"0317-847\u{661}\""),
        ] {
            assert_eq!(form("issn", "", given), expected, "{given}");
            assert_eq!(problems("issn", given), ["bad-check-digit"], "{given}");
        }
    }
}
