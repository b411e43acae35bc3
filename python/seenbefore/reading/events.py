"""What reading an input gives: pieces of lines, records that were cut out of it, lines over the limit, its end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from seenbefore._kernel import Records


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of an input between two records: `offset` bytes lie before it, `digest` is their SHA-256.

    In a columnar file rows are counted instead of bytes, and the digest is that of the whole file.
    """

    offset: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of an input, `data[0]` at `offset`. Where they are whole lines, only the last of all may lack its LF."""

    data: bytes
    offset: int
    before: Hash

    def mark(self, end: int) -> Mark:
        """The point after the first `end` bytes of this piece."""
        digest = self.before.copy()
        digest.update(memoryview(self.data)[:end])
        return Mark(self.offset + end, digest.digest())


@dataclass(frozen=True, slots=True)
class Rows:
    """Records from index `start` on. `marked` gives the point of the input that stands at an offset."""

    records: Records
    marked: Callable[[int], Mark]
    start: int = 0

    def mark(self, end: int) -> Mark:
        """The point behind the first `end` records."""
        return self.marked(self.records.place(end - 1)[3])

    def lines(self, end: int) -> int:
        """Lines, elements or rows of the input up to there."""
        return self.records.place(end - 1)[2]


@dataclass(frozen=True, slots=True)
class LongPart:
    """The next bytes of a line over the limit."""

    data: bytes


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the limit, all of whose parts were given out.

    `length` and `sha256` are of its bytes without the LF and one CR before it; `after` is the point behind its LF.
    `line` is its number where the lines before it were not given out one by one.
    """

    offset: int
    length: int
    sha256: bytes
    after: Mark
    line: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The input was read to its end: `sha256` and `size` are of its bytes as stored, `mark` of the decompressed."""

    sha256: bytes
    size: int
    mark: Mark


Event: TypeAlias = Piece | Rows | LongPart | LongLine | End


class Track:
    """Where one is in an input: how many bytes were passed, and their digest."""

    def __init__(self) -> None:
        self.offset = 0
        self.digest = hashlib.sha256()

    def piece(self, data: bytes) -> Piece:
        """Passes bytes that are given out."""
        piece = Piece(data, self.offset, self.digest.copy())
        self.skip(data)
        return piece

    def skip(self, data: bytes) -> None:
        """Passes bytes."""
        self.digest.update(data)
        self.offset += len(data)

    def mark(self) -> Mark:
        """The point behind what was passed."""
        return Mark(self.offset, self.digest.digest())
