"""Reading a store in SQLite from end to end: its contents, its places, what was seen of each, and what was said of it.

SQLite sorts in temporary files what it has no index for (`SQLITE_TMPDIR` or `TMPDIR` says where), so none of this needs
memory in proportion to the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

import zstandard

from seenbefore._kernel import SqliteReader
from seenbefore.stores.rows import ContentRow, Fault, Gathered, Keep, PlaceRow, StoreInfo, Stretch
from seenbefore.stores.sqlite import upkeep
from seenbefore.stores.sqlite.failures import named

# Stands for a ruleset or a source that a damaged store has no row of.
_UNKNOWN = "?"
# How many faults SQLite itself lists.
_MOST = 1000


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
        rows = self._each("SELECT ruleset, key, first, first_seen FROM content ORDER BY first")
        return (ContentRow(labels.get(owner, _UNKNOWN), *row) for owner, *row in rows)

    def places(self) -> Iterator[PlaceRow]:
        """All places, by id."""
        labels = self._labels()
        rows = self._each("SELECT ruleset, key, first, latest, latest_content FROM place ORDER BY first")
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
        """What SQLite finds, and rows that name others that are not there."""
        for (said,) in self._each(f"PRAGMA {'quick_check' if quick else 'integrity_check'}({_MOST})"):
            if said != "ok":
                yield Fault("file", "", str(said))
        for table, row, other, _ in self._each("PRAGMA foreign_key_check"):
            yield Fault(table, "" if row is None else str(row), f"names a row of {other} that is not there")
        if quick:
            for count, last in self._each("SELECT count(*), ifnull(max(id), 0) FROM sighting"):
                if count != last:
                    yield Fault(
                        "sighting", "", "are not there, as their ids have gaps", f"{last} sightings", f"{count}"
                    )
        else:
            for one, source in self._each(
                "SELECT id, source FROM sighting WHERE source NOT IN (SELECT id FROM source) ORDER BY id"
            ):
                yield Fault("sighting", str(one), "has a source that is not there", f"source {source}", "none")

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
            return zstandard.ZstdDecompressor().decompress(packed)

    def _each(self, sql: str, parameters: Any = ()) -> Iterator[Any]:
        with named(self.location):
            yield from self._reader.iterate(sql, parameters)
