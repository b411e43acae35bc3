"""Reading a store in PostgreSQL from end to end: its contents, its places, what was seen of each, and what was said.

The server sorts what it has no index for, in its own memory and temporary files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

from seenbefore._kernel import unpack
from seenbefore.errors import StoreUnsupported
from seenbefore.stores.postgres import faults, upkeep
from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.failures import named
from seenbefore.stores.postgres.reader import Reader
from seenbefore.stores.postgres.rows import shown, shown_or_none, sighting_row
from seenbefore.stores.rows import ContentRow, Fault, Gathered, Keep, PlaceRow, SightingRow, StoreInfo, Stretch

# Stands for a ruleset that a damaged store has no row of.
_UNKNOWN = "?"
# Sightings that are asked for at once; they have consecutive ids.
_WINDOW = 20_000
# The part of the sightings that lies in a stretch of ids: of each batch that has any of them, those.
_STRETCH = """
SELECT b.first_sighting + (s.id & 16777215), s.run, s.seq, coalesce(source.name, '?'),
    c.first_sighting + (s.content & 16777215), p.first_sighting + (s.place & 16777215),
    s.fetched_at, s.verdict, s.url, s.payload
FROM batch AS b
JOIN sighting AS s ON s.id >= (b.id << 24) + greatest(0, %(first)s - b.first_sighting)
    AND s.id <= (b.id << 24) + least(b.records - 1, %(last)s - b.first_sighting)
LEFT JOIN source ON source.id = s.source
LEFT JOIN batch AS c ON c.id = s.content >> 24
LEFT JOIN batch AS p ON p.id = s.place >> 24
WHERE b.first_sighting <= %(last)s AND b.first_sighting > %(before)s AND b.first_sighting + b.records > %(first)s
"""


class Histories:
    """The part of a PostgresStore that reads everything."""

    location: str
    keep: Keep
    _address: Address
    _reader: Reader

    def snapshot(self) -> Self:
        """A handle of its own that shows the store as it stands now: see SeenStore."""
        seen = type(self)(self._address, create=False, read_only=True)  # type: ignore[call-arg] # of PostgresStore
        seen._reader.hold()  # noqa: SLF001 - of the same class
        return seen

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
        wanted: dict[str, Any] = {"s.run": run, "s.verdict": verdict}
        if source is not None:
            wanted["s.source"] = self._source(source)
        for name, one in (("s.content", content), ("s.place", place)):
            wanted[name] = None if one is None else self._inner(one)
        asked = {f"fact{at}": (name, value) for at, (name, value) in enumerate(wanted.items()) if value is not None}
        conditions = "".join(f" AND {name} = %({fact})s" for fact, (name, _) in asked.items())
        statement = f"{_STRETCH}{conditions} ORDER BY b.first_sighting, s.id"
        facts = {fact: value for fact, (_, value) in asked.items()}
        return map(sighting_row, self._windows(statement, facts, after))

    def _windows(self, statement: str, facts: dict[str, Any], after: int) -> Iterator[Any]:
        """The rows of a statement over one stretch of ids after the other."""
        self._reader.begin()
        try:
            largest = self._reader.one("SELECT coalesce(max(records), 0) FROM batch")[0]
            end = self.last_sighting()
            for first in range(after + 1, end + 1, _WINDOW):
                last = min(first + _WINDOW - 1, end)
                # No batch is larger, so those that begin earlier hold nothing of the stretch.
                bounds = {"first": first, "last": last, "before": first - largest}
                yield from self._reader.all(statement, facts | bounds)  # type: ignore[arg-type] # named ones
        finally:
            self._reader.end()

    def _inner(self, sighting: int) -> int:
        """The inner id of a sighting; -1 where there is none, which no sighting has."""
        row = self._reader.one(
            "SELECT id, first_sighting, records FROM batch WHERE first_sighting <= %s"
            " ORDER BY first_sighting DESC LIMIT 1",
            (sighting,),
        )
        if row is None or sighting >= row[1] + row[2]:
            return -1
        return int(row[0] << 24) + sighting - int(row[1])

    def _source(self, name: str) -> int:
        raise NotImplementedError

    def contents(self) -> Iterator[ContentRow]:
        """All contents, by id."""
        labels = self._labels()
        rows = self._reader.each("SELECT ruleset, key, first, first_seen FROM contents ORDER BY first")
        return (ContentRow(labels.get(owner, _UNKNOWN), *row) for owner, *row in rows)

    def places(self) -> Iterator[PlaceRow]:
        """All places, by id."""
        labels = self._labels()
        rows = self._reader.each("SELECT ruleset, key, first, latest, latest_content FROM places ORDER BY first")
        return (PlaceRow(labels.get(owner, _UNKNOWN), *row) for owner, *row in rows)

    def gathered(self, by: Literal["content", "place"]) -> Iterator[Gathered]:
        """The sightings that have a content, or a place, by its id."""
        rows = self._reader.each(
            f"SELECT {by}, id, run, seq, source, url, fetched_at, content FROM sightings"
            f" WHERE {by} IS NOT NULL ORDER BY {by}, id"
        )
        return (
            (owner, one, run, seq, shown(source), shown_or_none(url), fetched_at, content)
            for owner, one, run, seq, source, url, fetched_at, content in rows
        )

    def stretches(self, *, packed: bool = True) -> Iterator[Stretch]:
        """The receipts and kept rows of all runs."""
        bodies = "k.receipts, k.kept" if packed else "''::bytea, NULL::bytea"
        rows = self._reader.each(
            f"SELECT k.run, k.first_seq, b.first_sighting + (k.first_sighting & 16777215), k.records, {bodies}"
            " FROM batch AS b JOIN block AS k"
            " ON k.first_sighting >= b.id << 24 AND k.first_sighting < (b.id + 1) << 24"
            " ORDER BY b.first_sighting, k.first_sighting"
        )
        return (Stretch(*row, self._unpacked) for row in rows)  # type: ignore[call-arg] # six columns

    def last_sighting(self) -> int:
        """The id of the last sighting."""
        row = self._reader.one("SELECT first_sighting + records - 1 FROM batch ORDER BY first_sighting DESC LIMIT 1")
        return 0 if row is None else int(row[0])

    def faults(self, *, quick: bool) -> Iterator[Fault]:
        """What is wrong by itself with the tables, row by row."""
        return faults.found(self._reader.each, quick=quick)

    def copy(self, target: str) -> int:
        """Refused for now."""
        raise StoreUnsupported("a store in PostgreSQL is copied with pg_dump", path=target)

    def info(self) -> StoreInfo:
        """What the store is and how much it holds."""
        tables = ("ruleset", "run", "content", "place")
        counts = {f"{name}s": self._reader.one(f"SELECT count(*) FROM {name}")[0] for name in tables}
        return StoreInfo(
            kind="postgresql",
            location=self.location,
            migrations=tuple(name for (name,) in self._reader.all("SELECT name FROM migration ORDER BY number")),
            keep=self.keep,
            sightings=self.last_sighting(),
            size=upkeep.size(self._reader),
            **counts,
        )

    def _labels(self) -> dict[int, str]:
        return dict(self._reader.all("SELECT id, name || '/' || version FROM ruleset"))

    def _unpacked(self, packed: bytes) -> bytes:
        with named(self.location):
            return unpack(packed)
