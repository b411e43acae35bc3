"""Reading a store in SQLite from end to end: its contents, its places, what was seen of each, and what was said of it.

SQLite sorts in temporary files what it has no index for (`SQLITE_TMPDIR` or `TMPDIR` says where), so none of this needs
memory in proportion to the store.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

from seenbefore._kernel import SqliteReader, read_later, unpack
from seenbefore.stores.rows import ContentRow, Fault, Gathered, Keep, PlaceRow, SightingRow, StoreInfo, Stretch
from seenbefore.stores.sqlite import faults, upkeep
from seenbefore.stores.sqlite.failures import named
from seenbefore.stores.sqlite.rows import SIGHTINGS, sighting_row

# Stands for a ruleset or a source that a damaged store has no row of.
_UNKNOWN = "?"

# The pieces of `later` that may hold a content or place: of each batch those that begin with it, and the one before
# them. Batches before the one in which it begins hold nothing of it, and those that end before `after` nothing wanted.
_PIECES = """
WITH RECURSIVE batch (since) AS (
    SELECT ifnull(
        (SELECT max(since) FROM later WHERE kind = :kind AND since <= max(:owner, :after)),
        (SELECT min(since) FROM later WHERE kind = :kind)
    )
    UNION ALL
    SELECT (SELECT min(since) FROM later WHERE kind = :kind AND since > batch.since) FROM batch WHERE since IS NOT NULL
)
SELECT later.since, later.owner, later.entries FROM batch CROSS JOIN later
    ON later.kind = :kind AND later.since = batch.since AND later.owner <= :owner AND later.owner >= ifnull(
        (SELECT max(owner) FROM later WHERE kind = :kind AND since = batch.since AND owner < :owner), :owner
    )
