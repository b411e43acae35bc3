"""Batches that are judged outside of the kernel: claimed by their keys alone, written from Python's rows.

Here ids are known from the claim on, so this path holds the row that gives them from there to the end of the
transaction. The path of a run doesn't: see PostgresTransaction.judge.
"""

from __future__ import annotations

from collections.abc import Iterable

import zstandard

from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.laws import Claimed, cut
from seenbefore.stores.postgres.claims import Claims
from seenbefore.stores.postgres.connecting import Connection
from seenbefore.stores.postgres.rows import stored
from seenbefore.stores.postgres.schema import SHIFT
from seenbefore.stores.rows import KnownContent, KnownPlace, Progress

# Of the records of a batch the last one there could be; it stands for the first sighting until that is known.
_UNKNOWN = (1 << SHIFT) - 1
_LEVEL = 1


class RowClaim:
    """A claim of keys, and what is then written of it. `contents` and `places` are those known before."""

    def __init__(self, connection: Connection, claims: Claims, content_keys: bytes, place_keys: bytes) -> None:
        self._connection, self._claims, self._keys = connection, claims, content_keys
        self._inner: dict[int, int] = {}
        unknown = claims.base | _UNKNOWN
        keys, spots = cut(content_keys), cut(place_keys)
        contents = bool(keys) and claims.contents(
            len(keys), ((index, key, unknown, None) for index, key in enumerate(keys))
        )
        inner = claims.known_contents(lock=True) if contents else []
        places = bool(spots) and claims.places(
            len(spots), ((index, key, unknown, unknown, unknown) for index, key in enumerate(spots))
        )
        inner_places = claims.known_places() if places else []
        self.first = next_sighting(connection)
        self._number([row[1] for row in inner] + [one for row in inner_places for one in row[1:]])
        ids = {inside: one for one, inside in self._inner.items()}
        self.contents: list[KnownContent] = [(index, ids[one], seen) for index, one, seen in inner]
        self.places: list[KnownPlace] = [
            (index, ids[one], ids[latest], ids[content]) for index, one, latest, content in inner_places
        ]
        self._claimed = Claimed(content_keys, place_keys, self.contents, self.places)

    def _number(self, inner: Iterable[int]) -> None:
        """Note the ids of sightings by their inner ids."""
        wanted = set(inner)
        numbers = list({one >> SHIFT for one in wanted})
        rows = self._connection.execute("SELECT id, first_sighting FROM batch WHERE id = ANY(%s)", (numbers,))
        firsts = dict(rows.fetchall())
        self._inner = {firsts[one >> SHIFT] + (one & _UNKNOWN): one for one in wanted}

    def _inside(self, one: int) -> int:
        return one - self.first + self._claims.base if one >= self.first else self._inner[one]

    def record(self, judged: JudgedBatch, progress: Progress, location: str, *, keep_rows: bool) -> int:
        """Write a batch → how many sightings it has. Raises StoreDamaged where it is not what was claimed."""
        self._claimed.check(judged, progress, self.first, location)
        claims, inside = self._claims, self._inside
        claims.settle_contents(((key, inside(one), seen) for key, one, seen in judged.contents_new), _UNKNOWN)
        places = [(0, key, *map(inside, ids)) for key, *ids in judged.places]
        claims.settle_places(places, _UNKNOWN)
        known, moved = self._claimed.known(), []
        for key, seen in judged.contents_earlier:
            before = known[key][1]
            moved.append((key, seen if before is None else min(before, seen)))
        claims.move_contents(moved, self._keys)
        claims.sightings(
            (
                inside(one),
                run,
                seq,
                source,
                None if content is None else inside(content),
                None if place is None else inside(place),
                fetched_at,
                verdict,
                None if url is None else stored(url),
                payload,
            )
            for one, run, seq, source, content, place, fetched_at, verdict, url, payload in judged.sightings
        )
        self._blocks(judged, progress.run, keep_rows=keep_rows)
        count = len(judged.sightings)
        if count:
            claims.number_batch(progress.run, count, moved=bool(moved))
        return count

    def _blocks(self, judged: JudgedBatch, run: int, *, keep_rows: bool) -> None:
        packer, first = zstandard.ZstdCompressor(level=_LEVEL), self._claims.base
        rows = []
        for seq, records, receipts, kept, _ in judged.blocks:
            packed = packer.compress(kept) if keep_rows else None
            rows.append((run, seq, first, records, packer.compress(receipts), packed))
            first += records
        self._claims.blocks(rows)


def next_sighting(connection: Connection) -> int:
    """The id that the next sighting gets; nobody else takes it before the end of the transaction."""
    row = connection.execute("SELECT next FROM counter WHERE name = 'sighting' FOR UPDATE").fetchone()
    return 1 if row is None else int(row[0])
