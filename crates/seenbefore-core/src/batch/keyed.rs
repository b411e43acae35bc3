//! Keying: every line to its digests and facts, on all cores; then the distinct keys of the batch, sorted.

use super::distinct::{Distinct, Sources};
use super::{BLOCK, Batch, Chunk, Entry, LongLine, NONE, Outcome, Refused};
use crate::boundary;
use crate::error::{Code, Refusal};
use crate::json::Tape;
use crate::keys::{Digest, Given, Keyed, Maker, Span, Texts};
use rayon::prelude::*;

/// What one thread keeps from record to record.
#[derive(Default)]
struct Worker {
    tape: Tape,
    maker: Maker,
}

impl<P: AsRef<[u8]> + Send + Sync> Batch<P> {
    /// Makes the keys of all records fed so far, on all cores.
    pub fn key(&mut self) {
        let done = self.chunks.iter().map(|chunk| chunk.outcomes.len()).sum::<usize>();
        if done == 0 {
            let this = &*self;
            let chunks = this
                .entries
                .par_chunks(BLOCK)
                .enumerate()
                .map_init(Worker::default, |worker, (index, entries)| this.chunk(worker, index * BLOCK, entries))
                .collect();
            self.chunks = chunks;
        }
        self.contents =
            Distinct::new((0..self.entries.len()).map(|index| self.keyed(index).and_then(|keyed| keyed.content)));
        // A record without identity marks nothing as seen, its URL included.
        let place = |keyed: &Keyed| keyed.content.and(keyed.place);
        self.places = Distinct::new((0..self.entries.len()).map(|index| self.keyed(index).and_then(place)));
        self.sources = self.distinct_sources();
    }

    /// The distinct content keys, sorted.
    #[must_use]
    pub fn content_keys(&self) -> &[Digest] {
        &self.contents.keys
    }

    /// The distinct URL keys, sorted.
    #[must_use]
    pub fn place_keys(&self) -> &[Digest] {
        &self.places.keys
    }

    /// The distinct sources, sorted.
    #[must_use]
    pub fn sources(&self) -> &[String] {
        &self.sources.names
    }

    /// Each record's keys, or the code it was refused with, in order.
    pub fn outcomes(&self) -> impl Iterator<Item = Result<&Keyed, Code>> {
        self.chunks.iter().flat_map(|chunk| &chunk.outcomes).map(|outcome| match outcome {
            Outcome::Keyed(keyed) => Ok(keyed),
            Outcome::Refused(refused) => Err(refused.refusal.code),
        })
    }

    /// Adds a program's record whose text and tape were built, and keys it at once. Returns its position.
    ///
    /// # Errors
    /// As [`Maker::keys`]; the record is not added then.
    pub fn push(&mut self, text: P, tape: &Tape, maker: &mut Maker, given: &Given<'_>) -> Result<usize, Refusal> {
        let index = self.entries.len();
        let piece = u32::try_from(self.pieces.len()).unwrap_or(NONE);
        if self.chunks.len() <= index / BLOCK {
            self.chunks.push(Chunk::default());
        }
        let string = std::str::from_utf8(text.as_ref()).map_err(|_| Refusal::line(Code::InvalidUtf8, "not UTF-8"))?;
        let Some(record) = tape.root(string) else { return Err(Refusal::line(Code::NotAnObject, "no record")) };
        boundary::refuse_seen(record, self.setting.replace_seen)?;
        if let Some(chunk) = self.chunks.last_mut() {
            let keyed = maker.keys(&self.rules, record, given, self.setting.digests, &mut chunk.texts)?;
            chunk.outcomes.push(Outcome::Keyed(keyed));
        }
        let end = string.len();
        self.entries.push(Entry { piece, start: 0, end, input: None, line: 0, offset: 0, raw: None });
        self.bytes += end;
        self.pieces.push(text);
        Ok(index)
    }

    /// Takes the record back that was pushed last; its texts stay behind, unused.
    pub(super) fn forget_last(&mut self) {
        if let Some(entry) = self.entries.pop() {
            self.bytes -= entry.end - entry.start;
            self.pieces.pop();
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.outcomes.pop();
        }
    }

    fn chunk(&self, worker: &mut Worker, first: usize, entries: &[Entry]) -> Chunk {
        let mut chunk = Chunk { outcomes: Vec::with_capacity(entries.len()), texts: Texts::default() };
        for (index, entry) in (first..).zip(entries) {
            let long = self.long.binary_search_by_key(&index, |(at, _)| *at).ok();
            let long = long.and_then(|at| self.long.get(at)).map(|(_, long)| *long);
            let aside = self.set_aside.binary_search_by_key(&index, |(at, _)| *at).ok();
            let aside = aside.and_then(|at| self.set_aside.get(at)).map(|(_, refusal)| refusal.clone());
            chunk.outcomes.push(self.one(worker, *entry, long, aside, &mut chunk.texts));
        }
        chunk
    }

    fn one(
        &self,
        worker: &mut Worker,
        entry: Entry,
        long: Option<LongLine>,
        aside: Option<Refusal>,
        texts: &mut Texts,
    ) -> Outcome {
        let Worker { tape, maker } = worker;
        let setting = &self.setting;
        let given = self.given(entry);
        let refuse = |refusal, source: Span| Outcome::Refused(Box::new(Refused { refusal, source, long }));
        if long.is_some() {
            let refusal = Refusal::line(Code::LineTooLong, format!("longer than {} bytes", setting.max_line));
            return refuse(refusal, given.fallback_source(texts));
        }
        if let Some(refusal) = aside {
            return refuse(refusal, given.fallback_source(texts));
        }
        // Where a record was made into a line, its own bytes were held against the limit.
        let max_line = if entry.raw.is_some() { usize::MAX } else { setting.max_line };
        let text = match boundary::read(self.line(entry), max_line, setting.replace_seen, tape) {
            Ok(text) => text,
            Err(refusal) => return refuse(refusal, given.fallback_source(texts)),
        };
        if let Ok(at) = self.floats.binary_search_by_key(&entry.piece, |(piece, _)| *piece)
            && let Some((_, paths)) = self.floats.get(at)
        {
            tape.mark_floats(text, paths);
        }
        let Some(record) = tape.root(text) else {
            return refuse(Refusal::line(Code::NotAnObject, "no record"), given.fallback_source(texts));
        };
        let keyed = maker.keys(&self.rules, record, &given, setting.digests, texts);
        match keyed {
            Ok(keyed) => Outcome::Keyed(keyed),
            Err(refusal) => refuse(refusal, given.source_of(&self.rules, record, texts)),
        }
    }

    /// What is known of a record before it is read: its input's name, what that says, and what the run says.
    fn given(&self, entry: Entry) -> Given<'_> {
        let setting = &self.setting;
        let input = entry.input.and_then(|input| self.inputs.get(input as usize));
        Given {
            url: None,
            source: input.and_then(|input| input.source.as_deref()).or(setting.source.as_deref()),
            fetched_at: input.and_then(|input| input.fetched_at.as_deref()).or(setting.fetched_at.as_deref()),
            input: input.map_or("", |input| &input.name),
        }
    }

    fn distinct_sources(&self) -> Sources {
        let of_record = |outcome: &Outcome| match outcome {
            Outcome::Keyed(keyed) => keyed.source,
            Outcome::Refused(refused) => refused.source,
        };
        Sources::new(self.chunks.iter().flat_map(|chunk| {
            chunk.outcomes.iter().map(move |outcome| chunk.texts.get(of_record(outcome)).unwrap_or_default())
        }))
    }
}
