"""The output directory of a run: files that only grow, cut back to what was committed, locked while the run lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from seenbefore.errors import InUse, OutputFailed

KEPT, RECEIPTS, REFUSED = "kept.ndjson", "receipts.ndjson", "refused.ndjson"
# Lines over the limit, byte for byte, one after the other; it exists only where there was one.
LONG_LINES = "refused.bin"
SUMMARY = "summary.json"
GROWING = (KEPT, RECEIPTS, REFUSED)
# Kept rows in another format, made when a run finishes.
MADE = ("kept.csv", "kept.parquet")
LOCK = ".lock"


class Lock:
    """A file that one process at a time holds: by flock, so that it is free again however that process ends."""

    def __init__(self, path: Path, what: str) -> None:
        """Takes the lock at once.

        `what` is what it guards, for the message. Raises InUse, naming the process; OutputFailed.
        """
        self.path = path
        try:
            self._fd = self._take(what)
        except OSError as error:
            raise OutputFailed.from_os(str(path), error) from error

    def _take(self, what: str) -> int:
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
                os.close(fd)
                raise InUse(
                    f"{what} is in use by process {holder}",
                    path=str(self.path),
                    found=f"process {holder}",
                    hint="wait until it has ended, then run the same command again",
                ) from None
            # Whoever held it may have removed the file between our open and our flock: then this lock guards nothing.
            try:
                if self.path.stat().st_ino == os.fstat(fd).st_ino:
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
                    return fd
            except FileNotFoundError:
                pass
            os.close(fd)

    def release(self) -> None:
        """Removes the file and frees the lock, in that order; a second call does nothing."""
        if self._fd >= 0:
            # One that stays is in nobody's way: what counts is the lock on it.
            with contextlib.suppress(OSError):
                self.path.unlink()
            os.close(self._fd)
            self._fd = -1


class Outputs:
    """The files of one run in `folder`.

    Nothing is buffered here: what was appended is in the files, and durable after `sync`.
    """

    def __init__(self, folder: Path) -> None:
        """Creates the folder and locks it. Raises InUse, PermissionDenied, DiskFull, OutputFailed."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputFailed.from_os(str(folder), error) from error
        self._lock = Lock(folder / LOCK, f"the output directory {folder}")
        self._files: dict[str, int] = {}
        self._lengths: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def occupied(self) -> list[str]:
        """Those of a run's files that the folder holds already."""
        return [name for name in (*GROWING, *MADE, LONG_LINES, SUMMARY) if (self.folder / name).exists()]

    def open(self, committed: Mapping[str, int]) -> None:
        """Opens or creates the files and cuts each back to its committed length in bytes (names left out: 0).

        A summary goes: its run was not finished. Raises OutputFailed where a file is shorter than committed, leaving
        every file as it is.
        """
        self._check(committed)
        try:
            for name in GROWING:
                self._open(name)
            if committed.get(LONG_LINES) or (self.folder / LONG_LINES).exists():
                self._open(LONG_LINES)
            self.cut_back(committed)
            for name in (SUMMARY, *MADE):
                for path in (self.folder / name, draft_of(self.folder / name)):
                    path.unlink(missing_ok=True)
            sync_folder(self.folder)
        except OSError as error:
            raise OutputFailed.from_os(str(self.folder), error) from error

    def append(self, kept: Iterable[bytes], receipts: Iterable[bytes], refused: Iterable[bytes]) -> None:
        """Appends the blocks of one batch. Raises DiskFull, OutputFailed."""
        for name, blocks in ((KEPT, kept), (RECEIPTS, receipts), (REFUSED, refused)):
            for block in blocks:
                self._write(name, block)

    def append_long(self, data: bytes) -> None:
        """Appends a part of a line over the limit to refused.bin."""
        if LONG_LINES not in self._files:
            try:
                self._open(LONG_LINES)
                sync_folder(self.folder)
            except OSError as error:
                raise OutputFailed.from_os(str(self.folder / LONG_LINES), error) from error
        self._write(LONG_LINES, data)

    def sync(self) -> None:
        """Makes everything appended so far durable. Raises OutputFailed, also where a file has left its place."""
        # A copy, because the thread that reads may open refused.bin meanwhile.
        for name, fd in tuple(self._files.items()):
            try:
                os.fsync(fd)
                in_place = (self.folder / name).stat().st_ino == os.fstat(fd).st_ino
            except FileNotFoundError:
                in_place = False
            except OSError as error:
                raise OutputFailed.from_os(str(self.folder / name), error) from error
            if not in_place:
                raise OutputFailed(
                    f"{self.folder / name} was moved or removed while the run was writing it",
                    path=str(self.folder / name),
                    hint="put the file back and run the same command again: it goes on; if it is lost, close the run "
                    "with --abandon",
                )

    def length(self, name: str) -> int:
        """Bytes in one of the files by now."""
        return self._lengths.get(name, 0)

    def cut_back(self, committed: Mapping[str, int]) -> None:
        """Cuts every open file back to its committed length; a refused.bin of which nothing was committed goes."""
        for name, fd in list(self._files.items()):
            length = committed.get(name, 0)
            os.ftruncate(fd, length)
            os.lseek(fd, length, os.SEEK_SET)
            self._lengths[name] = length
        if LONG_LINES in self._files and not committed.get(LONG_LINES):
            os.close(self._files.pop(LONG_LINES))
            (self.folder / LONG_LINES).unlink()

    def take_back(self, committed: Mapping[str, int]) -> None:
        """Cuts what the batch that was last appended added; lines over the limit stay, as later ones may be there.

        Raises OutputFailed.
        """
        try:
            for name in (KEPT, RECEIPTS, REFUSED):
                length = committed.get(name, 0)
                os.ftruncate(self._files[name], length)
                os.lseek(self._files[name], length, os.SEEK_SET)
                self._lengths[name] = length
        except OSError as error:
            raise OutputFailed.from_os(str(self.folder), error) from error

    def write_summary(self, text: bytes) -> None:
        """Puts summary.json in place by atomic rename, durable. Raises DiskFull, OutputFailed."""
        replace(self.folder / SUMMARY, text)

    def close(self) -> None:
        """Closes the files and frees the folder."""
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()
        self._lock.release()

    def shorter(self, committed: Mapping[str, int]) -> tuple[Path, int | None, int] | None:
        """The first file that is shorter than its committed length: path, bytes (None: it is gone), that length."""
        for name, length in committed.items():
            path = self.folder / name
            found = path.stat().st_size if path.exists() else None
            if length and (found is None or found < length):
                return path, found, length
        return None

    def _check(self, committed: Mapping[str, int]) -> None:
        short = self.shorter(committed)
        if short is not None:
            path, found, length = short
            raise OutputFailed(
                f"{path} is shorter than what the store committed: "
                f"{'it is gone' if found is None else f'{found:,} bytes'} instead of {length:,}",
                path=str(path),
                expected=f"at least {length} bytes",
                found="no file" if found is None else f"{found} bytes",
                hint="put the file back, or close the run with --abandon and choose another --out",
            )

    def _open(self, name: str) -> None:
        fd = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._files[name] = fd
        self._lengths[name] = os.lseek(fd, 0, os.SEEK_END)

    def _write(self, name: str, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._files[name], view)
                self._lengths[name] += written
                view = view[written:]
        except OSError as error:
            raise OutputFailed.from_os(str(self.folder / name), error) from error


def replace(path: Path, data: bytes) -> None:
    """Writes a whole file so that at any moment either the former or the new one is there.

    Raises DiskFull, OutputFailed.
    """
    with replaced(path) as file:
        file.write(data)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path`, durably, when the block ends well.

    Raises DiskFull, OutputFailed, also for an OSError within the block.
    """
    draft = draft_of(path)
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise OutputFailed.from_os(str(path), error) from error


def draft_of(path: Path) -> Path:
    """Where a file that is put in place whole is written first."""
    return path.with_name(f".{path.name}.new")


def sync_folder(folder: Path) -> None:
    """Makes names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
