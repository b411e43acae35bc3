"""What a provisional batch believes: the store's rows, and over them those of its own records, each revocable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from seenbefore._kernel import Judged
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import EarlierSighting, KnownContent, KnownPlace
from seenbefore.types import Verdict

# Sighting ids of records that are in no store yet: above all that a store will ever give out, within 64 bits.
_UNSTORED = 1 << 62


@dataclass(slots=True)
class Row:
    """One record of the batch: its keys, the facts that later rows are told, and what became of it."""

    content_key: bytes | None
    place_key: bytes | None
    fetched_at: int | None
    facts: EarlierSighting
    keep: bool
    released: bool = False
    confirmed: bool = False

    @classmethod
    def of(cls, judged: Judged, verdict: Verdict, content_keys: bytes, place_keys: bytes) -> Self:
        """The row of a batch of one record."""
        (sighting,) = judged.sightings
        fetched_at, url, payload = sighting[6], sighting[8], sighting[9]
        facts = (sighting[0], verdict.run, verdict.seq, url, fetched_at, payload)
        return cls(content_keys or None, place_keys or None, fetched_at, facts, verdict.action == "keep")


class Overlay:
    """Answers as a store would if the batch's records so far were in it, without those released."""

    def __init__(self, store: SeenStore, label: str) -> None:
        self._store, self._label = store, label
        self._rows: list[Row] = []
        self._contents: dict[bytes, tuple[int, int | None] | None] = {}
        self._places: dict[bytes, tuple[int, int, int] | None] = {}
        self._with_content: defaultdict[bytes, list[int]] = defaultdict(list)
        self._with_place: defaultdict[bytes, list[int]] = defaultdict(list)

    def id_of(self, position: int) -> int:
        """The sighting id that a record has until the batch is committed."""
        return _UNSTORED + position

    def claim(self, content_keys: bytes, place_keys: bytes) -> tuple[list[KnownContent], list[KnownPlace]]:
        """What is known of the keys of one record (32 bytes, or none), in the shapes that the kernel's judge takes."""
        content = self._content(content_keys) if content_keys else None
        place = self._place(place_keys) if place_keys else None
        return ([] if content is None else [(0, *content)], [] if place is None else [(0, *place)])

    def earlier(self, ids: Sequence[int]) -> list[EarlierSighting]:
        """The facts of earlier sightings, of the store's and of the batch's own."""
        return [self._rows[one - _UNSTORED].facts if one >= _UNSTORED else self._stored(one) for one in ids]

    def add(self, row: Row, rests_on: Sequence[int]) -> int | None:
        """Takes a judged record in → the position of the first unconfirmed record of the batch that it rests on."""
        position = len(self._rows)
        self._rows.append(row)
        if row.content_key is not None:
            self._with_content[row.content_key].append(position)
            if row.place_key is not None:
                self._with_place[row.place_key].append(position)
            self._apply(position)
        own = (one - _UNSTORED for one in rests_on if one >= _UNSTORED)
        return next((at for at in own if not self._rows[at].confirmed), None)

    def confirm(self, position: int) -> None:
        """The record is stored."""
        self._rows[position].confirmed = True

    def released(self, position: int) -> bool:
        """Whether the record was released."""
        return self._rows[position].released

    def release(self, position: int) -> None:
        """The record was not stored: what it changed is worked out again from the rows that are left."""
        row = self._rows[position]
        row.released = True
        if row.content_key is None:
            return
        self._contents[row.content_key] = self._stored_content(row.content_key)
        places = {self._rows[at].place_key for at in self._with_content[row.content_key]}
        for key in places - {None}:
            self._places[key] = self._stored_place(key)  # type: ignore[index, arg-type]
        for at in self._with_content[row.content_key]:
            self._apply(at, places=False)
        for key in places - {None}:
            for at in self._with_place[key]:  # type: ignore[index]
                self._apply(at)

    def _apply(self, position: int, *, places: bool = True) -> None:
        """Moves what is known on by one record. A skipped one whose content is unknown marks nothing: nobody has it."""
        row, own = self._rows[position], self.id_of(position)
        content = self._contents.get(row.content_key) if row.content_key is not None else None
        if row.released or row.content_key is None or (content is None and not row.keep):
            return
        first, first_seen = content or (own, None)
        times = [time for time in (first_seen, row.fetched_at) if time is not None]
        self._contents[row.content_key] = (first, min(times, default=None))
        if places and row.place_key is not None:
            place = self._places.get(row.place_key)
            self._places[row.place_key] = (own if place is None else place[0], own, first)

    def _content(self, key: bytes) -> tuple[int, int | None] | None:
        if key not in self._contents:
            self._contents[key] = self._stored_content(key)
        return self._contents[key]

    def _place(self, key: bytes) -> tuple[int, int, int] | None:
        if key not in self._places:
            self._places[key] = self._stored_place(key)
        return self._places[key]

    def _stored_content(self, key: bytes) -> tuple[int, int | None] | None:
        row = self._store.lookup_content(f"{self._label}:sha256:{key.hex()}")
        return None if row is None else (row.first, row.first_seen)

    def _stored_place(self, key: bytes) -> tuple[int, int, int] | None:
        row = self._store.lookup_place(f"{self._label}:url:sha256:{key.hex()}")
        return None if row is None else (row.first, row.latest, row.latest_content)

    def _stored(self, sighting: int) -> EarlierSighting:
        row = next(iter(self._store.sightings(after=sighting - 1)))
        return (row.id, row.run, row.seq, row.url, row.fetched_at, row.payload)
