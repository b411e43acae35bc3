//! Check digits, and what the identifiers that carry one have in common.

use super::text::{normal_form, write_present};
use super::{Context, Presence, Work, spelling};
use crate::decimal::Decimal;
use crate::error::{Code, Problem, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::{self, TextPolicy};

/// An identifier's own part: the name of the step that writes the canonical form, and the form of compact digits; none where
/// they are not valid.
pub(super) struct Identifier {
    pub step: &'static str,
    pub form: fn(&[u8]) -> Option<String>,
}

/// Writes the identifier that `value` spells, or, where it is not valid, the form of kind `code` and the problem `bad-check-digit`.
///
/// # Errors
/// `wrong-type` for a number with a fraction, and for what is neither text nor a number.
pub(super) fn write_identifier(
    value: Value<'_>,
    identifier: &Identifier,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Presence, Refusal> {
    if value.kind() == Kind::Number && !Decimal::read(value.raw())?.is_integer() {
        return Err(Refusal::line(Code::WrongType, "a number with a fraction where an integer or text is needed"));
    }
    let Work { scratch, text, number, .. } = &mut *context.work;
    let input = spelling(value, number)?;
    normal_form(&input, TextPolicy::NAME, scratch, None, text);
    let compact: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect();
    let mut recorder = context.recorder.as_deref_mut();
    let Some(form) = (identifier.form)(compact.as_bytes()) else {
        match recorder {
            Some(record) => *text = normalise::code_traced(&input, false, record),
            None => normalise::code(&input, false, scratch, text),
        }
        context.problems.add(Problem::BadCheckDigit);
        return Ok(write_present(text, out));
    };
    if recorder.is_some() {
        normal_form(&input, TextPolicy::NAME, scratch, recorder.as_deref_mut(), text);
    }
    if let Some(record) = recorder {
        if compact != *text {
            record("digits", text, &compact);
        }
        if form != compact {
            record(identifier.step, &compact, &form);
        }
    }
    Ok(write_present(&form, out))
}

/// ASCII digits as their values; none where something else is among them.
pub(super) fn values(digits: &[u8]) -> Option<Vec<u32>> {
    digits.iter().map(|byte| char::from(*byte).to_digit(10)).collect()
}

/// The sum modulo 10 with weights 1 and 3 in turn, 1 for the last digit: 0 for a valid number (GS1 General Specifications
/// 7.9.1; ISO 2108 annex C for thirteen digits).
pub(super) fn modulo_10(values: &[u32]) -> u32 {
    values.iter().rev().zip([1, 3].into_iter().cycle()).map(|(value, weight)| value * weight).sum::<u32>() % 10
}

/// The digits of an identifier with a check character modulo 11, which may be `X` for ten (ISO 2108 before 2007, ISO 3297 4.1);
/// none where it is not valid. The last character weighs 1, the one before it 2, and so on.
pub(super) fn modulo_11(characters: &[u8]) -> Option<Vec<u32>> {
    let (check, digits) = characters.split_last()?;
    let check = if matches!(check, b'X' | b'x') { 10 } else { char::from(*check).to_digit(10)? };
    let digits = values(digits)?;
    let sum: u32 = digits.iter().rev().zip(2..).map(|(value, weight)| value * weight).sum();
    (sum + check).is_multiple_of(11).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::{modulo_10, modulo_11, values};

    #[test]
    fn every_single_wrong_digit_is_noticed() {
        let rest = |digits: &[u8]| values(digits).map(|values| modulo_10(&values));
        for valid in ["9780132350884", "04006381333931", "96385074"] {
            for at in 0..valid.len() {
                for digit in b'0'..=b'9' {
                    let mut changed = valid.as_bytes().to_vec();
                    changed[at] = digit;
                    assert_eq!(rest(&changed) == Some(0), changed == valid.as_bytes(), "{valid} {at} {digit}");
                }
            }
        }
    }

    #[test]
    fn ten_is_an_x_and_only_at_the_end() {
        assert!(modulo_11(b"080442957X").is_some());
        assert!(modulo_11(b"080442957x").is_some());
        assert!(modulo_11(b"0804429570").is_none());
        assert!(modulo_11(b"X804429570").is_none());
        assert!(modulo_11(b"").is_none());
    }
}
