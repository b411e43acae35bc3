"""From what SQLite says to the error with a name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import zstandard

from seenbefore.errors import (
    DiskFull,
    InUse,
    OutputFailed,
    PermissionDenied,
    SeenbeforeError,
    StoreDamaged,
)

# Primary result codes: https://sqlite.org/rescode.html, the low eight bits of an extended one.
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_FORBIDDEN = {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}
_HURT = {sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA}


def primary(error: sqlite3.Error) -> int:
    """The primary result code of an error, 0 where it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def failure(location: str, error: sqlite3.Error) -> SeenbeforeError:
    """The named error for what SQLite could not do with the store at `location`."""
    code = primary(error)
    if code in BUSY:
        return InUse(f"{location} is in use by another process", path=location)
    if code == sqlite3.SQLITE_FULL:
        return DiskFull(f"can't write {location}: {error}", path=location)
    if code in _FORBIDDEN:
        return PermissionDenied(f"can't open or write {location}: {error}", path=location)
    if code == sqlite3.SQLITE_IOERR and getattr(error, "sqlite_errorcode", 0) not in _HURT:
        return OutputFailed(f"can't read or write {location}: {error}", path=location)
    return StoreDamaged(f"{location} is damaged: {error}", path=location, found=str(error))


@contextmanager
def named(location: str) -> Iterator[None]:
    """What SQLite and zstd raise within becomes an error with a name; a mistake in a call stays what it is."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except sqlite3.Error as error:
        raise failure(location, error) from error
    except zstandard.ZstdError as error:
        raise StoreDamaged(f"{location} is damaged: a block can't be unpacked: {error}", path=location) from error
