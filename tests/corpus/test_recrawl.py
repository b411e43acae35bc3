"""Real crawls of the same sources at different times: the counts are known, however the inputs are given and cut."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from seenbefore import Deduplicator, Ruleset, Settings

pytestmark = pytest.mark.shared


def rules(name: str, *identity: str) -> Ruleset:
    """A ruleset of text fields."""
    fields = "".join(f'[fields.{field}]\nkind = "text"\n' for field in identity)
    listed = ", ".join(f'"{field}"' for field in identity)
    record = '[record]\nurl = "url"\nfetched_at = "fetched_at"\n'
    return Ruleset.from_toml(f'name = "{name}"\nversion = 1\nidentity = [{listed}]\n{record}{fields}')


CRAWLS = {
    "telegram_fa": (
        13,
        rules("telegram", "text"),
        {"new": 5343, "syndicated": 604, "duplicate": 7008, "changed": 4, "unkeyed": 41},
    ),
    "mercadona": (
        6,
        rules("mercadona", "id", "title", "packaging", "unit_price", "bulk_price", "size_format"),
        {"new": 4645, "duplicate": 22548, "changed": 466, "changed_seen_before": 106},
    ),
    "htnews": (
        6,
        rules("htnews", "title", "summary", "content"),
        {"new": 479, "duplicate": 681, "syndicated": 1, "changed": 9},
    ),
}


@pytest.fixture(scope="session")
def recrawl() -> Path:
    """The folder of crawls, where SEENBEFORE_SHARED names the test data; a missing file there is a failure, no skip."""
    shared = os.environ.get("SEENBEFORE_SHARED")
    if shared is None:
        pytest.skip("SEENBEFORE_SHARED names no folder of test data")
    return Path(shared) / "data" / "recrawl"


def files(recrawl: Path, name: str) -> list[Path]:
    """The runs of a crawl in the order of their names, all of them."""
    found = sorted((recrawl / name).glob("*.ndjson.gz"))
    assert len(found) == CRAWLS[name][0], f"{recrawl / name} holds {len(found)} files"
    return found


@pytest.mark.parametrize("name", CRAWLS)
@pytest.mark.parametrize(
    ("store", "given", "batch_size"),
    [
        ("sqlite", "file by file", 200_000),
        ("sqlite", "in one call", 200_000),
        ("sqlite", "in one call", 7),
        ("memory", "file by file", 200_000),
        ("memory", "in one call", 7),
    ],
)
def test_counts(recrawl: Path, tmp_path: Path, name: str, store: str, given: str, batch_size: int) -> None:
    """The verdicts are the same whether files come one by one or together, in small batches or large, on any store."""
    _, ruleset, expected = CRAWLS[name]
    inputs = files(recrawl, name)
    calls = [inputs] if given == "in one call" else [[one] for one in inputs]
    counts: Counter[str] = Counter()
    url = "memory:" if store == "memory" else tmp_path / "seen.db"
    with Deduplicator(ruleset, url, settings=Settings(batch_size=batch_size)) as dedup:
        for call in calls:
            summary = dedup.run(call, tmp_path / "out" / "{run}")
            counts.update(summary.verdicts)
            counts["changed_seen_before"] += summary.changed_seen_before
            assert sum(summary.verdicts.values()) == summary.records
    assert {verdict: count for verdict, count in counts.items() if count} == expected


@pytest.mark.parametrize("name", CRAWLS)
def test_kept_rows_are_one_for_each_content(recrawl: Path, tmp_path: Path, name: str) -> None:
    """Judged again, the kept rows give the contents once more: nothing was lost, and nothing was kept twice as new."""
    _, ruleset, expected = CRAWLS[name]
    with Deduplicator(ruleset, "memory:") as dedup:
        first = dedup.run(files(recrawl, name), tmp_path / "out")
    settings = Settings(replace_seen=True)
    with Deduplicator(ruleset, "memory:", settings=settings) as dedup:
        second = dedup.run(tmp_path / "out" / "kept.ndjson", tmp_path / "again")
    assert second.records == first.kept
    unseen = expected["new"] + expected["changed"] - expected.get("changed_seen_before", 0)
    assert second.verdicts["new"] + second.verdicts["changed"] - second.changed_seen_before == unseen
