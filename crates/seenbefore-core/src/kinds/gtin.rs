//! Kind `gtin`: trade item numbers, also known as EAN, UPC and barcode.

use super::check_digit::{Identifier, modulo_10, values, write_identifier};
use super::{Context, FieldKind, Presence};
use crate::error::Refusal;
use crate::json::Value;
use crate::ruleset::Settings;

const GTIN: Identifier = Identifier { step: "gtin-14", form };

/// # Takes
/// A string, or an integer number.
/// # Canonical form
/// The fourteen digits (GS1 General Specifications 3.3.2) as a string: `text/1` without case folding, then without space, `-` and
/// `_`. GTIN-8, GTIN-12 (UPC-A) and GTIN-13 (EAN-13) get zeros before them; UPC-E is not expanded.
/// # Absent
/// A blank string, and one of nothing but separators.
/// # Refuses
/// Numbers with a fraction, true, false, lists and objects: `wrong-type`. What is no valid GTIN is not refused: its form is that
/// of `code`, and the receipt remarks `bad-check-digit`.
#[derive(Debug)]
pub struct Gtin;

impl Gtin {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Gtin {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        write_identifier(value, &GTIN, context, out)
    }
}

fn form(characters: &[u8]) -> Option<String> {
    let valid = matches!(characters.len(), 8 | 12 | 13 | 14) && modulo_10(&values(characters)?) == 0;
    valid.then(|| format!("{:0>14}", String::from_utf8_lossy(characters)))
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, problems, steps};

    #[test]
    fn every_length_is_one_number() {
        for (given, expected) in [
            ("\"73513537\"", "\"00000073513537\""),
            ("\"0 36000 29145 2\"", "\"00036000291452\""),
            ("36000291452", "\"36000291452\""),
            ("\"4006381333931\"", "\"04006381333931\""),
            ("4006381333931", "\"04006381333931\""),
            ("\"04006381333931\"", "\"04006381333931\""),
        ] {
            assert_eq!(form("gtin", "", given), expected, "{given}");
        }
        assert_eq!(
            problems("gtin", "36000291452"),
            ["bad-check-digit"],
            "a number has lost its leading zero; that is not guessed"
        );
        assert_eq!(steps("gtin", "", "\"4006381333931\""), ["gtin-14: 4006381333931 > 04006381333931"]);
    }

    #[test]
    fn what_is_no_trade_item_number_is_a_code_and_remarked() {
        for (given, expected) in [
            ("\"4006381333932\"", "\"4006381333932\""),
            ("\"400-6381333932\"", "\"400-6381333932\""),
            ("\"01234565\"", "\"00000001234565\""),
            ("\"x\"", "\"x\""),
        ] {
            assert_eq!(form("gtin", "", given), expected, "{given}");
        }
        assert_eq!(problems("gtin", "\"4006381333932\""), ["bad-check-digit"]);
    }
}
