//! Setting `float = { places = N }` of every field: how a program's binary float becomes an exact decimal.

use super::{Context, FieldKind, Presence};
use crate::error::{Code, Refusal};
use crate::json::{Builder, Kind, Value};
use crate::ruleset::Settings;
use toml::Value as Toml;

/// The most decimal places that may be asked for.
const MAX_PLACES: i64 = 30;
/// Limbs of the exact decimal hold nine digits each, the lowest first.
const LIMB: u64 = 1_000_000_000;
const LIMB_DIGITS: usize = 9;
/// IEEE 754 binary64: bits of the fraction, and what 2^0 of its lowest bit is biased by.
const FRACTION_BITS: u32 = 52;
const BIAS: u32 = 1075;

/// The places that a field's `float` asks for; none where it is not given.
pub(super) fn places(settings: &mut Settings<'_>) -> Option<usize> {
    let table = settings.table("float")?;
    let mut within = settings.within("float", table);
    let places = match within.ask("places") {
        Some(Toml::Integer(places)) if (0..=MAX_PLACES).contains(places) => Some(*places),
        Some(Toml::Integer(_)) => {
            within.mistake("places", format!("takes 0 to {MAX_PLACES}"));
            None
        }
        Some(other) => within.wrong("places", "an integer", other, None),
        None => {
            within.mistake("places", "is missing; say to how many decimal places a float is rounded");
            None
        }
    };
    if let Some(places) = places {
        within.note("places", Toml::Integer(places), true);
    }
    let read = within.finish();
    settings.note_table("float", read.in_force, Some(read.stated));
    places.and_then(|places| usize::try_from(places).ok())
}

/// A kind for which binary floats count as the decimals that they round to.
#[derive(Debug)]
pub(super) struct Rounded {
    kind: Box<dyn FieldKind>,
    places: usize,
}

impl Rounded {
    pub fn new(kind: Box<dyn FieldKind>, places: usize) -> Self {
        Self { kind, places }
    }

    /// Copies `value` with each float as a number.
    fn copy(&self, value: Value<'_>, context: &mut Context<'_>, builder: &mut Builder) -> Result<(), Refusal> {
        match value.kind() {
            Kind::Number if !context.work.as_floats => builder.token(Kind::Number, value.raw()),
            Kind::Float | Kind::Number => {
                let number = round(value.raw(), self.places)
                    .ok_or_else(|| Refusal::line(Code::Float, "a float that cannot be read"))?;
                if let Some(record) = context.recorder.as_deref_mut() {
                    record("float", value.raw(), &number);
                }
                builder.token(Kind::Number, &number);
            }
            Kind::String => builder.string(&value.string()),
            Kind::Array => {
                builder.open(Kind::Array)?;
                value.elements().try_for_each(|element| self.copy(element, context, builder))?;
                builder.close();
            }
            Kind::Object => {
                builder.open(Kind::Object)?;
                for (name, member) in value.members() {
                    builder.string(&name.string());
                    self.copy(member, context, builder)?;
                }
                builder.close();
            }
            kind => builder.token(kind, value.raw()),
        }
        Ok(())
    }
}

impl FieldKind for Rounded {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if !holds_float(value, context.work.as_floats) {
            return self.kind.write(value, context, out);
        }
        let mut builder = Builder::new();
        self.copy(value, context, &mut builder)?;
        let (text, tape) = builder.finish()?;
        match tape.root(&text) {
            Some(copy) => self.kind.write(copy, context, out),
            None => Ok(Presence::Absent),
        }
    }

    fn rounds(&self) -> bool {
        true
    }
}

/// Floats come from programs and columnar files alone, so that lines of text are never copied. With `numbers`, a number is one.
pub(crate) fn holds_float(value: Value<'_>, numbers: bool) -> bool {
    match value.kind() {
        Kind::Float => true,
        Kind::Number => numbers,
        Kind::Array => value.elements().any(|element| holds_float(element, numbers)),
        Kind::Object => value.members().any(|(_, member)| holds_float(member, numbers)),
        _ => false,
    }
}

/// The binary64 that `spelling` reads as, rounded to `places` decimals on its exact value, ties to the even digit (IEEE 754
/// 4.3.1 `roundTiesToEven`). None for what is no finite number.
///
/// The standard library reads the spelling to the nearest binary64 (correctly rounded); from its bits on everything is whole numbers.
fn round(spelling: &str, places: usize) -> Option<String> {
    let bits = spelling.parse::<f64>().ok().filter(|float| float.is_finite())?.to_bits();
    let (fraction, exponent) = (bits & ((1 << FRACTION_BITS) - 1), u32::try_from(bits >> FRACTION_BITS & 0x7FF).ok()?);
    // A subnormal has the exponent of the smallest normal number and no hidden bit (IEEE 754 3.4).
    let (significand, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << FRACTION_BITS, exponent) };
    let mut limbs = vec![significand % LIMB, significand / LIMB];
    // Times a power of two; or, below 1, times a power of five and then as many decimal places: m / 2^k = m · 5^k / 10^k.
    let (factor, times) = if exponent >= BIAS { (2, exponent - BIAS) } else { (5, BIAS - exponent) };
    (0..times).for_each(|_| multiply(&mut limbs, factor));
    let decimals = if factor == 5 { times as usize } else { 0 };
    let mut digits = decimal_digits(&limbs, decimals.max(places) + 1);
    digits.extend(std::iter::repeat_n(b'0', places.saturating_sub(decimals)));
    let kept = digits.len() - decimals.saturating_sub(places);
    round_half_even(&mut digits, kept);
    digits.insert(digits.len() - places, b'.');
    let sign = if bits >> 63 == 1 { "-" } else { "" };
    let text = String::from_utf8(digits).ok()?;
    let (whole, fraction) = text.split_once('.')?;
    let whole = whole.trim_start_matches('0');
    Some(format!(
        "{sign}{}{}{fraction}",
        if whole.is_empty() { "0" } else { whole },
        if places == 0 { "" } else { "." }
    ))
}

