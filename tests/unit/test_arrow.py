"""Parquet and Arrow IPC: every type as its JSON, exactly, and what has none is named with its column."""

from __future__ import annotations

import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from seenbefore.errors import InputChanged, InputTruncated, InputUnreadable, UsageError
from seenbefore.reading import End, Form, Mark, Reader, Rows
from seenbefore.types import Input

pa = pytest.importorskip("pyarrow")
ZONED = dt.datetime(2024, 3, 31, 0, 30, 0, 5)  # noqa: DTZ001 - columns say the zone


def read(path: Path, *, form: str | None = None, resume: Mark | None = None) -> list[object]:
    """Everything that a reader gives out of a columnar file."""
    source = Input(name=path.name, path=str(path), size=path.stat().st_size)
    return list(Reader(source, max_line=1 << 20, form=Form(form), resume=resume))


def lines(events: list[object]) -> list[str]:
    """The records as they are read, bytes that are not UTF-8 escaped."""
    rows = [event for event in events if isinstance(event, Rows)]
    return [
        row.records.line(at).decode("utf-8", "backslashreplace")
        for row in rows
        for at in range(row.start, len(row.records))
    ]


def stream(path: Path, table: Any, chunk: int = 1000) -> Path:
    """A table as an Arrow IPC stream."""
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return path


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(['a"\\\n\x01é\u2028', "", None]), ['"a\\"\\\\\\n\\u0001é\u2028"', '""', "null"]),
        (pa.array(["x", None], pa.string_view()), ['"x"', "null"]),
        (pa.array([b"x", None], pa.large_binary()), ['"x"', "null"]),
        (pa.array([2**63 - 1, -(2**63)]), ["9223372036854775807", "-9223372036854775808"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([Decimal("9.90"), Decimal("-0.01"), None], pa.decimal128(9, 2)), ["9.90", "-0.01", "null"]),
        (pa.array([Decimal("1" * 70)], pa.decimal256(76, 5)), [f"{'1' * 70}.00000"]),
        (pa.array([0.1, 1e300, None]), ["0.1", "1e+300", "null"]),
        (pa.array([0.1], pa.float32()), ["0.10000000149011612"]),
        (pa.array([True, False, None]), ["true", "false", "null"]),
        (pa.nulls(1), ["null"]),
        (pa.array([ZONED], pa.timestamp("us", "Asia/Tokyo")), ['"2024-03-31T00:30:00.000005Z"']),
        (pa.array([ZONED], pa.timestamp("ns")), ['"2024-03-31T00:30:00.000005000"']),
        (pa.array([0], pa.timestamp("s", "+02:00")), ['"1970-01-01T00:00:00Z"']),
        (pa.array([-1], pa.timestamp("ms")), ['"1969-12-31T23:59:59.999"']),
        (pa.array([dt.date(2024, 2, 29)], pa.date64()), ['"2024-02-29"']),
        (pa.array([dt.time(1, 2, 3)], pa.time32("s")), ['"01:02:03"']),
        (pa.array([90], pa.duration("s")), ["90"]),
        (pa.array([[1, None], None, []]), ["[1,null]", "null", "[]"]),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), ["[1,2]", "null"]),
        (pa.array([[1], [2, 3]], pa.list_view(pa.int8())), ["[1]", "[2,3]"]),
        (pa.array([{"b": 1, "a": "x"}, None]), ['{"b":1,"a":"x"}', "null"]),
        (pa.array([[{"a": [b"x"]}]]), ['[{"a":["x"]}]']),
        (pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int8())), ['{"k":1}', "null", "{}"]),
        (pa.array([[(1, "x")]], pa.map_(pa.int8(), pa.string())), ['[{"key":1,"value":"x"}]']),
        (pa.array(["x", "y", "x"]).dictionary_encode(), ['"x"', '"y"', '"x"']),
    ],
)
def test_types_have_one_reading(tmp_path: Path, column: Any, expected: list[str]) -> None:
    """Each value is written exactly, wherever its batch is cut, and read back as JSON."""
    table = pa.table({"before": range(len(column)), 'a"b': column})
    for chunk in (1, 2, 1000):
        found = lines(read(stream(tmp_path / "a.arrows", table, chunk)))
        assert found == [f'{{"before":{at},"a\\"b":{value}}}' for at, value in enumerate(expected)]
        assert all(json.loads(line) for line in found)


