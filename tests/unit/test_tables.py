"""CSV and TSV: cells are text, rows are told by the book, and what is none is set aside with its place and bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seenbefore._kernel import Table
from seenbefore.errors import InputChanged, InputUnreadable, UsageError
from seenbefore.reading import Dialect, End, Form, LongLine, LongPart, Mark, Reader, Rows, delimiter_of, encoding_of
from seenbefore.types import Input

TEXT = 'id,name\r\n1,"Łódź, ""Old"""\r\n2,"two\nlines"\r\n\r\n007,\r\n3,a,b\r\n4,x"y\r\n5,last'
RECORDS = ['{"id":"1","name":"Łódź, \\"Old\\""}', '{"id":"2","name":"two\\nlines"}', '{"id":"007","name":""}']


def read(path: Path, form: Form | None = None, *, max_line: int = 1 << 20, resume: Mark | None = None) -> list[object]:
    """Everything that a reader gives out of a table."""
    source = Input(name=path.name, path=str(path), size=path.stat().st_size)
    return list(Reader(source, max_line=max_line, form=form or Form("csv"), resume=resume))


def found(events: list[object]) -> list[tuple[int, int, bytes]]:
    """Line, offset and text of all rows."""
    rows = [event for event in events if isinstance(event, Rows)]
    return [
        (*row.records.place(at)[:2], row.records.line(at)) for row in rows for at in range(row.start, len(row.records))
    ]


def test_rows_become_objects_in_the_order_of_the_header(tmp_path: Path) -> None:
    """Cells are strings as they stand; an empty line is no row; what is no row keeps its own bytes and place."""
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode())
    rows = found(read(path))
    assert [text.decode() for _, _, text in rows] == [*RECORDS, "3,a,b", '4,x"y', '{"id":"5","name":"last"}']
    assert [line for line, _, _ in rows] == [2, 3, 6, 7, 8, 9]
    data = path.read_bytes()
    for (_, offset, text), start in zip(rows, ['1,"', '2,"', "007", "3,a,b", '4,x"y', "5,"], strict=True):
        assert data[offset:].startswith(start.encode()), text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso8859-2", "utf-16", "utf-16-be", "utf-32-le", "gb18030"])
@pytest.mark.parametrize("max_line", [70, 1 << 20])
def test_encodings_are_declared(tmp_path: Path, encoding: str, max_line: int) -> None:
    """A table in a named encoding gives the records of the same text, with offsets in its own bytes."""
    path = tmp_path / "a.csv.gz"
    data = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(data))
    rows = found(read(path, Form("csv", Dialect(None, encoding_of(encoding))), max_line=max_line))
    assert [text.decode() for _, _, text in rows[:3]] == RECORDS
    plain = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    assert [text for _, _, text in rows[3:5]] == ["3,a,b".encode(plain), '4,x"y'.encode(plain)]
    for (_, offset, _), start in zip(rows, ['1,"', '2,"', "007", "3,a,b", '4,x"y', "5,"], strict=True):
        assert data[offset:].startswith(start.encode(plain))


def test_bytes_that_the_encoding_does_not_have_concern_their_row(tmp_path: Path) -> None:
    """The row is set aside with its bytes, whatever rows surround it."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,name\n1,a\n2,\x81\x8d\n3,\xe9\n")
    assert [text for _, _, text in found(read(path, Form("csv", Dialect(None, "cp1252"))))] == [
        b'{"id":"1","name":"a"}',
        b"2,\x81\x8d",
        '{"id":"3","name":"é"}'.encode(),
    ]
    assert found(read(path))[-1] == (4, 17, b"3,\xe9")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b,a\n1,2,3\n", "two columns are named"),
        (b"a,,b\n1,2,3\n", "column 2 has no name"),
        (b"a,\xe9\n", "not UTF-8"),
        (b'{"a":1,"b":2}\n', "no row of a table"),
        (b"a,b\r1,2\r", "carriage return"),
        (b"id;title;price\n1;x;2\n", "one column"),
        (b"id\ttitle\n1\tx\n", "one column"),
        (b"x" * 200 + b"\n", "header is longer"),
    ],
)
def test_a_header_that_names_no_columns_fails_the_file(tmp_path: Path, data: bytes, message: str) -> None:
    """The file is refused as a whole, with what to do, and never row by row."""
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(InputUnreadable, match=message) as caught:
        read(path, max_line=100)
    assert caught.value.hint


def test_delimiters_are_declared(tmp_path: Path) -> None:
    """Another sign between cells is named, a tab by its name too; one that can't be told from text is refused."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"id;t\n1;a,b\n")
    assert found(read(path, Form("csv", Dialect(delimiter_of(";")))))[0][2] == b'{"id":"1","t":"a,b"}'
    path.write_bytes(b"id;t\n1;a\n")
    assert found(read(path, Form("csv", Dialect(","))))[0][2] == b'{"id;t":"1;a"}'
    assert delimiter_of("tab") == delimiter_of("\\t") == "\t"
    for wrong in ("", '"', "\n", ";;", "é"):
        with pytest.raises(UsageError):
            delimiter_of(wrong)
    for wrong in ("klingon", "utf-7", "iso2022_jp", "hex", "cp037", "rot13"):
        with pytest.raises(UsageError):
            encoding_of(wrong)


