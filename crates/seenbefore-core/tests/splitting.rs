//! Tables and arrays to lines: whatever the pieces that they come in, the same rows with the same places.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)] // a test that cannot read its example has failed

mod spec;

use proptest::prelude::*;
use seenbefore_core::splitting::{Array, Dialect, HeaderFault, Part, Recoded, Rows, Table};

/// A row: line, offset, lines and bytes up to what follows, its line or its code, its bytes.
type Found = (u64, u64, u64, u64, String, Vec<u8>);

fn found(rows: &Rows) -> Vec<Found> {
    let row = |row: &seenbefore_core::splitting::Row| {
        let said = row.refusal.as_ref().map_or_else(
            || String::from_utf8(rows.text[row.line.clone()].to_vec()).unwrap(),
            |refusal| refusal.code.code().to_owned(),
        );
        let place = row.place;
        (place.line, place.offset, place.lines_after, place.after, said, rows.text[row.raw.clone()].to_vec())
    };
    rows.rows.iter().map(row).collect()
}

fn table(data: &[u8], lines: usize) -> Result<Vec<Found>, HeaderFault> {
    table_from(data, lines, b',', 0)
}

fn table_from(data: &[u8], lines: usize, delimiter: u8, offset: u64) -> Result<Vec<Found>, HeaderFault> {
    let mut table = Table::new(Dialect { delimiter, max_line: 1 << 16 }, offset);
    let mut rows = Vec::new();
    for piece in data.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>().chunks(lines) {
        rows.extend(found(&table.feed(&piece.concat())?));
    }
    rows.extend(found(&table.finish()?));
    Ok(rows)
}

fn array(data: &[u8], chunk: usize, max_line: usize) -> (Vec<Found>, Vec<u8>, Option<String>) {
    let mut array = Array::new(max_line, 0);
    let (mut rows, mut long) = (Vec::new(), Vec::new());
    for piece in data.chunks(chunk) {
        let (parts, fault) = array.feed(piece);
        for part in parts {
            match part {
                Part::Rows(part) => rows.extend(found(&part)),
                Part::Bytes(bytes) => long.extend(bytes),
                Part::Long(end) => {
                    let place = end.place;
                    rows.push((
                        place.line,
                        place.offset,
                        place.lines_after,
                        place.after,
                        "line-too-long".into(),
                        vec![],
                    ));
                }
            }
        }
        if let Some(fault) = fault {
            return (rows, long, Some(fault.to_string()));
        }
    }
    (rows, long, array.finish().err().map(|fault| fault.to_string()))
}

fn said(rows: &[Found]) -> Vec<(u64, &str)> {
    rows.iter().map(|row| (row.0, row.4.as_str())).collect()
}

