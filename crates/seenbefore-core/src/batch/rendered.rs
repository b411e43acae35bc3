//! Rendering: receipts, kept rows and refused lines as bytes, on all cores, and the counts of the batch.

use super::{BLOCK, Batch, NONE, Outcome, Refused};
use crate::error::{Code, Problem};
use crate::judge::Verdict;
use crate::keys::{Digest, Keyed, Texts, sha256};
use crate::receipt::{Receipt, RefusedLine, Sighting, without_seen};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the store knows of an earlier sighting.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Its sighting id.
    pub id: i64,
    /// Ordinal of its run.
    pub run: u64,
    /// Ordinal in its run.
    pub seq: u64,
    /// URL as given, credentials redacted.
    pub url: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<i64>,
    /// Payload digest.
    pub payload: Option<Digest>,
}

/// What was written about up to [`BLOCK`] records in a row.
#[derive(Debug, Default)]
pub struct Block {
    /// Ordinal of the first in its run.
    pub first_seq: u64,
    /// How many.
    pub records: usize,
    /// Their receipts.
    pub receipts: Vec<u8>,
    /// The kept among them, with `_seen`.
    pub kept: Vec<u8>,
    /// The refused among them.
    pub refused: Vec<u8>,
}

/// How many of what, for one source.
#[derive(Clone, Debug, Default)]
pub struct SourceCounts {
    /// Records with a content key.
    pub keyed: u64,
    /// Those whose content was seen before.
    pub seen_before: u64,
    /// By verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
}

/// How many of what, in a batch.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Records and refused lines.
    pub records: u64,
    /// By verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// `changed` whose content was seen before.
    pub changed_seen_before: u64,
    /// Kept rows.
    pub kept: u64,
    /// Skipped records.
    pub skipped: u64,
    /// By refusal code.
    pub refusals: BTreeMap<Code, u64>,
    /// By problem code.
    pub problems: BTreeMap<Problem, u64>,
    /// By index into [`Batch::sources`].
    pub sources: Vec<SourceCounts>,
}

impl<P: AsRef<[u8]> + Send + Sync> Batch<P> {
    /// Writes receipts, kept rows and refused lines. `earlier` is sorted by id and holds what [`Batch::judge`] asked for.
    #[must_use]
    pub fn render(&self, earlier: &[Earlier]) -> Vec<Block> {
        self.render_with(earlier, || (), |(), block| block)
    }

    /// As [`Batch::render`]; each block is handed on by the thread that wrote it, with what `begin` gave that thread.
    pub fn render_with<S, T: Send>(
        &self,
        earlier: &[Earlier],
        begin: impl Fn() -> S + Send + Sync,
        hand_on: impl Fn(&mut S, Block) -> T + Send + Sync,
    ) -> Vec<T> {
        let chunks = self.chunks.par_iter().enumerate();
        chunks.map_init(begin, |state, (chunk, _)| hand_on(state, self.block(chunk * BLOCK, earlier))).collect()
    }

