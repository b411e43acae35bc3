"""Files that somebody else made, read without harm: no links, no devices, lines and unpacked sizes with a limit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import zstandard

from seenbefore.errors import InputUnreadable

# The longest line that is read, and the most bytes of a file that is read as a whole.
LONGEST_LINE = 256 << 20
WHOLE = 64 << 20
_CHUNK = 4 << 20


class Piece(NamedTuple):
    """Whole lines of a file: the file's name, and how many of its lines came before."""

    data: bytes
    file: str
    line: int


class Unsound(Exception):
    """A file that isn't read further. `line` is the last one that was whole."""

    def __init__(self, file: str, line: int, what: str, expected: str, found: str) -> None:
        super().__init__(what)
        self.file, self.line, self.what, self.expected, self.found = file, line, what, expected, found


def opened(path: str) -> BinaryIO:
    """A regular file, whatever was there a moment ago: no link is followed, no pipe is waited for.

    Raises InputUnreadable.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputUnreadable(f"can't read {path}: {error.strerror}", path=path) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputUnreadable(f"{path} is no regular file", path=path)
    return os.fdopen(handle, "rb")


def whole(path: str) -> bytes:
    """A small file; one that is larger than WHOLE is cut there, and so is not what it must be."""
    with opened(path) as file:
        return file.read(WHOLE)


def lines_of(path: str, name: str) -> Iterator[Piece]:
    """The lines of a file in pieces. Raises Unsound, InputUnreadable."""
    before, rest = 0, b""
    with opened(path) as file:
        for chunk in _unpacked(file, name) if name.endswith(".zst") else iter(lambda: file.read(_CHUNK), b""):
            end = chunk.rfind(b"\n") + 1
            if end == 0:
                rest += chunk
                if len(rest) > LONGEST_LINE:
                    raise Unsound(name, before, "length of a line", f"at most {LONGEST_LINE:,} bytes", "more")
                continue
            data, rest = rest + chunk[:end], chunk[end:]
            yield Piece(data, name, before)
            before += data.count(b"\n")
    if rest:
        raise Unsound(name, before, "end of the file", "a line feed", repr(rest[-20:]))


def _unpacked(file: BinaryIO, name: str) -> Iterator[bytes]:
    """The content of all frames, a bounded piece at a time, in memory that no frame can ask more of."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=LONGEST_LINE + _CHUNK)
    try:
        with unpacker.stream_reader(file, read_size=1 << 17, read_across_frames=True, closefd=False) as reader:
            while piece := reader.read(_CHUNK):
                yield piece
    except zstandard.ZstdError as error:
        raise Unsound(name, 0, "compressed frame", "whole frames of Zstandard", str(error)) from error
