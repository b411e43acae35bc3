"""Which runs a bundle holds, and whether their sightings are one stretch of the store's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from seenbefore.errors import UsageError
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import RunRow, Stretch

_RANGE = re.compile(r"([0-9]+)?(\.\.)?([0-9]+)?")


def ordinals(text: str | None) -> tuple[int, int | None]:
    """`A..B`, `A..`, `..B` or `A` → the first ordinal and the last, None for the latest. Raises UsageError."""
    found = _RANGE.fullmatch(".." if text is None else text)
    if found is None or not (found[1] or found[2]) or (found[3] and not found[2]):
        raise UsageError(f"{text!r} names no runs", expected="A..B, A.., ..B or A, with run numbers", found=text)
    first, last = int(found[1] or 1), int(found[3]) if found[3] else None if found[2] else int(found[1])
    if last is not None and last < first:
        raise UsageError(f"{text!r} names no runs: it ends before it starts", expected="A..B, A up to B", found=text)
    return first, last


def choose(store: SeenStore, wanted: str | None) -> tuple[RunRow, ...]:
    """The runs that `wanted` names, all where None, by ordinal.

    Raises UsageError where there is none, or where one is unfinished.
    """
    first, last = ordinals(wanted)
    known = store.runs()
    runs = tuple(row for row in known if first <= row.ordinal and (last is None or row.ordinal <= last))
    if not runs:
        has = f"it has {known[0].ordinal} to {known[-1].ordinal}" if known else "it has none"
        raise UsageError(f"{store.location} has no such runs: {has}", path=store.location, found=wanted)
    for row in runs:
        if row.state == "unfinished":
            raise UsageError(
                f"run {row.ordinal} of {store.location} is unfinished",
                path=store.location,
                hint="finish it with the command that began it, close it with --abandon, or choose others with --runs",
            )
    return runs


def stretches_of(store: SeenStore, runs: Iterable[RunRow]) -> Iterator[Stretch]:
    """The stretches of these runs in the order of commits. Raises UsageError where one of another run lies between."""
    ours = {row.ordinal for row in runs}
    begun, between = False, set[int]()
    for stretch in store.stretches():
        if stretch.run not in ours:
            if begun:
                between.add(stretch.run)
            continue
        if between:
            raise UsageError(
                f"run {', '.join(map(str, sorted(between)))} of {store.location} was committed between the chosen "
                "ones, so their verdicts may rest on it",
                path=store.location,
                hint="choose a range of --runs that has it too",
            )
        begun = True
        yield stretch
