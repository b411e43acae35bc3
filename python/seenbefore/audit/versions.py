"""What a place held over time: one row for each stretch in which it showed the same content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seenbefore.audit.log import receipts
from seenbefore.audit.times import utc_text
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import SightingRow


@dataclass(slots=True)
class Version:
    """A stretch of sightings of one place with one content: the first of them, how many, and their times.

    Times are microseconds since 1970: the least and the greatest that any of them was fetched at, None where none says.
    """

    first: SightingRow
    first_seen: int | None = None
    last_seen: int | None = None
    sightings: int = 0

    def see(self, fetched_at: int | None) -> None:
        """Counts a sighting. One without a time moves neither end."""
        self.sightings += 1
        if fetched_at is not None:
            self.first_seen = fetched_at if self.first_seen is None else min(self.first_seen, fetched_at)
            self.last_seen = fetched_at if self.last_seen is None else max(self.last_seen, fetched_at)


def versions(rows: Iterable[SightingRow]) -> list[Version]:
    """The versions that sightings show, in the order in which they began. A content that comes back is another one."""
    found: list[Version] = []
    now: dict[int | None, Version] = {}
    for row in rows:
        shown = now.get(row.place)
        if shown is None or shown.first.content != row.content:
            shown = now[row.place] = Version(row)
            found.append(shown)
        shown.see(row.fetched_at)
    return found


def members(store: SeenStore, version: Version) -> dict[str, Any]:
    """A version for JSON: facts of its first row, as the receipt has them, and the times. Raises StoreDamaged."""
    receipt = json.loads(next(receipts(store, [version.first])))
    names = ("run", "seq", "verdict", "url", "url_key", "content_key", "refers_to")
    return {name: receipt[name] for name in names} | {
        "first_seen": utc_text(version.first_seen),
        "last_seen": utc_text(version.last_seen),
        "sightings": version.sightings,
    }
