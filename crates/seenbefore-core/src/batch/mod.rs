//! A batch: many lines keyed on all cores, judged in order, rendered on all cores.
//!
//! The order of calls is `feed` (or `push`), `key`, `judge`, `render`. What comes out does not depend on where batches are cut.

mod distinct;
mod judged;
mod keyed;
mod provisional;
mod rendered;

pub use judged::{Judgement, KnownContent, KnownPlace, SightingRow};
pub use provisional::{Provisional, Said, Seen, StoredContent, StoredPlace};
pub use rendered::{Block, Counts, Earlier, SourceCounts};

use crate::boundary::{is_blank, line_end};
use crate::error::Refusal;
use crate::keys::{Digest, Keyed, Texts};
use crate::ruleset::Ruleset;
use crate::splitting::{FloatPath, Row};
use std::sync::Arc;

/// How many records share a block, and are keyed and rendered as one piece of work.
pub const BLOCK: usize = 1_024;

/// Marks a record without such a key.
const NONE: u32 = u32::MAX;

/// What a run says about all its records.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The run's ordinal, from 1.
    pub run: u64,
    /// Ordinal of the batch's first record in its run.
    pub first_seq: u64,
    /// The batch is full at so many records …
    pub max_records: usize,
    /// … or so many bytes of lines.
    pub max_bytes: usize,
    /// Longer lines are refused.
    pub max_line: usize,
    /// The source of records that name none.
    pub source: Option<String>,
    /// The time of fetching of records that name none.
    pub fetched_at: Option<String>,
    /// Whether a `_seen` in a record is replaced instead of refused.
    pub replace_seen: bool,
    /// Whether payload digests are wanted.
    pub digests: bool,
}

/// Where one record's bytes are, and where they came from.
#[derive(Clone, Copy, Debug)]
struct Entry {
    piece: u32,
    start: usize,
    end: usize,
    /// Index into the batch's input names; none for a program's record.
    input: Option<u32>,
    line: u64,
    offset: u64,
    /// The bytes that it was made from, where the input holds no lines of JSON.
    raw: Option<(usize, usize)>,
}

/// An input, and what its name says about its records.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    source: Option<String>,
    fetched_at: Option<String>,
}

/// A line that was too long to be held: what is known of it, in place of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct LongLine {
    /// Length in bytes.
    pub length: u64,
    /// Digest of its bytes.
    pub sha256: Digest,
    /// Where its bytes start in `refused.bin`.
    pub bin_offset: u64,
}

/// What keying one record gave.
#[derive(Clone, Debug)]
enum Outcome {
    Keyed(Keyed),
    Refused(Box<Refused>),
}

#[derive(Clone, Debug)]
struct Refused {
    refusal: Refusal,
    source: crate::keys::Span,
    long: Option<LongLine>,
}

/// The outcomes of up to [`BLOCK`] records in a row.
#[derive(Debug, Default)]
struct Chunk {
    outcomes: Vec<Outcome>,
    texts: Texts,
}

/// A batch over pieces of input. `P` is anything that holds bytes, so that a caller's own buffers are not copied.
#[derive(Debug)]
pub struct Batch<P> {
    rules: Arc<Ruleset>,
    setting: Setting,
    pieces: Vec<P>,
    /// Where numbers of a piece are binary floats, sorted by the piece.
    floats: Vec<(u32, Arc<[FloatPath]>)>,
    inputs: Vec<Input>,
    entries: Vec<Entry>,
    /// Sorted by the position of the record.
    long: Vec<(usize, LongLine)>,
    /// What was no record before it was read, sorted by position.
    set_aside: Vec<(usize, Refusal)>,
    bytes: usize,
    chunks: Vec<Chunk>,
    contents: distinct::Distinct,
    places: distinct::Distinct,
    sources: distinct::Sources,
    judgements: Vec<Judgement>,
    states: judged::States,
    first_sighting: i64,
}

impl<P: AsRef<[u8]> + Send + Sync> Batch<P> {
    /// An empty batch.
    #[must_use]
    pub fn new(rules: Arc<Ruleset>, setting: Setting) -> Self {
        Self {
            rules,
            setting,
            pieces: Vec::new(),
            floats: Vec::new(),
            inputs: Vec::new(),
            entries: Vec::new(),
            long: Vec::new(),
            set_aside: Vec::new(),
            bytes: 0,
            chunks: Vec::new(),
            contents: distinct::Distinct::default(),
            places: distinct::Distinct::default(),
            sources: distinct::Sources::default(),
            judgements: Vec::new(),
            states: judged::States::default(),
            first_sighting: 0,
        }
    }

