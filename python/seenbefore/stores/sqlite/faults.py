"""What is wrong by itself with a store in SQLite: the file, rows that name others, the segments that hold the keys."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from seenbefore._kernel import SqliteError, read_later
from seenbefore.stores.rows import Digest, Fault

Each: TypeAlias = Callable[..., Iterator[Any]]

# Behind every id.
_LAST = 1 << 62
# How many faults SQLite itself lists.
_MOST = 1000
# An entry of a bucket: the key, and the id in decimal digits.
_KEY, _ENTRY = 32, 44
# The bits of a filter that a key has: see docs/explanation/store-layout.md.
_BLOCK, _PROBES, _NINE = 64, range(0, 63, 9), 0x1FF
_UNNAMED = {
    "content_seen": "SELECT id FROM content_seen LEFT JOIN sighting USING (id) WHERE sighting.content IS NOT id",
    "place_now": "SELECT id FROM place_now LEFT JOIN sighting USING (id) WHERE sighting.place IS NOT id",
}


def structure(each: Each, *, quick: bool) -> Iterator[Fault]:
    """What SQLite finds in the file, and rows that name rows which are not there."""
    for (said,) in each(f"PRAGMA {'quick_check' if quick else 'integrity_check'}({_MOST})"):
        if said != "ok":
            yield Fault("file", "", str(said))
    for table, row, other, _ in each("PRAGMA foreign_key_check"):
        yield Fault(table, "" if row is None else str(row), f"names a row of {other} that is not there")
    if quick:
        for count, last in each("SELECT count(*), ifnull(max(id), 0) FROM sighting"):
            if count != last:
                yield Fault("sighting", "", "are not there, as their ids have gaps", f"{last} sightings", f"{count}")
        return
    missing = "SELECT id, source FROM sighting WHERE source NOT IN (SELECT id FROM source) ORDER BY id"
    for one, source in each(missing):
        yield Fault("sighting", str(one), "has a source that is not there", f"source {source}", "none")
    for table, stray in _UNNAMED.items():
        for (one,) in each(stray):
            yield Fault(table, str(one), "is of a sighting that was not the first of one", f"sighting {one}", "none")


def keys(each: Each) -> Iterator[Fault]:
    """Segments that don't hold what they say, in the order in which a look-up needs it, and keys that stand twice."""
    labels = dict(each("SELECT id, name || '/' || version FROM ruleset"))
    segments: dict[tuple[str, int], list[_Segment]] = {}
    for one, kind, owner, count, buckets, bits in each("SELECT id, kind, ruleset, keys, buckets, filter FROM segment"):
        segments.setdefault((kind, owner), []).append(_Segment(one, count, buckets, bits))
    for (kind, owner), own in segments.items():
        before: tuple[Digest, int] = (b"", 0)
        # Each is in order, so that they are merged without holding them.
        for entry in heapq.merge(*(segment.entries(each) for segment in own)):
            if entry[0] == before[0]:
                text = f"{labels.get(owner, '?')}{':url' if kind == 'place' else ''}:sha256:{entry[0].hex()}"
                yield Fault(
                    kind, text, "stands twice, so its first sighting is not one", f"id {before[1]}", f"id {entry[1]}"
                )
            before = entry
            for segment in own:
                yield from segment.told()
        for segment in own:
            yield from segment.told()
    ids = ", ".join(str(segment.id) for own in segments.values() for segment in own)
    for (one,) in each(f"SELECT id FROM bucket WHERE id >> 24 NOT IN ({ids})"):
        yield Fault(
            "bucket",
            f"{one >> 24}:{one & 0xFFFFFF}",
            "is of a segment that is not there",
            f"segment {one >> 24}",
            "none",
        )


def histories(each: Each) -> Iterator[Fault]:
    """Batches whose sightings are not what the index `later` has of them."""
    for kind in ("content", "place"):
        first = next((int(value) for (value,) in each("SELECT value FROM meta WHERE name = 'later_from'")), 1)
        starts = [since for (since,) in each("SELECT DISTINCT since FROM later WHERE kind = ? ORDER BY since", (kind,))]
        # Before the first of them nothing was seen again.
        bounds = sorted({first, *starts, _LAST})
        for begin, end in itertools.pairwise(bounds):
            rows = f"SELECT {kind}, id FROM sighting WHERE id >= ? AND id < ? AND {kind} < id ORDER BY {kind}, id"
            wanted = list(each(rows, (begin, end)))
            pieces = "SELECT owner, entries FROM later WHERE kind = ? AND since = ? ORDER BY owner, first"
            try:
                of_piece = [read_later(entries, owner, begin) for owner, entries in each(pieces, (kind, begin))]
                found = list(itertools.chain.from_iterable(of_piece))
            except SqliteError as error:
                yield Fault("later", f"{kind} {begin}", "can't be read", "pairs of numbers", str(error.args[0]))
                continue
            if found != wanted:
                at = min((sighting for _, sighting in set(wanted) ^ set(found)), default=begin)
                what = f"is no index of the sightings, first of sighting {at}"
                yield Fault("later", f"{kind} {begin}", what, f"{len(wanted):,} repeats", f"{len(found):,} repeats")


@dataclass(slots=True)
class _Segment:
    """A row of `segment`, and what is found wrong with it while its entries are read."""

    id: int
    keys: int
    buckets: int
    filter: bytes
    _faults: list[Fault] = field(default_factory=list)

    def told(self) -> list[Fault]:
        """The faults found since the last call."""
        if not self._faults:
            return _NONE
        faults, self._faults = self._faults, []
        return faults

    def entries(self, each: Each) -> Iterator[tuple[Digest, int]]:
        """Its keys with their ids, in order."""
        count, before = 0, b""
        blocks, at, block = len(self.filter) // _BLOCK, -1, 0
        rows = "SELECT id & 16777215, entries FROM bucket WHERE id >= ? << 24 AND id < ? << 24 ORDER BY id"
        for number, entries in each(rows, (self.id, self.id + 1)):
            if len(entries) % _ENTRY:
                self._fault(number, "is cut off", f"entries of {_ENTRY} bytes", f"{len(entries)} bytes")
            for start in range(0, len(entries) - _ENTRY + 1, _ENTRY):
                key, digits = entries[start : start + _KEY], entries[start + _KEY : start + _ENTRY]
                count += 1
                if key <= before:
                    self._fault(number, "has a key that is not in order", f"more than {before.hex()}", key.hex())
                before = key
                prefix = int.from_bytes(key[:4], "big")
                if prefix * self.buckets >> 32 != number:
                    found = f"bucket {self.id}:{prefix * self.buckets >> 32}"
                    self._fault(number, "has a key of another bucket", f"bucket {self.id}:{number}", found)
                if prefix * blocks >> 32 != at:
                    at = prefix * blocks >> 32
                    block = int.from_bytes(self.filter[at * _BLOCK : (at + 1) * _BLOCK], "little")
                bits = int.from_bytes(key[8:16], "big")
                if blocks and not all(block >> (bits >> probe & _NINE) & 1 for probe in _PROBES):
                    found = "its filter says it is not there"
                    self._fault(number, "has a key that can't be found", f"key {key.hex()}", found)
                yield key, int(digits) if digits.isdigit() else 0
        if count != self.keys:
            self._faults.append(
                Fault("segment", str(self.id), "holds another number of keys than it says", str(count), str(self.keys))
            )

    def _fault(self, bucket: int, what: str, expected: str, found: str) -> None:
        self._faults.append(Fault("bucket", f"{self.id}:{bucket}", what, expected, found))


_NONE: list[Fault] = []
