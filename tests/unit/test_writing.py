"""Kept rows as CSV and Parquet: every value is what it was, and a table is there whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seenbefore import writing
from seenbefore._kernel import Columns
from seenbefore.errors import OutputFailed

LINES = (
    b'{"id":"007","n":9007199254740993,"p":9.90,"x":1e3,"t":"a,\\"b\\"\\nc","m":"s","b":true,'
    b'"l":[1, 2.50],"e":"","_seen":{"verdict":"new","seen_before":false,"refers_to":null}}\n'
    b'{"id":"=1+1","p":-10,"m":5,"b":null,"new":{"a":"\\u00e9"},"_seen":{"verdict":"changed","seen_before":true,"refers_to":{"run":1}}}\n'
)


def written(lines: bytes, form: str, apart: tuple[str, ...] = ()) -> bytes:
    """The file of a table, its lines given piece by piece."""
    file = io.BytesIO()
    writing.write_table(lambda: lines.splitlines(keepends=True), file, form, apart)
    return file.getvalue()


def test_csv_holds_every_value_as_it_was() -> None:
    """Columns in the order of their first occurrence, `_seen` taken apart at the end; numbers keep their spelling."""
    assert written(LINES, "csv", ("_seen",)).decode() == (
        "id,n,p,x,t,m,b,l,e,new,_seen.verdict,_seen.seen_before,_seen.refers_to\n"
        '007,9007199254740993,9.90,1e3,"a,""b""\nc",s,true,"[1, 2.50]","",,new,false,\n'
        '=1+1,,-10,,,5,,,,"{""a"":""\\u00e9""}",changed,true,"{""run"":1}"\n'
    )
    assert written(b"", "csv") == b""


def test_parquet_has_exact_types() -> None:
    """Text, booleans, whole numbers and decimals by what the column holds; all else is text or says that it is JSON."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(written(LINES, "parquet", ("_seen",))))
    types = {field.name: (str(field.type), (field.metadata or {}).get(b"seenbefore")) for field in table.schema}
    assert types == {
        "id": ("string", None),
        "n": ("int64", None),
        "p": ("decimal128(4, 2)", None),
        "x": ("string", None),
        "t": ("string", None),
        "m": ("string", b"json"),
        "b": ("bool", None),
        "l": ("string", b"json"),
        "e": ("string", None),
        "new": ("string", b"json"),
        "_seen.verdict": ("string", None),
        "_seen.seen_before": ("bool", None),
        "_seen.refers_to": ("string", b"json"),
    }
    first, second = table.to_pylist()
    assert (first["id"], first["n"], first["p"], first["x"]) == ("007", 9007199254740993, Decimal("9.90"), "1e3")
    assert (first["t"], first["m"], first["l"], first["e"]) == ('a,"b"\nc', '"s"', "[1, 2.50]", "")
    assert (second["p"], second["m"], second["b"], second["n"]) == (Decimal(-10), "5", None, None)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-9223372036854775808"], "int64"),
        (["1", "9223372036854775808"], "decimal128(19, 0)"),
        (["1", "0.00"], "decimal128(3, 2)"),
        (["1" * 40, "0.5"], "decimal256(41, 1)"),
        (["1" * 77], "string"),
        (["1", "1e5"], "string"),
        (["null"], "string"),
        (["true", "1"], "string"),
    ],
)
def test_numbers_have_the_narrowest_exact_type(values: list[str], kind: str) -> None:
    """What 64 bits hold is an integer, then decimals of 128 and 256 bits, then the spelling; each is that number."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(
        io.BytesIO(written("".join(f'{{"v":{value}}}\n' for value in values).encode(), "parquet"))
    )
    assert str(table.schema.field("v").type) == kind
    if "null" not in values and "true" not in values:
        assert [Decimal(value) for value in table["v"].to_pylist()] == [Decimal(value) for value in values]


def test_columns_never_share_a_name() -> None:
    """A member that is called like one that is taken apart keeps its column, the other one gets another name."""
    assert written(b'{"a.b":1,"a":{"b":2}}\n', "csv", ("a",)) == b"a.b,a.b_\n1,2\n"
    assert written(b'{"a":1}\n{"a":{"b":2}}\n', "csv", ("a",)) == b"a,a.b\n1,\n,2\n"


VALUES = st.none() | st.booleans() | st.integers() | st.text('ab,"\r\n é\x00=') | st.lists(st.integers(), max_size=2)


@given(rows=st.lists(st.dictionaries(st.text('a,"é\n', max_size=2), VALUES, max_size=4), max_size=5))
def test_csv_is_read_back_as_it_was(rows: list[dict[str, Any]]) -> None:
    """Python's csv module reads from a table what went into it: text as it is, null as nothing, all else as JSON."""
    data = written("".join(json.dumps(row) + "\n" for row in rows).encode(), "csv")
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return
    header, *table = csv.reader(io.StringIO(data.decode(), newline=""))
    assert header == names

    def text(value: Any) -> str:
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)

    wanted = [[text(row.get(name)) for name in names] for row in rows]
    assert table == wanted


def test_what_is_no_row_is_an_error() -> None:
    """Lines that aren't records can't be columns."""
    for call in ("look", "csv", "texts"):
        with pytest.raises(ValueError, match="not-an-object"):
            getattr(Columns([]), call)(b"[1]\n")


def test_a_table_is_put_in_place_whole(tmp_path: Path) -> None:
    """Where writing fails nothing is left behind, and the error names the file."""
    kept = tmp_path / "kept.ndjson"
    kept.write_bytes(LINES)
    assert writing.convert(kept, "csv").read_bytes() == written(LINES, "csv", ("_seen",))
    (tmp_path / "kept.csv").unlink()
    (tmp_path / "kept.csv").mkdir()
    with pytest.raises(OutputFailed, match=r"kept\.csv"):
        writing.convert(kept, "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "kept.ndjson"]
