"""The loop of a run: keyed batch → one transaction: claim, judge, earlier rows, render, write and sync, record, commit.

While a batch is in its transaction the next one is read and keyed.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

from seenbefore._kernel import Batch, Judged
from seenbefore.dedup.batches import Batches, Done, Keyed, Settings
from seenbefore.dedup.judging import judge
from seenbefore.dedup.opening import Run, now
from seenbefore.dedup.retrying import Tries
from seenbefore.dedup.summaries import merged, summarise, summary_file
from seenbefore.errors import InputTruncated, InputUnreadable, SeenbeforeError, StoreUnreachable
from seenbefore.outputs import KEPT, LONG_LINES, RECEIPTS, REFUSED, Outputs
from seenbefore.reading import Ahead
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore, Transaction, Waiting
from seenbefore.stores.rows import InputRow, Progress
from seenbefore.types import Summary
from seenbefore.writing import convert


class Watch(Protocol):
    """Whoever shows how a run gets on. Calls come from the thread that runs it, once a batch at most."""

    def began(self, run: int, resumed_at: int, total: int | None) -> None:
        """Run `run` starts, `resumed_at` records in; `total` is its inputs' stored bytes, None where one is a pipe."""

    def passed(self, raw: int, records: int) -> None:
        """So many stored bytes were read for what is committed by now, so many records and refused lines judged."""

    def note(self, text: str) -> None:
        """Something a person should know."""

    def waits(self, waiting: Waiting) -> None:
        """The store is in another writer's hands."""


class Silent:
    """A Watch that shows nothing."""

    def began(self, run: int, resumed_at: int, total: int | None) -> None:
        """Show nothing."""

    def passed(self, raw: int, records: int) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def waits(self, waiting: Waiting) -> None:
        """Show nothing."""


@dataclass(frozen=True, slots=True)
class _Reached:
    """Where a run stands once a batch is committed; `receipts` is the digest so far."""

    position: dict[str, Any]
    lengths: dict[str, int]
    counts: dict[str, Any]
    receipts: Any


