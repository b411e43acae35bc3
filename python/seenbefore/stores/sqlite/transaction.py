"""A write transaction: BEGIN IMMEDIATE, explicit statements, COMMIT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seenbefore._kernel import Batch, Judged, Sqlite, SqliteError
from seenbefore.errors import UsageError
from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.laws import NOTHING_CLAIMED, Claimed, chain_digest, free_ordinal, known_run, still_unfinished
from seenbefore.stores.rows import (
    Digest,
    EarlierSighting,
    InputRow,
    KnownContent,
    KnownPlace,
    Progress,
    RulesetRow,
    RunRow,
)
from seenbefore.stores.sqlite.failures import BUSY, named, primary
from seenbefore.stores.sqlite.rows import RUNS, run_row, to_json
from seenbefore.stores.sqlite.turns import Turns


@dataclass(frozen=True, slots=True)
class Writer:
    """What the transactions of one handle share: the connection that writes, its turns."""

    connection: Sqlite
    location: str
    keep_rows: bool
    turns: Turns

    def begin(self) -> bool:
        """BEGIN IMMEDIATE; False where another process has the lock."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except SqliteError as error:
            if primary(error) in BUSY:
                return False
            raise
        return True


class SqliteTransaction:
    """A transaction of a SqliteStore: see Transaction for what each method promises."""

    def __init__(self, writer: Writer, ruleset: RulesetRow | None) -> None:
        self._writer = writer
        self._given = ruleset
        self._location = writer.location
        self._active = False
        self._next = 0
        self._claimed = NOTHING_CLAIMED

    def __enter__(self) -> Self:
        if self._writer.connection.in_transaction:
            raise UsageError("a transaction is open already", path=self._location, hint="end it before the next one")
        with named(self._location):
            self._writer.turns.take(self._writer.begin)
            self._active = True
            try:
                self._next = (self._one("SELECT max(id) FROM sighting")[0] or 0) + 1
            except BaseException:
                self._end("ROLLBACK")
                raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._active:
            self._end("ROLLBACK")

    @property
    def _connection(self) -> Sqlite:
        if not self._active:
            raise UsageError("the transaction has ended", hint="begin another one")
        return self._writer.connection

    @property
    def _ruleset(self) -> RulesetRow:
        if self._given is None:
            raise UsageError("the store was given no ruleset", hint="call its `ruleset` first")
        return self._given

    @property
    def next_sighting(self) -> int:
        """The id that the next sighting gets."""
        return self._next

    def register(
        self, name: str, version: int, fingerprint: str, configuration: str, text: str, unicode_version: str
    ) -> None:
        """Write a ruleset where its name and version are not there, and its text under this configuration."""
        with named(self._location):
            self._connection.execute(
                "INSERT INTO ruleset (name, version, fingerprint, configuration, unicode_version, state)"
                " VALUES (?, ?, ?, ?, ?, 'active') ON CONFLICT DO NOTHING",
                (name, version, fingerprint, configuration, unicode_version),
            )
            # Another process may have registered another rule just now: that one stays, and the caller finds out.
            ours = (name, version, fingerprint, unicode_version)
            where = "WHERE name = ? AND version = ? AND fingerprint = ? AND unicode_version = ?"
            self._connection.execute(f"UPDATE ruleset SET configuration = ? {where}", (configuration, *ours))
            self._connection.execute(
                f"INSERT INTO settings (ruleset, configuration, text) SELECT id, ?, ? FROM ruleset {where}"
                " ON CONFLICT DO NOTHING",
                (configuration, text, *ours),
            )

    def free_run(self, wanted: int | None = None) -> int:
        """The ordinal that a new run gets."""
        with named(self._location):
            known = {ordinal for (ordinal,) in self._connection.execute("SELECT id FROM run")}
        return free_ordinal(wanted, known)

    def begin_run(self, out: str, configuration: str, started: str, *, run: int | None = None) -> int:
        """Begin a run → its ordinal."""
        ordinal = self.free_run(run)
        with named(self._location):
            self._connection.execute(
                "INSERT INTO run (id, ruleset, configuration, out, state, started, position, outputs, counts)"
                " VALUES (?, ?, ?, ?, 'unfinished', ?, '{}', '{}', '{}')",
                (ordinal, self._ruleset.id, configuration, out, started),
            )
        self._writer.turns.run = ordinal
        return ordinal

    def unfinished_run(self, out: str) -> RunRow | None:
        """The unfinished run with that output directory."""
        with named(self._location):
            row = self._one(f"{RUNS} WHERE run.out = ? AND run.state = 'unfinished' ORDER BY run.id", (out,))
        return None if row is None else run_row(row, self._location)

    def standing(self, run: int) -> RunRow:
        """A run as it stands."""
        with named(self._location):
            row = self._one(f"{RUNS} WHERE run.id = ?", (run,))
        return known_run(None if row is None else run_row(row, self._location), run)

    def claim(self, content_keys: bytes, place_keys: bytes) -> tuple[list[KnownContent], list[KnownPlace]]:
        """Which of the keys are known."""
        connection = self._connection
        with named(self._location):
            contents, places = connection.claim(self._ruleset.id, content_keys, place_keys)
        self._claimed = Claimed(content_keys, place_keys, contents, places)
        return contents, places

    def earlier(self, ids: Sequence[int]) -> list[EarlierSighting]:
        """The facts of sightings, in the order of their ids."""
        with named(self._location):
            return self._connection.earlier(ids)

    def judge(self, batch: Batch, *, evidence: bool = True) -> Judged:  # noqa: ARG002 - this store holds it in any case
        """Claims, judges and renders a keyed batch."""
        with named(self._location):
            return self._connection.judge(batch, self._ruleset.id, self._next, self._writer.keep_rows)

    def source_ids(self, names: Sequence[str]) -> list[int]:
        """The ids of sources; new names get one."""
        with named(self._location):
            return self._connection.source_ids(names)

    def record(self, judged: JudgedBatch, progress: Progress) -> None:
        """Write a judged batch and where its run stands."""
        self._unfinished(progress.run)
        connection = self._connection
        with named(self._location):
            if isinstance(judged, Judged):
                count = connection.record(judged, self._ruleset.id, progress.run, self._next)
            else:
                count = self._record_rows(judged, progress)
            connection.execute(
                "UPDATE run SET position = ?, outputs = ?, counts = ? WHERE id = ?",
                (to_json(progress.position), to_json(progress.outputs), to_json(progress.counts), progress.run),
            )
        self._next += count
        self._claimed = NOTHING_CLAIMED
        self._writer.turns.run = progress.run

    def _record_rows(self, judged: JudgedBatch, progress: Progress) -> int:
        """Write a batch that was not judged by `judge`, after a look at whether it was claimed."""
        self._claimed.check(judged, progress, self._next, self._location)
        known = self._claimed.known()
        moved = []
        for key, seen in judged.contents_earlier:
            first, before = known[key]
            moved.append((first, seen if before is None else min(before, seen)))
        return self._connection.record_rows(
            self._ruleset.id,
            progress.run,
            self._next,
            judged.contents_new,
            moved,
            judged.places,
            judged.sightings,
            list(judged.blocks),
            self._writer.keep_rows,
        )

    def set_input(self, run: int, row: InputRow) -> None:
        """Write or replace one input of a run."""
        self._unfinished(run)
        with named(self._location):
            self._connection.execute(
                "INSERT OR REPLACE INTO input (run, idx, name, size, sha256, records, facts)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (run, row.index, row.name, row.size, row.sha256, row.records, to_json(row.facts)),
            )

    def finish_run(self, run: int, receipts_sha256: Digest, ended: str) -> Digest:
        """Finish an unfinished run → its chain digest."""
        self._unfinished(run)
        with named(self._location):
            link, before = self._one("SELECT link, chain FROM run ORDER BY link DESC LIMIT 1")
            chain = chain_digest(before, receipts_sha256)
            self._connection.execute(
                "UPDATE run SET state = 'finished', ended = ?, link = ?, chain = ? WHERE id = ?",
                (ended, (link or 0) + 1, chain, run),
            )
        return chain

    def abandon_run(self, run: int, ended: str) -> None:
        """Close an unfinished run."""
        self._unfinished(run)
        with named(self._location):
            self._connection.execute("UPDATE run SET state = 'abandoned', ended = ? WHERE id = ?", (ended, run))

    def commit(self) -> None:
        """Make everything durable at once."""
        _ = self._connection
        with named(self._location):
            self._end("COMMIT")

    def _unfinished(self, run: int) -> None:
        with named(self._location):
            row = self._one(f"{RUNS} WHERE run.id = ?", (run,))
        still_unfinished(None if row is None else run_row(row, self._location), run)

    def _one(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        return next(iter(self._connection.execute(sql, parameters)), None)

    def _end(self, how: str) -> None:
        self._active = False
        connection = self._writer.connection
        try:
            # A statement that failed may have rolled back already.
            if how != "ROLLBACK" or connection.in_transaction:
                connection.execute(how)
        finally:
            # A COMMIT that failed leaves the transaction open.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._writer.turns.leave()
