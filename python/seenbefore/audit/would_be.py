"""What a run would say of a record now, without one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seenbefore._kernel import Batch
from seenbefore.errors import Refused, SeenbeforeError
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore


def would_be(rules: Ruleset, record: bytes, store: SeenStore) -> Mapping[str, Any] | None:
    """The receipt that a record would get now, None where it would be refused. Nothing is claimed or written."""
    batch = Batch(
        rules.kernel,
        0,
        0,
        max_records=1,
        max_bytes=1 << 62,
        max_line=1 << 62,
        source=None,
        fetched_at=None,
        replace_seen=True,
        digests=True,
    )
    try:
        batch.push(record)
    except Refused:
        return None
    batch.key()
    contents, places, earlier = [], [], []
    try:
        keys = rules.keys(record)
        content = store.lookup_content(keys.content_key) if keys.content_key else None
        place = store.lookup_place(keys.url_key) if keys.url_key else None
    except SeenbeforeError:
        return None  # the store doesn't know this ruleset, so it says nothing
    if content is not None:
        contents.append((0, content.first, content.first_seen))
    if place is not None:
        places.append((0, place.first, place.latest, place.latest_content))
    for one in batch.judge(1 << 62, contents, places):
        row = next(iter(store.sightings(after=one - 1)))
        earlier.append((row.id, row.run, row.seq, row.url, row.fetched_at, row.payload))
    judged = batch.render(earlier, [0] * len(batch.sources()))
    receipt: dict[str, Any] = json.loads(next(judged.blocks)[2])
    return {name: value for name, value in receipt.items() if name not in {"run", "seq", "input", "line"}}
