//! What is left of a provisional batch as a batch of its own, and how that one's final verdicts differ from those that were given.

use super::Provisional;
use crate::batch::NONE;
use crate::batch::{BLOCK, Batch, Chunk, Entry, Outcome, Setting};
use crate::keys::Keyed;
use std::sync::Arc;

impl<P: AsRef<[u8]> + Send + Sync + Clone> Provisional<P> {
    /// A batch of the records at `positions`, in that order, as it is committed: the first gets the ordinal `first_seq`.
    #[must_use]
    pub fn batch(&self, positions: &[usize], first_seq: u64) -> Batch<P> {
        let setting = Setting { first_seq, ..self.batch.setting.clone() };
        let mut batch = Batch::new(Arc::clone(&self.batch.rules), setting);
        for part in positions.chunks(BLOCK) {
            let mut chunk = Chunk::default();
            for position in part {
                let (Some(entry), Some((keyed, texts))) = (self.batch.entries.get(*position), self.record(*position))
                else {
                    continue;
                };
                let piece = u32::try_from(batch.pieces.len()).unwrap_or(NONE);
                batch.pieces.extend(self.batch.pieces.get(entry.piece as usize).cloned());
                batch.entries.push(Entry { piece, ..*entry });
                batch.bytes += entry.end - entry.start;
                let copied = Keyed {
                    url: chunk.texts.copy(texts, keyed.url),
                    source: chunk.texts.copy(texts, keyed.source),
                    ..*keyed
                };
                chunk.outcomes.push(Outcome::Keyed(copied));
            }
            batch.chunks.push(chunk);
        }
        batch.key();
        batch
    }

    /// Of the records of a judged batch, those that the program skipped though they are not seen before without what was released.
    ///
    /// With each go those that rest on them in turn, so that a chain of repeats is found in one round. `positions` are
    /// those that the batch was made of.
    #[must_use]
    pub fn lost(&self, batch: &Batch<P>, positions: &[usize]) -> Vec<usize> {
        let skipped = |position: usize| self.rows.get(position).is_some_and(|row| !row.keep);
        let judged = || (batch.first_sighting..).zip(positions.iter().copied().zip(batch.judgements()));
        let first: Vec<i64> = judged()
            .filter(|(_, (position, judgement))| skipped(*position) && judgement.keep)
            .map(|(id, _)| id)
            .collect();
        let is_first = |id: i64| first.binary_search(&id).is_ok();
        judged()
            .filter(|(id, (position, judgement))| skipped(*position) && (is_first(*id) || is_first(judgement.content)))
            .map(|(_, (position, _))| position)
            .collect()
    }

    /// Of the records of a judged batch, those that another writer made seen before since they were judged here.
    #[must_use]
    pub fn late(&self, batch: &Batch<P>, positions: &[usize]) -> Vec<usize> {
        let unseen = |position: usize| self.rows.get(position).is_some_and(|row| !row.seen_before);
        let judged = positions.iter().copied().zip(batch.judgements());
        judged
            .filter(|(position, judgement)| judgement.seen_before && unseen(*position))
            .map(|(position, _)| position)
            .collect()
    }
}
