use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Option<String> {
    read_fetched_at(text, None).map(utc_text)
}

/// Every form that is read, and what it is read as.
#[test]
fn readable() {
    for (text, expected) in [
        ("2026-05-01T10:20:30Z", "2026-05-01T10:20:30Z"),
        ("2026-05-01t10:20:30z", "2026-05-01T10:20:30Z"),
        ("2026-05-01 10:20:30.5+02:00", "2026-05-01T08:20:30.5Z"),
        ("2026-05-01T10:20:30,123456789-0530", "2026-05-01T15:50:30.123456Z"),
        ("2026-05-01T10:20:30.000000999Z", "2026-05-01T10:20:30Z"),
        ("2026-05-01T10:20:30-00:00", "2026-05-01T10:20:30Z"),
        ("20260501T102030+02", "2026-05-01T08:20:30Z"),
        ("20260501T1020", "2026-05-01T10:20:00Z"),
        ("20260501 10", "2026-05-01T10:00:00Z"),
        ("2026-05-01T1020Z", "2026-05-01T10:20:00Z"),
        ("20260501T10:20", "2026-05-01T10:20:00Z"),
        ("2026-05-01T10-01", "2026-05-01T11:00:00Z"),
        ("2026-05-01", "2026-05-01T00:00:00Z"),
        ("20260501", "2026-05-01T00:00:00Z"),
        (" \u{a0}2026-05-01\r\n", "2026-05-01T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59.9Z"),
        ("Fri, 1 May 2026 10:20:30 +0200", "2026-05-01T08:20:30Z"),
        ("fri,01 MAY 2026 10:20 GMT", "2026-05-01T10:20:00Z"),
        ("1 May 2026 10:20:30 UT", "2026-05-01T10:20:30Z"),
        ("1 May 2026 10:20:30 -0000", "2026-05-01T10:20:30Z"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
}

/// What is not read, however tempting.
#[test]
fn unreadable() {
    for text in [
        "",
        "now",
        "1777630830",
        "2026",
        "2026-05",
        "2026-5-1",
        "26-05-01",
        "01.05.2026",
        "05/01/2026",
        "2026-13-01",
        "2026-02-29",
        "1900-02-29",
        "2026-04-31",
        "2026-00-01",
        "2026-01-00",
        "0000-01-01",
        "10000-01-01",
        "2026-121",
        "2026-W18-5",
        "2026-0501",
        "202605-01",
        "2026-05-01T",
        "2026-05-01T24:00:00Z",
        "2026-06-30T23:59:60Z",
        "2026-05-01T10:60Z",
        "2026-05-01T10:20:",
        "2026-05-01T10:2030",
        "2026-05-01T1020:30",
        "2026-05-01T10:20.5",
        "2026-05-01T10:20:30.",
        "2026-05-01T10:20:30.Z",
        "2026-05-01T10:20:30+24:00",
        "2026-05-01T10:20:30+02:60",
        "2026-05-01T10:20:30+2",
        "2026-05-01T10:20:30+020",
        "2026-05-01T10:20:30+02:",
        "2026-05-01T10:20:30 Z",
        "2026-05-01T10:20:30 UTC",
        "2026-05-01T10:20:30CET",
        "2026-05-01Z",
        "2026-05-01  10:20",
        "2026-05-01_10:20",
        "2026-05-01T10:20:30Zx",
        "+2026-05-01",
        "２０２６-05-01",
        "2026-05-01T10:20:30\u{2212}02:00",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "Thu, 1 May 2026 10:20:30 GMT",
        "Fri 1 May 2026 10:20:30 GMT",
        "1 May 26 10:20:30 GMT",
        "1 May 2026 10:20:30 EST",
        "1 May 2026 10:20:30",
        "1 May 2026 10:20:30 +02:00",
        "001 May 2026 10:20 GMT",
        "1 May 2026 10:20:60 GMT",
        "1 May 2026 10:20:30 GMT (now)",
        "1 Mai 2026 10:20:30 GMT",
        "31 Apr 2026 10:20:30 GMT",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

/// A time without a zone is at the assumed offset; one with a zone is not.
#[test]
fn assumed_offset() {
    let read = |text| read_fetched_at(text, Some(120)).map(utc_text);
    assert_eq!(read("2026-05-01").as_deref(), Some("2026-04-30T22:00:00Z"));
    assert_eq!(read("2026-05-01 01:00").as_deref(), Some("2026-04-30T23:00:00Z"));
    assert_eq!(read("2026-05-01T01:00Z").as_deref(), Some("2026-05-01T01:00:00Z"));
    assert_eq!(read("0001-01-01"), None);
}

/// Offsets, as a ruleset states them.
#[test]
fn offsets() {
    for (text, minutes) in [("Z", 0), ("+02:00", 120), ("-0530", -330), ("+14", 840), ("+23:59", 1439), ("-00:00", 0)] {
        assert_eq!(parse_offset(text), Some(minutes), "{text}");
    }
    for text in ["", "02:00", "+2", "+24", "+02:60", "+02:00 ", "UTC", "+02:0", "+2:00"] {
        assert_eq!(parse_offset(text), None, "{text}");
    }
}

/// The ends of the range are the ends of the years 0001 and 9999.
#[test]
fn range() {
    let (first, last) = calendar::RANGE.into_inner();
    assert_eq!(read_fetched_at("0001-01-01T00:00:00Z", None), Some(first));
    assert_eq!(read_fetched_at("9999-12-31T23:59:59.999999Z", None), Some(last));
    assert_eq!(utc_text(i64::MIN), "0001-01-01T00:00:00Z");
    assert_eq!(utc_text(i64::MAX), "9999-12-31T23:59:59.999999Z");
}

/// Day numbers and dates are one list: every day of the calendar follows the one before it.
#[test]
fn every_day_once() {
    let mut number = -719_162;
    for year in 1..=9999 {
        for month in 1..=12 {
            for day in (1..=31).filter_map(|day| Civil::new(year, month, day)) {
                assert_eq!(day.day_number(), number);
                assert_eq!(Civil::of_day(number), day);
                number += 1;
            }
        }
    }
    assert_eq!(number, 2_932_897);
    assert_eq!(calendar::weekday(0), 3, "1970-01-01 was a Thursday");
}

proptest! {
    /// What is written is read back as the same instant.
    #[test]
    fn written_is_read(micros in calendar::RANGE) {
        let text = utc_text(micros);
        prop_assert_eq!(read_fetched_at(&text, Some(60)), Some(micros));
    }

    /// Whole seconds, which are written by a way of their own, and others are written as the general way has them.
    #[test]
    fn written_as_the_general_way_has_it(seconds in -70_000_000_000_i64..260_000_000_000, fraction in prop_oneof![Just(0), 0..1_000_000_i64]) {
        let micros = seconds * 1_000_000 + fraction;
        let mut out = Vec::new();
        write_utc(micros, &mut out);
        prop_assert_eq!(String::from_utf8_lossy(&out), utc_text(micros));
    }

    /// No text makes the reader fail.
    #[test]
    fn any_text(text in "\\PC{0,40}|[0-9TtZz:.,+ -]{0,40}|[A-Za-z]{3}, [0-9]{1,2} [A-Za-z]{3} [0-9]{4} [0-9:]{5,8} [+-][0-9]{4}") {
        let _ = read_fetched_at(&text, None);
    }
}