fn multiply(limbs: &mut Vec<u64>, factor: u64) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = *limb * factor + carry;
        *limb = product % LIMB;
        carry = product / LIMB;
    }
    if carry > 0 {
        limbs.push(carry);
    }
}

/// The number as ASCII digits, one zero before the first, and at least `width` of them.
fn decimal_digits(limbs: &[u64], width: usize) -> Vec<u8> {
    let text: Vec<String> = limbs.iter().rev().map(|limb| format!("{limb:0LIMB_DIGITS$}")).collect();
    format!("{:0>width$}", format!("0{}", text.concat().trim_start_matches('0'))).into_bytes()
}

/// Cuts ASCII digits to the first `kept`, rounding them. The first digit is a zero, so that there is room for a carry.
fn round_half_even(digits: &mut Vec<u8>, kept: usize) {
    let (head, tail) = digits.split_at(kept.min(digits.len()));
    let rest_is_zero = tail.iter().skip(1).all(|digit| *digit == b'0');
    let odd = head.last().is_some_and(|digit| digit % 2 == 1);
    let up = match tail.first() {
        Some(b'5') => odd || !rest_is_zero,
        Some(first) => *first > b'5',
        None => false,
    };
    digits.truncate(kept);
    for digit in digits.iter_mut().rev().take_while(|_| up) {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}

#[cfg(test)]
mod tests {
    use super::round;
    use crate::kinds::tests::{form_of_float, mistakes};

    #[test]
    fn the_exact_binary_value_is_rounded() {
        for (spelling, places, expected) in [
            ("0.1", 2, "0.10"),
            ("0.1", 30, "0.100000000000000005551115123126"),
            ("0.125", 2, "0.12"),
            ("0.375", 2, "0.38"),
            ("2.675", 2, "2.67"),
            ("1.005", 2, "1.00"),
            ("0.5", 0, "0"),
            ("1.5", 0, "2"),
            ("2.5", 0, "2"),
            ("-0.5", 0, "-0"),
            ("9.995", 2, "9.99"),
            ("9.996", 2, "10.00"),
            ("99.5", 0, "100"),
            ("9.90", 2, "9.90"),
            ("0.10000000149011612", 4, "0.1000"),
            ("0.10000000149011612", 20, "0.10000000149011611938"),
            ("1e22", 1, "10000000000000000000000.0"),
            ("1e23", 0, "99999999999999991611392"),
            ("5e-324", 30, "0.000000000000000000000000000000"),
            ("0.0", 2, "0.00"),
            ("123456789012345680.0", 3, "123456789012345680.000"),
        ] {
            assert_eq!(round(spelling, places).as_deref(), Some(expected), "{spelling} {places}");
        }
        assert_eq!(round("1.7976931348623157e308", 0).map(|text| text.len()), Some(309));
        assert_eq!(round("inf", 0), None);
        assert_eq!(round("nan", 0), None);
    }

    #[test]
    fn a_rounded_float_counts_as_that_decimal() {
        for (kind, settings, float, expected) in [
            ("decimal", "", "9.9", "float"),
            ("decimal", "float = { places = 2 }", "9.9", "9.9"),
            ("integer", "float = { places = 0 }", "1e22", "10000000000000000000000"),
            ("integer", "float = { places = 1 }", "1.5", "wrong-type"),
            ("text", "float = { places = 2 }", "-0.001", "\"0\""),
            ("money", "currency = \"EUR\"\nfloat = { places = 2 }", "1299.0", "[\"EUR\",129900]"),
            ("gtin", "float = { places = 0 }", "4006381333931.0", "\"04006381333931\""),
            ("date", "float = { places = 0 }", "20240331.0", "wrong-type"),
            ("auto", "float = { places = 2 }", "0.30000000000000004", "0.3"),
        ] {
            assert_eq!(form_of_float(kind, settings, float), expected, "{kind} {settings} {float}");
        }
    }

    #[test]
    fn places_are_checked() {
        for (settings, expected) in [
            ("float = {}", "fields.v.float.places: is missing"),
            ("float = { places = 31 }", "fields.v.float.places: takes 0 to 30"),
            ("float = { places = \"2\" }", "fields.v.float.places: an integer"),
            (
                "float = { places = 2, plcs = 1 }",
                "fields.v.float.plcs: is not a setting here (did you mean \"places\"?)",
            ),
            ("float = 2", "fields.v.float: a table"),
        ] {
            let found = mistakes(settings);
            assert!(found[0].starts_with(expected), "{found:?}");
        }
    }
}
