"""The store in a SQLite file: opening, rulesets, and everything that only reads.

Reading has a connection of its own, so that it sees what was committed and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

from seenbefore.errors import StoreDamaged, StoreUnsupported, UsageError
from seenbefore.stores.base import Waiting
from seenbefore.stores.laws import check_ruleset, kept_line, lines, split_key, split_label
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
from seenbefore.stores.schema import MIGRATIONS, PAGE_SIZE
from seenbefore.stores.sqlite import file, making, upkeep
from seenbefore.stores.sqlite.failures import named
from seenbefore.stores.sqlite.histories import Histories
from seenbefore.stores.sqlite.rows import (
    ENTRIES,
    INPUTS,
    RULESETS,
    RUNS,
    SIGHTINGS,
    input_row,
    ruleset_row,
    run_row,
    sighting_row,
)
from seenbefore.stores.sqlite.transaction import SqliteTransaction, Writer
from seenbefore.stores.sqlite.turns import Turns

Durability = Literal["normal", "full"]
# Bytes of pages that the writer holds in memory, and bytes that the log may grow to before it is moved into the file.
CACHE = 64 << 20
_LOG = 256 << 20
# Segments with fewer keys are of the lowest class; so many of one class are merged; bytes of filters held in memory.
SMALL, FAN, FILTERS = 4_096, 8, 192 << 20
# How long one try to begin waits within SQLite, in milliseconds; between the tries the caller may be told.
_TRY = 100


class SqliteStore(Histories):
    """A store in a SQLite file at `path`.

    `create` makes one where there is none; a read-only store is never made and never written to, and its -wal and -shm
    files are the only ones that may appear. `keep` is settled when a store is made: None takes what the store has.
    `durability`: "normal" may lose the last commits when the power fails (never their order), "full" doesn't.
    `told` hears whom a writer waits for, and after `patience` seconds it raises InUse.

    Raises UsageError, StoreDamaged, StoreForeign, StoreNewer, StoreUnsupported, PermissionDenied, DiskFull, InUse.
    """

    holds_receipts = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        keep: Keep | None = None,
        durability: Durability = "normal",
        told: Callable[[Waiting], None] | None = None,
        patience: float = 3600.0,
    ) -> None:
        self.location = os.fsencode(path).decode("utf-8", "backslashreplace")
        self._path = Path(os.path.realpath(path))
        self._current: RulesetRow | None = None
        self._held: tuple[int, int, list[bytes]] = (0, 0, [])
        self._writer: Writer | None = None
        if not file.exists(self._path, self.location):
            if not create or read_only:
                raise UsageError(f"there is no store at {self.location}", path=self.location, hint="check the path")
            making.create(self._path, self.location, keep or "kept")
        elif not read_only and self._path.stat().st_nlink > 1:
            making.clear(self._path)  # whoever made it was killed just then, and left its draft
        file.check_header(self._path, self.location)
        self._reader, version = file.open_reader(self._path, self.location)
        try:
            if version < len(MIGRATIONS):
                self._catch_up(read_only=read_only)
            self.keep: Keep = self._kept(keep)
            if not read_only:
                self._writer = self._open_writer(durability, Turns(self._path, self.location, told, patience))
        except BaseException:
            self.close()
            raise

    def _kept(self, wanted: Keep | None) -> Keep:
        keep: Keep = self._one("SELECT value FROM meta WHERE name = 'keep'")[0]
        if wanted not in {None, keep}:
            raise UsageError(
                f'{self.location} was made with keep = "{keep}"',
                path=self.location,
                expected=keep,
                found=wanted,
                hint="leave the setting out, or make another store",
            )
        return keep

    def _open_writer(self, durability: Durability, turns: Turns) -> Writer:
        with named(self.location):
            connection = file.connect(self._path, "mode=rw")
            for setting in (
                "journal_mode = WAL",
                f"synchronous = {durability.upper()}",
                f"cache_size = -{CACHE >> 10}",
                f"wal_autocheckpoint = {_LOG // PAGE_SIZE}",
                f"journal_size_limit = {_LOG}",
                "foreign_keys = ON",
                # Overwriting what was deleted with zeros: of use for an erasure, which asks for it itself.
                "secure_delete = OFF",
                "temp_store = MEMORY",
                # Mapped pages would count as this process's memory, and it gains little over the system's cache.
                "mmap_size = 0",
                f"busy_timeout = {_TRY}",
            ):
                connection.execute(f"PRAGMA {setting}")
        connection.set_layout(SMALL, FAN, FILTERS)
        return Writer(connection, self.location, self.keep == "kept", turns)

    def _catch_up(self, *, read_only: bool) -> None:
        if read_only:
            raise StoreUnsupported(
                f"{self.location} has an older schema, and reading alone may not change it",
                path=self.location,
                expected=f"schema {len(MIGRATIONS)}",
                hint="open it once for writing, for instance with `seenbefore dedup`",
            )
        with named(self.location):
            connection = file.connect(self._path, "mode=rw")
            try:
                file.migrate(connection)
            finally:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        writer, self._writer = self._writer, None
        # The reader first: the last connection to go moves the log into the file, which one that reads may not do.
        self._reader.close()
        if writer is not None:
            writer.connection.close()
            writer.turns.close()

    def ruleset(self, label: str, fingerprint: str, configuration: str, text: str, unicode_version: str) -> RulesetRow:
        """Register a ruleset or check it: see SeenStore."""
        name, version = split_label(label)
        known = self._known(label)
        if known is not None:
            check_ruleset(known, fingerprint, text, unicode_version, self.location)
        if known is None or known.configuration != configuration:
            if self._writer is None:
                if known is None:
                    raise UsageError(
                        f"{self.location} has no ruleset {label}",
                        path=self.location,
                        found=label,
                        hint="check the name",
                    )
            else:
                with self.transaction() as transaction:
                    transaction.register(name, version, fingerprint, configuration, text, unicode_version)
                    transaction.commit()
                known = self._known(label)
                if known is None:
                    raise AssertionError(label)
                check_ruleset(known, fingerprint, text, unicode_version, self.location)
        self._current = known
        return known

    def _known(self, label: str) -> RulesetRow | None:
        return next((row for row in self.rulesets() if row.label == label), None)

    def transaction(self, ruleset: RulesetRow | None = None) -> SqliteTransaction:
        """A write transaction: see SeenStore."""
        if self._writer is None:
            raise UsageError(f"{self.location} was opened for reading", path=self.location)
        return SqliteTransaction(self._writer, ruleset or self._current)

    def rulesets(self) -> list[RulesetRow]:
        """All rulesets, by id."""
        return [ruleset_row(row) for row in self._all(f"{RULESETS} ORDER BY r.id")]

    def settings_text(self, label: str, configuration: str) -> str | None:
        """The text of a ruleset as a run with that configuration had it."""
        name, version = split_label(label)
        row = self._one(
            "SELECT text FROM settings JOIN ruleset AS r ON r.id = settings.ruleset"
            " WHERE r.name = ? AND r.version = ? AND settings.configuration = ?",
            (name, version, configuration),
        )
        return None if row is None else str(row[0])

    def runs(self) -> list[RunRow]:
        """All runs, by ordinal."""
        return [run_row(row, self.location) for row in self._all(f"{RUNS} ORDER BY run.id")]

    def run(self, ordinal: int) -> RunRow | None:
        """One run."""
        row = self._one(f"{RUNS} WHERE run.id = ?", (ordinal,))
        return None if row is None else run_row(row, self.location)

    def inputs(self, run: int) -> list[InputRow]:
        """The inputs of a run, by index."""
        rows = self._all(f"{INPUTS} WHERE run = ? ORDER BY idx", (run,))
        return [input_row(row, self.location) for row in rows]

    def finished_input(self, name: str, sha256: Digest) -> DoneInput | None:
        """The same bytes in a finished run: see SeenStore."""
        row = self._one(
            "SELECT input.run, input.name, input.records FROM input JOIN run ON run.id = input.run"
            " WHERE input.sha256 = ? AND input.records IS NOT NULL AND run.state = 'finished' AND run.ruleset = ?"
            " ORDER BY input.name <> ?, input.run, input.idx LIMIT 1",
            (sha256, 0 if self._current is None else self._current.id, name),
        )
        return None if row is None else DoneInput(*row)

    def receipt(self, run: int, seq: int) -> bytes | None:
        """One receipt."""
        # Whoever goes over rows asks for those of one block one after the other; what a block says never changes.
        of, first, receipts = self._held
        if of != run or not first <= seq < first + len(receipts):
            found = self._block(run, seq)
            if found is None:
                return None
            first, receipts = found[0], lines(self._unpacked(found[1]))
            self._held = run, first, receipts
        return receipts[seq - first] + b"\n" if seq < first + len(receipts) else None

    def kept(self, run: int, seq: int) -> bytes | None:
        """One kept row."""
        found = self._block(run, seq)
        if found is None or found[2] is None:
            return None
        return kept_line(self._unpacked(found[1]), self._unpacked(found[2]), seq - found[0])

    def _block(self, run: int, seq: int) -> Any:
        return self._one(
            "SELECT first_seq, receipts, kept FROM block WHERE run = ? AND first_seq <= ?"
            " ORDER BY first_seq DESC LIMIT 1",
            (run, seq),
        )

    def receipts(self, run: int) -> Iterator[bytes]:
        """The receipts of a run in pieces."""
        rows = self._each("SELECT receipts FROM block WHERE run = ? ORDER BY first_seq", (run,))
        return (self._unpacked(packed) for (packed,) in rows)

    def kept_rows(self, run: int) -> Iterator[bytes]:
        """The kept rows of a run in pieces."""
        rows = self._each("SELECT kept FROM block WHERE run = ? AND kept IS NOT NULL ORDER BY first_seq", (run,))
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
        row = self._one("SELECT id, run, seq, url, fetched_at, payload FROM sighting WHERE id = ?", (sighting,))
        if row is None:
            raise StoreDamaged(f"{self.location} is damaged: it has no sighting {sighting}", path=self.location)
        found: EarlierSighting = row
        return found

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
        prefix = int.from_bytes(digest[:4])
        return self._one(ENTRIES[kind], {"kind": kind, "owner": owner, "key": digest, "prefix": prefix})

    def sighting(self, run: int, seq: int) -> SightingRow | None:
        """One sighting by its run and ordinal."""
        row = self._one(
            f"{SIGHTINGS} WHERE s.run = :run AND s.seq = :seq AND s.id = (SELECT first_sighting + :seq - first_seq"
            " FROM block WHERE run = :run AND first_seq <= :seq ORDER BY first_seq DESC LIMIT 1)",
            {"run": run, "seq": seq},
        )
        return None if row is None else sighting_row(row)

    def copy(self, target: str) -> int:
        """Make `target` a store that holds what this one holds now → its size: see SeenStore."""
        return upkeep.copy(self._path, self.location, target)

    def vacuum(self) -> tuple[int, int]:
        """Give back the room that nothing uses → size before and after: see SeenStore."""
        if self._writer is None:
            raise UsageError(f"{self.location} was opened for reading", path=self.location)
        return upkeep.vacuum(self._path, self.location, self._writer.turns)

    def _one(self, sql: str, parameters: Any = ()) -> Any:
        with named(self.location):
            return next(iter(self._reader.execute(sql, parameters)), None)

    def _all(self, sql: str, parameters: Any = ()) -> list[Any]:
        with named(self.location):
            return self._reader.execute(sql, parameters)
