//! A date and time apart from its fraction and its zone.

use crate::times::calendar::MICROS_PER_SECOND;
use crate::times::{parse_offset, read_fetched_at};

/// The longest name of a zone that is still taken for one.
const MAX_ZONE_LETTERS: usize = 5;

/// A date and time as its clock showed it.
pub(super) struct Moment<'a> {
    /// Seconds since 1970-01-01T00:00:00 on that clock.
    pub seconds: i64,
    /// The digits of the fraction of a second.
    pub fraction: &'a str,
    pub offset: Zone,
}

/// What is said of the zone.
pub(super) enum Zone {
    /// Minutes east of UTC.
    Known(i32),
    /// Nothing.
    Missing,
    /// That it is not known (`-00:00`, RFC 3339 4.3), or letters that do not always mean the same (RFC 2822 4.3).
    Unknown,
}

/// Reads an ISO 8601 or RFC 2822 date and time, trimmed; none for anything else, a bare date too.
///
/// The forms are those of the lenient reader of times of fetching, which is asked for the clock time as if it were UTC: it keeps
/// only six digits of a fraction and reads a missing zone as UTC, so both are taken off before.
pub(super) fn moment(text: &str) -> Option<Moment<'_>> {
    // Every form is ASCII, and the lenient reader trims what it is given.
    if !text.is_ascii() {
        return None;
    }
    if text.as_bytes().iter().take(4).all(u8::is_ascii_digit) { iso(text) } else { rfc2822(text) }
}

fn iso(text: &str) -> Option<Moment<'_>> {
    let (date, after) = text.split_once(['T', 't', ' '])?;
    let end = after.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.' | ',')).unwrap_or(after.len());
    let (clock, zone) = after.split_at_checked(end)?;
    let (clock, fraction) = match clock.split_once(['.', ',']) {
        Some((clock, fraction)) if !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            (clock, Some(fraction))
        }
        Some(_) => return None,
        None => (clock, None),
    };
    // Only whole seconds take a fraction, so the reader is shown one where there is one.
    let point = if fraction.is_some() { ".0" } else { "" };
    let seconds = seconds(&format!("{date}T{clock}{point}Z"))?;
    let offset = match zone {
        "" => Zone::Missing,
        "Z" | "z" => Zone::Known(0),
        letters if is_name(letters.strip_prefix(' ').unwrap_or(letters)) => Zone::Unknown,
        numeric => known(numeric)?,
    };
    Some(Moment { seconds, fraction: fraction.unwrap_or_default(), offset })
}

fn rfc2822(text: &str) -> Option<Moment<'_>> {
    let (head, zone) = text.rsplit_once([' ', '\t'])?;
    let seconds = seconds(&format!("{head} GMT"))?;
    let offset = match zone {
        zone if zone.eq_ignore_ascii_case("GMT") || zone.eq_ignore_ascii_case("UT") => Zone::Known(0),
        letters if is_name(letters) => Zone::Unknown,
        numeric if numeric.len() == "+0200".len() => known(numeric)?,
        _ => return None,
    };
    Some(Moment { seconds, fraction: "", offset })
}

/// Seconds since 1970 of a text that the lenient reader takes.
fn seconds(text: &str) -> Option<i64> {
    read_fetched_at(text, None).map(|micros| micros.div_euclid(MICROS_PER_SECOND))
}

fn is_name(zone: &str) -> bool {
    (1..=MAX_ZONE_LETTERS).contains(&zone.len()) && zone.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A zone `±hh:mm`, `±hhmm` or `±hh`.
fn known(zone: &str) -> Option<Zone> {
    let minutes = parse_offset(zone)?;
    Some(if minutes == 0 && zone.starts_with('-') { Zone::Unknown } else { Zone::Known(minutes) })
}
