//! A JSON array to lines: each element becomes one as soon as its last byte is there, so that only the largest is ever held.
//!
//! Strings and brackets are all that is looked at here; whether an element is a record is for the strict reader to say.

use super::{Place, Row, Rows};
use crate::keys::Digest;
use memchr::{memchr2, memchr2_iter};
use sha2::{Digest as _, Sha256};

/// What makes the rest of an array unreadable, and the byte of the input at which it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The input is one object.
    #[error("its top level is an object, not an array of records")]
    Object,
    /// The input starts with something else.
    #[error("a JSON array starts with \"[\", at byte {0}")]
    NoArray(u64),
    /// Something else was expected.
    #[error("{1} expected, at byte {0}")]
    Expected(u64, &'static str),
    /// A bracket that closes what was not opened.
    #[error("brackets that don't match, at byte {0}")]
    Bracket(u64),
    /// Something follows the array.
    #[error("something follows the array, at byte {0}")]
    Trailing(u64),
    /// The array does not end.
    #[error("the array is cut off at byte {0}")]
    Cut(u64),
}

/// An element that is longer than the limit and was not held.
#[derive(Clone, Debug)]
pub struct Long {
    /// Where it stands.
    pub place: Place,
    /// Its length in bytes.
    pub length: u64,
    /// The digest of its bytes.
    pub sha256: Digest,
}

/// What comes out of a piece of input, in order.
#[derive(Debug)]
pub enum Part {
    /// Elements.
    Rows(Rows),
    /// The next bytes of an element over the limit.
    Bytes(Vec<u8>),
    /// That element has ended.
    Long(Long),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    First,
    Element,
    Inside,
    Behind,
    End,
}

/// An array being read.
#[derive(Debug)]
pub struct Array {
    max_line: usize,
    state: State,
    /// Where the next byte stands in the input, and the element that it belongs to.
    offset: u64,
    index: u64,
    /// The element under way: where it starts, its bytes so far, how far into it we are.
    start: u64,
    open: Vec<u8>,
    brackets: Vec<u8>,
    string: bool,
    escaped: bool,
    /// The digest of an element over the limit, and its length so far.
    long: Option<(Sha256, u64)>,
}

impl Array {
    /// An array whose first byte stands at `offset`; longer elements than `max_line` bytes are not held.
    #[must_use]
    pub fn new(max_line: usize, offset: u64) -> Self {
        Self {
            max_line,
            state: State::Start,
            offset,
            index: 0,
            start: 0,
            open: Vec::new(),
            brackets: Vec::new(),
            string: false,
            escaped: false,
            long: None,
        }
    }

    /// Where the element under way starts; where the next one may, if none is.
    #[must_use]
    pub fn offset(&self) -> u64 {
        if self.state == State::Inside { self.start } else { self.offset }
    }

