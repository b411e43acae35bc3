//! Sightings of a content or a place after its first one, by the content or place: what a history is read from.
//!
//! An index of the table `sighting` by two more columns would cost every record two insertions at random places. Here the
//! pairs of a batch are sorted and written as pieces, one behind the other; a history reads one piece of each batch.

use crate::Error;
use crate::segments::Kind;
use rusqlite::{Connection, OptionalExtension, params};

/// A content or a place, and a sighting of it.
pub type Pair = (i64, i64);

/// Most bytes of a piece: SQLite keeps a row of a table without row ids on one page up to about this size.
const PIECE: usize = 2_000;
/// Most bytes of a pair.
const PAIR: usize = 20;

/// Writes the pairs of a batch whose first sighting is `since`. A few are joined to the few before them, so that many small
/// batches don't make many pieces.
pub(super) fn write(connection: &Connection, kind: Kind, since: i64, mut pairs: Vec<Pair>) -> Result<(), Error> {
    if pairs.is_empty() {
        return Ok(());
    }
    pairs.sort_unstable();
    if pairs.len() < PIECE / 2
        && let Some((before, joined)) = with_those_before(connection, kind, &pairs)?
    {
        connection
            .prepare_cached("DELETE FROM later WHERE kind = ?1 AND since = ?2")?
            .execute((kind.name(), before))?;
        return insert(connection, kind, before, &joined);
    }
    insert(connection, kind, since, &pairs)
}

fn insert(connection: &Connection, kind: Kind, since: i64, pairs: &[Pair]) -> Result<(), Error> {
    let mut statement = connection
        .prepare_cached("INSERT INTO later (kind, since, owner, first, entries) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (owner, first, entries) in pieces(since, pairs) {
        statement.execute(params![kind.name(), since, owner, first, entries])?;
    }
    Ok(())
}

/// The last pairs that were written, with these, and what they are counted from; none where they are more than a piece.
fn with_those_before(connection: &Connection, kind: Kind, pairs: &[Pair]) -> Result<Option<(i64, Vec<Pair>)>, Error> {
    let last: Option<(i64, i64, Vec<u8>, i64)> = connection
        .prepare_cached(
            "SELECT since, owner, entries, count(*) FROM later
             WHERE kind = ?1 AND since = (SELECT max(since) FROM later WHERE kind = ?1) GROUP BY since",
        )?
        .query_row([kind.name()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((since, owner, entries, 1)) = last else { return Ok(None) };
    if entries.len() + pairs.len() * 2 > PIECE {
        return Ok(None);
    }
    let mut joined = read(&entries, owner, since)?;
    joined.extend_from_slice(pairs);
    joined.sort_unstable();
    Ok((pieces(since, &joined).len() == 1).then_some((since, joined)))
}

/// Sorted pairs as pieces: first content or place, its first sighting here, and the pairs as LEB128 numbers: how far the
/// content or place is from the one before, how far the sighting from `since`.
fn pieces(since: i64, pairs: &[Pair]) -> Vec<(i64, i64, Vec<u8>)> {
    let mut all: Vec<(i64, i64, Vec<u8>)> = Vec::new();
    let mut before = 0;
    for (owner, sighting) in pairs.iter().copied() {
        if all.last().is_none_or(|(.., entries)| entries.len() + PAIR > PIECE) {
            all.push((owner, sighting, Vec::with_capacity(PIECE)));
            before = owner;
        }
        if let Some((.., entries)) = all.last_mut() {
            push(entries, owner - before);
            push(entries, sighting - since);
            before = owner;
        }
    }
    all
}

fn push(out: &mut Vec<u8>, number: i64) {
    let mut rest = number.cast_unsigned();
    while rest > 0x7F {
        out.push(u8::try_from(rest & 0x7F).unwrap_or(0) | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap_or(0));
}

/// The pairs of a piece; `owner` and `since` are those of its row.
///
/// # Errors
/// [`Error::Sqlite`] as of a damaged store, where the piece is none.
pub fn read(entries: &[u8], owner: i64, since: i64) -> Result<Vec<Pair>, Error> {
    let mut bytes = entries.iter();
    let mut number = || -> Option<i64> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = *bytes.next()?;
            number |= u64::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                return i64::try_from(number).ok();
            }
            shift += 7;
        }
    };
    let (mut pairs, mut owner) = (Vec::new(), owner);
    while let Some(step) = number() {
        let sighting = number().and_then(|step| since.checked_add(step));
        let next = owner.checked_add(step).zip(sighting);
        owner = next.map_or(0, |(owner, _)| owner);
        pairs.push(next.ok_or_else(|| Error::damaged("a piece of a history is cut off"))?);
    }
    let whole = bytes.next().is_none() && entries.last().is_none_or(|byte| *byte < 0x80);
    if whole { Ok(pairs) } else { Err(Error::damaged("a piece of a history is cut off")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test stops where it finds something wrong
mod tests {
    use super::{PIECE, Pair, pieces, read};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_give_their_pairs_back(
            since in 1..1_000_000_i64,
            mut pairs in prop::collection::vec((0..2_000_000_i64, 0..300_000_i64), 0..3_000),
        ) {
            for pair in &mut pairs {
                pair.1 += since;
            }
            pairs.sort_unstable();
            let written = pieces(since, &pairs);
            prop_assert!(written.iter().all(|(.., entries)| !entries.is_empty() && entries.len() <= PIECE));
            let back: Vec<Vec<Pair>> =
                written.iter().map(|(owner, _, entries)| read(entries, *owner, since).unwrap()).collect();
            prop_assert!(back.iter().zip(&written).all(|(pairs, (owner, first, _))| pairs[0] == (*owner, *first)));
            prop_assert_eq!(back.concat(), pairs);
        }

        #[test]
        fn no_bytes_are_too_strange(entries in prop::collection::vec(any::<u8>(), 0..40), owner: i64, since: i64) {
            let _ = read(&entries, owner, since);
        }
    }

    #[test]
    fn a_piece_that_is_cut_off_is_named() {
        let whole = pieces(5, &[(3, 900), (700, 901)]).remove(0).2;
        assert_eq!(read(&whole, 3, 5).unwrap(), [(3, 900), (700, 901)]);
        for end in [1, whole.len() - 1] {
            assert!(read(&whole[..end], 3, 5).is_err(), "{end}");
        }
    }
}