def test_rows_that_are_no_records_are_told_with_their_column(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, NaN and a time of no year concern their row alone."""
    from seenbefore import Deduplicator

    table = pa.table(
        {
            "id": range(5),
            "b": pa.array([b"x", b"\xff", None, None, None]),
            "f": pa.array([0.5, None, float("nan"), float("-inf"), None]),
            "t": pa.array([0, 0, 0, 0, 2**62], pa.timestamp("us")),
        }
    )
    rules = tmp_path / "rules.toml"
    rules.write_text('name = "t"\nversion = 1\nidentity = ["id"]\n')
    with Deduplicator(rules, "memory:") as dedup:
        summary = dedup.run(stream(tmp_path / "a.arrows", table), tmp_path / "out")
    assert (summary.records, summary.verdicts["new"]) == (5, 1)
    refused = [json.loads(line) for line in (tmp_path / "out" / "refused.ndjson").read_text().splitlines()]
    assert [(one["line"], one["offset"], one["code"], one["detail"][:10]) for one in refused] == [
        (2, 1, "invalid-utf8", 'column "b"'),
        (3, 2, "invalid-json", 'column "f"'),
        (4, 3, "invalid-json", 'column "f"'),
        (5, 4, "bad-timestamp", 'column "t"'),
    ]
    assert "raw_base64" in refused[0]


def test_floats_inside_values_are_floats(tmp_path: Path) -> None:
    """A binary float in a list or a struct is refused as identity, the integer beside it is not."""
    from seenbefore import Deduplicator, Ruleset

    value = pa.array(
        [[{"price": 0.5, "count": 1}], []], pa.list_(pa.struct({"price": pa.float64(), "count": pa.int8()}))
    )
    path = stream(tmp_path / "a.arrows", pa.table({"v": value, "w": pa.array([1, 2])}))
    for identity, codes in (("v", {"float": 1}), ("w", {})):
        rules = Ruleset.from_toml(f'name = "t"\nversion = 1\nidentity = ["{identity}"]\n')
        with Deduplicator(rules, "memory:") as dedup:
            assert dedup.run(path).refusals == codes


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_reading_goes_on_behind_any_row(tmp_path: Path, form: str) -> None:
    """Across row groups and record batches; a file that is not the same byte for byte is refused."""
    from pyarrow import parquet

    table = pa.table({"id": range(100)})
    path = tmp_path / f"a.{form}"
    if form == "parquet":
        parquet.write_table(table, path, row_group_size=7)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
    whole = read(path)
    digest = next(event for event in whole if isinstance(event, Rows)).mark(1).digest
    for row in (1, 7, 8, 99, 100):
        rest = read(path, resume=Mark(row, digest))
        assert lines(rest) == lines(whole)[row:]
        assert isinstance(rest[-1], End)
    with pytest.raises(InputChanged):
        read(path, resume=Mark(8, bytes(32)))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
def test_files_that_are_cut_off_are_named(tmp_path: Path, name: str) -> None:
    """Without their end, or in the middle of a message: the error names the byte."""
    from pyarrow import parquet

    table, path = pa.table({"id": range(5000)}), tmp_path / name
    if name == "a.parquet":
        parquet.write_table(table, path)
    elif name == "a.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        stream(path, table)
    data = path.read_bytes()
    for size in (9, 100, len(data) // 2):
        path.write_bytes(data[:size])
        with pytest.raises(InputTruncated, match=f"byte {size:,}"):
            read(path)
    with pytest.raises(InputUnreadable, match="is no"):
        read(path, form="arrow" if name == "a.parquet" else "parquet")


def test_files_without_a_reading_are_named(tmp_path: Path) -> None:
    """A union, two columns or two fields of one name; and damage in the middle."""
    from pyarrow import parquet

    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])
    for table, message in (
        (pa.table({"u": union}), "column 'u' is of type"),
        (pa.table({"s": twice}), "column 's' is of type"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "two columns are named 'a'"),
    ):
        with pytest.raises(InputUnreadable, match=message):
            read(stream(tmp_path / "a.arrows", table))
    held = io.BytesIO()
    parquet.write_table(pa.table({"id": range(5000)}), held)
    data = bytearray(held.getvalue())
    data[4:40] = b"\xff" * 36
    (tmp_path / "b.parquet").write_bytes(data)
    with pytest.raises(InputUnreadable, match="is damaged"):
        read(tmp_path / "b.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading and writing say what to install."""
    import importlib.util

    from seenbefore import writing

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    path = stream(tmp_path / "a.arrows", pa.table({"id": [1]}))
    for call in (lambda: read(path), lambda: writing.needed("parquet")):
        with pytest.raises(UsageError, match="pyarrow") as caught:
            call()
        assert "seenbefore[arrow]" in str(caught.value)
