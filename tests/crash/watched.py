"""A run as it is seen from outside: which stage it is at, and killing it there.

What is looked at: the sizes of the output files, and in the -shm file beside the store who holds SQLite's lock for
writing and how many transactions were committed (https://sqlite.org/walformat.html, sections 2.1 and 2.3).
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

# The lengths of the kept rows, the receipts and the refused lines.
Lengths = tuple[int, int, int]
FILES = ("kept.ndjson", "receipts.ndjson", "refused.ndjson")
STAGES = ("opening", "reading", "claiming", "writing", "committing", "finishing")
WRITE_LOCK = 120
# struct flock of 64-bit Linux: type, whence, start, length, process.
_FLOCK = struct.Struct("hh4xqqi4x")


class Watched:
    """One process that judges into `folder`/out; `ends` are the lengths of the files at the end of each batch."""

    def __init__(self, arguments: Sequence[str | Path], folder: Path, stdin: str | None, ends: list[Lengths]) -> None:
        self._out, self._shm, self._ends = folder / "out", folder / "seen.db-shm", ends
        self._index = -1
        self._transactions: bytes | None = None
        self._committed: Lengths | None = None
        self._feed = None
        feed: int | None = subprocess.DEVNULL
        if stdin is not None:
            # A real pipe, which can't be sought in, and whose other end may see it close.
            self._feed = subprocess.Popen(["cat", folder / stdin], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert self._feed.stdout is not None
            feed = self._feed.stdout.fileno()
        self.process = subprocess.Popen(
            arguments, cwd=folder, stdin=feed, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if self._feed is not None and self._feed.stdout is not None:
            self._feed.stdout.close()

    def stage(self) -> str:
        """Where the process stands."""
        if (self._out / "summary.json").exists() or (self._out / ".summary.json.new").exists():
            return "finishing"
        written = self._written()
        if written is None:
            return "opening"
        transactions, held = self._lock()
        if not held:
            self._committed = None
            return "finishing" if [written] == self._ends[-1:] else "reading"
        if self._committed is None or transactions != self._transactions:
            self._committed, self._transactions = written, transactions
        if written == self._committed:
            return "claiming"
        return "committing" if written in self._ends else "writing"

    def kill_at(self, stage: str, share: float, patience: float) -> str | None:
        """Kill it once that share of the batches is written and it is at that stage → where it was then.

        After `patience` seconds it is killed wherever it is; None where it had ended before.
        """
        started, whole = time.monotonic(), int(share * len(self._ends))
        least = self._ends[whole - 1][1] if whole else 0
        while self.process.poll() is None and time.monotonic() - started < patience:
            # Asked in any case: it learns from what it sees.
            at, written = self.stage(), self._written()
            if at == stage and (stage == "opening" or (written is not None and written[1] >= least)):
                break
            if stage not in {"claiming", "writing"}:
                time.sleep(0.0002)
        if not self._stop():
            return None
        at = self.stage()
        self.process.kill()
        self.end()
        return at

    def end(self) -> tuple[int, str, str]:
        """Wait for its end → exit status, standard output, standard error."""
        told, said = self.process.communicate(timeout=120)
        if self._feed is not None:
            self._feed.kill()
            self._feed.wait()
        if self._index >= 0:
            os.close(self._index)
            self._index = -1
        return self.process.returncode, told.decode(), said.decode()

    def _stop(self) -> bool:
        """Whether it stands still now; it doesn't where it ended before."""
        if self.process.poll() is not None:
            return False
        os.kill(self.process.pid, signal.SIGSTOP)
        # WNOWAIT leaves an end to be found by whoever waits for it.
        found = os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return found is not None and found.si_code == os.CLD_STOPPED

    def _written(self) -> Lengths | None:
        try:
            kept, receipts, refused = (os.stat(self._out / name).st_size for name in FILES)  # noqa: PTH116 - quicker
        except FileNotFoundError:
            return None
        return kept, receipts, refused

    def _lock(self) -> tuple[bytes, bool]:
        """The count of transactions as SQLite keeps it, and whether anybody holds the lock for writing."""
        try:
            if self._index < 0:
                self._index = os.open(self._shm, os.O_RDWR)
        except FileNotFoundError:
            return b"", False
        return os.pread(self._index, 4, 8), _holder(self._index) is not None


def holder(shm: Path) -> int | None:
    """The process that holds SQLite's lock for writing, by the store's -shm file; None where there is none."""
    try:
        index = os.open(shm, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        return _holder(index)
    finally:
        os.close(index)


def _holder(index: int) -> int | None:
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, WRITE_LOCK, 1, 0)
    kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(index, fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else pid
