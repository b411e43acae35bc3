//! Times of fetching: read leniently, kept as microseconds since 1970, written in one way.
//!
//! `fetched_at` orders sightings and never decides a key, so it is read more freely than a field of kind `timestamp`. The
//! calendar is the proleptic Gregorian one without leap seconds, years 0001 to 9999 of UTC ([`calendar`]).

pub mod calendar;
mod reader;

use crate::normalise::trim_spaces;
use calendar::{Civil, MICROS_PER_DAY, MICROS_PER_SECOND};
use reader::Reader;

const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// Digits of a fraction of a second that are kept; later ones are cut.
const FRACTION_DIGITS: u32 = 6;

/// The zone names of RFC 2822 that are plainly UTC.
const ZONES: [&[u8]; 2] = [b"gmt", b"ut"];
const WEEKDAYS: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// The instant that `text` names, in microseconds since 1970-01-01T00:00:00Z; none where it cannot be read.
///
/// Read, with white space around: RFC 3339 with `T`, `t` or one space; ISO 8601 calendar dates `YYYY-MM-DD` and `YYYYMMDD`,
/// alone or with a time `hh`, `hhmm`, `hh:mm`, `hhmmss`, `hh:mm:ss`, the latter two with a fraction after `.` or `,`; zones
/// `Z`, `z`, `±hh:mm`, `±hhmm`, `±hh`; RFC 2822 3.3 with a numeric zone, `GMT` or `UT`, without comments and obsolete forms.
/// A time without a zone and a bare date (its midnight) are at `assume_offset_minutes` east of UTC, or UTC.
///
/// Not read: second 60, hour 24, week and ordinal dates, two-digit years, day and month in another order, a day of the week
/// that is not the date's, anything outside the years 0001 to 9999 of UTC.
#[must_use]
pub fn read_fetched_at(text: &str, assume_offset_minutes: Option<i32>) -> Option<i64> {
    let text = trim_spaces(text).as_bytes();
    let (local, zone) = iso(text).or_else(|| rfc2822(text))?;
    let offset = zone.or(assume_offset_minutes).unwrap_or(0);
    let micros = local - i64::from(offset) * MICROS_PER_MINUTE;
    calendar::RANGE.contains(&micros).then_some(micros)
}

/// Minutes east of UTC of a zone `Z`, `z`, `±hh:mm`, `±hhmm` or `±hh`; none for anything else. Hours go to 23.
#[must_use]
pub fn parse_offset(text: &str) -> Option<i32> {
    let mut reader = Reader::new(text.as_bytes());
    let minutes = offset(&mut reader)?;
    reader.is_done().then_some(minutes)
}

/// Appends the instant as `YYYY-MM-DDTHH:MM:SSZ`, a fraction without trailing zeros before the `Z` where it has one.
///
/// `micros` is what [`read_fetched_at`] gives. Instants outside the years 0001 to 9999 are written as the nearest inside.
pub fn write_utc(micros: i64, out: &mut Vec<u8>) {
    let micros = micros.clamp(*calendar::RANGE.start(), *calendar::RANGE.end());
    let date = Civil::of_day(micros.div_euclid(MICROS_PER_DAY));
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let (seconds, fraction) = (of_day / MICROS_PER_SECOND, of_day % MICROS_PER_SECOND);
    if fraction != 0 {
        return out.extend(utc(micros));
    }
    let (century, year, month, day) = (pair(date.year / 100), pair(date.year), pair(date.month), pair(date.day));
    let (hour, minute, second) = (pair(seconds / 3600), pair(seconds / 60 % 60), pair(seconds % 60));
    out.extend_from_slice(&[
        century[0], century[1], year[0], year[1], b'-', month[0], month[1], b'-', day[0], day[1], b'T', hour[0],
        hour[1], b':', minute[0], minute[1], b':', second[0], second[1], b'Z',
    ]);
}

/// Two digits of a number below 100.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // remainders of ten
const fn pair(value: i64) -> [u8; 2] {
    [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8]
}

/// What [`write_utc`] writes, as text.
#[must_use]
pub fn utc_text(micros: i64) -> String {
    utc(micros).map(char::from).collect()
}

/// The ASCII characters of [`write_utc`].
fn utc(micros: i64) -> impl Iterator<Item = u8> {
    let micros = micros.clamp(*calendar::RANGE.start(), *calendar::RANGE.end());
    let date = Civil::of_day(micros.div_euclid(MICROS_PER_DAY));
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let (seconds, fraction) = (of_day / MICROS_PER_SECOND, of_day % MICROS_PER_SECOND);
    let kept = (0..FRACTION_DIGITS).rev().find(|place| fraction % 10_i64.pow(*place) == 0).unwrap_or(0);
    let (fraction, width) = (fraction / 10_i64.pow(kept), FRACTION_DIGITS - kept);
    let fields = [
        (date.year, 4, b'-'),
        (date.month, 2, b'-'),
        (date.day, 2, b'T'),
        (seconds / 3600, 2, b':'),
        (seconds / 60 % 60, 2, b':'),
        (seconds % 60, 2, if fraction == 0 { b'Z' } else { b'.' }),
        (fraction, if fraction == 0 { 0 } else { width }, b'Z'),
    ];
    fields
        .into_iter()
        .filter(|(_, width, _)| *width > 0)
        .flat_map(|(value, width, sign)| digits(value, width).chain([sign]))
}

