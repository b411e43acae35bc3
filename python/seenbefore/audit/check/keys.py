"""Contents and places beside their sightings, both by id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from seenbefore.audit.check.totals import Totals, pair
from seenbefore.audit.times import utc_text
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import lines
from seenbefore.stores.rows import ContentRow, Fault, Gathered, PlaceRow, SightingRow

Kind: TypeAlias = Literal["content", "place"]


@dataclass(slots=True)
class _Gist:
    """What the sightings of one content or place come down to."""

    count: int = 0
    first: int = 0
    least: int | None = None
    last: int = 0
    last_content: int | None = None
    named: int = 0

    def take(self, seen: Gathered, kind: Kind, digits: int) -> None:
        """Adds a sighting; they come by id."""
        _, number, _, _, _, _, fetched_at, content = seen
        self.count += 1
        self.first = self.first or number
        self.last, self.last_content = number, content
        if fetched_at is not None and (self.least is None or fetched_at < self.least):
            self.least = fetched_at
        self.named += pair(number, kind, digits)


def contents(store: SeenStore, totals: Totals, step: Callable[[], None]) -> Iterator[Fault]:
    """Contents without sightings, sightings without content, and a first_seen that is not the least time of them."""
    sides = _Sides("content", store, totals, step)
    for row, gist in sides.joined(store.contents()):
        totals.contents += 1
        if gist is not None and row.first_seen != gist.least:
            expected, found = (utc_text(time) or "none" for time in (gist.least, row.first_seen))
            yield Fault("content", _key(row), "has another first_seen than its sightings say", expected, found)
        yield from sides.faults()
    yield from sides.faults()


def places(store: SeenStore, totals: Totals, step: Callable[[], None]) -> Iterator[Fault]:
    """Places without sightings, sightings without place, and a latest sighting that isn't the latest."""
    sides = _Sides("place", store, totals, step)
    for row, gist in sides.joined(store.places()):
        totals.places += 1
        if gist is not None and (row.latest, row.latest_content) != (gist.last, gist.last_content):
            expected = f"sighting {gist.last} of content {gist.last_content}"
            found = f"sighting {row.latest} of content {row.latest_content}"
            yield Fault("place", _key(row), "has another latest sighting than there is", expected, found)
        yield from sides.faults()
    yield from sides.faults()


class _Sides:
    """Keys and gathered sightings, side by side. Faults of both kinds of rows are kept until they are asked for."""

    def __init__(self, kind: Kind, store: SeenStore, totals: Totals, step: Callable[[], None]) -> None:
        self._kind, self._totals, self._step = kind, totals, step
        self._labels = {run.ordinal: run.ruleset for run in store.runs()}
        self._groups = groupby(store.gathered(kind), itemgetter(0))
        self._faults: list[Fault] = []

    def joined(self, rows: Iterable[ContentRow | PlaceRow]) -> Iterator[tuple[Any, _Gist | None]]:
        """Each row with what its sightings come down to, None where it has none."""
        owner, group = next(self._groups, (None, ()))
        for row in rows:
            while owner is not None and owner < row.first:
                self._keyless(owner, group)
                owner, group = next(self._groups, (None, ()))
            if owner == row.first:
                yield row, self._gist(row, group)
                owner, group = next(self._groups, (None, ()))
            else:
                self._fault(row, "has no sighting", f"sighting {row.first}", "none")
                yield row, None
        while owner is not None:
            self._keyless(owner, group)
            owner, group = next(self._groups, (None, ()))

    def faults(self) -> list[Fault]:
        """The faults since the last call."""
        faults, self._faults = self._faults, []
        return faults

    def _gist(self, row: ContentRow | PlaceRow, group: Iterable[Gathered]) -> _Gist:
        gist, digits = _Gist(), int.from_bytes(row.key[-8:], "big")
        for seen in group:
            self._step()
            gist.take(seen, self._kind, digits)
            # Of a run that is not there its block is told.
            label = self._labels.get(seen[2], row.ruleset)
            if label != row.ruleset:
                what = f"belongs to a {self._kind} of another ruleset than its run"
                self._faults.append(Fault("sighting", str(seen[1]), what, label, row.ruleset))
        self._totals.owned += gist.named
        if gist.first != row.first:
            self._fault(row, "is not named after its first sighting", f"sighting {gist.first}", f"sighting {row.first}")
        return gist

    def _keyless(self, owner: int, group: Iterable[Gathered]) -> None:
        self._totals.uncompared = True
        for seen in group:
            self._step()
            what = f"belongs to a {self._kind} that has no key"
            self._faults.append(Fault("sighting", str(seen[1]), what, f"a key of {self._kind} {owner}", "none"))

    def _fault(self, row: ContentRow | PlaceRow, what: str, expected: str, found: str) -> None:
        self._faults.append(Fault(self._kind, _key(row), what, expected, found))


def misled(store: SeenStore) -> Iterator[Fault]:
    """The sightings whose receipts name another key than the tables. Each key is looked up, which takes its time."""
    sightings = store.sightings()
    for stretch in store.stretches():
        for receipt, row in zip(map(json.loads, lines(stretch.receipts)), sightings, strict=False):
            if receipt.get("content_key") is None:
                continue
            content = store.lookup_content(receipt["content_key"])
            if content is None or content.first != row.content:
                yield _other(row, "content", receipt["content_key"], content)
            if receipt["url_key"] is not None:
                place = store.lookup_place(receipt["url_key"])
                if place is None or place.first != row.place:
                    yield _other(row, "place", receipt["url_key"], place)


def _other(row: SightingRow, kind: Kind, key: str, known: ContentRow | PlaceRow | None) -> Fault:
    expected = f"{kind} {'of no id' if known is None else known.first}, {key}"
    what = f"has another {kind} than its receipt, row {row.run}:{row.seq}"
    return Fault("sighting", str(row.id), what, expected, f"{kind} {getattr(row, kind)}")


def _key(row: ContentRow | PlaceRow) -> str:
    """The text of a row's key."""
    url = ":url" if isinstance(row, PlaceRow) else ""
    return f"{row.ruleset}{url}:sha256:{row.key.hex()}"
