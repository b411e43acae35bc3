"""From what PostgreSQL and libpq say to the error with a name.

Codes are of https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from seenbefore._kernel import SqliteError
from seenbefore.errors import (
    DiskFull,
    InUse,
    OutputFailed,
    PermissionDenied,
    SeenbeforeError,
    StoreDamaged,
    StoreUnreachable,
    StoreUnsupported,
    UsageError,
)

_FULL, _FORBIDDEN, _LOCK = ("53100", "54000"), ("42501", "25006", "28"), ("55P03",)
# 57P: somebody shut the server down, or ended the session; 08: the connection failed; 53300: too many of them.
_LOST = ("57P", "08", "53300")
# serialization_failure, deadlock_detected: the server gave this transaction up for another, and it may come again.
_GAVE_WAY = ("40001", "40P01")
_NO_DATABASE = ("3D000",)
# Internal errors, tables and columns that are not there, values that don't fit, broken constraints.
_HURT = ("XX", "42", "22", "23")

_WORD_HINT = "libpq takes a password from ~/.pgpass, PGPASSFILE or PGPASSWORD"
_RIGHTS = "check what the role may do: docs/how-to/share-a-store-with-postgresql.md lists what it needs"
_DAMAGED = "put back a backup of the database, or ask whoever looks after it"

# The first that fits the code; what is said of the store, and what to do.
_KINDS: tuple[tuple[tuple[str, ...], type[SeenbeforeError], str, str | None], ...] = (
    (_GAVE_WAY, StoreUnreachable, "{}: the transaction gave way to another one", None),
    (_LOST, StoreUnreachable, "{} can't be reached", None),
    (_FULL, DiskFull, "can't write {}", None),
    (_FORBIDDEN, PermissionDenied, "can't open or write {}", _RIGHTS),
    (_NO_DATABASE, UsageError, "{} is not there", "check the name"),
    (_LOCK, InUse, "{} is in use", None),
    (_HURT, StoreDamaged, "{} is damaged", _DAMAGED),
    (("0A",), StoreUnsupported, "{} doesn't do this", None),
    (("",), OutputFailed, "can't read or write {}", None),
)
# A connection that was never made has no code; libpq says why in words.
_REFUSED: tuple[tuple[str, type[SeenbeforeError], str, str], ...] = (
    ("authentication failed", PermissionDenied, "{} lets nobody in like this", _WORD_HINT),
    ("no password supplied", PermissionDenied, "{} lets nobody in like this", _WORD_HINT),
    ("no pg_hba.conf entry", PermissionDenied, "{} lets nobody in like this", "ask whoever looks after the server"),
    ("does not exist", UsageError, "{} is not there", "check the names of the database and of the role"),
)


def failure(location: str, error: psycopg.Error) -> SeenbeforeError:
    """The named error for what could not be done with the store at `location`."""
    said, code = _said(error), error.sqlstate
    if code is None and isinstance(error, psycopg.OperationalError):
        for words, kind, what, hint in _REFUSED:
            if words in said:
                return kind(f"{what.format(location)}: {said}", path=location, hint=hint)
        code = _LOST[0]
    what, kind, hint_or_none = next(
        (what, kind, hint) for starts, kind, what, hint in _KINDS if (code or "").startswith(starts)
    )
    return kind(f"{what.format(location)}: {said}", path=location, hint=hint_or_none)


def _said(error: psycopg.Error) -> str:
    """The message in one line, without the values of rows, which belong in no log."""
    primary = error.diag.message_primary
    return primary or " ".join(str(error).split()) or type(error).__name__


@contextmanager
def named(location: str) -> Iterator[None]:
    """What psycopg and the kernel raise within becomes an error with a name."""
    try:
        yield
    except psycopg.Error as error:
        raise failure(location, error) from error
    except SqliteError as error:
        # What the kernel says of a block that it can't unpack.
        raise StoreDamaged(f"{location} is damaged: {error.args[0]}", path=location, hint=_DAMAGED) from error
