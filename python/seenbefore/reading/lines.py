"""Content → pieces of whole lines, with the offset of each and a digest of everything before any point of them.

Lines end at LF only. A byte-order mark at the start belongs to no line. Offsets are of decompressed bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from seenbefore.errors import InputChanged
from seenbefore.reading.content import BLOCK, Content, gathered
from seenbefore.reading.events import End, Event, LongLine, LongPart, Mark, Track


@dataclass(frozen=True, slots=True)
class Signs:
    """How an encoding writes line ends and its byte-order mark. `lf` stands at multiples of its own length."""

    lf: bytes = b"\n"
    cr: bytes = b"\r"
    mark: bytes = b"\xef\xbb\xbf"


class Lines:
    """The lines of an input, once.

    Iterating gives pieces, the parts of lines longer than `max_line` bytes, and at last an End. `resume` is the point
    to go on from: what lies before it is read, compared with its digest and not given out.

    Raises what reading the content raises, after all whole lines were given out, and InputChanged.
    """

    def __init__(
        self,
        content: Content,
        *,
        max_line: int,
        resume: Mark | None = None,
        signs: Signs | None = None,
        block: int = BLOCK,
    ) -> None:
        self._content = content
        self._max_line = max_line
        self._resume = resume if resume is not None and resume.offset else None
        self._signs = signs or Signs()
        self._unit = len(self._signs.lf)
        # No larger than the limit, so that only a line that crosses two blocks can be over it.
        self._block = max(self._unit, min(block, max_line) // self._unit * self._unit)
        self._track = Track()

    def __iter__(self) -> Iterator[Event]:
        chunks = iter(self._content)
        chunks = self._from_mark(chunks, self._resume) if self._resume else self._from_start(chunks)
        yield from self._lines(chunks if self._unit == 1 else self._whole_units(chunks))
        mark = self._track.mark()
        yield End(*self._content.stored(mark.digest), mark)

    def _lines(self, chunks: Iterator[bytes]) -> Iterator[Event]:
        track, lf = self._track, self._signs.lf
        tail = bytearray()
        long: _Long | None = None
        for chunk in chunks:
            for at in range(0, len(chunk), self._block):
                part = chunk[at : at + self._block] if len(chunk) > self._block else chunk
                first, begin = self._first(part), 0
                if long is None and self._over(tail, part, first):
                    long = _Long(track.offset, self._signs.cr)
                    if tail:
                        yield self._long_part(long, bytes(tail))
                        tail.clear()
                if long is not None:
                    yield self._long_part(long, part[:first] if first >= 0 else part)
                    if first < 0:
                        continue
                    yield self._long_end(long, lf)
                    long, begin = None, first + len(lf)
                last, view = self._behind_last(part), memoryview(part)
                if last > begin:
                    yield track.piece(b"".join((tail, view[begin:last])))
                    tail.clear()
                tail += view[max(begin, last) :]
        if long is not None:
            yield self._long_end(long, b"")
        elif tail:
            yield track.piece(bytes(tail))

    def _first(self, part: bytes) -> int:
        """The index of the first LF, -1 where there is none."""
        at = part.find(self._signs.lf)
        while at % self._unit and at >= 0:
            at = part.find(self._signs.lf, at + 1)
        return at

    def _behind_last(self, part: bytes) -> int:
        """The index behind the last LF, 0 where there is none."""
        at = part.rfind(self._signs.lf)
        while at % self._unit and at >= 0:
            at = part.rfind(self._signs.lf, 0, at + self._unit - 1)
        return at + self._unit if at >= 0 else 0

    def _over(self, tail: bytearray, part: bytes, first: int) -> bool:
        """Whether the line in `tail` and `part`, up to its LF at `first`, is over the limit without one CR."""
        reach = first if first >= 0 else len(part)
        last = part[max(0, reach - self._unit) : reach] or tail[-self._unit :]
        return len(tail) + reach - self._unit * (last == self._signs.cr) > self._max_line

    def _long_part(self, long: _Long, data: bytes) -> LongPart:
        self._track.skip(data)
        return LongPart(long.take(data))

    def _long_end(self, long: _Long, ending: bytes) -> Event:
        self._track.skip(ending)
        return LongLine(long.offset, long.length, long.digest.digest(), self._track.mark())

    def _from_start(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The content without a byte-order mark at its start."""
        mark = self._signs.mark
        head = gathered(chunks, len(mark))
        if mark and head.startswith(mark):
            self._track.skip(mark)
            head = head[len(mark) :]
        yield head
        yield from chunks

    def _whole_units(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same bytes in chunks of whole units, but for what is left at the end."""
        rest = b""
        for chunk in chunks:
            data = rest + chunk
            whole = len(data) // self._unit * self._unit
            rest = data[whole:]
            yield data[:whole]
        yield rest

    def _from_mark(self, chunks: Iterator[bytes], mark: Mark) -> Iterator[bytes]:
        """The content behind `mark`, once what lies before it has proved to be what it was."""
        rest = b""
        for chunk in chunks:
            need = mark.offset - self._track.offset
            self._track.skip(chunk[:need])
            if self._track.offset == mark.offset:
                rest = chunk[need:]
                break
        if self._track.mark() != mark:
            raise changed(self._content.source.name, mark, self._track.mark())
        yield rest
        yield from chunks


class _Long:
    """A line over the limit while its parts pass by: a CR is held back until it is known not to be the last sign."""

    def __init__(self, offset: int, cr: bytes) -> None:
        self.offset = offset
        self.length = 0
        self.digest = hashlib.sha256()
        self._cr = cr
        self._held = b""

    def take(self, data: bytes) -> bytes:
        data = self._held + data
        self._held = self._cr if data.endswith(self._cr) else b""
        data = data[: len(data) - len(self._held)]
        self.length += len(data)
        self.digest.update(data)
        return data


def changed(name: str, mark: Mark, found: Mark) -> InputChanged:
    """The error for an input that differs from what a run read of it up to `mark`."""
    return InputChanged(
        f"{name} is not what it was when the run read it: its first {mark.offset:,} bytes differ",
        path=name,
        expected=f"sha256:{mark.digest.hex()} over {mark.offset} bytes",
        found=f"sha256:{found.digest.hex()} over {found.offset} bytes",
        hint="put the former input back and run the same command again, or close the run with --abandon",
    )
