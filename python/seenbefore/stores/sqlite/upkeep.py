"""Upkeep of a store in SQLite: a copy of it, and its file written anew.

Both run on a connection that hears signals, so that they can be broken off: then nothing has happened.
"""

from __future__ import annotations

import os
from pathlib import Path

from seenbefore._kernel import SqliteError, SqliteReader
from seenbefore.errors import OutputFailed, UsageError
from seenbefore.stores.sqlite import file
from seenbefore.stores.sqlite.failures import BUSY, named, primary
from seenbefore.stores.sqlite.turns import Turns

# How long one try to get the write lock waits within SQLite, in milliseconds.
_TRY = 100


def size(path: Path) -> int:
    """Bytes of a store on disk, its log included."""
    files = [Path(f"{path}{end}") for end in ("", "-wal")]
    return sum(one.stat().st_size for one in files if one.exists())


def copy(path: Path, location: str, target: str) -> int:
    """Write what the store holds now to `target`, whole or not at all → its size in bytes: see SeenStore."""
    place = Path(os.path.realpath(target))
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already", path=target, hint="choose another name, or remove it yourself")
    if not place.parent.is_dir():
        raise UsageError(f"the folder of {target} isn't there", path=target, hint="make it first, or correct the path")
    draft = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        try:
            with named(location):
                _write(path, draft)
            file.sync(draft)
            _put(draft, place, target)
        finally:
            for end in ("", "-journal", "-wal", "-shm"):
                Path(f"{draft}{end}").unlink(missing_ok=True)
        file.sync(place.parent)
        return place.stat().st_size
    except OSError as error:
        raise OutputFailed.from_os(target, error) from error


def _write(path: Path, draft: Path) -> None:
    """The store of one moment, in a file without unused room."""
    reader = SqliteReader(file.uri(path, "mode=ro"))
    try:
        reader.execute("VACUUM INTO ?", (file.uri(draft, "mode=rwc"),))
    finally:
        reader.close()
    connection = file.connect(draft, "mode=rw")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _put(draft: Path, place: Path, target: str) -> None:
    try:
        os.link(draft, place)
    except FileExistsError:
        raise UsageError(f"{target} has appeared meanwhile", path=target, hint="choose another name") from None
    except OSError:
        # A file system without hard links.
        draft.rename(place)


def vacuum(path: Path, location: str, turns: Turns) -> tuple[int, int]:
    """Write the file anew → size before and after: see SeenStore."""
    before = size(path)
    with named(location):
        # Not the connection that writes batches: that one holds its temporary tables in memory, and this needs room for
        # the whole store.
        connection = SqliteReader(file.uri(path, "mode=rw"), _TRY)
        try:
            turns.take(lambda: _vacuumed(connection))
            turns.leave()
            # Written anew it lies in the log, from where it goes into the file, which is cut.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
    return before, size(path)


def _vacuumed(connection: SqliteReader) -> bool:
    try:
        connection.execute("VACUUM")
    except SqliteError as error:
        if primary(error) in BUSY:
            return False
        raise
    return True
