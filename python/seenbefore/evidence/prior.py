"""What verdicts of a bundle rest on that its own receipts don't say (spec/bundle-1.md section 4).

Three passes over what came before, in memory that doesn't grow with it: which contents and places the bundle uses; what
was known of each; the receipts of the sightings that are needed. The tables lie in temporary files, mapped.
"""

from __future__ import annotations

import json
import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from seenbefore.errors import StoreDamaged
from seenbefore.evidence.lines import ordered
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import SightingRow, Stretch

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNUSED, _NO_TIME = -(1 << 63), (1 << 63) - 1
# What a sighting is needed for.
_FIRST, _LATEST = 1, 2
_STATED = ("run", "seq", "url", "url_key", "fetched_at", "payload_digest", "content_key")


class Slots:
    """An integer of 64 bits for each sighting id below `length`, in a temporary file."""

    def __init__(self, length: int, value: int) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `__exit__`
        chunk = value.to_bytes(8, "little", signed=True) * min(length, 1 << 17)
        for start in range(0, length * 8, len(chunk)):
            self._file.write(chunk[: length * 8 - start])
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), 0)
        self.values = memoryview(self._map).cast("q")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.values.release()
        self._map.close()
        self._file.close()


def prior_lines(store: SeenStore, first: int, last: int, passed: Callable[[int], None]) -> Iterator[bytes]:
    """The lines of `prior.ndjson` for a bundle of the sightings from `first` to `last`.

    `passed` hears how many sightings were gone through since its last call.
    """
    if first == 1:
        return
    with ExitStack() as stack:
        # The slot of a content: its earliest fetched_at. That of a place: its latest sighting.
        seen = stack.enter_context(Slots(first, _UNUSED)).values
        latest = stack.enter_context(Slots(first, _UNUSED)).values
        needed = stack.enter_context(Slots(first, 0)).values
        _mark(_each(store, first - 1, last, passed), first, seen, latest)
        _remember(_each(store, 0, first - 1, passed), seen, latest)
        for one in range(1, first):
            if seen[one] != _UNUSED:
                needed[one] |= _FIRST
            if latest[one] != _UNUSED:
                needed[latest[one]] |= _LATEST
        for stretch in store.stretches():
            if stretch.first_sighting >= first:
                break
            yield from _lines(store.location, stretch, needed, seen)
            passed(stretch.records)


def _mark(rows: Iterable[SightingRow], first: int, seen: Any, latest: Any) -> None:
    """The contents and places that the bundle uses and that were there before."""
    for row in rows:
        if row.content is None:
            continue  # unkeyed or refused: the verdict rests on nothing
        if row.content < first:
            seen[row.content] = _NO_TIME
        if row.place is not None and row.place < first:
            latest[row.place] = row.place


def _remember(rows: Iterable[SightingRow], seen: Any, latest: Any) -> None:
    """What the sightings before the bundle say of these."""
    for row in rows:
        if row.content is None:
            continue  # it leaves its URL's latest as it was
        if row.fetched_at is not None and seen[row.content] != _UNUSED:
            seen[row.content] = min(seen[row.content], row.fetched_at)
        if row.place is not None and latest[row.place] != _UNUSED:
            latest[row.place] = row.id


def _each(store: SeenStore, after: int, last: int, passed: Callable[[int], None]) -> Iterator[SightingRow]:
    """The sightings behind `after` up to `last`."""
    step = 50_000
    for count, row in enumerate(store.sightings(after=after), 1):
        if row.id > last:
            break
        if count % step == 0:
            passed(step)
        yield row


def _lines(location: str, stretch: Stretch, needed: Any, seen: Any) -> Iterator[bytes]:
    ids = range(stretch.first_sighting, stretch.first_sighting + stretch.records)
    if not any(needed[one] for one in ids):
        return
    for one, line in zip(ids, stretch.receipts.splitlines(), strict=True):
        uses = needed[one]
        if not uses:
            continue
        receipt = json.loads(line)
        if receipt.get("content_key") is None:
            raise StoreDamaged(
                f"{location}: {stretch.run}:{receipt['seq']} is said to have been seen, but its receipt has no key",
                path=location,
            )
        first = bool(uses & _FIRST)
        yield ordered(
            {
                **{name: receipt[name] for name in _STATED},
                "first": first,
                "first_seen": _time(seen[one]) if first else None,
                "latest": bool(uses & _LATEST),
            }
        )


def _time(micros: int) -> str | None:
    """As on receipts: in UTC, the fraction without trailing zeros (spec/keys-1.md section 10)."""
    if micros == _NO_TIME:
        return None
    text = (_EPOCH + timedelta(microseconds=micros)).isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0') if '.' in text else text}Z"
