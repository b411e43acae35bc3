"""The merged view: one row a content, with everything that was seen of it and the record that was kept.

Rows come by content id, which is the order in which the contents were first seen. Sightings, contents and receipts are
read beside each other in that order; what is held in memory is one content with its different URLs, and one block of
receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from json.encoder import encode_basestring
from operator import itemgetter

from seenbefore.audit.locate import without_seen
from seenbefore.audit.times import utc_text
from seenbefore.errors import StoreDamaged, UsageError
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import kept_indices, lines
from seenbefore.stores.rows import ContentRow, Gathered, Stretch


@dataclass(slots=True)
class Shown:
    """What was seen of a content under one URL, as fetched, and from one source. Times are microseconds since 1970."""

    url: str | None
    source: str
    first_seen: int | None = None
    last_seen: int | None = None
    sightings: int = 0

    def see(self, fetched_at: int | None) -> None:
        """Counts a sighting. One without a time moves neither end."""
        self.sightings += 1
        if fetched_at is not None:
            self.first_seen = fetched_at if self.first_seen is None else min(self.first_seen, fetched_at)
            self.last_seen = fetched_at if self.last_seen is None else max(self.last_seen, fetched_at)


@dataclass(frozen=True, slots=True)
class MergedRow:
    """One content.

    `run` and `seq` name its first row, whose record is `record`, as it was kept; None where the store keeps no rows.
    `urls` holds each pair of URL and source once, in the order in which they were first seen.
    """

    content_key: str
    run: int
    seq: int
    urls: tuple[Shown, ...]
    record: bytes | None

    @property
    def first_seen(self) -> int | None:
        """The earliest fetched_at of any sighting, whatever the order of arrival."""
        return min((shown.first_seen for shown in self.urls if shown.first_seen is not None), default=None)

    @property
    def last_seen(self) -> int | None:
        """The latest fetched_at of any sighting."""
        return max((shown.last_seen for shown in self.urls if shown.last_seen is not None), default=None)

    @property
    def sightings(self) -> int:
        """How often the content was seen."""
        return sum(shown.sightings for shown in self.urls)

    @property
    def sources(self) -> tuple[str, ...]:
        """Each source once, in the order in which they first had it."""
        return tuple(dict.fromkeys(shown.source for shown in self.urls))

    def line(self) -> bytes:
        """The row as a line of NDJSON: its members in a fixed order, and the record's own bytes as the last one."""
        # Written by hand: millions of them are, and the json module takes four times as long.
        text = (
            f'{{"content_key":"{self.content_key}","run":{self.run},"seq":{self.seq}'
            f',"first_seen":{_time(self.first_seen)},"last_seen":{_time(self.last_seen)},"sightings":{self.sightings}'
            f',"sources":[{",".join(map(_text, self.sources))}],"urls":[{",".join(map(_shown, self.urls))}],"record":'
        )
        return b"%s%s}\n" % (text.encode(), b"null" if self.record is None else self.record)


def _shown(one: Shown) -> str:
    return (
        f'{{"url":{_text(one.url)},"source":{_text(one.source)},"first_seen":{_time(one.first_seen)}'
        f',"last_seen":{_time(one.last_seen)},"sightings":{one.sightings}}}'
    )


def _text(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


def _time(micros: int | None) -> str:
    return "null" if micros is None else f'"{utc_text(micros)}"'


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sightings are merged: of one ruleset, one source, runs from the first to the last (None: the latest)."""

    ruleset: str | None = None
    source: str | None = None
    runs: tuple[int, int | None] | None = None

    def takes(self, seen: Gathered) -> bool:
        """Whether a sighting counts."""
        if self.source is not None and seen[4] != self.source:
            return False
        first, last = self.runs or (seen[2], seen[2])
        return first <= seen[2] and (last is None or seen[2] <= last)


def merged(store: SeenStore, wanted: Wanted | None = None) -> Iterator[MergedRow]:
    """One row a content of which something wanted was seen, by content id, all as of the moment of the first row.

    Sightings of unfinished and abandoned runs count as far as they were committed. Raises UsageError where the store
    doesn't have the ruleset, StoreDamaged where keys, sightings and receipts don't fit together.
    """
    wanted = wanted or Wanted()
    if wanted.ruleset is not None and all(row.label != wanted.ruleset for row in store.rulesets()):
        labels = ", ".join(row.label for row in store.rulesets()) or "none"
        raise UsageError(
            f"{store.location} has no ruleset {wanted.ruleset}", found=wanted.ruleset, hint=f"it has {labels}"
        )
    with store.snapshot() as seen:
        records = _Records(seen.stretches())
        sightings = groupby(seen.gathered("content"), itemgetter(0))
        for content in seen.contents():
            first, own = next(sightings, (None, ()))
            if first != content.first:
                raise _damaged(store, content.first if first is None else min(content.first, first))
            if wanted.ruleset in {None, content.ruleset}:
                row = _row(content, own, wanted, records)
                if row is not None:
                    yield row
        for left, _ in sightings:
            raise _damaged(store, left)


def _damaged(store: SeenStore, content: int) -> StoreDamaged:
    return StoreDamaged(
        f"{store.location} is damaged: its contents and its sightings don't fit together at content {content:,}",
        path=store.location,
        hint="`seenbefore store check` names everything that doesn't fit together",
    )


def _row(content: ContentRow, sightings: Iterable[Gathered], wanted: Wanted, records: _Records) -> MergedRow | None:
    urls: dict[tuple[str | None, str], Shown] = {}
    run = seq = 0
    for seen in sightings:
        if seen[1] == content.first:
            run, seq = seen[2], seen[3]
        if wanted.takes(seen):
            place = seen[5], seen[4]
            if place not in urls:
                urls[place] = Shown(*place)
            urls[place].see(seen[6])
    if not urls:
        return None
    key = f"{content.ruleset}:sha256:{content.key.hex()}"
    return MergedRow(key, run, seq, tuple(urls.values()), records.of(content.first))


@dataclass(slots=True)
class _Records:
    """The kept records of sightings that are asked for in rising order."""

    stretches: Iterator[Stretch]
    _first: int = 0
    _end: int = 0
    _rows: dict[int, bytes] = field(default_factory=dict)

    def of(self, sighting: int) -> bytes | None:
        """The record as it came, None where it was not kept or the store keeps none."""
        while sighting >= self._end:
            stretch = next(self.stretches, None)
            if stretch is None:
                return None
            self._first, self._end = stretch.first_sighting, stretch.first_sighting + stretch.records
            if sighting < self._end:
                kept = stretch.kept
                self._rows = (
                    {} if kept is None else dict(zip(kept_indices(stretch.receipts), lines(kept), strict=False))
                )
        row = self._rows.get(sighting - self._first)
        return None if row is None else without_seen(row)
