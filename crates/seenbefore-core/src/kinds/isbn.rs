//! Kind `isbn`: book numbers, ten and thirteen digits alike.

use super::check_digit::{Identifier, modulo_10, modulo_11, values, write_identifier};
use super::{Context, FieldKind, Presence};
use crate::error::Refusal;
use crate::json::Value;
use crate::ruleset::Settings;

const ISBN: Identifier = Identifier { step: "isbn-13", form };

/// # Takes
/// A string, or an integer number.
/// # Canonical form
/// The thirteen digits (ISO 2108) as a string: `text/1` without case folding, then without space, `-` and `_`. Ten digits, the
/// last of them perhaps `X`, become the thirteen that begin with 978.
/// # Absent
/// A blank string, and one of nothing but separators.
/// # Refuses
/// Numbers with a fraction, true, false, lists and objects: `wrong-type`. What is no valid ISBN (a wrong check digit, foreign
/// digits, another prefix than 978 and 979, the music numbers 9790) is not refused: its form is that of `code`, and the receipt
/// remarks `bad-check-digit`.
#[derive(Debug)]
pub struct Isbn;

impl Isbn {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Isbn {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        write_identifier(value, &ISBN, context, out)
    }
}

fn form(characters: &[u8]) -> Option<String> {
    let digits = match characters.len() {
        10 => thirteen(modulo_11(characters)?),
        13 => values(characters)?,
        _ => return None,
    };
    let book = digits.starts_with(&[9, 7, 8]) || (digits.starts_with(&[9, 7, 9]) && digits.get(3) != Some(&0));
    (book && modulo_10(&digits) == 0)
        .then(|| digits.into_iter().filter_map(|digit| char::from_digit(digit, 10)).collect())
}

/// The thirteen digits of the nine before the check character of an ISBN-10.
fn thirteen(nine: Vec<u32>) -> Vec<u32> {
    let mut digits = vec![9, 7, 8];
    digits.extend(nine);
    digits.push(0);
    let check = (10 - modulo_10(&digits)) % 10;
    digits.pop();
    digits.push(check);
    digits
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, problems, steps};

    #[test]
    fn one_book_has_one_number() {
        for (given, expected) in [
            ("\"978-0-13-235088-4\"", "\"9780132350884\""),
            ("\"0-13-235088-2\"", "\"9780132350884\""),
            ("\"080442957x\"", "\"9780804429573\""),
            ("9780132350884", "\"9780132350884\""),
            ("9.780132350884e12", "\"9780132350884\""),
            ("\" 978\u{2011}0\u{a0}13_235088\u{ad}4\"", "\"9780132350884\""),
            ("\"979-10-90636-07-1\"", "\"9791090636071\""),
        ] {
            assert_eq!(form("isbn", "", given), expected, "{given}");
            assert!(problems("isbn", given).is_empty(), "{given}");
        }
        assert_eq!(
            steps("isbn", "", "\"0-13-235088-2\""),
            ["digits: 0-13-235088-2 > 0132350882", "isbn-13: 0132350882 > 9780132350884"]
        );
    }

    #[test]
    fn what_is_no_book_number_is_a_code_and_remarked() {
        for (given, expected) in [
            ("\"978-0-13-235088-5\"", "\"978-0-13-235088-5\""),
            ("\"978-0-13-23508\u{b2}-4\"", "\"978-0-13-23508\u{b2}4\""),
            ("\"9790060115615\"", "\"9790060115615\""),
            ("\"4006381333931\"", "\"4006381333931\""),
            ("\"X123456789\"", "\"x123456789\""),
            ("132350882", "\"132350882\""),
            ("\"ISBN 9780132350884\"", "\"isbn9780132350884\""),
        ] {
            assert_eq!(form("isbn", "", given), expected, "{given}");
            assert_eq!(problems("isbn", given), ["bad-check-digit"], "{given}");
        }
    }

    #[test]
    fn other_types_and_blanks() {
        for (given, expected) in [
            ("\" \"", "absent"),
            ("\"---\"", "absent"),
            ("1.5", "wrong-type"),
            ("true", "wrong-type"),
            ("[]", "wrong-type"),
        ] {
            assert_eq!(form("isbn", "", given), expected, "{given}");
        }
        assert_eq!(problems("isbn", "\"---\""), ["bad-check-digit"]);
        assert!(problems("isbn", "\" \"").is_empty());
    }
}