    /// How many of what.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts =
            Counts { sources: vec![SourceCounts::default(); self.sources.names.len()], ..Counts::default() };
        // By index of the source, or behind all of them, and of the verdict.
        let mut verdicts = vec![[0_u64; Verdict::ALL.len()]; self.sources.names.len() + 1];
        for (index, judgement) in self.judgements.iter().enumerate() {
            let Some((outcome, _)) = self.outcome(index) else { continue };
            counts.records += 1;
            let source = self.sources.of.get(index).filter(|source| **source != NONE);
            let source = source.map_or(self.sources.names.len(), |source| *source as usize);
            let verdict = verdicts.get_mut(source).and_then(|of| of.get_mut(judgement.verdict as usize));
            if let Some(count) = verdict {
                *count += 1;
            }
            if let Some(source) = counts.sources.get_mut(source) {
                source.keyed += u64::from(judgement.content != 0);
                source.seen_before += u64::from(judgement.seen_before);
            }
            match outcome {
                Outcome::Refused(refused) => *counts.refusals.entry(refused.refusal.code).or_default() += 1,
                Outcome::Keyed(keyed) => {
                    counts.kept += u64::from(judgement.keep);
                    counts.skipped += u64::from(!judgement.keep);
                    counts.changed_seen_before +=
                        u64::from(judgement.verdict == Verdict::Changed && judgement.seen_before);
                    for problem in keyed.problems.iter() {
                        *counts.problems.entry(problem).or_default() += 1;
                    }
                }
            }
        }
        for (source, of) in verdicts.iter().enumerate() {
            for (verdict, count) in Verdict::ALL.iter().copied().zip(of).filter(|(_, count)| **count > 0) {
                *counts.verdicts.entry(verdict).or_default() += count;
                if let Some(source) = counts.sources.get_mut(source) {
                    source.verdicts.insert(verdict, *count);
                }
            }
        }
        counts
    }

    fn block(&self, first: usize, earlier: &[Earlier]) -> Block {
        let mut block = Block { first_seq: self.seq(first), ..Block::default() };
        for index in first..(first + BLOCK).min(self.entries.len()) {
            block.records += 1;
            match self.outcome(index) {
                Some((Outcome::Keyed(keyed), texts)) => self.row(index, keyed, texts, earlier, &mut block),
                Some((Outcome::Refused(refused), _)) => self.refused(index, refused, &mut block),
                None => {}
            }
        }
        block
    }

    fn row(&self, index: usize, keyed: &Keyed, texts: &Texts, earlier: &[Earlier], block: &mut Block) {
        let (Some(judgement), Some(entry)) = (self.judgements.get(index), self.entries.get(index)) else { return };
        let refers_to = self.sighting(judgement.refers_to, earlier);
        let matched_on = refers_to
            .map(|(_, payload)| if payload.is_some() && payload == keyed.payload { "payload" } else { "content" });
        let receipt = Receipt {
            this: Sighting {
                run: self.setting.run,
                seq: self.seq(index),
                url: texts.get(keyed.url),
                fetched_at: keyed.fetched_at,
            },
            label: &self.rules.label,
            input: self.input_name(*entry),
            line: entry.line,
            source: texts.get(keyed.source).filter(|source| !source.is_empty()),
            place: keyed.place.as_ref(),
            payload: keyed.payload.as_ref(),
            content: keyed.content.as_ref(),
            verdict: judgement.verdict.code(),
            keep: judgement.keep,
            seen_before: judgement.seen_before,
            matched_on,
            refers_to: refers_to.map(|(sighting, _)| sighting),
            previous: self.sighting(judgement.previous, earlier).map(|(sighting, _)| sighting),
            problems: keyed.problems,
            first_seen: judgement.first_seen,
        };
        receipt.write(&mut block.receipts);
        if judgement.keep {
            let line = self.line(*entry);
            let replaced =
                if self.setting.replace_seen { std::str::from_utf8(line).ok().and_then(without_seen) } else { None };
            receipt.write_kept(replaced.as_deref().map_or(line, str::as_bytes), &mut block.kept);
        }
    }

    fn refused(&self, index: usize, refused: &Refused, block: &mut Block) {
        let Some(entry) = self.entries.get(index) else { return };
        let bytes = self.raw(*entry);
        let line = RefusedLine {
            run: self.setting.run,
            seq: self.seq(index),
            input: self.input_name(*entry),
            line: entry.line,
            offset: entry.offset,
            length: refused.long.map_or(bytes.len() as u64, |long| long.length),
            code: refused.refusal.code.code(),
            detail: &refused.refusal.detail,
            sha256: refused.long.map_or_else(|| sha256(bytes), |long| long.sha256),
            bytes: refused.long.map_or(Ok(bytes), |long| Err(long.bin_offset)),
        };
        line.write_receipt(&mut block.receipts);
        line.write(&mut block.refused);
    }

    /// The sighting with this id, of this batch or an earlier one, and its payload digest.
    fn sighting<'a>(&'a self, id: i64, earlier: &'a [Earlier]) -> Option<(Sighting<'a>, Option<Digest>)> {
        if id == 0 {
            return None;
        }
        if id < self.first_sighting {
            let found = earlier.get(earlier.binary_search_by_key(&id, |earlier| earlier.id).ok()?)?;
            let sighting =
                Sighting { run: found.run, seq: found.seq, url: found.url.as_deref(), fetched_at: found.fetched_at };
            return Some((sighting, found.payload));
        }
        let index = usize::try_from(id - self.first_sighting).ok()?;
        let (outcome, texts) = self.outcome(index)?;
        let Outcome::Keyed(keyed) = outcome else { return None };
        let sighting = Sighting {
            run: self.setting.run,
            seq: self.seq(index),
            url: texts.get(keyed.url),
            fetched_at: keyed.fetched_at,
        };
        Some((sighting, keyed.payload))
    }

    fn seq(&self, index: usize) -> u64 {
        self.setting.first_seq + index as u64
    }
}
