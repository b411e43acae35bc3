"""Records of a program: judged one by one at once, marked as seen only when the program has stored them.

A verdict is given against the store and the records before it in the batch. When the block ends well, one transaction
claims and judges again what was not released, because other writers went on meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from seenbefore._kernel import Batch, Judged, Provisional, Verdict
from seenbefore.dedup.receipts import verdict_of
from seenbefore.dedup.retrying import Tries
from seenbefore.dedup.session import Session
from seenbefore.errors import StoreUnreachable, UsageError
from seenbefore.stores.base import Transaction


@dataclass(frozen=True, slots=True)
class _Settled:
    """A batch as it is committed: the positions of its records, and of those that nothing supports any more."""

    batch: Batch
    judged: Judged
    left: list[int]
    unsettled: list[int]


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
        self._session = session
        self._records: Provisional | None = None
        self._verdicts: list[Verdict] = []
        self._judged: Judged | None = None
        self._positions: list[int] = []
        self._late: list[int] = []
        self._final: tuple[Verdict, ...] | None = None
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
        records, self._records = self._records, None
        if kind is None and records is not None and records.records:
            self._commit(records)

    @property
    def final(self) -> tuple[Verdict, ...]:
        """The verdicts as committed; empty until the block has ended well."""
        if self._final is None:
            blocks = iter(()) if self._judged is None else self._judged.blocks
            lines = (line for block in blocks for line in block[2].splitlines(keepends=True))
            each = zip(lines, self._positions, strict=True)
            self._final = tuple(verdict_of(line, position=position) for line, position in each)
            self._judged = None
        return self._final

    @property
    def late(self) -> tuple[Verdict, ...]:
        """Of the final verdicts, those on records that another writer made seen before in the meantime."""
        late = set(self._late)
        return tuple(verdict for verdict in self.final if verdict.position in late) if late else ()

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
        if self._records is None:
            self._records = self._begin()
        verdict = self._records.judge(self._session.asked, record, url, source, fetched_at)
        if verdict.code is None:
            self._verdicts.append(verdict)
        return verdict

    def confirm(self, verdict: Verdict) -> None:
        """Says that the record is stored: what rests on it waits no longer.

        Not needed for the record to be committed. One that was released stays so.
        """
        records, position = self._own(verdict)
        records.confirm(position)

    def release(self, verdict: Verdict) -> None:
        """Says that the record was not stored: it marks nothing as seen, and later verdicts don't rest on it."""
        records, position = self._own(verdict)
        records.release(self._session.asked, position)

    def _begin(self) -> Provisional:
        if not self._open:
            raise UsageError("the batch is not open", hint="judge inside its with block")
        return self._session.provisional()

    def _own(self, verdict: Verdict) -> tuple[Provisional, int]:
        at, records = verdict.position, self._records
        known = verdict.code is None and at < len(self._verdicts) and self._verdicts[at] == verdict
        if records is None or not known:
            raise UsageError("this verdict is not one of this batch", hint="give back what judge() gave")
        return records, at

    def _commit(self, records: Provisional) -> None:
        session, tries, final = self._session, Tries(lambda _: None), None
        while True:
            try:
                with session.store.transaction() as transaction:
                    if final is None or not session.came_to_pass(transaction, final.judged):
                        final = None
                        final = self._settle(transaction, records)
                        transaction.commit()
                break
            except StoreUnreachable as error:
                tries.wait(error)
        session.committed(final.judged if final.left else None)
        self.unsettled = tuple(self._verdicts[position] for position in sorted(final.unsettled))
        self._judged, self._positions = final.judged, final.left
        self._late = records.late(final.batch, final.left)

    def _settle(self, transaction: Transaction, records: Provisional) -> _Settled:
        """Judges what was not released, and writes it."""
        left, unsettled = records.left(), list[int]()
        while True:
            batch, judged = self._judge_again(transaction, records, left)
            lost = records.lost(batch, left)
            if not lost:
                break
            unsettled += lost
            left = sorted(set(left).difference(lost))
        if left:
            self._session.record(transaction, judged)
        return _Settled(batch, judged, left, unsettled)

    def _judge_again(self, transaction: Transaction, records: Provisional, left: Sequence[int]) -> tuple[Batch, Judged]:
        batch = records.batch(left, self._session.next_seq)
        return batch, self._session.judged(transaction, batch)
