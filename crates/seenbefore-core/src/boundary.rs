//! From bytes to one record: lines, UTF-8, JSON, and the refusals of each.

use crate::error::{Code, Refusal};
use crate::json::{Tape, Value, parse};

/// The end of the line that starts at `start`: (where its content ends, where the next line starts). Lines end at LF only; one CR before it is cut.
#[must_use]
pub fn line_end(data: &[u8], start: usize) -> (usize, usize) {
    let rest = data.get(start..).unwrap_or_default();
    let (end, next) = match memchr::memchr(b'\n', rest) {
        Some(at) => (start + at, start + at + 1),
        None => (data.len(), data.len()),
    };
    let content = data.get(start..end).unwrap_or_default();
    (if content.last() == Some(&b'\r') { end - 1 } else { end }, next)
}

/// True for a line of nothing but space, tab and CR, which is no record.
#[must_use]
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Reads one line as a record.
///
/// # Errors
/// `line-too-long`, `invalid-utf8`, then as [`parse`], then `seen-member` unless that is to be replaced.
pub fn read<'a>(line: &'a [u8], max_line: usize, replace_seen: bool, tape: &mut Tape) -> Result<&'a str, Refusal> {
    if line.len() > max_line {
        return Err(Refusal::line(Code::LineTooLong, format!("longer than {max_line} bytes")));
    }
    let text = simdutf8::basic::from_utf8(line).map_err(|_| not_utf8(line))?;
    parse(text, tape)?;
    if let Some(record) = tape.root(text) {
        refuse_seen(record, replace_seen)?;
    }
    Ok(text)
}

/// The refusal that says where the line stops being UTF-8.
fn not_utf8(line: &[u8]) -> Refusal {
    let valid = std::str::from_utf8(line).err().map_or(line.len(), |error| error.valid_up_to());
    Refusal::line(Code::InvalidUtf8, format!("not UTF-8 at byte {}", valid + 1))
}

/// Refuses a record that carries `_seen`, unless that is to be replaced.
///
/// # Errors
/// `seen-member`.
pub fn refuse_seen(record: Value<'_>, replace_seen: bool) -> Result<(), Refusal> {
    if !replace_seen && record.may_have(b'_') && record.members().any(|(name, _)| name.is("_seen")) {
        return Err(Refusal::line(
            Code::SeenMember,
            "the record already carries \"_seen\"; --replace-seen puts a new one in its place",
        ));
    }
    Ok(())
}
