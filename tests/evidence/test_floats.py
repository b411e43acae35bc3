"""Numbers that were binary floats: a kept row shows their digits, not that they were binary, and its key must hold."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.evidence.conftest import made
from tests.evidence.verifiers import VERIFIERS, edit, ordered, places, reseal

from seenbefore import Deduplicator, Ruleset, open_store
from seenbefore.audit.explain import of_found
from seenbefore.audit.locate import Locator
from seenbefore.audit.verify import verify

RULES = """
name = "floats"
version = 1
identity = ["price", "weight", "count", "sizes", "box"]
[fields.price]
kind = "decimal"
float = { places = 2 }
[fields.weight]
kind = "decimal"
float = { places = 1 }
[fields.count]
kind = "integer"
float = { places = 0 }
[fields.sizes]
kind = "list"
of = { kind = "decimal", float = { places = 1 } }
float = { places = 0 }
[fields.box]
kind = "object"
members = { depth = { kind = "decimal", float = { places = 1 } } }
"""
# What a program computes: 0.30000000000000004, 2.675 (below its digits), halves that are exact.
RECORDS: list[dict[str, Any]] = [
    {"price": 0.1 + 0.2, "weight": Decimal("1.25"), "count": 2.5, "sizes": [0.05, 7], "box": {"depth": 1.1500000001}},
    {"price": 2.675, "weight": 0.25, "count": 3.0, "sizes": [Decimal("0.05")], "box": {"depth": Decimal("1.15")}},
    {"price": Decimal("2.675"), "weight": Decimal("0.25"), "count": 3, "sizes": [], "box": {"depth": 1e22}},
    {"price": -0.001, "weight": 0.0, "count": 1e22, "sizes": [5e-324, 1.7976931348623157e308]},
    {"price": 9.9, "weight": 9.9, "count": 9, "sizes": [1.0, 2.0], "box": {"width": 3, "depth": 9.96}},
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that judged the records as a program gives them, and two of them as lines of text."""
    with Deduplicator(Ruleset.from_toml(RULES), tmp_path / "seen.db") as dedup:
        with dedup.batch() as batch:
            for record in RECORDS:
                batch.judge(record)
        lines = b'{"price":2.675,"weight":0.25,"count":3}\n{"price":0.30000000000000004}\n'
        (tmp_path / "lines.ndjson").write_bytes(lines)
        dedup.run(tmp_path / "lines.ndjson")
    return tmp_path / "seen.db"


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_no_honest_row_is_named(store: Path, tmp_path: Path, verifier: str) -> None:
    """Each record's keys are found again, whichever of its numbers were binary."""
    told = VERIFIERS[verifier](made(store, tmp_path / "bundle"))
    assert told["problems"] == []
    assert told["checks"]["keys"]["passed"] == len(RECORDS) + 2


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_another_number_is_found(store: Path, tmp_path: Path, verifier: str) -> None:
    """Reading numbers in two ways excuses no number that gives the key in neither."""
    bundle = made(store, tmp_path / "bundle")
    edit(bundle / "data" / "rows.ndjson", 2, lambda line: line.replace(b"2.675", b"2.685"))
    found = {(one["file"], one["line"], one["what"]) for one in VERIFIERS[verifier](bundle)["problems"]}
    assert {("data/rows.ndjson", 2, "payload digest of 1:2"), ("data/rows.ndjson", 2, "content key of 1:2")} <= found


def test_a_key_of_no_reading_is_found(tmp_path: Path) -> None:
    """A content key that another number would have, on receipt and row alike and sealed anew, is named by both."""
    with Deduplicator(Ruleset.from_toml(RULES), tmp_path / "seen.db") as dedup:
        for record in RECORDS:
            dedup.judge(record)
    bundle = made(tmp_path / "seen.db", tmp_path / "bundle")
    forged = Ruleset.from_toml(RULES).keys({"price": "0.31"}).content_key

    def row(line: bytes) -> bytes:
        start = line.rindex(b',"_seen":') + len(b',"_seen":')
        return line[:start] + ordered({**json.loads(line[start:-1]), "content_key": forged}) + b"}"

    edit(bundle / "data" / "rows.ndjson", 1, row)
    edit(bundle / "data" / "receipts.ndjson", 1, lambda line: ordered({**json.loads(line), "content_key": forged}))
    reseal(bundle)
    for verifier in VERIFIERS.values():
        assert places(verifier(bundle)) == {("keys", "data/rows.ndjson", 1)}


@pytest.mark.parametrize("count", [8, 9])
def test_many_fields(tmp_path: Path, count: int) -> None:
    """Of up to eight fields each is read for itself; of more, all are read alike."""
    names = [f"n{at}" for at in range(count)]
    fields = "".join(f'[fields.{name}]\nkind = "decimal"\nfloat = {{ places = 1 }}\n' for name in names)
    rules = Ruleset.from_toml(f'name = "m"\nversion = 1\nidentity = {json.dumps(names)}\n{fields}')
    with Deduplicator(rules, tmp_path / "seen.db") as dedup:
        dedup.judge(dict.fromkeys(names, 0.55))
        dedup.judge({name: Decimal("0.55") if name == "n0" else 0.55 for name in names})
    bundle = made(tmp_path / "seen.db", tmp_path / "bundle")
    for verifier in VERIFIERS.values():
        assert places(verifier(bundle)) == ({("keys", "data/rows.ndjson", 2)} if count > 8 else set())


def test_a_store_and_a_columnar_file(tmp_path: Path) -> None:
    """Binary columns of Parquet: the output folder and the store are right."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "price": pa.array([0.1 + 0.2, 2.675, None], pa.float64()),
        "weight": pa.array([Decimal("1.25"), Decimal("0.25"), None], pa.decimal128(9, 2)),
        "sizes": pa.array([[0.05, 7.0], None, [1.25]], pa.list_(pa.float32())),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with Deduplicator(Ruleset.from_toml(RULES), tmp_path / "seen.db") as dedup:
        assert dedup.run(tmp_path / "a.parquet", tmp_path / "out").verdicts["new"] == 3
    assert verify(str(tmp_path / "seen.db")).members()["problems"] == []
    assert verify(str(tmp_path / "out"), rules=Ruleset.from_toml(RULES)).members()["problems"] == []


def test_an_explanation_reads_them_as_they_were(store: Path) -> None:
    """It shows the key that the record has, the rounding as a step, and says that the numbers were binary."""
    with open_store(str(store), read_only=True) as opened:
        for seq in range(1, len(RECORDS) + 1):
            found = Locator(opened, None, "records/1").by_name(f"1:{seq}")
            told = of_found(found, opened)
            assert told.receipt is not None
            assert told.content_key == told.receipt["content_key"]
        told = of_found(Locator(opened, None, "records/1").by_name("1:2"), opened)
    assert [step.name for field in told.fields for step in field.steps if field.field == "price"] == ["float"]
    (note,) = (note for note in told.notes if "binary" in note)
    assert note.startswith("the numbers in ")
    assert json.loads(told.fields[1].form or "") == 3
