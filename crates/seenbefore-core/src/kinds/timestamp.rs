//! Kind `timestamp`: points in time.

mod read;

use super::text::write_present;
use super::{Context, FieldKind, Presence, wrong_type};
use crate::decimal::Decimal;
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Settings;
use crate::times::{parse_offset, utc_text};
use read::Moment;

/// # Takes
/// A string: RFC 3339, with `T`, `t` or one space; ISO 8601 calendar dates, basic or extended, with a time (`20240331T0030Z`); RFC
/// 2822 with a numeric zone, `GMT` or `UT`. An integer, or a string of its digits, where `epoch = "s"` or `"ms"` says what it
/// counts from 1970.
/// # Canonical form
/// RFC 3339 in UTC as a string, `2024-03-31T00:30:00Z`, a fraction of a second with all its digits but trailing zeros.
/// # Absent
/// A blank string.
/// # Refuses
/// No zone: `no-zone`, unless `assume_offset = "+02:00"` says which; `-00:00` and other letters for a zone: `no-zone` always, since
/// they say that the offset is unknown, or something else than is assumed. A bare date, a day or a time that does not exist, second
/// 60, hour 24, week and ordinal dates, day and month in another order, what is outside the years 0001 to 9999 of UTC:
/// `bad-timestamp`. Numbers without `epoch` or with a fraction, other JSON types: `wrong-type`; integers of more than 1,000 digits:
/// `number-too-long`.
#[derive(Debug)]
pub struct Timestamp {
    /// How many of what the epoch counts are in a second.
    ticks: Option<i128>,
    assume_offset: Option<i32>,
}

impl Timestamp {
    pub(super) fn from_settings(settings: &mut Settings<'_>) -> Box<dyn FieldKind> {
        let epoch = settings.text("epoch");
        let ticks = match epoch.as_deref() {
            None => None,
            Some("s") => Some(1),
            Some("ms") => Some(1000),
            Some(other) => {
                settings.mistake("epoch", format!("\"{other}\" is none of \"s\", \"ms\""));
                None
            }
        };
        Box::new(Self { ticks, assume_offset: assume_offset(settings) })
    }

    /// The instant of a string; `text` is trimmed.
    fn read(&self, text: &str) -> Result<String, Refusal> {
        let Moment { seconds, fraction, offset } = read::moment(text).ok_or_else(bad)?;
        let offset = match offset {
            read::Zone::Known(minutes) => Some(minutes),
            read::Zone::Missing => self.assume_offset,
            read::Zone::Unknown => None,
        };
        let minutes = offset.ok_or_else(|| {
            Refusal::line(Code::NoZone, "no offset from UTC; declare `assume_offset` where the source has one")
        })?;
        written(seconds - i64::from(minutes) * 60, fraction).ok_or_else(bad)
    }

    /// The instant of a count from 1970; `text` is a number's spelling.
    fn count(text: &str, ticks: i128, plain: &mut Vec<u8>) -> Result<String, Refusal> {
        plain.clear();
        let number = Decimal::read(text)?;
        number.write_plain(plain)?;
        if !number.is_integer() {
            return Err(Refusal::line(Code::WrongType, "a number with a fraction where an integer is needed"));
        }
        let count: i128 = String::from_utf8_lossy(plain).parse().map_err(|_| bad())?;
        let seconds = i64::try_from(count.div_euclid(ticks)).map_err(|_| bad())?;
        let rest = count.rem_euclid(ticks);
        let fraction = if ticks == 1 { String::new() } else { format!("{rest:03}") };
        written(seconds, &fraction).ok_or_else(bad)
    }
}

/// Minutes east of UTC of `assume_offset`.
fn assume_offset(settings: &mut Settings<'_>) -> Option<i32> {
    let text = settings.text("assume_offset")?;
    // "-00:00" says that nothing is known (RFC 3339 4.3), which nobody can assume.
    let minutes = parse_offset(&text).filter(|minutes| *minutes != 0 || !text.starts_with('-'));
    if minutes.is_none() {
        settings.mistake("assume_offset", "an offset such as \"+02:00\" is needed");
    }
    minutes
}

impl FieldKind for Timestamp {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        let given = match value.kind() {
            Kind::String => value.string(),
            Kind::Number if self.ticks.is_some() => value.string(),
            other => return Err(wrong_type(other, "a time as text")),
        };
        let text = trim_spaces(&given);
        let form = match self.ticks {
            _ if text.is_empty() => return Ok(Presence::Absent),
            Some(ticks) if value.kind() == Kind::Number || is_count(text) => {
                Self::count(text, ticks, &mut context.work.number)?
            }
            _ => self.read(text)?,
        };
        if let Some(record) = context.recorder.as_deref_mut()
            && form != *given
        {
            record("timestamp", &given, &form);
        }
        Ok(write_present(&form, out))
    }
}

fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn bad() -> Refusal {
    Refusal::line(Code::BadTimestamp, "not a point in time such as 2024-03-31T00:30:00Z")
}

