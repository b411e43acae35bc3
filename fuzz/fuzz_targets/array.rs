//! Arrays: whatever the chunks that they come in, the same elements; an array that the strict reader takes gives all its elements.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::canonicalise::write_value;
use seenbefore_core::json::{Tape, parse_value};
use seenbefore_core::splitting::{Array, Part};

/// Elements: number, start and end, line, bytes. And what is wrong.
type Found = (Vec<(u64, u64, u64, Vec<u8>, Vec<u8>)>, Vec<u8>, Option<String>);

fn read(data: &[u8], chunk: usize, max_line: usize) -> Found {
    let mut array = Array::new(max_line, 0);
    let (mut found, mut long) = (Vec::new(), Vec::new());
    for piece in data.chunks(chunk) {
        let (parts, fault) = array.feed(piece);
        for part in parts {
            match part {
                Part::Rows(rows) => found.extend(rows.rows.iter().map(|row| {
                    let text = |range: &std::ops::Range<usize>| rows.text[range.clone()].to_vec();
                    (row.place.line, row.place.offset, row.place.after, text(&row.line), text(&row.raw))
                })),
                Part::Bytes(bytes) => long.extend(bytes),
                Part::Long(end) => found.push((end.place.line, end.place.offset, end.place.after, vec![], vec![])),
            }
        }
        if let Some(fault) = fault {
            return (found, Vec::new(), Some(fault.to_string()));
        }
    }
    (found, long, array.finish().err().map(|fault| fault.to_string()))
}

fn canonical(text: &str, tape: &mut Tape) -> Option<Vec<Vec<u8>>> {
    parse_value(text, tape).ok()?;
    let one = |element| {
        let mut out = Vec::new();
        write_value(element, &mut out).ok().map(|()| out)
    };
    tape.root(text)?.elements().map(one).collect()
}

fuzz_target!(|given: &[u8]| {
    let [chunk, max_line, data @ ..] = given else { return };
    let (chunk, max_line) = (usize::from(*chunk) + 1, usize::from(*max_line) + 1);
    let limited = read(data, data.len().max(1), max_line);
    let cut = read(data, chunk, max_line);
    assert_eq!((&limited.0, &limited.2), (&cut.0, &cut.2), "chunks change nothing");
    if limited.2.is_none() {
        assert_eq!(limited.1, cut.1, "parts of long elements are whole");
    }
    let (elements, _, fault) = read(data, chunk, usize::MAX);
    for (_, offset, after, line, raw) in &elements {
        let (start, end) = (usize::try_from(*offset).unwrap(), usize::try_from(*after).unwrap());
        assert_eq!(&data[start..end], raw, "an element's bytes stand at its offset");
        if !raw.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            assert_eq!(line, raw, "an element on one line stays as it is");
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut tape = Tape::new();
    let Some(expected) = canonical(text, &mut tape).filter(|_| text.trim_start().starts_with('[')) else { return };
    assert_eq!(fault, None, "what the strict reader takes is read");
    assert_eq!(elements.len(), expected.len());
    for ((_, _, _, line, _), expected) in elements.iter().zip(expected) {
        let line = std::str::from_utf8(line).expect("as the text is");
        assert!(!line.contains(['\n', '\r']), "an element is on one line");
        parse_value(line, &mut tape).expect("an element is a value");
        let mut out = Vec::new();
        write_value(tape.root(line).unwrap(), &mut out).expect("as above");
        assert_eq!(out, expected, "the same value");
    }
});
