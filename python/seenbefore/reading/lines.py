"""One input → pieces of whole lines, with the offset of each and a digest of everything before any point of them.

Lines end at LF only. A byte-order mark at the start belongs to no line. Offsets are of decompressed bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from seenbefore.errors import InputChanged, InputTruncated, InputUnreadable
from seenbefore.reading import codecs
from seenbefore.reading.inputs import standard_input, unreadable

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from seenbefore.types import Input

BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of an input between two lines: `offset` decompressed bytes lie before it, `digest` is their SHA-256."""

    offset: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines; the last one lacks its LF only at the end of the input. `offset` is that of `data[0]`."""

    data: bytes
    offset: int
    before: Hash

    def mark(self, end: int) -> Mark:
        """The point after the first `end` bytes of this piece."""
        digest = self.before.copy()
        digest.update(memoryview(self.data)[:end])
        return Mark(self.offset + end, digest.digest())


@dataclass(frozen=True, slots=True)
class LongPart:
    """The next bytes of a line over the limit."""

    data: bytes


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the limit, all of whose parts were given out.

    `length` and `sha256` are of its bytes without the LF and one CR before it; `after` is the point behind its LF.
    """

    offset: int
    length: int
    sha256: bytes
    after: Mark


@dataclass(frozen=True, slots=True)
class End:
    """The input was read to its end: `sha256` and `size` are of its bytes as stored, `mark` of the decompressed."""

    sha256: bytes
    size: int
    mark: Mark


Event = Piece | LongPart | LongLine | End


