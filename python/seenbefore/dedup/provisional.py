"""Records of a program: judged one by one at once, marked as seen only when the program has stored them.

A verdict is given against the store and the records before it in the batch. When the block ends well, one transaction
claims and judges again what was not released, because other writers went on meanwhile.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from seenbefore._kernel import Judged
from seenbefore.dedup.overlay import Overlay, Row
from seenbefore.dedup.receipts import verdict_of
from seenbefore.dedup.session import Session
from seenbefore.errors import Refused, UsageError
from seenbefore.stores.base import Transaction
from seenbefore.types import Verdict


class ProvisionalBatch:
    """A `with` block in which records are judged and stored by the caller.

    `judge` gives a verdict; whoever acts on it stores the record (or not) inside the block. `release` says that a
    record was not stored after all: it marks nothing as seen. `confirm` says that it was; verdicts that rest on it
    then wait for nothing. At the end of the block everything that was not released becomes durable; after an
    exception nothing does.

    After the block, `unsettled` holds the verdicts that said skip for the sake of a record that was then released:
    they are not committed, and those records have to come again. `late` holds the final verdicts on records that
    another writer's commit made seen before, though they were new when they were judged: a rare double, never a loss.
    `final` holds the verdicts as committed, with the ordinals that their receipts have; `position` tells which record
    each is about.
    """

    def __init__(self, session: Session) -> None:
        self.unsettled: tuple[Verdict, ...] = ()
        self.late: tuple[Verdict, ...] = ()
        self.final: tuple[Verdict, ...] = ()
        self._session = session
        self._overlay = Overlay(session.store, session.rules.label)
        self._records: list[tuple[Any, str | None, str | None, str | None]] = []
        self._verdicts: list[Verdict] = []
        self._open = False

    def __enter__(self) -> Self:
        """Open the batch."""
        if self._open:
            raise UsageError("this batch is open already", hint="begin another one with batch()")
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Make the batch durable, or forget it where the block failed."""
        self._open = False
        if kind is None and self._verdicts:
            self._commit()

    def judge(
        self,
        record: Mapping[str, Any] | bytes,
        url: str | None = None,
        source: str | None = None,
        fetched_at: str | None = None,
    ) -> Verdict:
        """Judges a record as it is now; later changes of the object change nothing. `bytes` are read as one JSON text.

        `url`, `source` and `fetched_at` stand in for what the record itself doesn't say. A record that must not be
        hashed gets the verdict `refused` with `code` and `detail`, takes no part in the batch and is not numbered.
        """
        if not self._open:
            raise UsageError("the batch is not open", hint="judge inside its with block")
        session, position = self._session, len(self._verdicts)
        run = session.begin()
        batch = session.new_batch(run, session.next_seq + position, 1)
        try:
            batch.push(record, url, source, fetched_at)
        except Refused as refusal:
            return Verdict("refused", "refuse", run=run, code=refusal.code, detail=refusal.detail)
        batch.key()
        contents, places = self._overlay.claim(batch.content_keys(), batch.place_keys())
        needed = batch.judge(self._overlay.id_of(position), contents, places)
        judged = batch.render(self._overlay.earlier(needed), [0] * len(batch.sources()))
        verdict = verdict_of(judged.blocks[0][2], position=position)
        waits_for = self._overlay.add(Row.of(judged, verdict, batch.content_keys(), batch.place_keys()), needed)
        if waits_for is not None:
            verdict = replace(verdict, waits_for=waits_for)
        self._records.append((copy.deepcopy(record), url, source, fetched_at))
        self._verdicts.append(verdict)
        return verdict

    def confirm(self, verdict: Verdict) -> None:
        """Says that the record is stored: what rests on it waits no longer.

        Not needed for the record to be committed.
        """
        self._overlay.confirm(self._own(verdict))

    def release(self, verdict: Verdict) -> None:
        """Says that the record was not stored: it marks nothing as seen, and later verdicts don't rest on it."""
        self._overlay.release(self._own(verdict))

    def _own(self, verdict: Verdict) -> int:
        at = verdict.position
        if verdict.verdict == "refused" or not (at < len(self._verdicts) and self._verdicts[at] == verdict):
            raise UsageError("this verdict is not one of this batch", hint="give back what judge() gave")
        return at

    def _commit(self) -> None:
        left = [position for position in range(len(self._verdicts)) if not self._overlay.released(position)]
        unsettled: list[int] = []
        with self._session.store.transaction() as transaction:
            while True:
                judged, final = self._judged(transaction, left)
                lost = self._lost(left, final, judged)
                if not lost:
                    break
                unsettled += lost
                left = [position for position in left if position not in lost]
            if left:
                self._session.record(transaction, judged)
            transaction.commit()
        self._session.committed(judged if left else None)
        self.unsettled = tuple(self._verdicts[position] for position in sorted(unsettled))
        self.final = tuple(final)
        self.late = tuple(
            verdict
            for position, verdict in zip(left, final, strict=True)
            if verdict.seen_before and not self._verdicts[position].seen_before
        )

    def _lost(self, left: list[int], final: list[Verdict], judged: Judged) -> set[int]:
        """The records that the caller skipped, though they are not seen before without what was released.

        With each go those that rest on them in turn, so that a chain of repeats is found in one round.
        """
        first = {
            row[0]
            for position, verdict, row in zip(left, final, judged.sightings, strict=True)
            if self._verdicts[position].action == "skip" and verdict.action == "keep"
        }
        return {
            position
            for position, row in zip(left, judged.sightings, strict=True)
            if self._verdicts[position].action == "skip" and (row[0] in first or row[4] in first)
        }

    def _judged(self, transaction: Transaction, left: list[int]) -> tuple[Judged, list[Verdict]]:
        session = self._session
        batch = session.new_batch(session.begin(), session.next_seq, max(1, len(left)))
        for position in left:
            batch.push(*self._records[position])
        batch.key()
        judged = session.judged(transaction, batch)
        lines = (line for block in judged.blocks for line in block[2].splitlines(keepends=True))
        return judged, [verdict_of(line, position=position) for line, position in zip(lines, left, strict=True)]