"""


def _sorted(kind: Literal["content", "place"]) -> str:
    """The keys of a kind by id, as the first table of a join, which then finds the others' rows one after the other.

    Of the views `content` and `place` each row would be looked up in the order of the keys. The limit keeps SQLite from
    dissolving what is in brackets; a join goes over its first table in the order in which that gives its rows.
    """
    return f"(SELECT ruleset, key, id FROM entry WHERE kind = '{kind}' ORDER BY id LIMIT -1) AS entry"


class Histories:
    """The part of a SqliteStore that reads everything."""

    location: str
    keep: Keep
    _path: Path
    _reader: SqliteReader

    def snapshot(self) -> Self:
        """A handle of its own that shows the store as it stands now: see SeenStore."""
        seen = type(self)(self._path, create=False, read_only=True)  # type: ignore[call-arg] # of SqliteStore
        seen.location = self.location
        with named(self.location):
            seen._reader.execute("BEGIN")  # noqa: SLF001 - of the same class
            # What a transaction sees is settled when it first reads.
            seen._reader.execute("SELECT max(id) FROM sighting")  # noqa: SLF001 - the same
        return seen

    def contents(self) -> Iterator[ContentRow]:
        """All contents, by id."""
        labels = self._labels()
        rows = self._each(
            f"SELECT entry.ruleset, entry.key, entry.id, ifnull(seen.first_seen, sighting.fetched_at)"
            f" FROM {_sorted('content')} LEFT JOIN content_seen AS seen USING (id) LEFT JOIN sighting USING (id)"
        )
        return (ContentRow(labels.get(owner, _UNKNOWN), *row) for owner, *row in rows)

    def places(self) -> Iterator[PlaceRow]:
        """All places, by id."""
        labels = self._labels()
        rows = self._each(
            f"SELECT entry.ruleset, entry.key, entry.id, ifnull(now.latest, entry.id), ifnull(now.content, entry.id)"
            f" FROM {_sorted('place')} LEFT JOIN place_now AS now USING (id)"
        )
        return (PlaceRow(labels.get(owner, _UNKNOWN), *row) for owner, *row in rows)

    def gathered(self, by: Literal["content", "place"]) -> Iterator[Gathered]:
        """The sightings that have a content, or a place, by its id."""
        # Names of sources are looked up here, so that the rows that SQLite sorts are the shorter.
        sources = dict(self._each("SELECT id, name FROM source"))
        rows = self._each(
            f"SELECT {by}, id, run, seq, source, url, fetched_at, content FROM sighting"
            f" WHERE {by} IS NOT NULL ORDER BY {by}, id"
        )
        return (
            (owner, one, run, seq, sources.get(source, _UNKNOWN), *facts)
            for owner, one, run, seq, source, *facts in rows
        )

    def sightings(
        self,
        *,
        run: int | None = None,
        source: str | None = None,
        content: int | None = None,
        place: int | None = None,
        verdict: int | None = None,
        after: int = 0,
    ) -> Iterator[SightingRow]:
        """The sightings that have all the given facts, by id."""
        wanted = {"s.run": run, "source.name": source, "s.content": content, "s.place": place, "s.verdict": verdict}
        asked = {name: value for name, value in wanted.items() if value is not None}
        conditions = "".join(f" AND {name} = ?" for name in asked)
        if content is None and place is None:
            rows = self._each(f"{SIGHTINGS} WHERE s.id > ?{conditions} ORDER BY s.id", (after, *asked.values()))
            return map(sighting_row, rows)
        ids = self._history("content", content or 0, after) if place is None else self._history("place", place, after)
        found = f"{SIGHTINGS} WHERE s.id IN (SELECT value FROM json_each(?)){conditions} ORDER BY s.id"
        return (sighting_row(row) for some in ids for row in self._each(found, (json.dumps(some), *asked.values())))

    def _history(self, kind: Literal["content", "place"], owner: int, after: int) -> Iterator[list[int]]:
        """The sightings of a content or a place with ids behind `after`: some at a time, in order."""
        if owner > after:
            yield [owner]
        indexed = int(next(self._each("SELECT value FROM meta WHERE name = 'later_from'"))[0])
        if owner < indexed:
            old = f"SELECT id FROM sighting WHERE id > ? AND id < ? AND {kind} = ? ORDER BY id"
            for (one,) in self._each(old, (max(owner, after), indexed, owner)):
                yield [one]
        pieces = self._each(_PIECES, {"kind": kind, "owner": owner, "after": after})
        for _, rows in itertools.groupby(pieces, key=lambda row: row[0]):
            pairs = (pair for since, first, entries in rows for pair in read_later(entries, first, since))
            some = [sighting for of, sighting in pairs if of == owner and sighting > after]
            if some:
                yield some

    def stretches(self, *, packed: bool = True) -> Iterator[Stretch]:
        """The receipts and kept rows of all runs."""
        # Rows are appended, so the order of their numbers is that of the commits.
        bodies = "receipts, kept" if packed else "x'', NULL"
        rows = self._each(f"SELECT run, first_seq, first_sighting, records, {bodies} FROM block ORDER BY rowid")
        return (Stretch(*row, self._unpacked) for row in rows)  # type: ignore[call-arg] # six columns

    def last_sighting(self) -> int:
        """The id of the last sighting."""
        return next((last or 0 for (last,) in self._each("SELECT max(id) FROM sighting")), 0)

    def faults(self, *, quick: bool) -> Iterator[Fault]:
        """What is wrong by itself with the file, its rows and its keys."""
        yield from faults.structure(self._each, quick=quick)
        if not quick:
            yield from faults.keys(self._each)
            yield from faults.histories(self._each)

    def info(self) -> StoreInfo:
        """What the store is and how much it holds."""
        counts = {f"{name}s": next(self._each(f"SELECT count(*) FROM {name}"))[0] for name in ("ruleset", "run")}
        keys = dict(self._each("SELECT kind, sum(keys) FROM segment GROUP BY kind"))
        return StoreInfo(
            kind="sqlite",
            location=self.location,
            migrations=tuple(name for (name,) in self._each("SELECT name FROM migration ORDER BY rowid")),
            keep=self.keep,
            sightings=self.last_sighting(),
            size=upkeep.size(self._path),
            contents=keys.get("content", 0),
            places=keys.get("place", 0),
            **counts,
        )

    def _labels(self) -> dict[int, str]:
        return dict(self._each("SELECT id, name || '/' || version FROM ruleset"))

    def _unpacked(self, packed: bytes) -> bytes:
        with named(self.location):
            return unpack(packed)

    def _each(self, sql: str, parameters: Any = ()) -> Iterator[Any]:
        with named(self.location):
            yield from self._reader.iterate(sql, parameters)