class Running:
    """Moves an open run to its end."""

    def __init__(self, store: SeenStore, rules: Ruleset, settings: Settings, run: Run, watch: Watch) -> None:
        self._store, self._rules, self._settings, self._run, self._watch = store, rules, settings, run, watch
        self._started = time.monotonic()
        # One transaction for the whole of a dry run, so that its batches see each other and nobody else ever sees them.
        self._dry: Transaction | None = None
        # Receipts are made where somebody can have them: in files, or from the store.
        self._evidence = run.outputs is not None or store.holds_receipts

    def to_the_end(self) -> Summary:
        """Judges all that is left of the inputs and finishes the run.

        Raises what the steps raise; what was committed stays.
        """
        self._watch.began(self._run.ordinal, self._run.position.seq, self._total())
        self._judge_all()
        return self._finish()

    def dry(self, transaction: Transaction) -> Summary:
        """Judges everything within a transaction that is never committed."""
        self._dry, self._evidence = transaction, False
        self._watch.began(self._run.ordinal, 0, self._total())
        self._judge_all()
        return self._summary(None)

    def _judge_all(self) -> None:
        run, outputs = self._run, self._run.outputs
        long_bytes = run.lengths.get(LONG_LINES, 0)
        append_long = _nowhere if outputs is None else outputs.append_long
        settings = self._settings if self._evidence else replace(self._settings, digests=False)
        batches = Batches(self._rules, run.ordinal, run.inputs, run.position, settings, append_long, long_bytes)
        ahead = Ahead(iter(batches), 1, "seenbefore-key")
        try:
            with ThreadPoolExecutor(1, "seenbefore-write") as writer:
                for keyed in ahead:
                    for note in keyed.notes:
                        self._watch.note(note)
                    self._commit(keyed, writer)
                    self._watch.passed(keyed.raw_read, keyed.position.seq)
        except BaseException as error:
            ahead.close(wait=1.0)
            if isinstance(error, InputTruncated | InputUnreadable):
                self._distrust(batches.reading)
            if outputs is not None:
                self._free(outputs)
            raise
        ahead.close()
        run.done.update((done.index, done) for done in batches.rest)

    def _commit(self, keyed: Keyed, writer: ThreadPoolExecutor) -> None:
        """Judges a batch, writes it and commits it, again and again where the store gives a transaction up."""
        batch, tries = keyed.take(), Tries(self._watch.note)
        reached: _Reached | None = None
        while True:
            try:
                with self._transaction() as transaction:
                    if reached is None or not self._came_to_pass(transaction, reached):
                        reached = self._attempt(transaction, batch, keyed, writer, again=reached is not None)
                        if self._dry is None:
                            transaction.commit()
                break
            except StoreUnreachable as error:
                if self._dry is not None:
                    raise
                reached = reached or _Reached({}, {}, {}, None)
                tries.wait(error)
        run = self._run
        run.position, run.lengths, run.counts, run.receipts = (
            keyed.position,
            reached.lengths,
            reached.counts,
            reached.receipts,
        )
        run.done.update((done.index, done) for done in keyed.done)

    def _came_to_pass(self, transaction: Transaction, reached: _Reached) -> bool:
        """Whether a commit whose answer was lost was made all the same."""
        row = transaction.standing(self._run.ordinal)
        return bool(reached.position) and dict(row.position) == json.loads(json.dumps(reached.position))

    def _attempt(
        self, transaction: Transaction, batch: Batch, keyed: Keyed, writer: ThreadPoolExecutor, *, again: bool
    ) -> _Reached:
        run = self._run
        if again and run.outputs is not None:
            run.outputs.take_back(run.lengths)
        judged = judge(transaction, batch, evidence=self._evidence)
        lengths = self._lengths_after(judged, keyed)
        receipts = run.receipts.copy()
        writing = writer.submit(self._write, judged, receipts)
        try:
            for done in keyed.done:
                self._set_input(transaction, done)
            counts = merged(run.counts, judged.counts)
            position = {**keyed.position.as_json(), "settings": self._settings.lasting()}
            transaction.record(judged, Progress(run.ordinal, position, lengths, counts))
        finally:
            _settled(writing)
        writing.result()
        return _Reached(position, lengths, counts, receipts)

    def _distrust(self, index: int) -> None:
        """Forgets the size of an input that is not whole: the whole one, once it is there, has another."""
        if self._dry is None:
            source = self._run.inputs[index]
            with self._store.transaction() as transaction:
                transaction.set_input(self._run.ordinal, InputRow(index, source.name, facts=source.facts))
                transaction.commit()

    def _free(self, outputs: Outputs) -> None:
        """Gives back the room of what was not committed; where that fails, the next start cuts back in any case.

        A signal may have come after a commit and before it was noted here, so the store is asked how far that went.
        """
        with contextlib.suppress(OSError, SeenbeforeError):
            row = self._store.run(self._run.ordinal)
            if row is not None:
                outputs.cut_back(row.outputs)

    def _write(self, judged: Judged, receipts: Any) -> None:
        """Appends a batch to the output files, durably. Runs beside the store's own writing, and before its commit."""
        outputs = self._run.outputs
        if not self._evidence:
            return
        for _, _, lines, kept, refused in judged.blocks:
            receipts.update(lines)
            if outputs is not None:
                outputs.append([kept], [lines], [refused])
        if outputs is not None:
            outputs.sync()

    def _lengths_after(self, judged: Judged, keyed: Keyed) -> dict[str, int]:
        if self._run.outputs is None:
            return {}
        before = self._run.lengths
        added = zip((RECEIPTS, KEPT, REFUSED), judged.lengths, strict=True)
        lengths = {name: before.get(name, 0) + length for name, length in added}
        return lengths | ({LONG_LINES: keyed.long_bytes} if keyed.long_bytes else {})

    def _set_input(self, transaction: Transaction, done: Done) -> None:
        source = self._run.inputs[done.index]
        row = InputRow(done.index, source.name, done.size, done.sha256, done.records, source.facts)
        transaction.set_input(self._run.ordinal, row)

    def _finish(self) -> Summary:
        run = self._run
        self._note_same_bytes()
        if run.outputs is not None and self._settings.kept_format != "ndjson":
            # Before the run is finished: whoever is stopped here makes it again with the same command.
            convert(run.outputs.folder / KEPT, self._settings.kept_format)
        tries = Tries(self._watch.note)
        while True:
            try:
                with self._store.transaction() as transaction:
                    return self._finish_in(transaction)
            except StoreUnreachable as error:
                tries.wait(error)

    def _finish_in(self, transaction: Transaction) -> Summary:
        run = self._run
        row = transaction.standing(run.ordinal)
        if row.state == "finished":
            # A commit whose answer was lost.
            return self._summary(row.chain if self._evidence else None)
        for done in run.done.values():
            self._set_input(transaction, done)
        chain = transaction.finish_run(run.ordinal, run.receipts.digest(), now())
        summary = self._summary(chain if self._evidence else None)
        if run.outputs is not None:
            run.outputs.write_summary(summary_file(summary))
        transaction.commit()
        return summary

    def _note_same_bytes(self) -> None:
        """Names the inputs that a finished run judged under another name."""
        for done in self._run.done.values():
            before = self._store.finished_input(self._run.inputs[done.index].name, done.sha256)
            if before is not None and before.name != self._run.inputs[done.index].name:
                name = self._run.inputs[done.index].name
                self._watch.note(f"{name} holds the same bytes as {before.name}, which run {before.run} judged")

    def _summary(self, chain: bytes | None) -> Summary:
        return summarise(self._rules, self._run, chain, time.monotonic() - self._started)

    def _total(self) -> int | None:
        sizes = [one.size for one in self._run.inputs]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        if self._dry is not None:
            yield self._dry
            return
        with self._store.transaction() as transaction:
            yield transaction


def _nowhere(_: bytes) -> None:
    """Where lines over the limit go when no files are written."""


def _settled(writing: Future[None]) -> None:
    """Waits until a write has ended, well or not: nobody else may touch the files before."""
    writing.exception()