#[test]
fn rows_have_the_line_that_they_start_in() {
    let data =
        b"id,t\r\n1,\"a \"\"q\"\"\r\nb\"\r\n\r\n2\n3,\"x\"y\n4,\"open\n5,\"fine\"\n6,a\"b\n7,\xff\n8,a\rb\n9,last";
    let rows = table(data, 100).unwrap();
    assert_eq!(
        said(&rows),
        [
            (2, r#"{"id":"1","t":"a \"q\"\r\nb"}"#),
            (5, "ragged-row"),
            (6, "invalid-csv"),
            (7, "invalid-csv"),
            (8, r#"{"id":"5","t":"fine"}"#),
            (9, "invalid-csv"),
            (10, "invalid-utf8"),
            (11, "invalid-csv"),
            (12, r#"{"id":"9","t":"last"}"#),
        ]
    );
    for (at, row) in rows.iter().enumerate() {
        assert!(data[row.1 as usize..].starts_with(&row.5), "a row's bytes stand at its offset");
        assert!(rows.get(at + 1).is_none_or(|next| row.3 <= next.1));
    }
}

#[test]
fn a_quote_that_is_not_closed_takes_one_line_alone() {
    let rows = table(b"a\n\"x\ny\nz\n", 1).unwrap();
    assert_eq!(said(&rows), [(2, "invalid-csv"), (3, r#"{"a":"y"}"#), (4, r#"{"a":"z"}"#)]);
    let far = [b"a\n\"x\n".as_slice(), &b"y\n".repeat(1 << 16)].concat();
    let rows = table(&far, 1 << 20).unwrap();
    assert_eq!((rows.len(), rows[0].4.as_str(), rows[1].4.as_str()), (65_537, "invalid-csv", r#"{"a":"y"}"#));
}

#[test]
fn quotes_may_stay_open_as_far_as_a_line_may_reach() {
    for (inside, expected) in [(14, "row"), (15, "far")] {
        let data = format!("a\n\"{}\nend\"\n", "x".repeat(inside - 2));
        for lines in [1, 9] {
            let mut table = Table::new(Dialect { delimiter: b',', max_line: 14 }, 0);
            let mut rows = Vec::new();
            for piece in data.as_bytes().split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>().chunks(lines) {
                rows.extend(found(&table.feed(&piece.concat()).unwrap()));
            }
            rows.extend(found(&table.finish().unwrap()));
            assert_eq!(rows[0].4 == "invalid-csv", expected == "far", "{inside} {lines}");
        }
    }
}

#[test]
fn a_header_names_each_column_once() {
    assert_eq!(table(b"a,b,a\n", 1), Err(HeaderFault::Repeated("a".into())));
    assert_eq!(table(b"\na,,b\n", 1), Err(HeaderFault::Unnamed(2)));
    assert_eq!(table(b"a,\xe9\n", 1), Err(HeaderFault::Encoding));
    assert!(matches!(table(b"{\"a\":1}\n", 1), Err(HeaderFault::Row(_))));
    assert!(matches!(table(b"a,\"b\n1,2\n", 1), Err(HeaderFault::Row(_))));
    assert_eq!(table(b"", 1), Ok(vec![]));
    assert_eq!(table(b"a\n\"\"\n", 1).unwrap()[0].4, r#"{"a":""}"#);
}

#[test]
fn rows_of_another_encoding_are_named_by_their_bytes() {
    let text = "id,t\n1,\"é\nü\"\n2,bad\n3,x,y\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let table = Table::new(Dialect { delimiter: b',', max_line: 1 << 16 }, 2);
    let mut recoded = Recoded::new(table, 2, b"\n\0", b"\r\0");
    let rows = found(&recoded.feed(text.as_bytes(), &bytes, &[3]).unwrap());
    assert_eq!(said(&rows), [(2, "{\"id\":\"1\",\"t\":\"é\\nü\"}"), (4, "invalid-encoding"), (5, "ragged-row")]);
    for row in &rows {
        assert!(bytes[row.1 as usize - 2..].starts_with(&row.5));
        assert_eq!(bytes[row.3 as usize - 4..row.3 as usize - 2], *b"\n\0");
    }
}

#[test]
fn elements_keep_their_bytes_or_lose_white_space_alone() {
    let (rows, _, fault) =
        array(b" [ {\"a\": 1.50} , {\"b\":\n  \"x \\\" y\",\r\n \"c\":[ 1 , 2 ]},12,\"s,]\", []]\n", 7, 1 << 10);
    assert_eq!(fault, None);
    assert_eq!(
        said(&rows),
        [(1, "{\"a\": 1.50}"), (2, r#"{"b":"x \" y","c":[1,2]}"#), (3, "12"), (4, "\"s,]\""), (5, "[]")]
    );
    assert_eq!(rows[1].5, b"{\"b\":\n  \"x \\\" y\",\r\n \"c\":[ 1 , 2 ]}");
}

#[test]
fn what_makes_the_rest_unreadable_is_named_with_its_byte() {
    for (data, records, expected) in [
        ("{\"items\":[]}", 0, "its top level is an object, not an array of records"),
        ("1", 0, "a JSON array starts with \"[\", at byte 0"),
        ("", 0, "a JSON array starts with \"[\", at byte 0"),
        ("[{} {}]", 1, "\",\" or \"]\" expected, at byte 4"),
        ("[{},]", 1, "a record expected, at byte 4"),
        ("[,{}]", 0, "a record expected, at byte 1"),
        ("[{}", 1, "the array is cut off at byte 3"),
        ("[{},{\"a\":\"", 1, "the array is cut off at byte 10"),
        ("[{},{\"a\":[1}]", 1, "brackets that don't match, at byte 11"),
        ("[{}]\n[{}]", 1, "something follows the array, at byte 5"),
        ("[]", 0, ""),
    ] {
        let (rows, _, fault) = array(data.as_bytes(), 3, 1 << 10);
        assert_eq!((rows.len(), fault.as_deref().unwrap_or("")), (records, expected), "{data}");
    }
}

#[test]
fn an_element_over_the_limit_is_passed_on_in_parts() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
    for chunk in [1, 9, 1000] {
        let (rows, bytes, fault) = array(format!("[{{}},{long},{{}}]").as_bytes(), chunk, 50);
        assert_eq!((said(&rows), fault), (vec![(1, "{}"), (2, "line-too-long"), (3, "{}")], None));
        assert_eq!(bytes, long.as_bytes());
    }
}

proptest! {
    /// The rows of a table don't depend on the pieces that it comes in, and every line is in a row, is blank, or is the header.
    #[test]
    fn tables_are_the_same_in_any_pieces(data in "a,b\n[ab,\"\r\n\u{e9}]{0,60}", lines in 1_usize..5) {
        let whole = table(data.as_bytes(), 1_000);
        prop_assert_eq!(&whole, &table(data.as_bytes(), lines));
        let mut at = 4;
        for row in whole.unwrap_or_default() {
            prop_assert!(data.as_bytes()[at..row.1 as usize].iter().all(|byte| matches!(byte, b'\r' | b'\n')));
            at = row.3 as usize;
        }
        prop_assert!(data.as_bytes().get(at..).unwrap_or_default().iter().all(|byte| matches!(byte, b'\r' | b'\n')));
    }

    /// The elements of an array don't depend on the pieces that it comes in.
    #[test]
    fn arrays_are_the_same_in_any_pieces(inside in "[\\[\\]{}\",: \n\\\\a1]{0,40}", chunk in 1_usize..6) {
        let data = format!("[{inside}]");
        let whole = array(data.as_bytes(), 1_000, 1 << 10);
        prop_assert_eq!(&whole, &array(data.as_bytes(), chunk, 1 << 10));
        let joined: Vec<_> = whole.0.iter().map(|row| String::from_utf8_lossy(&row.5).into_owned()).collect();
        prop_assert!(joined.iter().all(|element| data.contains(element)));
    }
}

/// The rows that a vector states: number, offset, line of JSON or code.
fn stated(vector: &serde_json::Value) -> Option<Vec<(u64, u64, String)>> {
    let row = |row: &serde_json::Value| {
        let said = row["out"].as_str().or(row["refused"].as_str()).unwrap();
        (row["line"].as_u64().unwrap(), row["offset"].as_u64().unwrap(), said.to_owned())
    };
    Some(vector.get("rows")?.as_array().unwrap().iter().map(row).collect())
}

#[test]
fn vectors_of_tables_and_arrays() {
    let shown = |rows: &[Found]| rows.iter().map(|row| (row.0, row.1, row.4.clone())).collect::<Vec<_>>();
    for vector in spec::vectors("tables").iter().filter(|vector| vector.get("encoding").is_none()) {
        let data = spec::unhex(vector["in_hex"].as_str().unwrap());
        let delimiter = vector["delimiter"].as_str().map_or(b',', |sign| sign.as_bytes()[0]);
        let start = if data.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        for lines in [1, 100] {
            let found = table_from(&data[start..], lines, delimiter, start as u64);
            assert_eq!(found.ok().map(|rows| shown(&rows)), stated(vector), "{}", vector["name"]);
        }
    }
    for vector in spec::vectors("arrays") {
        let data = spec::unhex(vector["in_hex"].as_str().unwrap());
        if data.starts_with(b"\xef\xbb\xbf") {
            continue; // skipped by whoever reads the file
        }
        let (rows, _, fault) = array(&data, 2, 1 << 10);
        assert_eq!(fault.is_none().then(|| shown(&rows)), stated(&vector), "{}", vector["name"]);
    }
}
