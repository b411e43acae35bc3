//! The proleptic Gregorian calendar (ISO 8601-1 4.2.1), in days since 1970-01-01.

use std::ops::RangeInclusive;

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a day without leap seconds.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// The instants of the years 0001 to 9999, in microseconds since 1970.
pub const RANGE: RangeInclusive<i64> = -719_162 * MICROS_PER_DAY..=2_932_897 * MICROS_PER_DAY - 1;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01, where an era starts, to 1970-01-01.
const ERA_START: i64 = 719_468;

/// A day of the years 0001 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// 1 to 9999.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to the length of the month.
    pub day: i64,
}

impl Civil {
    /// The day, where there is such a day.
    #[must_use]
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let days = match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }

    /// Days since 1970-01-01. Years are counted from March, so that the leap day comes last.
    #[must_use]
    pub const fn day_number(self) -> i64 {
        let from_march = (self.month + 9) % 12;
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * from_march + 2) / 5 + self.day - 1;
        era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - ERA_START
    }

    /// The day of a number of days since 1970-01-01.
    #[must_use]
    pub const fn of_day(number: i64) -> Self {
        let number = number + ERA_START;
        let (era, of_era) = (number.div_euclid(DAYS_PER_ERA), number.rem_euclid(DAYS_PER_ERA));
        // Leap days before this one in the era: 1460 days is four years, 36,524 a century.
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = (from_march + 2) % 12 + 1;
        let year = era * 400 + year + if month <= 2 { 1 } else { 0 };
        Self { year, month, day: of_year - (153 * from_march + 2) / 5 + 1 }
    }
}

/// The day of the week of a day since 1970-01-01, a Thursday: 0 is Monday.
#[must_use]
pub const fn weekday(number: i64) -> i64 {
    (number + 3).rem_euclid(7)
}
