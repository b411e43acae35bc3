"""Whether a store is whole: every key has its sightings, every sighting its receipt and its row, and all counts agree.

It reads the store from end to end a few times and holds next to nothing of it. What is compared is what the store says
in two places; whether keys and verdicts are right is for `verify`, which computes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seenbefore.audit.check.keys import contents, misled, places
from seenbefore.audit.check.records import records
from seenbefore.audit.check.runs import runs
from seenbefore.audit.check.totals import Totals
from seenbefore.errors import StoreDamaged
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import Fault


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a check: what it looks at, and its faults, one after the other, to be read before the next part."""

    name: str
    faults: Iterator[Fault]


def check(
    store: SeenStore, totals: Totals, *, quick: bool = False, step: Callable[[], None] | None = None
) -> Iterator[Part]:
    """The parts of a check of the store as it stands now; `totals` counts what was seen of it.

    `step` is called for each sighting that is read. `quick` reads no receipts and sorts nothing: it looks at the file,
    and whether runs, blocks and sightings count the same.
    """
    step = step or _nothing
    with store.snapshot() as seen:
        for name, faults in (
            ("file", seen.faults(quick=quick)),
            ("receipts", records(seen, totals, step, quick=quick)),
            ("runs", runs(seen, totals, quick=quick)),
        ):
            yield Part(name, _as_far_as_it_goes(name, faults))
        if quick:
            return
        for name, faults in (("contents", contents(seen, totals, step)), ("places", places(seen, totals, step))):
            yield Part(name, _as_far_as_it_goes(name, faults))
        if totals.misled:
            yield Part("keys", _as_far_as_it_goes("keys", misled(seen)))


def _as_far_as_it_goes(name: str, faults: Iterator[Fault]) -> Iterator[Fault]:
    """The faults, and as the last one what keeps the store from being read to its end."""
    try:
        yield from faults
    except StoreDamaged as error:
        yield Fault("file", "", f"can't be read any further for its {name}", found=error.found or error.message)


def _nothing() -> None:
    """Where nobody looks on."""
