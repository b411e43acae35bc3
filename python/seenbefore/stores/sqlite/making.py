"""Making a store: under a name of its own beside the place, until it is whole.

A process that is killed meanwhile leaves that draft. Nobody holds the lock on it then, so that whoever comes next can
tell, and clears it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from seenbefore.errors import OutputFailed, UsageError
from seenbefore.stores.rows import Keep
from seenbefore.stores.schema import APPLICATION_ID, PAGE_SIZE
from seenbefore.stores.sqlite.failures import named
from seenbefore.stores.sqlite.file import connect, migrate, sync

# What SQLite itself may put beside a file.
_COMPANIONS = ("-journal", "-wal", "-shm")


def create(path: Path, location: str, keep: Keep) -> None:
    """Makes a new store: whole under its name, or not there. If another process was first, its store stays.

    Raises UsageError, DiskFull, PermissionDenied, OutputFailed.
    """
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(
            f"can't make the store {location}: the folder {folder} isn't there",
            path=location,
            hint="make the folder first, or correct the path",
        )
    try:
        clear(path)
        while not _made(path, location, keep):
            pass
        sync(folder)
    except OSError as error:
        raise OutputFailed.from_os(location, error) from error


def clear(path: Path) -> None:
    """Removes the drafts of the store at `path` that no living process holds, as far as that can be done."""
    start = _prefix(path)
    with contextlib.suppress(OSError):
        for name in [one.name for one in os.scandir(path.parent) if one.name.startswith(start)]:
            draft = path.parent / next((name.removesuffix(end) for end in _COMPANIONS if name.endswith(end)), name)
            # One that is the store already may not be opened: closing it would let go of SQLite's locks on the store.
            if path.exists() and draft.exists() and draft.samefile(path):
                _remove(draft)
                continue
            with contextlib.suppress(BlockingIOError), _held(draft):
                _remove(draft)


def _prefix(path: Path) -> str:
    return f".{path.name}.new-"


def _made(path: Path, location: str, keep: Keep) -> bool:
    """Makes a draft and puts it in its place; False where another process took it for one that was left."""
    draft = path.with_name(f"{_prefix(path)}{secrets.token_hex(4)}")
    try:
        with _held(draft), named(location):
            _build(draft, keep)
        # The lock is let go of first: no file that is the store may be closed here, as above.
        return _placed(draft, path)
    except BlockingIOError:
        return False
    finally:
        with contextlib.suppress(OSError):
            _remove(draft)


@contextlib.contextmanager
def _held(draft: Path) -> Iterator[None]:
    """Holds a draft, which is made if it isn't there. Raises BlockingIOError where somebody else holds it."""
    # 0644 as SQLite itself makes its files.
    fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)


def _remove(draft: Path) -> None:
    for end in (*_COMPANIONS, ""):
        draft.with_name(draft.name + end).unlink(missing_ok=True)


def _build(path: Path, keep: Keep) -> None:
    connection = connect(path, "mode=rwc")
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(connection)
        connection.execute("INSERT INTO meta (name, value) VALUES ('keep', ?)", (keep,))
        # Last, so that everything above is in the file itself and not in its log.
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _placed(draft: Path, path: Path) -> bool:
    try:
        os.link(draft, path)
    except FileExistsError:
        return True
    except OSError:
        if not draft.exists() and path.parent.is_dir():
            return False
        # A file system without hard links: here a process that comes at the same moment could lose an empty store.
        if not path.exists():
            draft.rename(path)
    return True
