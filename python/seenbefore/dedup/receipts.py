"""Receipts read back as verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seenbefore._kernel import Reference, Verdict


def verdict_of(receipt: bytes, *, position: int = 0) -> Verdict:
    """The verdict that a receipt states. `position` is the record's within its batch, from 0."""
    members = json.loads(receipt)
    return Verdict(
        members["verdict"],
        members["action"],
        seen_before=members["seen_before"],
        run=members["run"],
        seq=members["seq"],
        position=position,
        source=members["source"] or None,
        url=members["url"],
        url_key=members["url_key"],
        fetched_at=members["fetched_at"],
        payload_digest=members["payload_digest"],
        content_key=members["content_key"],
        matched_on=members["matched_on"],
        refers_to=_reference(members["refers_to"]),
        previous=_reference(members["previous"]),
        problems=members["problems"],
    )


def _reference(members: Mapping[str, Any] | None) -> Reference | None:
    return None if members is None else Reference(members["run"], members["seq"], members["url"], members["fetched_at"])
