"""From what SQLite says to the error with a name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seenbefore._kernel import SqliteError
from seenbefore.errors import (
    DiskFull,
    InUse,
    OutputFailed,
    PermissionDenied,
    SeenbeforeError,
    StoreDamaged,
)
from seenbefore.stores.laws import contradicted

# https://sqlite.org/rescode.html: a primary code, and above it what makes it an extended one.
_PRIMARY = 0xFF
BUSY = {5, 6, 15}  # BUSY, LOCKED, PROTOCOL
FULL, NOT_A_DATABASE = 13, 26
_INTERNAL = 2  # the kernel found its own batch to contradict what was claimed
_IO = 10
_FORBIDDEN = {3, 8, 14, 23}  # PERM, READONLY, CANTOPEN, AUTH
_HURT = {_IO | 33 << 8, _IO | 32 << 8}  # IOERR_CORRUPTFS, IOERR_DATA


def primary(error: SqliteError) -> int:
    """The primary result code of an error."""
    code: int = error.args[1]
    return code & _PRIMARY


def failure(location: str, error: SqliteError) -> SeenbeforeError:
    """The named error for what SQLite could not do with the store at `location`."""
    message, extended = error.args
    code = primary(error)
    if code == _INTERNAL:
        return contradicted(location, message)
    if code in BUSY:
        return InUse(f"{location} is in use by another process", path=location)
    if code == FULL:
        return DiskFull(f"can't write {location}: {message}", path=location)
    if code in _FORBIDDEN:
        return PermissionDenied(f"can't open or write {location}: {message}", path=location)
    if code == _IO and extended not in _HURT:
        return OutputFailed(f"can't read or write {location}: {message}", path=location)
    return StoreDamaged(f"{location} is damaged: {message}", path=location, found=message)


@contextmanager
def named(location: str) -> Iterator[None]:
    """What the kernel raises of SQLite and of what lies in it becomes an error with a name."""
    try:
        yield
    except SqliteError as error:
        raise failure(location, error) from error
