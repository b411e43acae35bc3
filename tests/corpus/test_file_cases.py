"""Hard cases from public reports about files: tables, framing, compression. Each example gives what was decided."""

from __future__ import annotations

import io
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from seenbefore import Deduplicator, Ruleset
from seenbefore.errors import InputTruncated

SHARED = os.environ.get("SEENBEFORE_SHARED")
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="SEENBEFORE_SHARED does not name the folder with the cases"),
]


def case(name: str) -> dict[str, Any]:
    """The case with this id."""
    for line in (Path(SHARED or ".") / "cases" / "acceptance.ndjson").read_text(encoding="utf-8").splitlines():
        found: dict[str, Any] = json.loads(line)
        if found["id"] == name:
            return found
    raise AssertionError(name)


def judged(folder: Path, name: str, data: bytes, identity: str, body: str = "") -> tuple[Any, list[dict[str, Any]]]:
    """The summary and the receipts of one run over a file."""
    (folder / name).write_bytes(data)
    rules = Ruleset.from_toml(f'name = "t"\nversion = 1\nidentity = ["{identity}"]\n[fields.{identity}]\n{body}')
    with Deduplicator(rules, "memory:") as dedup:
        summary = dedup.run(folder / name, folder / f"{name}.out")
    lines = (folder / f"{name}.out" / "receipts.ndjson").read_text(encoding="utf-8").splitlines()
    return summary, [json.loads(line) for line in lines]


def test_cells_are_text(tmp_path: Path) -> None:
    """Long ids and leading zeros survive a blank cell in their column; a blank one is no identity (H35)."""
    found = case("H35")
    data = found["input"]["text"].encode()
    _, receipts = judged(tmp_path, "a.csv", data, "id", 'kind = "id"\n')
    keys = [one["content_key"] for one in receipts]
    assert len({key for key in keys if key}) == found["expected"]["csv_distinct_ids"]
    assert [one["verdict"] for one in receipts] == ["new", "unkeyed", "new"]
    rows = [json.loads(line) for line in (tmp_path / "a.csv.out" / "kept.ndjson").read_text().splitlines()]
    assert rows[0]["id"] == found["expected"]["csv_id_1"]
    _, receipts = judged(tmp_path, "b.csv", data, "sku", 'kind = "code"\n')
    distinct = found["expected"]["csv_sku_distinct"]
    assert len({receipts[0]["content_key"], receipts[2]["content_key"]}) == len(distinct)
    assert [rows[0]["sku"], rows[2]["sku"]] == distinct


def test_columns_are_exact(tmp_path: Path) -> None:
    """A decimal is the number of NDJSON; a binary float is refused, but where it is rounded by rule (H35)."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    decimal, single = (one["value"] for one in case("H35")["input"]["parquet"])

    def file(column: Any) -> bytes:
        held = io.BytesIO()
        parquet.write_table(pa.table({"price": column}), held)
        return held.getvalue()

    exact = file(pa.array([Decimal(decimal)], pa.decimal128(9, 2)))
    _, (from_parquet,) = judged(tmp_path, "a.parquet", exact, "price", 'kind = "decimal"\n')
    _, (from_lines,) = judged(tmp_path, "a.ndjson", f'{{"price":{decimal}}}\n'.encode(), "price", 'kind = "decimal"\n')
    assert from_parquet["content_key"] == from_lines["content_key"]
    assert from_parquet["payload_digest"] == from_lines["payload_digest"]
    binary = file(pa.array([0.1], pa.float32()))
    for kind in ("decimal", "text"):
        _, (refused,) = judged(tmp_path, f"{kind}.parquet", binary, "price", f'kind = "{kind}"\n')
        assert refused["code"] == "float"
    assert json.loads((tmp_path / "text.parquet.out" / "refused.ndjson").read_text())["raw"] == f'{{"price":{single}}}'
    rounded = 'kind = "decimal"\nfloat = { places = 3 }\n'
    _, (kept,) = judged(tmp_path, "b.parquet", binary, "price", rounded)
    _, (same,) = judged(tmp_path, "b.ndjson", b'{"price":0.1}\n', "price", rounded)
    assert kept["content_key"] == same["content_key"]


def test_timestamps_of_columns(tmp_path: Path) -> None:
    """One instant from a column with a zone and from text is one value; a column without a zone is refused (H38)."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from datetime import datetime

    first, second = case("H38")["input"]["field_pairs"][0]
    for unit in ("s", "ms", "us", "ns"):
        for zone in ("Europe/Berlin", "UTC", None):
            held = io.BytesIO()
            at = datetime.fromisoformat(first if zone else first[:19])
            parquet.write_table(pa.table({"at": pa.array([at], pa.timestamp(unit, zone))}), held)
            name = f"{unit}{zone}".replace("/", "")
            _, (found,) = judged(tmp_path, f"{name}.parquet", held.getvalue(), "at", 'kind = "timestamp"\n')
            if zone is None:
                assert found["code"] == "no-zone"
                continue
            text = json.dumps({"at": second}).encode()
            _, (other,) = judged(tmp_path, f"{name}.ndjson", text, "at", 'kind = "timestamp"\n')
            assert found["content_key"] == other["content_key"]


def test_framing(tmp_path: Path) -> None:
    """Start mark, CRLF, blank lines, a cut last line: two records and one refusal, in line 5 (H55)."""
    found = case("H55")
    data = bytes.fromhex(found["input"]["hex"])
    summary, receipts = judged(tmp_path, "a.ndjson", data, "id")
    assert summary.records - summary.verdicts["refused"] == found["expected"]["records"]
    assert [str(one["line"]) for one in receipts if one["verdict"] == "refused"] == list(found["expected"]["rejected"])
    summary, _ = judged(tmp_path, "b.ndjson", data + b"}", "id")
    assert (summary.records, summary.verdicts["refused"]) == (3, 0)


def test_compression(tmp_path: Path) -> None:
    """All members and frames are read, and a cut one fails the run behind its whole lines (H58)."""
    found = case("H58")
    for name, hex_ in found["input"].items():
        if not name.endswith("_hex"):
            continue
        expected = found["expected"][name.removesuffix("_hex")]
        if isinstance(expected, int):
            summary, _ = judged(tmp_path, name, bytes.fromhex(hex_), "id")
            assert (summary.records, summary.verdicts["new"]) == (expected, expected)
            continue
        with pytest.raises(InputTruncated, match="cut off"):
            judged(tmp_path, name, bytes.fromhex(hex_), "id")
        lines = (tmp_path / f"{name}.out" / "receipts.ndjson").read_text().splitlines()
        assert [json.loads(line)["verdict"] for line in lines] == ["new"] * 7


def test_depth(tmp_path: Path) -> None:
    """A line of 100,000 brackets is refused, the lines around it are read, whatever the format (H58)."""
    assert case("H58")["expected"]["deep"].startswith("2 records, 1 refused")
    deep = b'{"id":2,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    for name, data in (
        ("a.ndjson", b'{"id":1}\n' + deep + b'\n{"id":3}\n'),
        ("a.json", b'[{"id":1},\n' + deep + b',{"id":3}]'),
    ):
        summary, receipts = judged(tmp_path, name, data, "id")
        assert (summary.verdicts["new"], receipts[1]["code"]) == (2, "too-deep")