    /// Takes lines of `data` from index `start` until the batch is full or the data is used up; blank lines are passed over.
    ///
    /// `offset` is where `data` starts in the input, `line` how many lines stand before `start`.
    /// Returns the index of the first byte not taken, and how many lines were passed.
    pub fn feed(&mut self, data: P, start: usize, input: &str, offset: u64, line: u64) -> (usize, u64) {
        let piece = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let input = self.input(input);
        let bytes = data.as_ref();
        let (mut at, mut lines) = (start, 0);
        while at < bytes.len() && !self.is_full() {
            let (end, next) = line_end(bytes, at);
            lines += 1;
            if !is_blank(bytes.get(at..end).unwrap_or_default()) {
                self.entries.push(Entry {
                    piece,
                    start: at,
                    end,
                    input: Some(input),
                    line: line + lines,
                    offset: offset + at as u64,
                    raw: None,
                });
                self.bytes += end - at;
            }
            at = next;
        }
        self.pieces.push(data);
        (at, lines)
    }

    /// Takes records from index `start` of `rows` until the batch is full; `data` is their text. Returns the first index not taken.
    pub fn feed_rows(&mut self, data: P, rows: &[Row], floats: &Arc<[FloatPath]>, start: usize, input: &str) -> usize {
        let piece = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let input = self.input(input);
        let mut at = start;
        while let Some(row) = rows.get(at).filter(|_| !self.is_full()) {
            if let Some(refusal) = &row.refusal {
                self.set_aside.push((self.entries.len(), Refusal::clone(refusal)));
            }
            self.entries.push(Entry {
                piece,
                start: row.line.start,
                end: row.line.end,
                input: Some(input),
                line: row.place.line,
                offset: row.place.offset,
                raw: Some((row.raw.start, row.raw.end)),
            });
            self.bytes += row.line.len().max(row.raw.len());
            at += 1;
        }
        if !floats.is_empty() {
            self.floats.push((piece, Arc::clone(floats)));
        }
        self.pieces.push(data);
        at
    }

    /// Says what the name of an input says about its records, before the first of them is fed.
    pub fn facts(&mut self, input: &str, source: Option<String>, fetched_at: Option<String>) {
        let index = self.input(input) as usize;
        if let Some(input) = self.inputs.get_mut(index) {
            input.source = source;
            input.fetched_at = fetched_at;
        }
    }

    /// Notes a line that was too long to be held.
    pub fn refuse_long(&mut self, input: &str, line: u64, offset: u64, long: LongLine) {
        let input = self.input(input);
        self.long.push((self.entries.len(), long));
        self.entries.push(Entry { piece: u32::MAX, start: 0, end: 0, input: Some(input), line, offset, raw: None });
    }

    /// True where no more lines are taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.setting.max_records || self.bytes >= self.setting.max_bytes
    }

    /// How many records the batch holds, refused lines included.
    #[must_use]
    pub fn records(&self) -> usize {
        self.entries.len()
    }

    /// How many bytes of lines the batch holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the run says about all its records.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The rules it is judged by.
    #[must_use]
    pub fn rules(&self) -> &Arc<Ruleset> {
        &self.rules
    }

    fn input(&mut self, name: &str) -> u32 {
        if self.inputs.last().is_none_or(|last| last.name != name) {
            self.inputs.push(Input { name: name.to_owned(), source: None, fetched_at: None });
        }
        u32::try_from(self.inputs.len() - 1).unwrap_or(u32::MAX)
    }

    fn input_name(&self, entry: Entry) -> Option<&str> {
        self.inputs.get(entry.input? as usize).map(|input| input.name.as_str())
    }

    /// The bytes of the input that a record was made from.
    fn raw(&self, entry: Entry) -> &[u8] {
        match entry.raw {
            Some((start, end)) => self.line(Entry { start, end, ..entry }),
            None => self.line(entry),
        }
    }

    fn line(&self, entry: Entry) -> &[u8] {
        self.pieces
            .get(entry.piece as usize)
            .and_then(|piece| piece.as_ref().get(entry.start..entry.end))
            .unwrap_or_default()
    }

    fn outcome(&self, index: usize) -> Option<(&Outcome, &Texts)> {
        let chunk = self.chunks.get(index / BLOCK)?;
        Some((chunk.outcomes.get(index % BLOCK)?, &chunk.texts))
    }

    fn keyed(&self, index: usize) -> Option<&Keyed> {
        match self.outcome(index)?.0 {
            Outcome::Keyed(keyed) => Some(keyed),
            Outcome::Refused(_) => None,
        }
    }
}
