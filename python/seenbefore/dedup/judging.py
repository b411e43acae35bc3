"""The heart of the path: one keyed batch within one transaction."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from seenbefore._kernel import Batch, Judged
from seenbefore.stores.base import Transaction


@runtime_checkable
class Judging(Protocol):
    """A transaction that judges a batch by itself, without a Python object for each row."""

    def judge(self, batch: Batch, *, evidence: bool = True) -> Judged:
        """See the function below."""


def judge(transaction: Transaction, batch: Batch, *, evidence: bool = True) -> Judged:
    """Claims a keyed batch's keys, judges it, and renders it with the earlier rows that it refers to.

    Without `evidence` nobody will ask for receipts and rows, and a store may leave them unmade. Nothing is written yet
    but the names of sources. Raises StoreDamaged.
    """
    if isinstance(transaction, Judging):
        return transaction.judge(batch, evidence=evidence)
    contents, places = transaction.claim(batch.content_keys(), batch.place_keys())
    needed = batch.judge(transaction.next_sighting, contents, places)
    return batch.render(transaction.earlier(needed), transaction.source_ids(batch.sources()))
