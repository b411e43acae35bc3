//! Tables: whatever the bytes and the pieces that they come in, the same rows; each stands where it is said to, each good one is a record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::json::{Tape, parse};
use seenbefore_core::splitting::{Dialect, Rows, Table};

/// A row: where it starts and ends, its line of JSON or its code, its bytes.
type Row = (u64, u64, u64, Vec<u8>, Vec<u8>);

fn taken(rows: &Rows, found: &mut Vec<Row>) {
    for row in &rows.rows {
        let said = row.refusal.as_ref().map_or(&rows.text[row.line.clone()], |refusal| refusal.code.code().as_bytes());
        let raw = rows.text[row.raw.clone()].to_vec();
        found.push((row.place.line, row.place.offset, row.place.after, said.to_vec(), raw));
    }
}

fn read(data: &[u8], lines: usize, max_line: usize) -> Option<(Vec<Row>, usize)> {
    let mut table = Table::new(Dialect { delimiter: b',', max_line }, 0);
    let mut found = Vec::new();
    for piece in data.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>().chunks(lines) {
        taken(&table.feed(&piece.concat()).ok()?, &mut found);
    }
    taken(&table.finish().ok()?, &mut found);
    Some((found, table.columns().len()))
}

fuzz_target!(|given: &[u8]| {
    let [lines, max_line, data @ ..] = given else { return };
    let (lines, max_line) = (usize::from(lines % 8) + 1, usize::from(*max_line) + 16);
    if data.split(|byte| *byte == b'\n').any(|line| line.len() > max_line) {
        return; // such lines are passed over by whoever cuts the input into lines
    }
    let whole = read(data, usize::MAX, max_line);
    assert_eq!(whole, read(data, lines, max_line), "pieces change nothing");
    let Some((rows, columns)) = whole else { return };
    let mut before = 0;
    for (line, offset, after, said, raw) in rows {
        assert!(offset >= before && after > offset, "rows stand one after the other");
        before = after;
        let start = usize::try_from(offset).unwrap();
        assert!(data[start..].starts_with(&raw), "a row's bytes stand at its offset");
        let lines_before = data[..start].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(line, lines_before + 1);
        if said.starts_with(b"{") {
            let text = std::str::from_utf8(&said).expect("a line is UTF-8");
            let mut tape = Tape::new();
            parse(text, &mut tape).expect("a row is a record");
            assert_eq!(tape.root(text).unwrap().members().count(), columns);
        }
    }
});
