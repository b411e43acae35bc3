"""What a check counts on its way: of each run, and of the keys that sightings and receipts name."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class RunTotals:
    """What the blocks and sightings of one run add up to.

    `unread` is set where a block could not be unpacked: then lengths and digests say nothing.
    """

    records: int = 0
    verdicts: Counter[int] = field(default_factory=Counter)
    kept: int = 0
    receipt_bytes: int = 0
    kept_bytes: int = 0
    receipts: Any = field(default_factory=hashlib.sha256)
    unread: bool = False


@dataclass(slots=True)
class Totals:
    """What a store adds up to.

    `named` and `owned` gather which key each sighting has, by its receipt and by the tables: sums that are equal where
    all of them agree, so that no key has to be held.
    """

    runs: defaultdict[int, RunTotals] = field(default_factory=lambda: defaultdict(RunTotals))
    sightings: int = 0
    contents: int = 0
    places: int = 0
    named: int = 0
    owned: int = 0
    uncompared: bool = False

    @property
    def misled(self) -> bool:
        """Whether some sighting has another key by its receipt than by the tables."""
        return self.named != self.owned and not self.uncompared


def pair(sighting: int, kind: str, digits: int) -> int:
    """A number that stands for a sighting's having a key of a kind, of which `digits` are the last 64 bits."""
    return hash((sighting, kind == "place", digits))
