"""A JSON array → its elements, each as soon as it is there, so that memory is bounded by the largest."""

from __future__ import annotations

from collections.abc import Iterator

from seenbefore._kernel import Array, Records
from seenbefore.errors import InputTruncated, InputUnreadable
from seenbefore.reading.content import Content, gathered
from seenbefore.reading.events import End, Event, LongLine, LongPart, Piece, Rows, Track

_BOM = b"\xef\xbb\xbf"


def elements(content: Content, max_line: int) -> Iterator[Event]:
    """The elements of an array from its start, those over the limit, and its end.

    Raises InputUnreadable and InputTruncated, each with the byte, after all elements before it were given out.
    """
    track = Track()
    chunks = iter(content)
    head = gathered(chunks, len(_BOM))
    if head.startswith(_BOM):
        track.skip(_BOM)
        head = head[len(_BOM) :]
    array = Array(max_line, track.offset)
    for chunk in _with(head, chunks):
        piece = track.piece(chunk)
        parts, fault = array.feed(chunk)
        for part in parts:
            yield _event(part, piece)
        _refuse(content.source.name, fault)
    _refuse(content.source.name, array.finish())
    mark = track.mark()
    yield End(*content.stored(mark.digest), mark)


def _with(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from chunks


def _event(part: Records | bytes | tuple[tuple[int, int, int, int], int, bytes], piece: Piece) -> Event:
    if isinstance(part, Records):
        return Rows(part, lambda offset: piece.mark(offset - piece.offset))
    if isinstance(part, bytes):
        return LongPart(part)
    (line, offset, _, after), length, sha256 = part
    return LongLine(offset, length, sha256, piece.mark(after - piece.offset), line)


def _refuse(name: str, fault: tuple[str, str] | None) -> None:
    if fault is None:
        return
    what, message = fault
    if what == "cut":
        raise InputTruncated(
            f"{name} is cut off: {message}",
            path=name,
            expected='the rest of the array, up to its "]"',
            hint="fetch the file again and run the same command: it goes on behind the last whole record",
        )
    hints = {
        "object": f"take the array out of it, for instance: jq -c '.items[]' {name}; or say --format ndjson if each "
        "line is a record",
        "start": "check its format: --format says what it is",
        "trailing": "a file holds one array; for records line by line say --format ndjson",
    }
    raise InputUnreadable(
        f"{name} can't be read as a JSON array: {message}",
        path=name,
        hint=hints.get(what, "mend the file; records before that byte are judged already"),
    )
