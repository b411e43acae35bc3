"""Turns at the write lock: whoever waits is told for whom, and nobody waits for ever behind a busy writer.

SQLite has one write lock and no queue: a process that commits and begins again at once wins against those that sleep
between their tries. So a writer first holds a second lock, on a small file beside the store, until it has the first.
There is one holder of that at a time, and it is the next one to write.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from seenbefore.errors import InUse, OutputFailed
from seenbefore.stores.base import Waiting

SUFFIX = "-writer"
# The first wait that a person is told of, and how often after that, in seconds.
TOLD_AFTER, TOLD_EVERY = 1.0, 10.0
# Seconds between two tries. The same for all, however long they have waited: one that tries less often the longer it
# waits loses the race to those that come fresh.
_PAUSE = 0.004


class Turns:
    """The queue of one store, as one handle sees it.

    `told` is called with a Waiting now and then; after `patience` seconds of waiting InUse is raised.
    """

    def __init__(self, path: Path, location: str, told: Callable[[Waiting], None] | None, patience: float) -> None:
        self._path, self._location = path, location
        self._told, self._patience = told, patience
        self._fd: int | None = None
        self._store = _identity(path)
        self.run: int | None = None

    def take(self, begin: Callable[[], bool]) -> None:
        """Wait until `begin` gives True, which means that this process has the write lock.

        Raises OutputFailed where the store has left its place: what is written to a file that was removed is lost.
        """
        if _identity(self._path) != self._store:
            raise OutputFailed(
                f"{self._location} was moved or removed while it was in use",
                path=self._location,
                hint="put it back and run the same command again: it goes on",
            )
        start = time.monotonic()
        fd = self._open()
        if fd is None:
            self._wait(begin, start)
            return
        self._wait(lambda: _locked(fd), start)
        try:
            self._wait(begin, start)
            note = {"pid": os.getpid(), "host": socket.gethostname(), "run": self.run}
            self._write(fd, json.dumps(note).encode())
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Say that the write lock is free again."""
        if self._fd is not None:
            self._write(self._fd, b"")

    def close(self) -> None:
        """Close the file; it stays where it is."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int | None:
        """The file beside the store, for all who may write to the store; None where it can't be had: then no turns."""
        if self._fd is None:
            try:
                mode = self._path.stat().st_mode & 0o666
                self._fd = os.open(f"{self._path}{SUFFIX}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
            except OSError:
                return None
        return self._fd

    def _wait(self, ready: Callable[[], bool], start: float) -> None:
        told_at = start + TOLD_AFTER
        while not ready():
            now = time.monotonic()
            if now - start > self._patience:
                waiting = self._waiting(now - start)
                raise InUse(
                    f"{self._location} is in use by {waiting.holder}, for {waiting.seconds:.0f} seconds now",
                    path=self._location,
                    found=waiting.holder,
                )
            if now >= told_at and self._told is not None:
                told_at = now + TOLD_EVERY
                self._told(self._waiting(now - start))
            time.sleep(_PAUSE)

    def _waiting(self, seconds: float) -> Waiting:
        """What is known of the holder; its note may be missing, or half written."""
        try:
            note = json.loads(os.pread(self._fd, 4096, 0)) if self._fd is not None else {}
            host = None if note["host"] == socket.gethostname() else note["host"]
            return Waiting(self._location, seconds, note["pid"], host, note["run"])
        except (ValueError, KeyError, TypeError, OSError):
            return Waiting(self._location, seconds)

    def _write(self, fd: int, note: bytes) -> None:
        # For people only: a full disk is told by the commit, not here.
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, note, 0)
        except OSError:
            return


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
