"""The queries of docs/reference/store-tables.md, run by Python's own SQLite on a store that nobody has open."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from seenbefore import Deduplicator

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "examples" / "sample"
PAGE = (ROOT / "docs" / "reference" / "store-tables.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
URL = "https://lantern-shop.example/p/1299"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """The sample's three days, a run each, read-only."""
    path = tmp_path_factory.mktemp("tables") / "seen.db"
    with Deduplicator(SAMPLE / "rules.toml", path) as deduplicator:
        for day in ("02", "03", "04"):
            deduplicator.run(sorted(SAMPLE.glob(f"2026-03-{day}_*")))
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    yield connection
    connection.close()


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_query_runs(opened: sqlite3.Connection, number: int) -> None:
    """Each query of the page gives rows, with parameters as the page names them."""
    key = opened.execute("SELECT key FROM content ORDER BY first LIMIT 1").fetchone()[0]
    given = {"url": URL, "run": 1, "key": key, "prefix": int.from_bytes(key[:4], "big")}
    assert opened.execute(QUERIES[number], given).fetchall()


def answer(opened: sqlite3.Connection, words: str) -> list[tuple[object, ...]]:
    """What the query after these words of the page gives."""
    query = PAGE.partition(words)[2].partition("```sql\n")[2].partition("```")[0]
    return opened.execute(query, {"url": URL, "run": 1}).fetchall()


def test_answers_are_right(opened: sqlite3.Connection) -> None:
    """What the queries say is what the runs' own counts and receipts say."""
    history = answer(opened, "The history of one URL")
    assert [row[:4] for row in history] == [
        ("1:75", "new", "2026-03-02 07:00:19", "1:75"),
        ("2:74", "duplicate", "2026-03-03 07:00:19", "1:75"),
        ("3:57", "duplicate", "2026-03-04 07:00:19", "1:75"),
    ]
    (places,) = answer(opened, "show something else now")
    assert places[0] == opened.execute("SELECT count(*) FROM place").fetchone()[0]
    assert sum(row[2] for row in answer(opened, "What did each run decide?")) == 284
    rates = answer(opened, "The collapse rate of each source")
    assert sum(row[2] for row in rates) == 267
    seen_before = sum(round(row[2] * row[3]) for row in rates)
    parts = ("$.verdicts.duplicate", "$.verdicts.syndicated", "$.changed_seen_before")
    total = " + ".join(f"json_extract(counts, '{part}')" for part in parts)
    assert seen_before == opened.execute(f"SELECT sum({total}) FROM run").fetchone()[0]