/// The last `width` digits of a number.
fn digits(value: i64, width: u32) -> impl Iterator<Item = u8> {
    (0..width).rev().map(move |place| b'0' + u8::try_from(value / 10_i64.pow(place) % 10).unwrap_or(0))
}

/// Local microseconds and offset in minutes, where one is given, of an ISO 8601 or RFC 3339 text.
fn iso(text: &[u8]) -> Option<(i64, Option<i32>)> {
    let mut reader = Reader::new(text);
    let year = reader.number(4)?;
    let dashed = reader.eat(b'-');
    let month = reader.number(2)?;
    if dashed && !reader.eat(b'-') {
        return None;
    }
    let day = reader.number(2)?;
    let midnight = Civil::new(year, month, day)?.day_number() * MICROS_PER_DAY;
    if reader.is_done() {
        return Some((midnight, None));
    }
    if !(reader.eat(b'T') || reader.eat(b't') || reader.eat(b' ')) {
        return None;
    }
    let of_day = iso_time(&mut reader)?;
    let zone = if reader.is_done() { None } else { Some(offset(&mut reader)?) };
    reader.is_done().then_some((midnight + of_day, zone))
}

/// Microseconds since midnight of `hh`, `hh:mm`, `hhmm`, `hh:mm:ss` or `hhmmss`, a fraction of the second included.
fn iso_time(reader: &mut Reader<'_>) -> Option<i64> {
    let hour = reader.number(2)?;
    let colons = reader.eat(b':');
    if !colons && !reader.at_digit() {
        return of_day(hour, 0, 0, 0);
    }
    let minute = reader.number(2)?;
    if !(if colons { reader.eat(b':') } else { reader.at_digit() }) {
        return of_day(hour, minute, 0, 0);
    }
    let second = reader.number(2)?;
    let fraction = if reader.eat(b'.') || reader.eat(b',') { reader.fraction(FRACTION_DIGITS)? } else { 0 };
    of_day(hour, minute, second, fraction)
}

/// Microseconds since midnight; none for hour 24, minute 60 and second 60.
fn of_day(hour: i64, minute: i64, second: i64, fraction: i64) -> Option<i64> {
    let seconds = (hour * 60 + minute) * 60 + second;
    (hour < 24 && minute < 60 && second < 60).then_some(seconds * MICROS_PER_SECOND + fraction)
}

/// Minutes east of UTC of a zone (RFC 3339 5.6, ISO 8601-1 4.3.13).
fn offset(reader: &mut Reader<'_>) -> Option<i32> {
    if reader.eat(b'Z') || reader.eat(b'z') {
        return Some(0);
    }
    let west = reader.eat(b'-');
    if !west && !reader.eat(b'+') {
        return None;
    }
    let hours = reader.number(2)?;
    let minutes = if reader.eat(b':') || reader.at_digit() { reader.number(2)? } else { 0 };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = i32::try_from(hours * 60 + minutes).ok()?;
    Some(if west { -east } else { east })
}

/// Local microseconds and offset of an RFC 2822 3.3 date and time.
fn rfc2822(text: &[u8]) -> Option<(i64, Option<i32>)> {
    let mut reader = Reader::new(text);
    let weekday = reader.name(&WEEKDAYS);
    if weekday.is_some() {
        if !reader.eat(b',') {
            return None;
        }
        reader.blanks();
    }
    let day = reader.number_up_to(2)?;
    reader.blanks_needed()?;
    let month = reader.name(&MONTHS)? + 1;
    reader.blanks_needed()?;
    let year = reader.number(4)?;
    reader.blanks_needed()?;
    let date = Civil::new(year, month, day)?.day_number();
    if weekday.is_some_and(|weekday| weekday != calendar::weekday(date)) {
        return None;
    }
    let hour = reader.number(2)?;
    reader.eat(b':').then_some(())?;
    let minute = reader.number(2)?;
    let second = if reader.eat(b':') { reader.number(2)? } else { 0 };
    reader.blanks_needed()?;
    let zone = match reader.name(&ZONES) {
        Some(_) => 0,
        None => numeric_zone(&mut reader)?,
    };
    let local = date * MICROS_PER_DAY + of_day(hour, minute, second, 0)?;
    reader.is_done().then_some((local, Some(zone)))
}

/// `±hhmm`, the one numeric zone of RFC 2822.
fn numeric_zone(reader: &mut Reader<'_>) -> Option<i32> {
    let west = reader.eat(b'-');
    if !west && !reader.eat(b'+') {
        return None;
    }
    let (hours, minutes) = (reader.number(2)?, reader.number(2)?);
    let east = i32::try_from(hours * 60 + minutes).ok()?;
    (hours < 24 && minutes < 60).then_some(if west { -east } else { east })
}

#[cfg(test)]
mod tests;
