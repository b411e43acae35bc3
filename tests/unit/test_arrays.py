"""JSON arrays: elements one by one, with their bytes and places, and errors that name the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seenbefore._kernel import Array, Records
from seenbefore.errors import InputChanged, InputTruncated, InputUnreadable
from seenbefore.reading import End, Form, LongLine, LongPart, Mark, Reader, Rows
from seenbefore.types import Input

DATA = (
    b'\xef\xbb\xbf [\n {"id": 1.50, "t": "a]\\" ,b"},\n {\n  "id": 2,\n  "t": [ 1, {"x": "y  z"} ]\n },\n 3 , null]\n\n'
)


def read(path: Path, *, max_line: int = 1 << 20, resume: Mark | None = None) -> list[object]:
    """Everything that a reader gives out of an array."""
    source = Input(name=path.name, path=str(path), size=path.stat().st_size)
    return list(Reader(source, max_line=max_line, form=Form("json"), resume=resume))


def found(events: list[object]) -> list[tuple[int, int, bytes]]:
    """Number, offset and text of all elements."""
    rows = [event for event in events if isinstance(event, Rows)]
    return [
        (*row.records.place(at)[:2], row.records.line(at)) for row in rows for at in range(row.start, len(row.records))
    ]


def test_elements_are_numbered_and_keep_their_spelling(tmp_path: Path) -> None:
    """An element on one line keeps its bytes; of one on several lines only white space between tokens goes."""
    path = tmp_path / "a.json"
    path.write_bytes(DATA)
    assert [(line, text) for line, _, text in found(read(path))] == [
        (1, b'{"id": 1.50, "t": "a]\\" ,b"}'),
        (2, b'{"id":2,"t":[1,{"x":"y  z"}]}'),
        (3, b"3"),
        (4, b"null"),
    ]
    assert all(DATA[offset : offset + 1] == text[:1] for _, offset, text in found(read(path)))


def test_reading_goes_on_behind_any_element(tmp_path: Path) -> None:
    """From the point behind each element the rest is given out; a changed beginning is refused."""
    path = tmp_path / "a.json"
    path.write_bytes(DATA.replace(b"null", b'"' + b"x" * 300 + b'",{}'))
    whole = read(path, max_line=200)
    rows = found(whole)
    assert [event.line for event in whole if isinstance(event, LongLine)] == [4]
    marks = [event.mark(at + 1) for event in whole if isinstance(event, Rows) for at in range(len(event.records))]
    for count, mark in enumerate(marks, 1):
        rest = read(path, max_line=200, resume=mark)
        assert found(rest) == rows[count:]
        assert (rest[-1], isinstance(rest[-1], End)) == (whole[-1], True)
    assert not [event for event in read(path, max_line=200, resume=marks[-1]) if isinstance(event, LongPart)]
    path.write_bytes(path.read_bytes().replace(b"1.50", b"1.51"))
    with pytest.raises(InputChanged):
        read(path, max_line=200, resume=marks[0])


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b'{"items":[{}]}', InputUnreadable, "top level is an object"),
        (b'[{"a":1},{"a":', InputTruncated, "cut off at byte 14"),
        (b'[{"a":1}', InputTruncated, "cut off at byte 8"),
        (b"[{}]{}", InputUnreadable, "follows the array, at byte 4"),
        (b"[{} {}]", InputUnreadable, "expected, at byte 4"),
        (b'[{"a":[}]', InputUnreadable, "don't match, at byte 7"),
        (b"", InputUnreadable, 'starts with "\\["'),
    ],
)
def test_what_makes_the_rest_unreadable_names_its_byte(
    tmp_path: Path, data: bytes, error: type[Exception], message: str
) -> None:
    """The elements before it are given out, then the error says where, and what to do."""
    path = tmp_path / "a.json"
    path.write_bytes(data)
    source = Input(name="a.json", path=str(path), size=len(data))
    events: list[object] = []
    with pytest.raises(error, match=message):
        events.extend(Reader(source, max_line=100, form=Form("json")))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\[]{},: \n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"]'), inner, max_size=3),
    max_leaves=12,
)


@given(values=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 1, 4]), chunk=st.integers(1, 9))
def test_every_array_gives_its_elements(values: list[object], indent: int | None, chunk: int) -> None:
    """Whatever the layout and wherever blocks are cut, the elements are those of the json module, one a line."""
    data = json.dumps(values, indent=indent).encode()
    array = Array(1 << 20, 0)
    lines: list[bytes] = []
    for at in range(0, len(data), chunk):
        parts, fault = array.feed(data[at : at + chunk])
        assert fault is None
        lines += [part.line(index) for part in parts if isinstance(part, Records) for index in range(len(part))]
    assert array.finish() is None
    assert [json.loads(line) for line in lines] == values
    assert not any(b"\n" in line for line in lines)
