"""The merged view equals a naive computation over the lines that went in and the receipts that came out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seenbefore import Deduplicator, Ruleset, Settings
from seenbefore.audit.merged import Wanted, merged
from seenbefore.stores import open_store

RULES = Ruleset.from_toml(
    """
name = "posts"
version = 1
identity = ["text"]
volatile = ["n"]
[record]
url = "url"
fetched_at = "at"
source = "from"
[fields.text]
kind = "text"
"""
)
# Few texts, places, sources and times, in no order, so that everything meets everything; spellings that are one text.
TEXTS = ("ferry", "FERRY", " ferry", "storm", "calm", "", None)
PLACES = (
    "https://a.example/1",
    "https://a.example/1#top",
    "https://a.example/2",
    "https://b.example/",
    "nowhere",
    None,
)
TIMES = (
    "2026-03-02T08:00:00Z",
    "2026-03-02T08:00:00.5Z",
    "2026-03-02T07:59:59.000001+00:00",
    "2025-01-01T00:00:00+05:30",
    "1969-12-31T23:59:59Z",
    "some day",
    None,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from(TEXTS),
        "url": st.sampled_from(PLACES),
        "at": st.sampled_from(TIMES),
        "from": st.sampled_from(("a", "b")),
        "n": st.integers(0, 3),
    },
)
# A separator that has a CR in it: white space between tokens comes back as it was.
LINES = st.builds(
    lambda record, cr: json.dumps(record, separators=(",\r" if cr else ", ", ": ")), RECORDS, st.booleans()
)


def naive(folder: Path, runs: int, wanted: Wanted) -> list[dict[str, Any]]:
    """The rows, from inputs and receipts, with everything in memory."""
    contents: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for run in range(1, runs + 1):
        lines = (folder / f"{run}.ndjson").read_bytes().decode().split("\n")
        for receipt in map(json.loads, (folder / str(run) / "receipts.ndjson").read_bytes().splitlines()):
            if receipt.get("content_key"):
                contents.setdefault(receipt["content_key"], []).append((receipt, lines[receipt["line"] - 1]))
    return [row for key, seen in contents.items() if (row := naive_row(key, seen, wanted)) is not None]


def naive_row(key: str, seen: list[tuple[dict[str, Any], str]], wanted: Wanted) -> dict[str, Any] | None:
    """One row, from the receipts of its content with their lines."""
    counted = [
        receipt
        for receipt, _ in seen
        if wanted.source in {None, receipt["source"]}
        and (wanted.runs is None or wanted.runs[0] <= receipt["run"] <= (wanted.runs[1] or receipt["run"]))
    ]
    if not counted:
        return None
    pairs = list(dict.fromkeys((receipt["url"], receipt["source"]) for receipt in counted))
    by_pair = {pair: [one for one in counted if (one["url"], one["source"]) == pair] for pair in pairs}
    return {
        "content_key": key,
        "run": seen[0][0]["run"],
        "seq": seen[0][0]["seq"],
        **facts(counted),
        "sources": list(dict.fromkeys(receipt["source"] for receipt in counted)),
        "urls": [{"url": url, "source": source, **facts(by_pair[url, source])} for url, source in pairs],
        "record": seen[0][1],
    }


def facts(receipts: list[dict[str, Any]]) -> dict[str, Any]:
    """First and last time, and how many."""
    times = sorted((one["fetched_at"] for one in receipts if one["fetched_at"]), key=datetime.fromisoformat)
    return {
        "first_seen": times[0] if times else None,
        "last_seen": times[-1] if times else None,
        "sightings": len(receipts),
    }


def rows(store: Path, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """The rows of the store as their lines say them, with the record as its own bytes."""
    with open_store(str(store), read_only=True) as seen:
        for row in merged(seen, wanted):
            record = b"" if row.record is None else row.record
            assert row.line().endswith(b',"record":%s}\n' % record)
            yield {**json.loads(row.line()), "record": record.decode()}


@settings(max_examples=25, deadline=None)
@given(
    crawls=st.lists(st.lists(LINES, max_size=12), min_size=1, max_size=3),
    batch=st.integers(1, 8),
    source=st.sampled_from((None, "a", "b.example")),
    span=st.sampled_from((None, (1, 1), (2, None))),
)
def test_merged_equals_a_naive_computation(
    crawls: list[list[str]], batch: int, source: str | None, span: tuple[int, int | None] | None
) -> None:
    """Whatever arrives in whatever order: every URL and source, the earliest and latest time, the kept record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Deduplicator(RULES, folder / "seen.db", settings=Settings(batch_size=batch)) as deduplicator:
            for run, lines in enumerate(crawls, 1):
                (folder / f"{run}.ndjson").write_bytes("".join(f"{line}\n" for line in lines).encode())
                deduplicator.run([folder / f"{run}.ndjson"], out=folder / str(run), again=True)
        for wanted in (Wanted(), Wanted(source=source, runs=span), Wanted(ruleset="posts/1")):
            assert list(rows(folder / "seen.db", wanted)) == naive(folder, len(crawls), wanted)