class Reader:
    """Reads one input once.

    Iterating gives pieces, the parts of lines longer than `max_line` bytes, and at last an End.

    `resume` is the point to go on from: what lies before it is read, compared with its digest and not given out.
    `max_bytes` bounds the decompressed size. `raw_read` is how many stored bytes were read so far, for whoever shows
    progress.

    Raises InputUnreadable, InputTruncated (compressed data that ends early, after all its whole lines were given out)
    and InputChanged.
    """

    def __init__(
        self,
        source: Input,
        *,
        max_line: int,
        max_bytes: int | None = None,
        resume: Mark | None = None,
        block: int = BLOCK,
    ) -> None:
        self.source = source
        self.raw_read = 0
        self._max_line = max_line
        self._max_bytes = max_bytes
        self._resume = resume if resume is not None and resume.offset else None
        # No larger than the limit, so that only a line that crosses two blocks can be over it.
        self._block = max(1, min(block, max_line))
        self._raw_digest: Hash | None = None
        self._before = hashlib.sha256()
        self._offset = 0

    def __iter__(self) -> Iterator[Event]:
        chunks = self._content()
        yield from self._lines(self._from_mark(chunks, self._resume) if self._resume else self._from_start(chunks))
        mark = Mark(self._offset, self._before.digest())
        digest = mark.digest if self._raw_digest is None else self._raw_digest.digest()
        yield End(sha256=digest, size=self.raw_read, mark=mark)

    def _lines(self, chunks: Iterator[bytes]) -> Iterator[Event]:
        tail = bytearray()
        long: _Long | None = None
        for chunk in chunks:
            for at in range(0, len(chunk), self._block):
                part = chunk[at : at + self._block] if len(chunk) > self._block else chunk
                first, begin = part.find(b"\n"), 0
                if long is None and self._over(tail, part, first):
                    long = _Long(self._offset)
                    if tail:
                        yield self._long_part(long, bytes(tail))
                        tail.clear()
                if long is not None:
                    yield self._long_part(long, part[:first] if first >= 0 else part)
                    if first < 0:
                        continue
                    yield self._long_end(long, b"\n")
                    long, begin = None, first + 1
                last, view = part.rfind(b"\n") + 1, memoryview(part)
                if last > begin:
                    yield self._piece(b"".join((tail, view[begin:last])))
                    tail.clear()
                tail += view[max(begin, last) :]
        if long is not None:
            yield self._long_end(long, b"")
        elif tail:
            yield self._piece(bytes(tail))

    def _over(self, tail: bytearray, part: bytes, first: int) -> bool:
        """Whether the line in `tail` and `part`, up to its LF at `first`, is over the limit without one CR."""
        reach = first if first >= 0 else len(part)
        last = part[reach - 1 : reach] or tail[-1:]
        return len(tail) + reach - (last == b"\r") > self._max_line

    def _piece(self, data: bytes) -> Piece:
        piece = Piece(data, self._offset, self._before.copy())
        self._pass(data)
        return piece

    def _long_part(self, long: _Long, data: bytes) -> LongPart:
        self._pass(data)
        return LongPart(long.take(data))

    def _long_end(self, long: _Long, ending: bytes) -> Event:
        self._pass(ending)
        return LongLine(long.offset, long.length, long.digest.digest(), Mark(self._offset, self._before.digest()))

    def _pass(self, data: bytes) -> None:
        self._before.update(data)
        self._offset += len(data)

    def _from_start(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The content without a byte-order mark at its start."""
        head = _gather(chunks, len(_BOM))
        if head.startswith(_BOM):
            self._pass(_BOM)
            head = head[len(_BOM) :]
        yield head
        yield from chunks

    def _from_mark(self, chunks: Iterator[bytes], mark: Mark) -> Iterator[bytes]:
        """The content behind `mark`, once what lies before it has proved to be what it was."""
        rest = b""
        for chunk in chunks:
            need = mark.offset - self._offset
            self._pass(chunk[:need])
            if self._offset == mark.offset:
                rest = chunk[need:]
                break
        if self._offset != mark.offset or self._before.digest() != mark.digest:
            raise InputChanged(
                f"{self.source.name} is not what it was when the run read it: its first {mark.offset:,} bytes differ",
                path=self.source.name,
                expected=f"sha256:{mark.digest.hex()} over {mark.offset} bytes",
                found=f"sha256:{self._before.hexdigest()} over {self._offset} bytes",
                hint="put the former input back and run the same command again, or close the run with --abandon",
            )
        yield rest
        yield from chunks

    def _content(self) -> Iterator[bytes]:
        """The decompressed bytes, in blocks of any size."""
        raw = self._raw()
        head = _gather(raw, codecs.HEAD)
        other = codecs.foreign(head)
        if other is not None:
            raise InputUnreadable(
                f"{self.source.name} is {other}, not lines of JSON",
                path=self.source.name,
                expected="NDJSON, plain or as gz, zst, bz2 or xz",
                found=other,
                hint="unpack or convert it first",
            )
        compression = codecs.sniff(head)
        blocks = chain((head,), raw)
        if compression is None:
            yield from self._bounded(blocks)
            return
        self._raw_digest = hashlib.sha256()
        given = 0
        try:
            for chunk in self._bounded(codecs.decompressed(self._digested(blocks, self._raw_digest), compression)):
                given += len(chunk)
                yield chunk
        except codecs.Cut:
            raise InputTruncated(
                f"{self.source.name} is cut off: its {compression} data ends at byte {self.raw_read:,}, "
                f"{given:,} decompressed bytes in",
                path=self.source.name,
                expected=f"the rest of the {compression} data",
                found=f"end of input at byte {self.raw_read}, decompressed byte {given}",
                hint="fetch the file again and run the same command: it goes on behind the last whole line",
            ) from None
        except codecs.Damaged as error:
            raise InputUnreadable(
                f"{self.source.name} is damaged: {error} in the {compression} data before byte {self.raw_read:,}, "
                f"{given:,} decompressed bytes in",
                path=self.source.name,
                expected=f"{compression} data",
                found=f"{error}, before byte {self.raw_read}, after decompressed byte {given}",
                hint="fetch the file again and run the same command: it goes on behind the last whole line",
            ) from None

    def _bounded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        total = 0
        for chunk in chunks:
            total += len(chunk)
            if self._max_bytes is not None and total > self._max_bytes:
                raise InputUnreadable(
                    f"{self.source.name} unpacks to more than {self._max_bytes:,} bytes",
                    path=self.source.name,
                    expected=f"at most {self._max_bytes} decompressed bytes",
                    found=f"more, at byte {self.raw_read} of the input",
                    hint="raise --max-input if that is what it should hold",
                )
            yield chunk

    def _digested(self, blocks: Iterator[bytes], digest: Hash) -> Iterator[bytes]:
        for block in blocks:
            digest.update(block)
            yield block

    def _raw(self) -> Iterator[bytes]:
        path = self.source.path
        try:
            with Path(path).open("rb", buffering=0) if path is not None else standard_input() as file:
                while block := file.read(BLOCK):
                    self.raw_read += len(block)
                    yield block
        except OSError as error:
            raise unreadable(self.source.name, error) from error


class _Long:
    """A line over the limit while its parts pass by: a CR is held back until it is known not to be the last byte."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.length = 0
        self.digest = hashlib.sha256()
        self._held = b""

    def take(self, data: bytes) -> bytes:
        data = self._held + data
        self._held = b"\r" if data.endswith(b"\r") else b""
        data = data[: len(data) - len(self._held)]
        self.length += len(data)
        self.digest.update(data)
        return data


def _gather(chunks: Iterator[bytes], least: int) -> bytes:
    """The first chunks as one, at least `least` bytes where there are as many."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= least:
            break
    return head
