//! Kind `money`: amounts of a currency, in its minor units.

mod amount;
mod currencies;
mod signs;

pub use currencies::LIST_DATE;

use super::{Context, FieldKind, Presence, Work, wrong_type};
use crate::canonicalise::write_string;
use crate::decimal::{Decimal, MAX_DIGITS};
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::{id, trim_spaces};
use crate::ruleset::{Settings, nearest};
use amount::{Amount, DecimalSign};
use currencies::minor_units;
use std::borrow::Cow;

/// # Takes
/// A number, which is exact, or a string. `currency` is needed: three capital letters are an ISO 4217 code, anything else is the name
/// of the record's member that holds it. `decimal = "."` or `","` declares the decimal sign of strings. A string is an amount with
/// a currency sign or code on either side, a minus before it or before the sign. The grouping sign (a space, `'`, `’`, or the one of
/// `.` and `,` that is not declared) stands before exactly three digits.
/// # Canonical form
/// `["EUR",129900]`: the currency and the amount in its minor units, by ISO 4217 List One of 2026-01-01 and the codes withdrawn
/// before it. Zeros at the end of the decimals count for nothing.
/// # Absent
/// A blank string, whatever the currency is.
/// # Refuses
/// In this order: other JSON types: `wrong-type`; a code that the table does not have, or no code: `unknown-currency`; other text,
/// ranges and brackets among it: `bad-money`; a sign or code that cannot mean the currency: `currency-conflict`; `.` or `,` without
/// a declared decimal sign, other grouping: `ambiguous-money`; more decimals than the currency has: `excess-decimals`, never rounded;
/// more than 1,000 digits: `number-too-long`.
#[derive(Debug)]
pub struct Money {
    currency: Currency,
    decimal: Option<DecimalSign>,
}

#[derive(Debug)]
enum Currency {
    Code(String),
    /// The name of the record's member that holds the code.
    Member(String),
}

impl Money {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        let currency = settings.text("currency");
        if let Some(code) = currency.as_deref().filter(|name| is_code(name) && minor_units(name).is_none()) {
            let known: Vec<&str> = currencies::codes().collect();
            settings.mistake(
                "currency",
                format!("\"{code}\" is no currency with minor units of ISO 4217{}", nearest(code, &known)),
            );
        }
        if currency.is_none() && settings.ask("currency").is_none() {
            settings.mistake("currency", "is missing; say \"EUR\", or the name of the member that holds such a code");
        }
        let currency = currency.unwrap_or_default();
        let currency = if is_code(&currency) { Currency::Code(currency) } else { Currency::Member(currency) };
        let decimal = settings.text("decimal");
        let decimal = match decimal.as_deref() {
            None => None,
            Some(".") => Some(DecimalSign::Point),
            Some(",") => Some(DecimalSign::Comma),
            Some(other) => {
                settings.mistake("decimal", format!("\"{other}\" is none of \".\", \",\""));
                None
            }
        };
        Box::new(Self { currency, decimal })
    }

    /// The code of the currency, and its minor units.
    fn currency<'a>(&'a self, record: Value<'a>) -> Result<(Cow<'a, str>, usize), Refusal> {
        let code = match &self.currency {
            Currency::Code(code) => Cow::Borrowed(code.as_str()),
            Currency::Member(name) => {
                let member = record.members().find(|(member, _)| member.is(name)).map(|(_, value)| value);
                match member {
                    Some(code) if code.kind() == Kind::String => {
                        Cow::Owned(trim_spaces(&code.string()).to_ascii_uppercase())
                    }
                    _ => return Err(unknown(format!("the record's \"{name}\" holds no currency code"))),
                }
            }
        };
        let units = minor_units(&code)
            .ok_or_else(|| unknown("no code of a currency with minor units in ISO 4217".to_owned()))?;
        Ok((code, units))
    }
}

impl FieldKind for Money {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let given = match value.kind() {
            Kind::Number | Kind::String => value.string(),
            other => return Err(wrong_type(other, "an amount of money")),
        };
        if trim_spaces(&given).is_empty() {
            return Ok(Presence::Absent);
        }
        let (code, units) = self.currency(context.record)?;
        let Work { text, number, .. } = &mut *context.work;
        let start = out.len();
        let amount = if value.kind() == Kind::Number {
            number.clear();
            exact(value.raw(), units, number)?
        } else {
            id(&given, text);
            amount::read(text, &code, self.decimal)?
        };
        out.push(b'[');
        write_string(&code, out);
        out.push(b',');
        write_minor(&amount, units, out)?;
        out.push(b']');
        if let Some(record) = context.recorder.as_deref_mut() {
            record("money", &given, &String::from_utf8_lossy(out.get(start..).unwrap_or_default()));
        }
        Ok(Presence::Present)
    }
}

fn is_code(name: &str) -> bool {
    name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn unknown(detail: String) -> Refusal {
    Refusal::line(Code::UnknownCurrency, detail)
}

/// A JSON number's digits, written out into `plain`.
fn exact<'a>(spelling: &str, units: usize, plain: &'a mut Vec<u8>) -> Result<Amount<'a>, Refusal> {
    Decimal::read(spelling)?.write_any(plain);
    let text = std::str::from_utf8(plain).unwrap_or_default();
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    if let Some((digits, exponent)) = text.split_once('e') {
        // Too long to be written out: d.ddd × 10^N has as many decimals as digits after the point, less N.
        let decimals = digits.len().saturating_sub(2);
        let exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
        let excess = i64::try_from(decimals)
            .is_ok_and(|decimals| decimals.saturating_sub(exponent) > i64::try_from(units).unwrap_or(0));
        return Err(if excess { excess_decimals(units) } else { too_long() });
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    Ok(Amount { negative, whole: Cow::Borrowed(whole), fraction })
}

/// Writes the amount as an integer of minor units.
fn write_minor(amount: &Amount<'_>, units: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let fraction = amount.fraction.trim_end_matches('0');
    if fraction.len() > units {
        return Err(excess_decimals(units));
    }
    let digits = format!("{}{fraction:0<units$}", amount.whole);
    let digits = digits.trim_start_matches('0');
    if i64::try_from(digits.len()).unwrap_or(i64::MAX) > MAX_DIGITS {
        return Err(too_long());
    }
    if digits.is_empty() {
        out.push(b'0');
        return Ok(());
    }
    if amount.negative {
        out.push(b'-');
    }
    out.extend_from_slice(digits.as_bytes());
    Ok(())
}

fn excess_decimals(units: usize) -> Refusal {
    Refusal::line(Code::ExcessDecimals, format!("more decimals than the {units} that the currency has"))
}

fn too_long() -> Refusal {
    Refusal::line(Code::NumberTooLong, format!("an amount of more than {MAX_DIGITS} digits"))
}

#[cfg(test)]
mod tests;
