//! Kind `date`: calendar days.

use super::text::write_present;
use super::{Context, FieldKind, Presence, wrong_type};
use crate::error::{Code, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::trim_spaces;
use crate::ruleset::Settings;
use crate::times::calendar::Civil;

/// # Takes
/// A string `YYYY-MM-DD` or `YYYYMMDD` (ISO 8601-1 5.2.2.1) in ASCII digits, spaces around it trimmed.
/// # Canonical form
/// `YYYY-MM-DD` as a string.
/// # Absent
/// A blank string.
/// # Refuses
/// Days that do not exist, years other than 0001 to 9999, a date with a time, day and month in another order: `bad-date`; other
/// JSON types, numbers too: `wrong-type`.
#[derive(Debug)]
pub struct Date;

impl Date {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Date {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::String {
            return Err(wrong_type(value.kind(), "a date as text"));
        }
        let given = value.string();
        let text = trim_spaces(&given);
        if text.is_empty() {
            return Ok(Presence::Absent);
        }
        let Civil { year, month, day } = read(text).ok_or_else(|| {
            Refusal::line(Code::BadDate, "not a day of the calendar in the form 2024-03-31 or 20240331")
        })?;
        let form = format!("{year:04}-{month:02}-{day:02}");
        if let Some(record) = context.recorder.as_deref_mut()
            && form != *given
        {
            record("date", &given, &form);
        }
        Ok(write_present(&form, out))
    }
}

fn read(text: &str) -> Option<Civil> {
    let (year, month, day) = match text.len() {
        8 => (text.get(..4)?, text.get(4..6)?, text.get(6..)?),
        10 if text.get(4..5)? == "-" && text.get(7..8)? == "-" => (text.get(..4)?, text.get(5..7)?, text.get(8..)?),
        _ => return None,
    };
    Civil::new(number(year)?, number(month)?, number(day)?)
}

/// The value of ASCII digits.
fn number(digits: &str) -> Option<i64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, quoted, steps};

    #[test]
    fn real_days_in_two_spellings() {
        for (given, expected) in [
            ("\"2024-03-31\"", "\"2024-03-31\""),
            ("\" 20240331\\n\"", "\"2024-03-31\""),
            ("\"2024-02-29\"", "\"2024-02-29\""),
            ("\"0001-01-01\"", "\"0001-01-01\""),
            ("\"9999-12-31\"", "\"9999-12-31\""),
            ("\" \"", "absent"),
        ] {
            assert_eq!(form("date", "", given), expected, "{given}");
        }
        assert_eq!(steps("date", "", "\"20240331\""), ["date: 20240331 > 2024-03-31"]);
        assert!(steps("date", "", "\"2024-03-31\"").is_empty());
    }

    #[test]
    fn no_day_is_guessed() {
        for given in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-04-31",
            "0000-01-01",
            "10000-01-01",
            "2024-3-31",
            "31/03/2024",
            "2024-0331",
            "202403-31",
            "2024-03-31T00:00:00Z",
            "2024-W13-7",
            "2024-091",
            "24-03-31",
            "+2024-03-31",
            "2024\u{2010}03\u{2010}31",
            "2024-03-\u{663}1",
            "2024031",
            "-1-01-01-1",
            "+2240331",
            "2024+131",
            "None",
        ] {
            assert_eq!(form("date", "", &quoted(given)), "bad-date", "{given}");
        }
        for given in ["20240331", "true", "[]", "{}"] {
            assert_eq!(form("date", "", given), "wrong-type", "{given}");
        }
    }
}
