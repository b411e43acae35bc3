"""Real crawls and tables in other formats than NDJSON; counts were derived by a script of their own, see each test."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from seenbefore import Deduplicator, Ruleset, Settings
from seenbefore.errors import InputUnreadable
from seenbefore.reading import Form, Reader, Rows, expand

pytestmark = pytest.mark.shared


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of data, where SEENBEFORE_SHARED names it."""
    shared = os.environ.get("SEENBEFORE_SHARED")
    if shared is None:
        pytest.skip("SEENBEFORE_SHARED names no folder of test data")
    return Path(shared) / "data"


def everything(*volatile: str) -> Ruleset:
    """A ruleset under which every member counts, but these."""
    record = '[record]\nurl = "url"\nsource = "source"\nfetched_at = "fetched_at"\n'
    return Ruleset.from_toml(f'name = "t"\nversion = 1\nidentity = "*"\nvolatile = {json.dumps(volatile)}\n{record}')


def as_array(path: Path, folder: Path) -> Path:
    """The same rows as a JSON array on many lines, their numbers untouched."""
    rows = b",\n ".join(gzip.decompress(path.read_bytes()).splitlines())
    made = folder / path.name.replace(".ndjson.gz", ".json")
    made.write_bytes(b"[\n " + re.sub(rb',("\w+":)', rb",\n  \1", rows) + b"\n]\n")
    return made


def as_parquet(path: Path, folder: Path) -> Path:
    """The same rows as Parquet, their numbers as decimals."""
    from decimal import Decimal

    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [json.loads(line, parse_float=Decimal) for line in gzip.decompress(path.read_bytes()).splitlines()]
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    for name, values in columns.items():
        if any(isinstance(value, Decimal) for value in values):
            columns[name] = [None if value is None else Decimal(value) for value in values]
        elif any(isinstance(value, list) for value in values):
            columns[name] = [None if value is None else json.dumps(value) for value in values]
    made = folder / path.name.replace(".ndjson.gz", ".parquet")
    parquet.write_table(pa.table(columns), made, row_group_size=1000)
    return made


# Derived by a script of its own (json, unicodedata, sets): a row's content is all its members but volatile ones, its
# strings composed, typographic signs and white space folded; verdicts by the table over raw URLs. RUNS.tsv agrees: of
# 15,761 rows of jobs_newgrad 13,680 have a content that an earlier run had (13,674 where they were, 6 changed back) and
# 287 a known URL with a new one (293 changed less those 6). pcparts has 23,076 contents byte for byte, two of which
# differ in white space only.
COUNTS = {
    "jobs_newgrad": (14, ("date_updated",), {"new": 1794, "duplicate": 13674, "changed": 293, "seen again": 6}),
    "pcparts": (4, (), {"new": 23075, "duplicate": 35066}),
}


# The lists of jobs_newgrad would be other values in columns of text.
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("jobs_newgrad", "ndjson"),
        ("jobs_newgrad", "json"),
        ("pcparts", "ndjson"),
        ("pcparts", "json"),
        ("pcparts", "parquet"),
    ],
)
def test_crawls_have_their_counts_in_every_format(data: Path, tmp_path: Path, name: str, form: str) -> None:
    """The same verdicts from NDJSON, from arrays on many lines, and from Parquet with decimals."""
    runs, volatile, expected = COUNTS[name]
    paths = sorted((data / "recrawl" / name).glob("*.ndjson.gz"))
    assert len(paths) == runs
    if form != "ndjson":
        paths = [(as_array if form == "json" else as_parquet)(path, tmp_path) for path in paths]
    counts: Counter[str] = Counter()
    with Deduplicator(everything("fetched_at", *volatile), "memory:") as dedup:
        for path in paths:
            summary = dedup.run(path)
            counts.update(summary.verdicts)
            counts["seen again"] += summary.changed_seen_before
    assert {verdict: count for verdict, count in counts.items() if count} == expected


@pytest.mark.parametrize(("name", "column", "titles"), [("lazada", "title", 402), ("shein", "product_name", 958)])
def test_shop_tables_are_read_as_the_csv_module_reads_them(data: Path, name: str, column: str, titles: int) -> None:
    """1,000 rows with JSON and line breaks in their cells: each is what Python's csv module reads, in order."""
    path = data / "posts" / f"shop_{name}.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode("utf-8-sig")
    expected = list(csv.DictReader(io.StringIO(text, newline="")))
    (source,) = expand([str(path)])
    found = [
        json.loads(event.records.line(at))
        for event in Reader(source, max_line=1 << 20)
        if isinstance(event, Rows)
        for at in range(len(event.records))
    ]
    assert found == expected
    rules = Ruleset.from_toml(f'name = "t"\nversion = 1\nidentity = ["{column}"]\n[fields.{column}]\nkind = "id"\n')
    with Deduplicator(rules, "memory:") as dedup:
        verdicts = dedup.run(path).verdicts
    assert (verdicts["new"], verdicts["refused"]) == (titles, 0)


def test_articles_in_arrays(data: Path, tmp_path: Path) -> None:
    """Two arrays of 500 articles: 5 codes stand in both, none twice in one; kept as CSV they are read back whole."""
    rules = Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["code"]\n')
    paths = [data / "posts" / f"varzesh3_fa_{number}.json.gz" for number in (1, 2)]
    with Deduplicator(rules, "memory:", settings=Settings(kept_format="csv")) as dedup:
        summary = dedup.run(paths, tmp_path / "out")
    assert (summary.records, summary.verdicts["new"], summary.verdicts["duplicate"]) == (1000, 995, 5)
    with (tmp_path / "out" / "kept.csv").open(newline="", encoding="utf-8") as file:
        csv.field_size_limit(1 << 24)
        table = list(csv.DictReader(file))
    kept = [json.loads(line) for line in (tmp_path / "out" / "kept.ndjson").read_text(encoding="utf-8").splitlines()]
    assert [(row["title"], json.loads(row["tags"])) for row in table] == [(row["title"], row["tags"]) for row in kept]


def test_an_object_of_objects_is_named(data: Path) -> None:
    """A file that is one object, its records as members, is refused with what to do, not line by line."""
    (path,) = (data / "recrawl" / "takeaway").glob("*.json.gz")
    (source,) = expand([str(path)])
    for form, message in ((Form(), "spans lines"), (Form("json"), "top level is an object")):
        with pytest.raises(InputUnreadable, match=message):
            list(Reader(source, max_line=1 << 20, form=form))
