"""The heart of the path: one keyed batch within one transaction."""

from __future__ import annotations

from seenbefore._kernel import Batch, Judged
from seenbefore.stores.base import Transaction


def judge(transaction: Transaction, batch: Batch) -> Judged:
    """Claims a keyed batch's keys, judges it, and renders it with the earlier rows that it refers to.

    Nothing is written yet but the names of sources. Raises StoreDamaged.
    """
    contents, places = transaction.claim(batch.content_keys(), batch.place_keys())
    needed = batch.judge(transaction.next_sighting, contents, places)
    return batch.render(transaction.earlier(needed), transaction.source_ids(batch.sources()))
