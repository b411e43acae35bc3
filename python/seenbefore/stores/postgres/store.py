"""The store in a PostgreSQL database: opening, rulesets, and look-ups.

Reading has a connection of its own, so that it sees what was committed and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from seenbefore.errors import StoreDamaged, UsageError
from seenbefore.stores.laws import check_ruleset, kept_line, line, split_key, split_label
from seenbefore.stores.postgres import upkeep
from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.connecting import connect
from seenbefore.stores.postgres.failures import named
from seenbefore.stores.postgres.histories import Histories
from seenbefore.stores.postgres.making import prepare
from seenbefore.stores.postgres.reader import Reader
from seenbefore.stores.postgres.rows import (
    EARLIER,
    ENTRIES,
    INPUTS,
    RULESETS,
    RUNS,
    input_row,
    name_digest,
    ruleset_row,
    run_row,
    shown,
    shown_or_none,
    stored,
)
from seenbefore.stores.postgres.transaction import PostgresTransaction, Writer
from seenbefore.stores.rows import (
    ContentRow,
    Digest,
    DoneInput,
    EarlierSighting,
    InputRow,
    Keep,
    Known,
    PlaceRow,
    RulesetRow,
    RunRow,
    SightingRow,
)


class PostgresStore(Histories):
    """A store in the schema of a PostgreSQL database that `address` names.

    `create` makes the tables where there are none, which needs the right to; `keep` is settled then: None takes what
    the store has. How safe a commit is, is the server's setting (`synchronous_commit`).

    Raises UsageError, StoreDamaged, StoreForeign, StoreNewer, StoreUnreachable, StoreUnsupported, PermissionDenied.
    """

    holds_receipts = True

    def __init__(
        self, address: Address, *, create: bool = True, read_only: bool = False, keep: Keep | None = None
    ) -> None:
        self.location, self._address = address.shown, address
        self._current: RulesetRow | None = None
        self._writer: Writer | None = None
        with named(self.location):
            connection = connect(address, writes=False)
        self._reader = Reader(address, connection)
        try:
            with named(self.location):
                prepare(connection, address, keep, create=create, read_only=read_only)
            self.keep: Keep = self._kept(keep)
        except BaseException:
            self.close()
            raise
        if not read_only:
            self._writer = Writer(address, keep_rows=self.keep == "kept")

    def _kept(self, wanted: Keep | None) -> Keep:
        row = self._reader.one("SELECT value FROM meta WHERE name = 'keep'")
        if row is None or row[0] not in {"kept", "none"}:
            raise StoreDamaged(f"{self.location} is damaged: its settings are not there", path=self.location)
        keep: Keep = row[0]
        if wanted not in {None, keep}:
            raise UsageError(
                f'{self.location} was made with keep = "{keep}"',
                path=self.location,
                expected=keep,
                found=wanted,
                hint="leave the setting out, or make another store",
            )
        return keep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        writer, self._writer = self._writer, None
        self._reader.close()
        if writer is not None:
            writer.close()

    def ruleset(self, label: str, fingerprint: str, configuration: str, text: str, unicode_version: str) -> RulesetRow:
        """Register a ruleset or check it: see SeenStore."""
        name, version = split_label(label)
        known = self._known(label)
        if known is not None:
            check_ruleset(known, fingerprint, text, unicode_version, self.location)
        if known is None or known.configuration != configuration:
            if self._writer is not None:
                with self.transaction() as transaction:
                    transaction.register(name, version, fingerprint, configuration, text, unicode_version)
                    transaction.commit()
                known = self._known(label)
                if known is None:
                    raise AssertionError(label)
                check_ruleset(known, fingerprint, text, unicode_version, self.location)
            elif known is None:
                raise UsageError(
                    f"{self.location} has no ruleset {label}", path=self.location, found=label, hint="check the name"
                )
        self._current = known
        return known

    def _known(self, label: str) -> RulesetRow | None:
        return next((row for row in self.rulesets() if row.label == label), None)

    def transaction(self, ruleset: RulesetRow | None = None) -> PostgresTransaction:
        """A write transaction: see SeenStore."""
        if self._writer is None:
            raise UsageError(f"{self.location} was opened for reading", path=self.location)
        return PostgresTransaction(self._writer, ruleset or self._current)

    def rulesets(self) -> list[RulesetRow]:
        """All rulesets, by id."""
        return [ruleset_row(row) for row in self._reader.all(f"{RULESETS} ORDER BY r.id")]

    def settings_text(self, label: str, configuration: str) -> str | None:
        """The text of a ruleset as a run with that configuration had it."""
        name, version = split_label(label)
        row = self._reader.one(
            "SELECT text FROM settings JOIN ruleset AS r ON r.id = settings.ruleset"
            " WHERE r.name = %s AND r.version = %s AND settings.configuration = %s",
            (name, version, configuration),
        )
        return None if row is None else shown(row[0])

    def runs(self) -> list[RunRow]:
        """All runs, by ordinal."""
        return [run_row(row, self.location) for row in self._reader.all(f"{RUNS} ORDER BY run.id")]

    def run(self, ordinal: int) -> RunRow | None:
        """One run."""
        row = self._reader.one(f"{RUNS} WHERE run.id = %s", (ordinal,))
        return None if row is None else run_row(row, self.location)

    def inputs(self, run: int) -> list[InputRow]:
        """The inputs of a run, by index."""
        rows = self._reader.all(f"{INPUTS} WHERE run = %s ORDER BY idx", (run,))
        return [input_row(row, self.location) for row in rows]

    def finished_input(self, name: str, sha256: Digest) -> DoneInput | None:
        """The same bytes in a finished run: see SeenStore."""
        row = self._reader.one(
            "SELECT input.run, input.name, input.records FROM input JOIN run ON run.id = input.run"
            " WHERE input.sha256 = %s AND input.records IS NOT NULL AND run.state = 'finished' AND run.ruleset = %s"
            " ORDER BY input.name <> %s, input.run, input.idx LIMIT 1",
            (sha256, 0 if self._current is None else self._current.id, stored(name)),
        )
        return None if row is None else DoneInput(row[0], shown(row[1]), row[2])

    def receipt(self, run: int, seq: int) -> bytes | None:
        """One receipt."""
        found = self._block(run, seq)
        return None if found is None else line(self._unpacked(found[1]), seq - found[0])

    def kept(self, run: int, seq: int) -> bytes | None:
        """One kept row."""
        found = self._block(run, seq)
        if found is None or found[2] is None:
            return None
        return kept_line(self._unpacked(found[1]), self._unpacked(found[2]), seq - found[0])

    def _block(self, run: int, seq: int) -> Any:
        return self._reader.one(
            "SELECT first_seq, receipts, kept FROM block WHERE run = %s AND first_seq <= %s"
            " ORDER BY first_seq DESC LIMIT 1",
            (run, seq),
        )

    def receipts(self, run: int) -> Iterator[bytes]:
        """The receipts of a run in pieces."""
        rows = self._reader.each("SELECT receipts FROM block WHERE run = %s ORDER BY first_seq", (run,))
        return (self._unpacked(packed) for (packed,) in rows)

    def kept_rows(self, run: int) -> Iterator[bytes]:
        """The kept rows of a run in pieces."""
        rows = self._reader.each(
            "SELECT kept FROM block WHERE run = %s AND kept IS NOT NULL ORDER BY first_seq", (run,)
        )
        return (self._unpacked(packed) for (packed,) in rows)

    def known(self, content_key: Digest | None, url_key: Digest | None) -> Known:
        """What is committed about the keys of one record."""
        owner = 0 if self._current is None else self._current.id
        return (
            None if content_key is None else self._entry("content", owner, content_key),
            None if url_key is None else self._entry("place", owner, url_key),
        )

    def earlier(self, sighting: int) -> EarlierSighting:
        """The facts of one sighting."""
        row = self._reader.one(EARLIER, ([sighting],))
        if row is None:
            raise StoreDamaged(f"{self.location} is damaged: it has no sighting {sighting}", path=self.location)
        return (*row[:3], shown_or_none(row[3]), *row[4:])

    def lookup_content(self, key: str) -> ContentRow | None:
        """A content by its key."""
        label, digest = split_key(key, url=False)
        row = self._lookup("content", label, digest)
        return None if row is None else ContentRow(label, digest, *row)

    def lookup_place(self, key: str) -> PlaceRow | None:
        """A place by its URL key."""
        label, digest = split_key(key, url=True)
        row = self._lookup("place", label, digest)
        return None if row is None else PlaceRow(label, digest, *row)

    def _lookup(self, kind: str, label: str, digest: Digest) -> Any:
        known = self._known(label)
        return self._entry(kind, 0 if known is None else known.id, digest)

    def _entry(self, kind: str, owner: int, digest: Digest) -> Any:
        return self._reader.one(ENTRIES[kind], (owner, digest))

    def sighting(self, run: int, seq: int) -> SightingRow | None:
        """One sighting by its run and ordinal."""
        row = self._reader.one(
            "SELECT b.first_sighting + (k.first_sighting & 16777215) + %s - k.first_seq, k.records, k.first_seq"
            " FROM block AS k JOIN batch AS b ON b.id = k.first_sighting >> 24"
            " WHERE k.run = %s AND k.first_seq <= %s ORDER BY k.first_seq DESC LIMIT 1",
            (seq, run, seq),
        )
        if row is None or seq >= row[1] + row[2]:
            return None
        return next(self.sightings(run=run, after=row[0] - 1), None)

    def _source(self, name: str) -> int:
        row = self._reader.one("SELECT id FROM source WHERE digest = %s", (name_digest(name),))
        return 0 if row is None else int(row[0])

    def vacuum(self) -> tuple[int, int]:
        """Give back the room that nothing uses → size before and after: see SeenStore."""
        if self._writer is None:
            raise UsageError(f"{self.location} was opened for reading", path=self.location)
        return upkeep.vacuum(self._address, self._reader)
