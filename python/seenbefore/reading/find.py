"""One record of an input, by the number that receipts give it."""

from __future__ import annotations

from seenbefore.errors import InputUnreadable
from seenbefore.reading.events import Piece, Rows
from seenbefore.reading.inputs import expand
from seenbefore.reading.reader import Form, Reader

_LONGEST = 64 << 20
# A line of nothing else is no record; one of a form feed is, though one that can't be read.
_BLANK = b" \t\r"


def record_at(path: str, line: int, form: Form | None = None) -> bytes:
    """The record as a line of JSON, or the bytes that are none, without a line end; `line` is counted from 1.

    Raises InputUnreadable, also where nothing has that number.
    """
    (source,) = expand([path])
    before = 0
    for event in Reader(source, max_line=_LONGEST, form=form):
        if isinstance(event, Piece):
            lines = event.data.split(b"\n")
            here = len(lines) - (lines[-1] == b"")
            if before < line <= before + here:
                if not lines[line - before - 1].strip(_BLANK):
                    raise InputUnreadable(
                        f"line {line:,} of {path} is blank: it holds no record",
                        path=path,
                        hint="blank lines are passed over and counted; name the line before or after it",
                    )
                return lines[line - before - 1]
            before += here
        elif isinstance(event, Rows):
            records = event.records
            for index in range(len(records)) if line <= event.lines(len(records)) else ():
                if records.place(index)[0] == line:
                    return records.line(index)
            before = event.lines(len(records))
    raise InputUnreadable(
        f"{path} has no record in line {line:,}",
        path=path,
        found=f"{before} lines",
        hint="lines are counted from 1; elements of an array and rows of a columnar file too",
    )
