"""Crawls for the tests on a server: records of which many writers have some in common, and runs over them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.contract.builder import environment

from seenbefore.stores import SeenStore

RULES = """
name = "shared"
version = 1
keys = "keys/1"
identity = ["title", "sku"]
[record]
url = "url"
fetched_at = "fetched_at"
source = "source"
[fields.sku]
kind = "code"
[url]
strength = "page"
"""


def rules(folder: Path) -> Path:
    """A ruleset in a file."""
    path = folder / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    return path


def record(number: int, place: int, day: int, title: str = "Lantern") -> dict[str, Any]:
    """One record: its content is `number`'s, its URL `place`'s."""
    return {
        "title": f"{title} {number}",
        "sku": f"LN-{number}",
        "url": f"https://shop.example/p/{place}",
        "source": f"shop{number % 3}",
        "fetched_at": f"2026-03-{day:02}T{number % 24:02}:00:00Z",
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    """A file of NDJSON."""
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def mixed(seed: int, count: int, contents: int = 400) -> list[dict[str, Any]]:
    """A crawl that shows every verdict of keyed records, the same for the same seed; times go forth and back."""
    dice = random.Random(seed)
    return [record(dice.randrange(contents), dice.randrange(contents), dice.randrange(1, 29)) for _ in range(count)]


def command(store: str, files: list[Path], out: Path, batch: int = 50) -> list[str]:
    """The command of a run."""
    options = ["--rules", str(out.parent / "rules.toml"), "--store", store, "--out", str(out)]
    return [sys.executable, "-m", "seenbefore", "dedup", *map(str, files), *options, "--batch-size", str(batch)]


def start(store: str, files: list[Path], out: Path, batch: int = 50, **more: str) -> subprocess.Popen[str]:
    """A process of `seenbefore dedup`."""
    pipe = subprocess.PIPE
    surroundings: dict[str, str] = {**os.environ, **environment(), **more}
    return subprocess.Popen(command(store, files, out, batch), stdout=pipe, stderr=pipe, text=True, env=surroundings)


def check_laws(store: SeenStore) -> None:
    """Hold all that a store says against its laws: ids, first sightings, first_seen, and verdicts in their order."""
    contents: dict[int, int | None] = {}
    latest: dict[int, int] = {}
    for expected, row in enumerate(store.sightings(), 1):
        assert row.id == expected
        assert row.content is not None
        assert row.place is not None
        seen, shows = row.content in contents, latest.get(row.place)
        assert (row.id == row.content) is not seen
        if shows is not None:
            assert row.verdict == (3 if shows == row.content else 1)
        else:
            assert row.verdict == (2 if seen else 0)
        before = contents.get(row.content)
        times = [time for time in (before, row.fetched_at) if time is not None]
        contents[row.content] = min(times, default=None)
        latest[row.place] = row.content
    assert {row.first: row.first_seen for row in store.contents()} == contents
    assert {row.first: row.latest_content for row in store.places()} == latest
    keys = Counter(row.key for row in store.contents())
    assert set(keys.values()) <= {1}
    assert list(store.faults(quick=False)) == []


def receipts_match(store: SeenStore, run: int, out: Path) -> None:
    """Hold the files of a run against what the store says of it."""
    assert b"".join(store.receipts(run)) == (out / "receipts.ndjson").read_bytes()
    assert b"".join(store.kept_rows(run)) == (out / "kept.ndjson").read_bytes()