def test_utf16_without_its_mark_is_asked_for(tmp_path: Path) -> None:
    """UTF-16 that doesn't say which byte comes first is not guessed."""
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n".encode("utf-16-be"))
    with pytest.raises(InputUnreadable, match="which byte comes first"):
        read(path, Form("csv", Dialect(None, "utf-16")))


@pytest.mark.parametrize("encoding", [None, "utf-16-le"])
def test_a_line_over_the_limit_is_passed_in_parts(tmp_path: Path, encoding: str | None) -> None:
    """Between rows, and within quotes that are then not closed: the rows around it are read, lines are counted."""
    path = tmp_path / "a.csv"
    text = "a\nx\n" + "y" * 500 + '\r\nz\n"open\n' + "w" * 500 + '\nend"\n'
    path.write_bytes(text.encode(encoding or "utf-8"))
    events = read(path, Form("csv", Dialect(None, encoding)), max_line=100)
    long = [event for event in events if isinstance(event, LongLine)]
    assert [(one.line, one.length) for one in long] == [
        (3, 500 * len("x".encode(encoding or "utf-8"))),
        (6, long[1].length),
    ]
    assert b"".join(one.data for one in events if isinstance(one, LongPart)).decode(encoding or "utf-8") == (
        "y" * 500 + "w" * 500
    )
    assert [line for line, _, _ in found(events)] == [2, 4, 5, 7]


@pytest.mark.parametrize("encoding", [None, "utf-16"])
def test_reading_goes_on_behind_any_row(tmp_path: Path, encoding: str | None) -> None:
    """From the point behind each row the rest is given out; a changed file is refused, whatever changed before it."""
    path = tmp_path / "a.csv"
    text = TEXT + "\n" + "y" * 300 + "\n6,z\n"
    path.write_bytes(text.encode(encoding or "utf-8"))
    form = Form("csv", Dialect(None, encoding))
    whole = read(path, form, max_line=200)
    rows = found(whole)
    marks = [event.mark(at + 1) for event in whole if isinstance(event, Rows) for at in range(len(event.records))]
    for count, mark in enumerate(marks, 1):
        rest = read(path, form, max_line=200, resume=mark)
        assert found(rest) == rows[count:]
        assert rest[-1] == whole[-1]
        assert isinstance(rest[-1], End)
    long = next(event for event in whole if isinstance(event, LongLine))
    rest = read(path, form, max_line=200, resume=long.after)
    assert found(rest) == rows[-1:]
    assert not [event for event in rest if isinstance(event, LongPart)]
    path.write_bytes(text.replace("Old", "New").encode(encoding or "utf-8"))
    for mark in marks:
        with pytest.raises(InputChanged):
            read(path, form, max_line=200, resume=mark)


ROWS = st.lists(st.lists(st.text('ab,;"\r\n\t \\é\x00\x1f😀'), min_size=2, max_size=2), max_size=6)
# A carriage return in a cell is quoted by Python 3.11 only where lines end with one.
WRITERS = st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\n", csv.QUOTE_ALL)])


@given(rows=ROWS, written=WRITERS)
def test_what_the_csv_module_writes_is_read_as_it_was(rows: list[list[str]], written: tuple[str, int]) -> None:
    """Every table that Python's csv module writes gives the cells that went into it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=written[0], quoting=written[1])  # type: ignore[arg-type]
    writer.writerows([["a", "b"], *rows])
    table = Table(",", 1 << 20, 0, None, None)
    given_out = [table.feed(file.getvalue().encode()), table.finish()]
    read_back = [json.loads(one.line(at)) for one in given_out for at in range(len(one))]
    assert [list(record.values()) for record in read_back] == rows
