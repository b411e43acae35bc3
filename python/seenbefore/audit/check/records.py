"""Blocks with their sightings, receipts and kept rows, beside each other in the order of commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from seenbefore.audit.check.receipts import compared, kept_as
from seenbefore.audit.check.totals import RunTotals, Totals
from seenbefore.errors import StoreDamaged
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import kept_indices, lines
from seenbefore.stores.rows import Fault, SightingRow, Stretch

_SEEN = b'"_seen":{'


def records(store: SeenStore, totals: Totals, step: Callable[[], None], *, quick: bool) -> Iterator[Fault]:
    """What doesn't fit together of them. `quick` looks at the blocks' places only."""
    if quick:
        yield from _Placed(totals).all(store)
        return
    placed = _Placed(totals)
    sightings = store.sightings()
    ahead = next(sightings, None)
    for stretch in store.stretches():
        yield from placed.next(stretch)
        end, own = stretch.first_sighting + stretch.records, dict[int, SightingRow]()
        while ahead is not None and ahead.id < end:
            step()
            if ahead.id < stretch.first_sighting:
                yield _without_receipt(ahead)
            else:
                own[ahead.id] = ahead
            ahead = next(sightings, None)
        yield from _compared(stretch, own, totals, keeps=store.keep == "kept")
    while ahead is not None:
        yield _without_receipt(ahead)
        ahead = next(sightings, None)


class _Placed:
    """Whether blocks follow each other, without gaps, in all and within their run."""

    def __init__(self, totals: Totals) -> None:
        self._totals = totals
        self._seq: defaultdict[int, int] = defaultdict(lambda: 1)
        self._sighting = 1

    def all(self, store: SeenStore) -> Iterator[Fault]:
        for stretch in store.stretches(packed=False):
            yield from self.next(stretch)
        last = store.last_sighting()
        if last != self._totals.sightings:
            yield Fault(
                "sighting", str(last), "is not the last one that has a receipt", str(self._totals.sightings), str(last)
            )

    def next(self, stretch: Stretch) -> Iterator[Fault]:
        row = f"{stretch.run}:{stretch.first_seq}"
        if stretch.first_sighting != self._sighting:
            expected, found = f"first sighting {self._sighting}", f"first sighting {stretch.first_sighting}"
            yield Fault("block", row, "doesn't follow the block before it", expected, found)
        if stretch.first_seq != self._seq[stretch.run]:
            expected, found = f"first seq {self._seq[stretch.run]}", f"first seq {stretch.first_seq}"
            yield Fault("block", row, "doesn't follow the block of its run before it", expected, found)
        self._sighting = stretch.first_sighting + stretch.records
        self._seq[stretch.run] = stretch.first_seq + stretch.records
        self._totals.sightings += stretch.records
        self._totals.runs[stretch.run].records += stretch.records


def _without_receipt(row: SightingRow) -> Fault:
    return Fault("sighting", str(row.id), "is in no block, so it has no receipt", "a receipt", "none")


def _compared(stretch: Stretch, own: Mapping[int, SightingRow], totals: Totals, *, keeps: bool) -> Iterator[Fault]:
    """The faults of one block; what it holds is added to the totals."""
    run = totals.runs[stretch.run]
    row = f"{stretch.run}:{stretch.first_seq}"
    for index in range(stretch.records):
        number, seq = stretch.first_sighting + index, stretch.first_seq + index
        sighting = own.get(number)
        if sighting is None:
            totals.uncompared = True
            yield Fault("sighting", str(number), "is not there", f"a sighting of row {stretch.run}:{seq}", "none")
        else:
            run.verdicts[sighting.verdict] += 1
            if (sighting.run, sighting.seq) != (stretch.run, seq):
                found = f"row {sighting.run}:{sighting.seq}"
                yield Fault("sighting", str(number), "is another row's", f"row {stretch.run}:{seq}", found)
    try:
        receipts, kept = stretch.receipts, stretch.kept
    except StoreDamaged as error:
        run.unread = totals.uncompared = True
        yield Fault("block", row, "can't be unpacked", "receipts and kept rows", error.message)
        return
    run.receipts.update(receipts)
    run.receipt_bytes += len(receipts)
    run.kept_bytes += len(kept or b"")
    yield from _receipts(stretch, receipts, own, totals)
    yield from _kept(stretch, receipts, kept, run, keeps=keeps)


def _receipts(stretch: Stretch, receipts: bytes, own: Mapping[int, SightingRow], totals: Totals) -> Iterator[Fault]:
    held = lines(receipts)
    if len(held) != stretch.records:
        row, found = f"{stretch.run}:{stretch.first_seq}", f"{len(held)} receipts"
        totals.uncompared = True
        yield Fault("block", row, "holds another number of receipts than it says", f"{stretch.records} receipts", found)
    for index, line in enumerate(held[: stretch.records]):
        yield from compared(
            (stretch.run, stretch.first_seq + index), line, own.get(stretch.first_sighting + index), totals
        )


def _kept(stretch: Stretch, receipts: bytes, kept: bytes | None, run: RunTotals, *, keeps: bool) -> Iterator[Fault]:
    row = f"{stretch.run}:{stretch.first_seq}"
    places = kept_indices(receipts)
    run.kept += len(places)
    if (kept is not None) is not keeps:
        expected, found = ("kept rows" if one else "no kept rows" for one in (keeps, kept is not None))
        yield Fault("block", row, "doesn't hold what the store keeps", expected, found)
    if kept is None:
        return
    rows = lines(kept)
    if len(rows) != len(places):
        what = "holds another number of kept rows than its receipts say"
        yield Fault("block", row, what, f"{len(places)} rows", f"{len(rows)} rows")
        return
    judged = lines(receipts)
    for index, line in zip(places, rows, strict=True):
        wanted = kept_as(judged[index])
        seen = line[line.rfind(_SEEN) + len(_SEEN) :] if _SEEN in line else b""
        if not seen.startswith(wanted):
            name, what = f"{stretch.run}:{stretch.first_seq + index}", "has a kept row that is not its receipt's"
            expected, found = (side.decode(errors="replace") for side in (wanted, seen[: len(wanted)]))
            yield Fault("block", name, what, expected, found)