/// RFC 3339 of seconds since 1970 and the digits of a fraction; none outside the years 0001 to 9999.
fn written(seconds: i64, fraction: &str) -> Option<String> {
    use crate::times::calendar::{MICROS_PER_SECOND, RANGE};
    let micros = seconds.checked_mul(MICROS_PER_SECOND).filter(|micros| RANGE.contains(micros))?;
    let whole = utc_text(micros);
    let fraction = fraction.trim_end_matches('0');
    Some(if fraction.is_empty() { whole } else { format!("{}.{fraction}Z", whole.trim_end_matches('Z')) })
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{fingerprinted, form, mistakes, quoted, steps};

    #[test]
    fn one_instant_has_one_spelling() {
        for (settings, given, expected) in [
            ("", "2024-03-31T01:30:00+01:00", "2024-03-31T00:30:00Z"),
            ("", " 2024-03-31 00:30:00.1200Z", "2024-03-31T00:30:00.12Z"),
            ("", "20240331T003000,000Z", "2024-03-31T00:30:00Z"),
            ("", "2024-03-31T00:30:00.123456789123Z", "2024-03-31T00:30:00.123456789123Z"),
            ("", "Sun, 31 Mar 2024 01:30 +0100", "2024-03-31T00:30:00Z"),
            ("", "31 mar 2024\t00:30:00 ut", "2024-03-31T00:30:00Z"),
            ("", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
            ("assume_offset = \"+02:00\"", "2024-03-31T02:30:00", "2024-03-31T00:30:00Z"),
            ("assume_offset = \"+02:00\"", "2024-03-31T02:30:00Z", "2024-03-31T02:30:00Z"),
            ("epoch = \"ms\"", "-1", "1969-12-31T23:59:59.999Z"),
            ("epoch = \"s\"", "253402300799", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(form("timestamp", settings, &quoted(given)), quoted(expected), "{settings} {given}");
        }
        assert_eq!(form("timestamp", "epoch = \"ms\"", "1.711845000123e12"), "\"2024-03-31T00:30:00.123Z\"");
        assert_eq!(steps("timestamp", "epoch = \"s\"", "0"), ["timestamp: 0 > 1970-01-01T00:00:00Z"]);
    }

    #[test]
    fn nothing_is_guessed() {
        let assumed = "assume_offset = \"+02:00\"";
        for (settings, given, expected) in [
            ("", "\"2024-03-31T00:30:00\"", "no-zone"),
            ("", "\"2024-03-31T00:30:00-00:00\"", "no-zone"),
            (assumed, "\"2024-03-31T00:30:00-00\"", "no-zone"),
            (assumed, "\"2024-03-31 00:30:00 UTC\"", "no-zone"),
            (assumed, "\"Sun, 31 Mar 2024 00:30:00 EST\"", "no-zone"),
            (assumed, "\"2024-03-31\"", "bad-timestamp"),
            ("", "\"2024-03-31T00:30:60Z\"", "bad-timestamp"),
            ("", "\"2024-03-31T24:00Z\"", "bad-timestamp"),
            ("", "\"03/04/2021 10:00Z\"", "bad-timestamp"),
            ("", "\"2024-03-31T00:30:00+24:00\"", "bad-timestamp"),
            ("", "\"2024-03-31T00:30:00 +0200\"", "bad-timestamp"),
            ("", "\"2024-03-31T00:30.5Z\"", "bad-timestamp"),
            ("", "\"2024-03-31T00:30:00.5.5Z\"", "bad-timestamp"),
            ("", "\"Mon, 31 Mar 2024 00:30:00 GMT\"", "bad-timestamp"),
            ("", "\"0001-01-01T00:00:00+00:01\"", "bad-timestamp"),
            ("", "\"9999-12-31T23:59:59-00:01\"", "bad-timestamp"),
            ("", "1711845000", "wrong-type"),
            ("", "\"1711845000\"", "bad-timestamp"),
            ("epoch = \"s\"", "1.5", "wrong-type"),
            ("epoch = \"s\"", "\"1.5\"", "bad-timestamp"),
            ("epoch = \"s\"", "1e300", "bad-timestamp"),
            ("epoch = \"s\"", "1e1000", "number-too-long"),
            ("epoch = \"s\"", "true", "wrong-type"),
        ] {
            assert_eq!(form("timestamp", settings, given), expected, "{settings} {given}");
        }
    }

    #[test]
    fn settings_are_checked_and_part_of_the_fingerprint() {
        assert!(mistakes("kind = \"timestamp\"\nepoch = \"us\"")[0].starts_with("fields.v.epoch: "));
        assert!(
            mistakes("kind = \"timestamp\"\nassume_offset = \"-00:00\"")[0].starts_with("fields.v.assume_offset: ")
        );
        let expected = "{\"assume_offset\":\"+02:00\",\"kind\":\"timestamp\"}";
        assert_eq!(fingerprinted("kind = \"timestamp\"\nassume_offset = \"+02:00\""), expected);
    }
}
