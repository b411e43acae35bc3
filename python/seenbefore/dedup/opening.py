"""Which run this is: a new one, or an unfinished one that goes on.

Everything that could refuse it is asked here, first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seenbefore.dedup.batches import Done, Position, Settings
from seenbefore.errors import InputChanged, InUse, OutputFailed, UsageError
from seenbefore.outputs import KEPT, SUMMARY, Outputs
from seenbefore.reading import sha256_of
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore, Transaction
from seenbefore.stores.rows import InputRow, RunRow
from seenbefore.types import Input
from seenbefore.writing import convert

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

RUN = "{run}"
# What stands in a run's `out` where it writes no files.
NO_OUTPUT = ""


@dataclass
class Run:
    """A run that is open: who it is, what it reads, where it stands. The loop that judges moves it on."""

    ordinal: int
    inputs: Sequence[Input]
    outputs: Outputs | None
    position: Position = field(default_factory=Position)
    lengths: Mapping[str, int] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    done: dict[int, Done] = field(default_factory=dict)
    receipts: Hash = field(default_factory=hashlib.sha256)
    resumed: bool = False

    def close(self) -> None:
        """Frees the output directory."""
        if self.outputs is not None:
            self.outputs.close()


class Opening:
    """Finds or begins the run that `run(inputs, out)` means."""

    def __init__(self, store: SeenStore, rules: Ruleset, settings: Settings, note: Callable[[str], None]) -> None:
        self._store, self._rules, self._settings, self._note = store, rules, settings, note

    def unfinished(self, out: str | None) -> RunRow | None:
        """The unfinished run of `out`, a directory that may have {run} in it; None where there is none."""
        if out is None:
            return None
        for row in self._store.runs():
            if row.state == "unfinished" and row.out == folder(out, row.ordinal):
                return row
        return None

    def resume(self, row: RunRow, inputs: Sequence[Input], run_id: int | None) -> Run:
        """Goes on with an unfinished run from what it committed.

        Raises UsageError where it was begun otherwise, InputChanged, InUse, and OutputFailed where an output is
        shorter than committed.
        """
        outputs = Outputs(Path(row.out))
        try:
            # Another process may have gone on with it, and finished it, before we had the lock.
            row = self._still_unfinished(row)
            self._same_command(row, run_id)
            members = dict(row.position)
            members.pop("settings", None)
            position = Position.from_json(members) if members else Position()
            run = Run(row.ordinal, self._same_inputs(row, position, inputs), outputs, position, resumed=True)
            run.counts, run.lengths = dict(row.counts), dict(row.outputs)
            for known in self._store.inputs(row.ordinal)[: position.input]:
                run.done[known.index] = Done(known.index, known.records or 0, known.size or 0, known.sha256 or b"")
            for piece in self._store.receipts(row.ordinal):
                run.receipts.update(piece)
            outputs.open(run.lengths)
        except BaseException:
            outputs.close()
            raise
        return run

    def finished(self, out: str, inputs: Sequence[Input], run_id: int | None) -> tuple[Run, bytes | None] | None:
        """The finished run of `out` and its chain digest, where this very command made it; None where it didn't.

        A process that is killed can't say whether that was before or after its last commit, so whoever gives the
        command again gets the same answer either way. Rules, options and inputs must be the same, the inputs byte for
        byte, and the files must be there. Raises InUse where that process is still at work.
        """
        found = [row for row in self._store.runs() if row.out == folder(out, 0) and row.state == "finished"]
        if RUN in out or not found or self._other_command(found[0], run_id):
            return None
        row, known = found[0], self._store.inputs(found[0].ordinal)
        names = [one.name for one in known]
        inputs, others = [one for one in inputs if one.name in names], [one for one in inputs if one.name not in names]
        if [one.name for one in inputs] != names or not Path(row.out, SUMMARY).exists():
            return None
        with Outputs(Path(row.out)) as outputs:
            if outputs.shorter(row.outputs) or any(map(_differs, known, inputs)) or self.not_done(others):
                return None
            form = self._settings.kept_format
            if form != "ndjson" and not (outputs.folder / f"kept.{form}").exists():
                convert(outputs.folder / KEPT, form)
        self._note(f"run {row.ordinal} in {row.out} is finished already: nothing to do")
        done = {one.index: Done(one.index, one.records or 0, one.size or 0, one.sha256 or b"") for one in known}
        return Run(row.ordinal, inputs, None, counts=dict(row.counts), done=done), row.chain

    def refuse_ended(self, out: str) -> None:
        """Refuses a directory whose run is over; one with {run} in it never is."""
        if RUN not in out:
            self._refuse_ended(folder(out, 0))

    def begin(self, inputs: Sequence[Input], out: str | None, run_id: int | None) -> Run:
        """Begins a new run, durably.

        Raises UsageError where the directory or the ordinal is taken, InUse, OutputFailed.
        """
        outputs: Outputs | None = None
        try:
            with self._store.transaction() as transaction:
                ordinal = transaction.free_run(run_id)
                place = NO_OUTPUT if out is None else folder(out, ordinal)
                if out is not None:
                    self._refuse_ended(place)
                    _refuse_begun(transaction, place)
                    outputs = Outputs(Path(place))
                    self._refuse_occupied(outputs)
                transaction.begin_run(place, self._rules.configuration, now(), run=ordinal)
                for index, one in enumerate(inputs):
                    transaction.set_input(ordinal, InputRow(index, one.name, one.size, facts=one.facts))
                transaction.commit()
            if outputs is not None:
                outputs.open({})
        except BaseException:
            if outputs is not None:
                outputs.close()
            raise
        return Run(ordinal, inputs, outputs)

    def abandon(self, out: str) -> int:
        """Closes the unfinished run of a directory and cuts its files back to what was committed → its ordinal."""
        row = self.unfinished(out)
        if row is None:
            raise UsageError(f"there is no unfinished run in {out}", path=out, hint="there is nothing to abandon")
        with Outputs(Path(row.out)) as outputs:
            row = self._still_unfinished(row)
            with self._store.transaction() as transaction:
                transaction.abandon_run(row.ordinal, now())
                transaction.commit()
            # What is shorter than committed is lost already, and closing the run is the way out of that.
            with contextlib.suppress(OutputFailed):
                outputs.open(row.outputs)
        return row.ordinal

    def not_done(self, inputs: Iterable[Input]) -> list[Input]:
        """The inputs without those that a finished run judged under that name, byte for byte; these are named."""
        finished = [row.ordinal for row in self._store.runs() if row.state == "finished" and row.ruleset == self._label]
        known = {(row.name, row.size) for ordinal in finished for row in self._store.inputs(ordinal)}
        left = []
        for one in inputs:
            if one.path is not None and one.size is not None and (one.name, one.size) in known:
                done = self._store.finished_input(one.name, sha256_of(one.path))
                if done is not None and done.name == one.name:
                    self._note(f"{one.name} was judged in run {done.run} already: left out (--again judges it again)")
                    continue
            left.append(one)
        return left

    @property
    def _label(self) -> str:
        return self._rules.label

    def _still_unfinished(self, row: RunRow) -> RunRow:
        now_row = self._store.run(row.ordinal)
        if now_row is None or now_row.state != "unfinished":
            raise ended(row.out, row.ordinal, "finished" if now_row is None else now_row.state)
        return now_row

    def _refuse_ended(self, place: str) -> None:
        for row in self._store.runs():
            if row.out == place and row.state != "unfinished":
                raise ended(place, row.ordinal, row.state)

    def _refuse_occupied(self, outputs: Outputs) -> None:
        names = outputs.occupied()
        if names:
            raise UsageError(
                f"{outputs.folder} holds {', '.join(names)} already, and no run of this store left it there",
                path=str(outputs.folder),
                found=", ".join(names),
                hint="choose another --out, or --out 'out/{run}' for a folder for each run",
            )

    def _other_command(self, row: RunRow, run_id: int | None) -> tuple[str, Any, Any] | None:
        """What a run was begun with otherwise, ruleset or option, then and now; None where all is the same."""
        then, this = dict(row.position.get("settings", {})), self._settings.lasting()
        pairs = [
            ("ruleset", row.ruleset, self._label),
            ("configuration of the ruleset", row.configuration, self._rules.configuration),
            ("--run-id", row.ordinal, run_id or row.ordinal),
            *((f"--{name.replace('_', '-')}", value, this.get(name)) for name, value in then.items()),
        ]
        return next((one for one in pairs if one[1] != one[2]), None)

    def _same_command(self, row: RunRow, run_id: int | None) -> None:
        """Refuses an unfinished run that was begun with other rules or options: its files would be of two minds."""
        other = self._other_command(row, run_id)
        if other is not None:
            what, before, after = other
            raise UsageError(
                f"run {row.ordinal} in {row.out} is unfinished and was begun with {what} {before}, not {after}",
                path=row.out,
                expected=str(before),
                found=str(after),
                hint="give the former command again, or close that run with --abandon",
            )

    def _same_inputs(self, row: RunRow, position: Position, given: Sequence[Input]) -> list[Input]:
        """The run's inputs as they are named now, each proved unchanged as far as it was read, by size and digest."""
        rest, inputs = list(given), list[Input]()
        left_out: list[Input] = []
        for known in self._store.inputs(row.ordinal):
            at = next((index for index, one in enumerate(rest) if one.name == known.name), None)
            if at is None:
                raise InputChanged(
                    f"run {row.ordinal} in {row.out} is unfinished and reads {known.name}, "
                    "which this command doesn't name in that place",
                    path=known.name,
                    hint="give the same inputs in the same order, or close that run with --abandon",
                )
            self._same_bytes(row, known, rest[at], position)
            inputs.append(rest[at])
            left_out += rest[:at]
            rest = rest[at + 1 :]
        for one in left_out + rest:
            self._note(f"{one.name} is not among the inputs that run {row.ordinal} began with: left for the next run")
        return inputs

    def _same_bytes(self, row: RunRow, known: InputRow, one: Input, position: Position) -> None:
        half_read = known.index == position.input
        if known.index > position.input or (half_read and (known.size is None or not position.offset)):
            return  # nothing of it was read; or it was not whole then, and the digest of what was read proves enough
        then, found = f"{known.size} bytes", f"{one.size} bytes"
        if not half_read and one.size in {known.size, None}:
            # A pipe is replayed to its end here: nothing of it is judged any more.
            then, found = (known.sha256 or b"").hex(), sha256_of(one.path).hex()
        if then != found:
            raise InputChanged(
                f"{one.name} changed since run {row.ordinal} read it: {found} instead of {then}",
                path=one.name,
                expected=then,
                found=found,
                hint="put the former file back and run the same command again, or close the run with --abandon",
            )


def _differs(known: InputRow, one: Input) -> bool:
    """Whether an input is not what a finished run read, byte for byte; a pipe is read to its end for that."""
    return (one.size is not None and one.size != known.size) or sha256_of(one.path) != known.sha256


def _refuse_begun(transaction: Transaction, place: str) -> None:
    """Refuses a directory in which another process began a run since we looked."""
    if transaction.unfinished_run(place) is not None:
        raise InUse(f"another process has just begun a run in {place}", path=place)


def folder(out: str, ordinal: int) -> str:
    """The absolute path of a run's output directory: {run} becomes its ordinal."""
    return os.path.realpath(out.replace(RUN, str(ordinal)))


def ended(place: str, ordinal: int, state: str) -> UsageError:
    """The refusal of a directory whose run is over."""
    return UsageError(
        f"{place} holds run {ordinal}, which is {state}",
        path=place,
        found=f"run {ordinal}, {state}",
        hint="choose another --out, or --out 'out/{run}' for a folder for each run",
    )


def now() -> str:
    """The time as the store notes it for people; no output file holds it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
