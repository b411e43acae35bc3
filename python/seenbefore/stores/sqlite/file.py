"""The file of a store: making it, refusing what is not a whole store, and connecting to it.

A file is refused without being written to, and without -wal and -shm files appearing beside it. It is never read but by
SQLite itself: closing a file of one's own would let go of the locks that this process holds on it through SQLite
(https://sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path
from urllib.parse import quote

from seenbefore._kernel import Sqlite, SqliteError, SqliteReader
from seenbefore.errors import (
    OutputFailed,
    PermissionDenied,
    StoreDamaged,
    StoreForeign,
    StoreNewer,
)
from seenbefore.stores.schema import APPLICATION_ID, MIGRATIONS
from seenbefore.stores.sqlite.failures import NOT_A_DATABASE, failure, named, primary

_SMALLEST = 512
# How long statements other than BEGIN wait for another process that recovers or closes the store, in milliseconds.
_PATIENCE = 60_000
# A schema that was tampered with may call no function of SQLite that reaches outside of it.
_UNTRUSTED = "PRAGMA trusted_schema = OFF"


def connect(path: Path, how: str) -> Sqlite:
    """A connection in autocommit mode. `how` is what stands behind `?` in the URI: mode=ro, mode=rw."""
    connection = Sqlite(uri(path, how), _PATIENCE)
    connection.execute(_UNTRUSTED)
    return connection


def uri(path: Path, how: str) -> str:
    """The URI of a file; `how` as for `connect`."""
    return f"file:{quote(os.fsencode(path))}?{how}"


def exists(path: Path, location: str) -> bool:
    """True where a regular file is at `path`. Raises StoreForeign, StoreDamaged, PermissionDenied."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputFailed.from_os(location, error) from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "not a file"
        raise StoreForeign(f"{location} is {kind}, not a store", path=location, found=kind)
    if found.st_size == 0:
        raise StoreDamaged(
            f"{location} is empty: a store never is",
            path=location,
            expected="a store",
            found="0 bytes",
            hint="put back a backup of it; if there never was a store, remove the file and run the same command again",
        )
    return True


def sync(path: Path) -> None:
    """Makes a file, or the names in a folder, durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def migrate(connection: Sqlite) -> None:
    """Applies the migrations that are still to come, all or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = connection.execute("PRAGMA user_version")[0][0]
        for migration in MIGRATIONS[applied:]:
            connection.script(migration.sql)
            connection.execute(
                "INSERT INTO migration (name, applied) VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                (migration.name,),
            )
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        # A statement that failed may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_header(path: Path, location: str) -> None:
    """Pass where the header is a store's, read as if no other process were there: no lock, no log, no new file.

    Raises StoreForeign, StoreNewer, StoreDamaged. The header may be older than the log, but a store had its application
    id before it got its name.
    """
    if path.stat().st_size < _SMALLEST:
        raise StoreForeign(f"{location} is too short for a store", path=location)
    try:
        connection = connect(path, "mode=ro&immutable=1")
        try:
            # Without it SQLite compares the file's size with the header's, and a log may still hold the missing pages.
            connection.execute("PRAGMA writable_schema = ON")
            application = connection.execute("PRAGMA application_id")[0][0]
            version: int = connection.execute("PRAGMA user_version")[0][0]
        finally:
            connection.close()
    except SqliteError as error:
        if primary(error) == NOT_A_DATABASE:
            raise StoreForeign(
                f"{location} is no SQLite database, so no store of seenbefore (or its first bytes are damaged)",
                path=location,
            ) from error
        raise failure(location, error) from error
    if application != APPLICATION_ID:
        raise StoreForeign(
            f"{location} is a SQLite database of another program",
            path=location,
            expected=f"application id {APPLICATION_ID:#010x}",
            found=f"application id {application & 0xFFFFFFFF:#010x}",
        )
    check_version(version, location)


def check_version(version: int, location: str) -> int:
    """The version, where this code knows it. Raises StoreNewer, StoreDamaged."""
    if version > len(MIGRATIONS):
        raise StoreNewer(
            f"{location} was written by a newer seenbefore",
            path=location,
            expected=f"schema {len(MIGRATIONS)} or older",
            found=f"schema {version}",
        )
    if version < 1:
        raise StoreDamaged(f"{location} is damaged: it has no schema", path=location, found=f"schema {version}")
    return version


def check_structure(connection: SqliteReader, location: str) -> int:
    """A cheap look at every table, at both ends of the large ones → the schema version.

    Raises StoreDamaged, StoreNewer. Damage elsewhere shows when it is met.
    """
    with named(location):
        # In one transaction, because somebody may be writing.
        connection.execute("BEGIN")
        version = check_version(connection.execute("PRAGMA user_version")[0][0], location)
        if version == len(MIGRATIONS):
            there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            missing = sorted(_expected() - there)
            if missing:
                raise StoreDamaged(f"{location} is damaged: it has no {', '.join(missing)}", path=location)
            for table in sorted(_expected()):
                connection.execute(f"SELECT * FROM {table} LIMIT 1")
        for table in ("content_seen", "place_now"):
            connection.execute(f"SELECT * FROM {table} ORDER BY id DESC LIMIT 1")
        lacking = connection.execute(_LACKING)
        sighting = connection.execute("SELECT id, url FROM sighting ORDER BY id DESC LIMIT 1")
        block = connection.execute("SELECT first_sighting + records - 1 FROM block ORDER BY rowid DESC LIMIT 1")
        connection.execute("COMMIT")
    if lacking:
        raise StoreDamaged(
            f"{location} is damaged: the segment of keys {lacking[0][0]} is not whole",
            path=location,
            expected=f"{lacking[0][1]} buckets",
            found="no last one",
        )
    last, receipts = (rows[0][0] if rows else 0 for rows in (sighting, block))
    if receipts != last:
        raise StoreDamaged(
            f"{location} is damaged: its sightings end at {last:,}, and its receipts at {receipts:,}",
            path=location,
            expected=f"receipts up to sighting {last}",
            found=f"receipts up to sighting {receipts}",
        )
    return version


# Segments whose last bucket is gone.
_LACKING = """
SELECT segment.id, segment.buckets FROM segment
LEFT JOIN bucket ON bucket.id = (segment.id << 24) + segment.buckets - 1 WHERE length(bucket.entries) IS NULL
"""


@cache
def _expected() -> frozenset[str]:
    """The names of all tables and views that the migrations make."""
    connection = Sqlite(":memory:")
    try:
        for migration in MIGRATIONS:
            connection.script(migration.sql)
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        return frozenset(name for (name,) in names)
    finally:
        connection.close()


def open_reader(path: Path, location: str) -> tuple[SqliteReader, int]:
    """A checked connection that only reads, and the schema version.

    Raises StoreDamaged, StoreNewer, InUse, PermissionDenied.
    """
    try:
        return _open(path, location, "mode=ro")
    except PermissionDenied:
        # Where no -shm file may be made SQLite can't share the store with writers; without a log there are none.
        log = Path(f"{path}-wal")
        if os.access(path.parent, os.W_OK) or (log.exists() and log.stat().st_size):
            raise
    return _open(path, location, "mode=ro&immutable=1")


def _open(path: Path, location: str, how: str) -> tuple[SqliteReader, int]:
    with named(location):
        connection = SqliteReader(uri(path, how), _PATIENCE)
        connection.execute(_UNTRUSTED)
    try:
        return connection, check_structure(connection, location)
    except BaseException:
        connection.close()
        raise
