//! The grammar of an amount in a string: `[minus] [mark] [minus] number [mark]`.

use super::currencies::minor_units;
use super::signs::meanings;
use crate::error::{Code, Refusal};
use crate::normalise::trim_spaces;
use std::borrow::Cow;

/// The sign between whole units and decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalSign {
    Point,
    Comma,
}

/// An amount's digits, grouping signs gone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Amount<'a> {
    pub negative: bool,
    pub whole: Cow<'a, str>,
    pub fraction: &'a str,
}

/// What may stand between groups of three digits whatever the decimal sign is: space, no-break, thin and narrow no-break space,
/// and two apostrophes.
const GROUPING: [char; 6] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '\'', '\u{2019}'];

/// Reads the amount of `currency` that `text` (composed and trimmed) states.
///
/// # Errors
/// In this order: `bad-money`, `currency-conflict`, `ambiguous-money`.
pub(super) fn read<'a>(text: &'a str, currency: &str, decimal: Option<DecimalSign>) -> Result<Amount<'a>, Refusal> {
    let digit = |c: char| c.is_ascii_digit();
    // An amount starts with a digit: in "Rs.500" the point belongs to the sign, and read as a decimal sign it would make half a rupee.
    let start = text.find(digit).ok_or_else(|| bad("no amount"))?;
    let end = text.rfind(digit).map_or(text.len(), |last| last + 1);
    let (before, number, after) = (part(text, 0, start), part(text, start, end), part(text, end, text.len()));
    if number.contains(|c: char| !digit(c) && !matches!(c, '.' | ',') && !GROUPING.contains(&c)) {
        return Err(bad("something between the digits that is no grouping sign"));
    }
    let (negative, mark) = minus(before)?;
    let marks = [mark, trim_spaces(after)];
    let mut fits = true;
    for mark in marks.into_iter().filter(|mark| !mark.is_empty()) {
        fits &=
            can_mean(mark, currency).ok_or_else(|| bad("text beside the amount that is no currency sign or code"))?;
    }
    if !fits {
        return Err(Refusal::line(
            Code::CurrencyConflict,
            format!("a currency sign or code that cannot mean {currency}"),
        ));
    }
    let (whole, fraction) = digits(number, decimal)?;
    Ok(Amount { negative, whole, fraction })
}

fn part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Whether what stands before the number makes it negative, and the mark in it. One minus, nothing between it and what follows.
fn minus(before: &str) -> Result<(bool, &str), Refusal> {
    let is_minus = ['-', '\u{2212}'];
    let (late, rest) = before.strip_suffix(is_minus).map_or((false, before), |rest| (true, rest));
    let Some(after) = rest.strip_prefix(is_minus) else { return Ok((late, trim_spaces(rest))) };
    let mark = trim_spaces(after);
    if late || !after.starts_with(mark) || mark.is_empty() {
        return Err(bad("a second minus, or a minus with a space after it"));
    }
    Ok((true, mark))
}

/// Whether a currency sign, or a code in capitals or small letters, can mean `currency`; none for any other text.
fn can_mean(mark: &str, currency: &str) -> Option<bool> {
    let code = mark.to_ascii_uppercase();
    if minor_units(&code).is_some() {
        return Some(code == currency);
    }
    meanings(mark).map(|currencies| currencies.contains(&currency))
}

/// The digits before and after the decimal sign.
fn digits(number: &str, decimal: Option<DecimalSign>) -> Result<(Cow<'_, str>, &str), Refusal> {
    let (sign, other) = match decimal {
        Some(DecimalSign::Point) => ('.', Some(',')),
        Some(DecimalSign::Comma) => (',', Some('.')),
        None if number.contains(['.', ',']) => {
            return Err(ambiguous("a \".\" or \",\" where no decimal sign is declared; declare `decimal`"));
        }
        None => return Ok((whole(number, None)?, "")),
    };
    let (units, fraction) = number.split_once(sign).unwrap_or((number, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ambiguous("something after the decimal sign that is no digit"));
    }
    Ok((whole(units, other)?, fraction))
}

/// Digits without grouping, or groups of them: one to three, the first not 0, then threes, the same sign between all.
fn whole(units: &str, other: Option<char>) -> Result<Cow<'_, str>, Refusal> {
    let Some(grouping) = units.chars().find(|c| !c.is_ascii_digit()) else { return Ok(Cow::Borrowed(units)) };
    let mut groups = units.split(grouping);
    let first = groups.next().unwrap_or_default();
    let known = GROUPING.contains(&grouping) || other == Some(grouping);
    let first_fits = (1..=3).contains(&first.len()) && !first.starts_with('0');
    if !known || !first_fits || !groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(ambiguous("digits that are not grouped by threes with one sign"));
    }
    Ok(Cow::Owned(units.replace(grouping, "")))
}

fn bad(detail: &str) -> Refusal {
    Refusal::line(Code::BadMoney, detail)
}

fn ambiguous(detail: &str) -> Refusal {
    Refusal::line(Code::AmbiguousMoney, detail)
}

#[cfg(test)]
mod tests {
    use super::{DecimalSign, read};

    fn amount(text: &str, currency: &str, decimal: Option<DecimalSign>) -> Result<String, &'static str> {
        let amount = read(text, currency, decimal).map_err(|refusal| refusal.code.code())?;
        Ok(format!("{}{}.{}", if amount.negative { "-" } else { "" }, amount.whole, amount.fraction))
    }

    #[test]
    fn every_part_has_its_place() {
        let point = Some(DecimalSign::Point);
        for (text, expected) in [
            ("5", Ok("5.")),
            ("1'234'567.5", Ok("1234567.5")),
            ("1\u{202f}234", Ok("1234.")),
            ("-€5", Ok("-5.")),
            ("€ \u{2212}5", Ok("-5.")),
            ("EUR 5 €", Ok("5.")),
            ("€-5", Ok("-5.")),
            ("-€-5", Err("bad-money")),
            ("--5", Err("bad-money")),
            ("- €5", Err("bad-money")),
            ("€ - 5", Err("bad-money")),
            ("€€5", Err("bad-money")),
            ("5 €/kg", Err("bad-money")),
            ("5 €5", Err("bad-money")),
            ("1  234", Err("ambiguous-money")),
            ("1 234'567", Err("ambiguous-money")),
            ("1234,567", Err("ambiguous-money")),
            ("1,23", Err("ambiguous-money")),
            ("1.2.3", Err("ambiguous-money")),
            ("1.234,567", Err("ambiguous-money")),
            ("1.5 5", Err("ambiguous-money")),
        ] {
            assert_eq!(amount(text, "EUR", point), expected.map(str::to_owned), "{text}");
        }
    }
}
