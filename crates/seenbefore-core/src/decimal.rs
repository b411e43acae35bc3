//! Exact decimals: every number is its digits and a power of ten, never a binary float.

use crate::error::{Code, Refusal};

/// The most digits a number may have when written out.
pub const MAX_DIGITS: i64 = 1_000;

/// Exponents with more digits than this are refused, so that arithmetic on them stays exact in 64 bits.
const MAX_EXPONENT_DIGITS: usize = 18;

/// A number as 0.DDD… × 10^`point`; no digits means zero.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    first: usize,
    count: usize,
    point: i64,
}

impl<'a> Decimal<'a> {
    /// Reads `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?` with ASCII digits, the grammar of the kinds `integer` and `decimal`;
    /// every JSON number (RFC 8259 §6) is in it.
    ///
    /// # Errors
    /// `bad-number` for any other text; `number-too-long` for an exponent of more than 18 digits.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let bad = || Refusal::line(Code::BadNumber, "not a number of the form 12, -0.5 or 1e6");
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..)),
            Some(b'+') => (false, text.get(1..)),
            _ => (false, Some(text)),
        };
        let unsigned = unsigned.ok_or_else(bad)?;
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 {
            return Err(bad());
        }
        let (exponent_negative, exponent) = match exponent {
            None => (false, "0"),
            Some(text) => match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text.strip_prefix('+').unwrap_or(text)),
            },
        };
        if exponent.is_empty() || !digits(exponent) {
            return Err(bad());
        }
        let all = || whole.bytes().chain(fraction.bytes());
        let Some(first) = all().position(|digit| digit != b'0') else {
            return Ok(Self { negative: false, whole, fraction, first: 0, count: 0, point: 0 });
        };
        let trailing = all().rev().position(|digit| digit != b'0').unwrap_or(0);
        let count = whole.len() + fraction.len() - trailing - first;
        let exponent = exponent.trim_start_matches('0');
        if exponent.len() > MAX_EXPONENT_DIGITS {
            return Err(too_long());
        }
        let power = exponent.bytes().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let power = if exponent_negative { -power } else { power };
        Ok(Self { negative, whole, fraction, first, count, point: signed(whole.len()) - signed(first) + power })
    }

    /// True where the number has no fraction.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.point >= signed(self.count)
    }

    /// Writes the number plainly: no exponent, no sign on zero, no leading or trailing zeros.
    ///
    /// # Errors
    /// `number-too-long` where that takes more than 1,000 digits; nothing is written then.
    pub fn write_plain(self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let written =
            if self.point <= 0 { 1 - self.point + signed(self.count) } else { self.point.max(signed(self.count)) };
        if written > MAX_DIGITS {
            return Err(too_long());
        }
        if self.count == 0 {
            out.push(b'0');
            return Ok(());
        }
        if self.negative {
            out.push(b'-');
        }
        if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend((self.point..0).map(|_| b'0'));
            out.extend(self.digits());
        } else {
            for (at, digit) in (0..).zip(self.digits()) {
                if at == self.point {
                    out.push(b'.');
                }
                out.push(digit);
            }
            out.extend((signed(self.count)..self.point).map(|_| b'0'));
        }
        Ok(())
    }

    /// Writes the number plainly, or as `d.ddde+N` where that would take more than 1,000 digits. For payloads only.
    pub fn write_any(self, out: &mut Vec<u8>) {
        if self.write_plain(out).is_ok() {
            return;
        }
        if self.negative {
            out.push(b'-');
        }
        for (at, digit) in self.digits().enumerate() {
            if at == 1 {
                out.push(b'.');
            }
            out.push(digit);
        }
        let exponent = self.point - 1;
        out.extend_from_slice(format!("e{exponent:+}").as_bytes());
    }

    fn digits(self) -> impl Iterator<Item = u8> + 'a {
        self.whole.bytes().chain(self.fraction.bytes()).skip(self.first).take(self.count)
    }
}

fn too_long() -> Refusal {
    Refusal::line(Code::NumberTooLong, format!("a number of more than {MAX_DIGITS} digits when written out"))
}

/// Lengths of texts are below 2^63.
#[allow(clippy::cast_possible_wrap)] // see above
fn signed(length: usize) -> i64 {
    length as i64
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    fn plain(text: &str) -> String {
        let mut out = Vec::new();
        match Decimal::read(text).and_then(|number| number.write_plain(&mut out)) {
            Ok(()) => String::from_utf8(out).unwrap(),
            Err(refusal) => refusal.code.code().to_owned(),
        }
    }

    #[test]
    fn writes_one_spelling_of_one_value() {
        for (text, expected) in [
            ("100", "100"),
            ("100.0", "100"),
            ("1e2", "100"),
            ("0", "0"),
            ("-0", "0"),
            ("-0.0e7", "0"),
            ("0e9999999999999999999", "0"),
            ("9007199254740993", "9007199254740993"),
            ("9.90", "9.9"),
            (".5", "0.5"),
            ("5.", "5"),
            ("+007", "7"),
            ("-1.25e1", "-12.5"),
            ("1e-3", "0.001"),
            ("12345e-2", "123.45"),
            ("0.000", "0"),
            ("0012.3400", "12.34"),
            ("1e999", &format!("1{}", "0".repeat(999))),
            ("1e1000", "number-too-long"),
            ("1e-999", &format!("0.{}1", "0".repeat(998))),
            ("1e-1000", "number-too-long"),
            ("1e9999999999999999999", "number-too-long"),
            ("", "bad-number"),
            (".", "bad-number"),
            ("1e", "bad-number"),
            ("1,5", "bad-number"),
            ("١", "bad-number"),
            ("--1", "bad-number"),
            ("0x1", "bad-number"),
            ("1e+-1", "bad-number"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn keeps_long_numbers_of_payloads_as_an_exponent() {
        for (text, expected) in
            [("1e1000", "1e+1000"), ("-12.50e-2000", "-1.25e-1999"), ("1e400", &format!("1{}", "0".repeat(400)))]
        {
            let mut out = Vec::new();
            Decimal::read(text).unwrap().write_any(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }
}
