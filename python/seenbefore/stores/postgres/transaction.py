"""A write transaction: claims as they come, and the ids of its sightings at its end."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Self

import psycopg

from seenbefore._kernel import Batch, Judged, copy_blocks, copy_contents, copy_places, copy_sightings
from seenbefore.errors import StoreDamaged, StoreUnreachable, UsageError
from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.laws import chain_digest, free_ordinal, known_run, still_unfinished
from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.byrow import RowClaim, next_sighting
from seenbefore.stores.postgres.claims import TEMPORARY, Claims, source_ids
from seenbefore.stores.postgres.connecting import Connection, connect
from seenbefore.stores.postgres.failures import named
from seenbefore.stores.postgres.rows import EARLIER, RUNS, run_row, shown_or_none, stored, to_json
from seenbefore.stores.postgres.schema import SHIFT
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

# The kernel's ids of a batch that was given none yet begin here.
_OWN = 1 << 62


class Writer:
    """What the transactions of one handle share: the connection that writes, made when it is needed."""

    def __init__(self, address: Address, *, keep_rows: bool) -> None:
        self.location, self.keep_rows, self.active = address.shown, keep_rows, False
        # How often in a row a transaction gave way.
        self.gave_way = 0
        self._address = address
        self._connection: Connection | None = None

    def begin(self) -> Connection:
        """A connection in a transaction. Raises psycopg.Error."""
        if self._connection is not None:
            try:
                self._connection.execute("BEGIN")
            except psycopg.OperationalError:
                # It was lost while nobody used it.
                self.close()
        if self._connection is None:
            self._connection = connect(self._address, writes=True)
            self._connection.execute(TEMPORARY.encode())
            self._connection.execute("BEGIN")
        self.active = True
        return self._connection

    def close(self) -> None:
        """Close the connection; a transaction that is open ends without a commit."""
        self.active = False
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class PostgresTransaction:
    """A transaction of a PostgresStore: see Transaction for what each method promises.

    A batch of the kernel is judged before it has ids. They are taken with `commit`, so that other writers go on
    meanwhile; so there is one such batch a transaction that is committed.
    """

    def __init__(self, writer: Writer, ruleset: RulesetRow | None) -> None:
        self._writer, self._given, self._location = writer, ruleset, writer.location
        self._open: Connection | None = None
        self._claimed: RowClaim | None = None
        # The batch that `judge` was given, and those that were recorded: their claims, run, records and moves.
        self._judged: tuple[Claims, Batch, Judged] | None = None
        self._pending: list[tuple[Claims, int, int, bool]] = []
        self._unused: Claims | None = None

    def __enter__(self) -> Self:
        if self._writer.active:
            raise UsageError("a transaction is open already", path=self._location, hint="end it before the next one")
        with named(self._location):
            self._open = self._writer.begin()
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._end()

    def _end(self) -> None:
        """End the transaction; what was not committed never was."""
        connection, self._open, self._judged, self._claimed = self._open, None, None, None
        self._writer.active = False
        if connection is not None:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                # The server ends it with the connection.
                with contextlib.suppress(psycopg.Error):
                    self._writer.close()

    @property
    def _connection(self) -> Connection:
        if self._open is None:
            raise UsageError("the transaction has ended", hint="begin another one")
        return self._open

    @property
    def _ruleset(self) -> RulesetRow:
        if self._given is None:
            raise UsageError("the store was given no ruleset", hint="call its `ruleset` first")
        return self._given

    @property
    def next_sighting(self) -> int:
        """The id that the next sighting gets; from here on other writers wait."""
        with named(self._location):
            return next_sighting(self._connection)

    def register(
        self, name: str, version: int, fingerprint: str, configuration: str, text: str, unicode_version: str
    ) -> None:
        """Write a ruleset where its name and version are not there, and its text under this configuration."""
        with named(self._location):
            # Another process may have registered another rule just now: that one stays, and the caller finds out.
            self._row("SELECT next FROM counter WHERE name = 'run' FOR UPDATE")
            ours = (name, version, fingerprint, unicode_version)
            where = "WHERE name = %s AND version = %s AND fingerprint = %s AND unicode_version = %s"
            self._connection.execute(
                "INSERT INTO ruleset (id, name, version, fingerprint, configuration, unicode_version, state)"
                " SELECT coalesce(max(id), 0) + 1, %s, %s, %s, %s, %s, 'active' FROM ruleset ON CONFLICT DO NOTHING",
                (name, version, fingerprint, configuration, unicode_version),
            )
            self._connection.execute(f"UPDATE ruleset SET configuration = %s {where}".encode(), (configuration, *ours))
            self._connection.execute(
                "INSERT INTO settings (ruleset, configuration, text)"
                f" SELECT id, %s, %s FROM ruleset {where} ON CONFLICT DO NOTHING".encode(),
                (configuration, stored(text), *ours),
            )

    def free_run(self, wanted: int | None = None) -> int:
        """The ordinal that a new run gets; whoever else begins one waits."""
        with named(self._location):
            self._row("SELECT next FROM counter WHERE name = 'run' FOR UPDATE")
            known = {ordinal for (ordinal,) in self._connection.execute("SELECT id FROM run")}
        return free_ordinal(wanted, known)

    def begin_run(self, out: str, configuration: str, started: str, *, run: int | None = None) -> int:
        """Begin a run → its ordinal."""
        ordinal = self.free_run(run)
        with named(self._location):
            self._connection.execute(
                "INSERT INTO run (id, ruleset, configuration, out, state, started, position, outputs, counts)"
                " VALUES (%s, %s, %s, %s, 'unfinished', %s, '{}', '{}', '{}')",
                (ordinal, self._ruleset.id, configuration, stored(out), started),
            )
        return ordinal

    def unfinished_run(self, out: str) -> RunRow | None:
        """The unfinished run with that output directory."""
        where = "WHERE run.out = %s AND run.state = 'unfinished' ORDER BY run.id"
        with named(self._location):
            row = self._row(f"{RUNS} {where}", (stored(out),))
        return None if row is None else run_row(row, self._location)

    def _claims(self) -> Claims:
        """Begin to claim for a batch; what was claimed for one that was not recorded is let go of."""
        if self._unused is not None:
            self._unused.release()
        self._judged, self._claimed = None, None
        self._unused = Claims(self._connection, self._location, self._ruleset.id)
        return self._unused

    def standing(self, run: int) -> RunRow:
        """A run as it stands. One that another connection of ours still commits is waited for."""
        with named(self._location):
            row = self._row(f"{RUNS} WHERE run.id = %s FOR NO KEY UPDATE OF run", (run,))
        return known_run(None if row is None else run_row(row, self._location), run)

    def claim(self, content_keys: bytes, place_keys: bytes) -> tuple[list[KnownContent], list[KnownPlace]]:
        """Which of the keys are known."""
        with named(self._location):
            self._claimed = claimed = RowClaim(self._connection, self._claims(), content_keys, place_keys)
        return claimed.contents, claimed.places

    def earlier(self, ids: Sequence[int]) -> list[EarlierSighting]:
        """The facts of sightings, in the order of their ids."""
        return self._earlier(EARLIER, ids)

    def _earlier(self, statement: str, ids: Sequence[int]) -> list[EarlierSighting]:
        if not ids:
            return []
        with named(self._location), self._connection.cursor(binary=True) as cursor:
            rows = cursor.execute(statement.encode(), (list(ids),)).fetchall()
        if len(rows) != len(ids):
            missing = sorted(set(ids).difference(row[0] for row in rows))
            raise StoreDamaged(f"{self._location} is damaged: it has no sighting {missing[0]}", path=self._location)
        return [(*row[:3], shown_or_none(row[3]), *row[4:]) for row in rows]

    def judge(self, batch: Batch, *, evidence: bool = True) -> Judged:  # noqa: ARG002 - this store holds it in any case
        """Claim, judge and render a keyed batch.

        The batch is judged three times, which takes little beside the rest: as if nothing were known, which gives the
        rows to insert for contents; with the contents that turned out to be there, which gives those for places; and
        with both.
        """
        if batch.records >= 1 << SHIFT:
            raise UsageError(f"a batch of {batch.records} records is too large", expected=f"less than {1 << SHIFT}")
        with named(self._location):
            claims = self._claims()
            needed = batch.judge(_OWN, [], [])
            count, rows = copy_contents(batch, claims.base)
            some = bool(count) and claims.contents(count, rows)
            contents = claims.known_contents(lock=self._writer.gave_way > 1) if some else []
            if contents:
                needed = batch.judge(_OWN, contents, [])
            count, rows = copy_places(batch, claims.base, known=False)
            places = claims.known_places() if count and claims.places(count, rows) else []
            if places:
                needed = batch.judge(_OWN, contents, places)
        earlier = self._earlier(_BY_INNER, needed)
        with named(self._location):
            judged = batch.render(earlier, source_ids(self._connection, batch.sources()), self._writer.keep_rows)
        self._judged = claims, batch, judged
        return judged

    def source_ids(self, names: Sequence[str]) -> list[int]:
        """The ids of sources; new names get one."""
        with named(self._location):
            return source_ids(self._connection, names)

    def record(self, judged: JudgedBatch, progress: Progress) -> None:
        """Write a judged batch and where its run stands."""
        members = (to_json(progress.position), to_json(progress.outputs), to_json(progress.counts))
        with named(self._location):
            self._unfinished(progress.run)
            if self._judged is not None and judged is self._judged[2]:
                self._record(*self._judged, progress.run)
            else:
                claimed = self._claimed or RowClaim(self._connection, self._claims(), b"", b"")
                claimed.record(judged, progress, self._location, keep_rows=self._writer.keep_rows)
            self._connection.execute(
                "UPDATE run SET position = %s, outputs = %s, counts = %s WHERE id = %s", (*members, progress.run)
            )
        self._judged, self._claimed, self._unused = None, None, None

    def _record(self, claims: Claims, batch: Batch, judged: Judged, run: int) -> None:
        count, rows = copy_places(batch, claims.base, known=True)
        if count:
            claims.move_places(rows)
        moved = judged.contents_earlier
        claims.move_contents(moved, batch.content_keys() if moved else b"")
        count, rows = copy_sightings(judged, claims.base)
        claims.sightings(rows)
        claims.blocks(copy_blocks(judged, claims.base)[1])
        if count:
            self._pending.append((claims, run, count, bool(moved)))

    def set_input(self, run: int, row: InputRow) -> None:
        """Write or replace one input of a run."""
        with named(self._location):
            self._unfinished(run)
            self._connection.execute(
                "INSERT INTO input (run, idx, name, size, sha256, records, facts) VALUES (%s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (run, idx) DO UPDATE SET name = excluded.name, size = excluded.size,"
                " sha256 = excluded.sha256, records = excluded.records, facts = excluded.facts",
                (run, row.index, stored(row.name), row.size, row.sha256, row.records, to_json(row.facts)),
            )

    def finish_run(self, run: int, receipts_sha256: Digest, ended: str) -> Digest:
        """Finish an unfinished run → its chain digest. From here on other commits wait."""
        with named(self._location):
            self._unfinished(run)
            next_sighting(self._connection)
            last = self._row("SELECT link, chain FROM run WHERE link IS NOT NULL ORDER BY link DESC LIMIT 1")
            link, before = last or (0, None)
            chain = chain_digest(before, receipts_sha256)
            self._connection.execute(
                "UPDATE run SET state = 'finished', ended = %s, link = %s, chain = %s WHERE id = %s",
                (ended, link + 1, chain, run),
            )
        return chain

    def abandon_run(self, run: int, ended: str) -> None:
        """Close an unfinished run."""
        with named(self._location):
            self._unfinished(run)
            self._connection.execute("UPDATE run SET state = 'abandoned', ended = %s WHERE id = %s", (ended, run))

    def commit(self) -> None:
        """Make everything durable at once."""
        connection = self._connection
        if len(self._pending) > 1:
            raise UsageError("a transaction commits one batch", path=self._location, hint="commit after each")
        try:
            with named(self._location):
                for claims, run, count, moved in self._pending:
                    claims.number_batch(run, count, moved=moved)
                connection.execute("COMMIT")
            self._writer.gave_way = 0
        except StoreUnreachable:
            self._writer.gave_way += 1
            raise
        finally:
            self._end()

    def _unfinished(self, run: int) -> None:
        """Pass where the run is unfinished, and keep it so. Raises UsageError."""
        row = self._row(f"{RUNS} WHERE run.id = %s FOR NO KEY UPDATE OF run", (run,))
        still_unfinished(None if row is None else run_row(row, self._location), run)

    def _row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement.encode(), parameters).fetchone()


_BY_INNER = "SELECT id, run, seq, url, fetched_at, payload FROM sighting WHERE id = ANY(%s::bigint[]) ORDER BY id"