    /// Takes the next bytes of the input. Elements that ended in them are given out even where a fault follows them.
    pub fn feed(&mut self, data: &[u8]) -> (Vec<Part>, Option<Fault>) {
        let mut parts = Parts { data, done: Vec::new(), rows: Rows::of(data, 0) };
        let mut at = 0;
        let base = self.offset;
        let fault = loop {
            self.offset = base + at as u64;
            let Some(byte) = data.get(at).copied() else { break None };
            if self.state != State::Inside && matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                at += 1;
                continue;
            }
            match (self.state, byte) {
                (State::Start, b'[') => self.state = State::First,
                (State::Start, b'{') => break Some(Fault::Object),
                (State::Start, _) => break Some(Fault::NoArray(self.offset)),
                (State::First | State::Behind, b']') => self.state = State::End,
                (State::Behind, b',') => self.state = State::Element,
                (State::Behind, _) => break Some(Fault::Expected(self.offset, "\",\" or \"]\"")),
                (State::Element, b']') | (State::First | State::Element, b',' | b'}' | b':') => {
                    break Some(Fault::Expected(self.offset, "a record"));
                }
                (State::End, _) => break Some(Fault::Trailing(self.offset)),
                (State::First | State::Element, _) => {
                    self.state = State::Inside;
                    self.start = self.offset;
                    continue;
                }
                (State::Inside, _) => {
                    let end = match self.element_end(data, at) {
                        Ok(end) => end,
                        Err(wrong) => break Some(Fault::Bracket(base + wrong as u64)),
                    };
                    match end {
                        Some(end) => self.close(data, at, end, base, &mut parts),
                        None => self.hold(data.get(at..).unwrap_or_default(), &mut parts),
                    }
                    at = end.unwrap_or(data.len());
                    continue;
                }
            }
            at += 1;
        };
        (parts.finish(), fault)
    }

    /// The end of the input.
    ///
    /// # Errors
    /// Where the array is not over; a scalar that ends with the input is no element either.
    pub fn finish(&self) -> Result<(), Fault> {
        match self.state {
            State::End => Ok(()),
            State::Start => Err(Fault::NoArray(self.offset)),
            _ => Err(Fault::Cut(self.offset)),
        }
    }

    /// The index behind the element that goes on at `at`, none where it goes on behind the data.
    ///
    /// # Errors
    /// The index of a bracket that matches none.
    fn element_end(&mut self, data: &[u8], mut at: usize) -> Result<Option<usize>, usize> {
        loop {
            if self.string {
                if self.escaped {
                    // The byte behind a backslash, whatever it is.
                    if at >= data.len() {
                        return Ok(None);
                    }
                    self.escaped = false;
                    at += 1;
                }
                let Some(found) = memchr2(b'"', b'\\', data.get(at..).unwrap_or_default()) else { return Ok(None) };
                at += found + 1;
                self.escaped = data.get(at - 1) == Some(&b'\\');
                if self.escaped {
                    continue;
                }
                self.string = false;
                if self.brackets.is_empty() {
                    return Ok(Some(at));
                }
            }
            let rest = data.get(at..).unwrap_or_default();
            let scalar = self.brackets.is_empty();
            let stop = |byte: &u8| {
                matches!(byte, b'"' | b'[' | b'{' | b']' | b'}')
                    || scalar && matches!(byte, b',' | b' ' | b'\t' | b'\n' | b'\r')
            };
            let Some(found) = rest.iter().position(stop) else { return Ok(None) };
            at += found;
            let fresh = found == 0 && self.offset == self.start;
            match data.get(at) {
                // A word or number ends where something else starts.
                _ if scalar && !fresh => return Ok(Some(at)),
                Some(b'"') => self.string = true,
                Some(open @ (b'[' | b'{')) => self.brackets.push(*open),
                Some(close) => {
                    let opener = if *close == b']' { b'[' } else { b'{' };
                    if self.brackets.pop() != Some(opener) {
                        return Err(at);
                    }
                    if self.brackets.is_empty() {
                        return Ok(Some(at + 1));
                    }
                }
                None => return Ok(None),
            }
            at += 1;
        }
    }

    /// The element ends before `end`; `at` is where its part in `data` starts.
    fn close(&mut self, data: &[u8], at: usize, end: usize, base: u64, parts: &mut Parts<'_>) {
        let here = data.get(at..end).unwrap_or_default();
        let after = base + end as u64;
        let place = Place { line: self.index + 1, offset: self.start, lines_after: self.index + 1, after };
        self.index += 1;
        self.state = State::Behind;
        if self.long.is_some() || self.open.len() + here.len() > self.max_line {
            self.hold_long(here, parts);
            if let Some((digest, length)) = self.long.take() {
                parts.long(Part::Long(Long { place, length, sha256: digest.finalize().into() }));
            }
            return;
        }
        let raw = if self.open.is_empty() {
            at..end
        } else {
            let start = parts.rows.text.len();
            parts.rows.text.append(&mut self.open);
            parts.rows.text.extend_from_slice(here);
            start..parts.rows.text.len()
        };
        let element = parts.rows.text.get(raw.clone()).unwrap_or_default();
        let line = match on_one_line(element) {
            None => raw.clone(),
            Some(line) => {
                let start = parts.rows.text.len();
                parts.rows.text.extend_from_slice(&line);
                start..parts.rows.text.len()
            }
        };
        parts.rows.rows.push(Row { line, raw, place, refusal: None });
    }

    /// Keeps the bytes of an element that goes on, or passes them on where it is over the limit.
    fn hold(&mut self, here: &[u8], parts: &mut Parts<'_>) {
        if self.long.is_some() || self.open.len() + here.len() > self.max_line {
            self.hold_long(here, parts);
        } else {
            self.open.extend_from_slice(here);
        }
    }

    fn hold_long(&mut self, here: &[u8], parts: &mut Parts<'_>) {
        let mut bytes = std::mem::take(&mut self.open);
        bytes.extend_from_slice(here);
        let (digest, length) = self.long.get_or_insert_with(|| (Sha256::new(), 0));
        digest.update(&bytes);
        *length += bytes.len() as u64;
        parts.long(Part::Bytes(bytes));
    }
}

/// What was given out so far.
struct Parts<'a> {
    data: &'a [u8],
    done: Vec<Part>,
    rows: Rows,
}

impl Parts<'_> {
    fn long(&mut self, part: Part) {
        if !self.rows.rows.is_empty() {
            let next = Rows::of(self.data, 0);
            self.done.push(Part::Rows(std::mem::replace(&mut self.rows, next)));
        }
        self.done.push(part);
    }

    fn finish(mut self) -> Vec<Part> {
        if !self.rows.rows.is_empty() {
            self.done.push(Part::Rows(self.rows));
        }
        self.done
    }
}

/// An element that stands on several lines, without the white space between its tokens; none where it stands on one.
///
/// A line break inside a string stays: the strict reader refuses it.
fn on_one_line(element: &[u8]) -> Option<Vec<u8>> {
    memchr2_iter(b'\n', b'\r', element).next()?;
    let mut line = Vec::with_capacity(element.len());
    let (mut string, mut escaped) = (false, false);
    for byte in element {
        if string {
            string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        } else {
            string = *byte == b'"';
        }
        line.push(*byte);
    }
    Some(line)
}
