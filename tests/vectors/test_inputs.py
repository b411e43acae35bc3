"""The vectors of tables and arrays, as the independent reading of spec/inputs-1.md and as the product answer them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.reference import inputs

from seenbefore.errors import InputTruncated, InputUnreadable
from seenbefore.reading import Dialect, Form, Reader, Rows
from seenbefore.types import Input

VECTORS = Path(__file__).parent.parent.parent / "spec" / "vectors"


def vectors(name: str) -> list[Any]:
    """The vectors of a file, each under its own name."""
    found = json.loads((VECTORS / f"{name}.json").read_bytes())["vectors"]
    return [pytest.param(name, vector, id=f"{name}-{vector['name']}") for vector in found]


ALL = [*vectors("tables"), *vectors("arrays")]


def by_reference(kind: str, vector: dict[str, Any]) -> list[dict[str, object]] | None:
    """The rows as the reference reads them, None where the input fails."""
    data = bytes.fromhex(vector["in_hex"])
    try:
        if kind == "arrays":
            return inputs.array(data)
        return inputs.table(data, vector.get("delimiter", ","), vector.get("encoding", "utf-8"))
    except inputs.Unreadable:
        return None


@pytest.mark.parametrize(("kind", "vector"), ALL)
def test_reference(kind: str, vector: dict[str, Any]) -> None:
    """The rows, their places and their refusals, or that the input fails."""
    assert by_reference(kind, vector) == vector.get("rows")
    assert vector.get("fails", False) is ("rows" not in vector)


@pytest.mark.parametrize(("kind", "vector"), ALL)
def test_product(tmp_path: Path, kind: str, vector: dict[str, Any]) -> None:
    """The same, read from a file; what is refused has the bytes at its offset."""
    path = tmp_path / "a"
    path.write_bytes(data := bytes.fromhex(vector["in_hex"]))
    dialect = Dialect(vector.get("delimiter"), vector.get("encoding"))
    form = Form("json") if kind == "arrays" else Form("csv", dialect)
    rows: list[dict[str, object]] = []
    try:
        for event in Reader(Input(name="a", path=str(path), size=len(data)), max_line=1 << 10, form=form):
            if isinstance(event, Rows):
                rows += [found(event, at, data, vector) for at in range(len(event.records))]
    except (InputUnreadable, InputTruncated):
        assert vector.get("fails")
        return
    assert rows == [{name: row[name] for name in row if name != "length"} for row in vector["rows"]]


def found(event: Rows, at: int, data: bytes, vector: dict[str, Any]) -> dict[str, object]:
    """A row in the members of a vector; its code is that of the vector, since it is shown only where it is judged."""
    line, offset, _, _ = event.records.place(at)
    text = event.records.line(at)
    stated = next((row for row in vector.get("rows", []) if row["line"] == line), {})
    if "refused" in stated:
        assert data[offset : offset + stated["length"]] == text
        return {"line": line, "offset": offset, "refused": stated["refused"]}
    return {"line": line, "offset": offset, "out": text.decode()}
