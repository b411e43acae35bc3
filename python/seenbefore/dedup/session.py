"""The run that the batches of a program belong to: begun with the first record, finished when the program is."""

from __future__ import annotations

import hashlib
from typing import Any

from seenbefore._kernel import Batch, Judged, Provisional
from seenbefore.dedup.batches import Settings
from seenbefore.dedup.judging import judge
from seenbefore.dedup.opening import NO_OUTPUT, now
from seenbefore.dedup.summaries import merged
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore, Transaction
from seenbefore.stores.rows import Progress


class Session:
    """One run without output files. `next_seq` is the ordinal that its next record gets."""

    def __init__(self, store: SeenStore, rules: Ruleset, settings: Settings) -> None:
        self.store, self.rules = store, rules
        self.next_seq = 1
        self._settings = settings
        self._run: int | None = None
        self._counts: dict[str, Any] = {}
        self._receipts = hashlib.sha256()
        # The kernel's own store is asked without Python in between.
        self.asked: object = getattr(store, "asked", store)

    def begin(self) -> int:
        """The run's ordinal; the first call begins it, durably."""
        if self._run is None:
            with self.store.transaction() as transaction:
                self._run = transaction.begin_run(NO_OUTPUT, self.rules.configuration, now())
                transaction.commit()
        return self._run

    def provisional(self) -> Provisional:
        """An empty batch of the kernel whose records are judged one at a time; its first gets the next ordinal."""
        settings = self._settings
        return Provisional(
            self.rules.kernel,
            self.begin(),
            self.next_seq,
            source=settings.source,
            fetched_at=settings.fetched_at,
            replace_seen=settings.replace_seen,
        )

    def judged(self, transaction: Transaction, batch: Batch) -> Judged:
        """A keyed batch judged against the store within a transaction."""
        return judge(transaction, batch)

    def record(self, transaction: Transaction, judged: Judged) -> None:
        """Writes a judged batch into a transaction; `committed` has to follow its commit."""
        transaction.record(judged, Progress(self.begin(), {}, {}, merged(self._counts, judged.counts)))

    def came_to_pass(self, transaction: Transaction, judged: Judged) -> bool:
        """Whether the commit of a judged batch, whose answer was lost, was made all the same."""
        return dict(transaction.standing(self.begin()).counts) == merged(self._counts, judged.counts)

    def committed(self, judged: Judged | None) -> None:
        """Moves on behind a batch that is durable now."""
        if judged is None:
            return
        self._counts = merged(self._counts, judged.counts)
        self.next_seq += judged.counts["records"]
        if self.store.holds_receipts:
            for block in judged.blocks:
                self._receipts.update(block[2])

    def finish(self) -> None:
        """Finishes the run, if it was begun."""
        if self._run is not None:
            with self.store.transaction() as transaction:
                transaction.finish_run(self._run, self._receipts.digest(), now())
                transaction.commit()
            self._run = None
