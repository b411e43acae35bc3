"""Killed at random moments and started again with the same command: the files equal those of an undisturbed run.

KILLS says how often (default 12), SEED which moments; a failure prints both.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
KILLS = int(os.environ.get("KILLS", "12"))
SEED = int(os.environ.get("SEED", str(random.SystemRandom().randrange(1 << 32))))
RULES = """
name = "shop"
version = 1
identity = ["title", "price"]
[record]
url = "url"
fetched_at = "at"
source = "shop"
"""


def crawl(rng: random.Random, rows: int) -> Iterator[str]:
    """Lines of a crawl with repeats, restyled titles, moved URLs, broken and over-long lines."""
    titles = [f"Lamp {number}" for number in range(rows // 2)]
    for row in range(rows):
        dice, number = rng.random(), rng.randrange(len(titles))
        if dice < 0.01:
            yield '{"title": "cut off'
        elif dice < 0.015:
            yield json.dumps({"title": "x" * 3000, "row": row})
        else:
            title = titles[number] if dice < 0.7 else titles[number].upper() + "\u00a0"
            url = f"https://shop.example/{number if dice < 0.9 else row}?utm_source={row}"
            record = {"title": title, "price": str(rng.randrange(3)), "url": url, "row": row}
            record["at"] = f"2026-03-0{rng.randrange(1, 9)}T00:00:00Z"
            yield json.dumps(record, ensure_ascii=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two inputs, one of them compressed, and the files of an undisturbed run over them in whole/."""
    folder = tmp_path_factory.mktemp("kill")
    rng = random.Random(1)
    (folder / "rules.toml").write_text(RULES)
    (folder / "one.ndjson").write_text("\n".join(crawl(rng, 20_000)), encoding="utf-8")
    two = ("\n".join(crawl(rng, 10_000)) + "\n").encode()
    (folder / "two.ndjson.gz").write_bytes(
        gzip.compress(two[:300_000], mtime=0) + gzip.compress(two[300_000:], mtime=0)
    )
    done = subprocess.run(command("whole.db", "whole"), cwd=folder, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    return folder


def command(store: str, out: str, *more: str) -> list[str | Path]:
    """The one command that is given again and again."""
    inputs = ("one.ndjson", "two.ndjson.gz")
    options = ("--rules", "rules.toml", "--store", store, "--out", out, "--batch-size", "500", "--max-line", "2000")
    return [SEENBEFORE, "dedup", *inputs, *options, *more]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def killed(arguments: list[str | Path], folder: Path, after: float) -> bool:
    """Starts the command and kills it after so many seconds; whether it had ended by itself, which must be well."""
    with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            _, said = process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return False
        finished = process.returncode == 2 and b"which is finished" in said
        assert process.returncode == 1 or finished, said.decode()
        return True


def test_killed_runs_end_with_the_same_files(folder: Path) -> None:
    """Whatever moment the process is killed at, the same command ends with the files of an undisturbed run."""
    rng, kills, round_ = random.Random(SEED), 0, 0
    started = time.monotonic()
    subprocess.run(command("timing.db", "timing"), cwd=folder, capture_output=True, check=False)
    whole_run = time.monotonic() - started
    while kills < KILLS:
        round_ += 1
        store, out = f"k{round_}.db", f"k{round_}"
        while not killed(command(store, out), folder, rng.uniform(0.1, 1.0) * whole_run):
            kills += 1
        assert contents(folder / out) == contents(folder / "whole"), f"SEED={SEED} KILLS={KILLS}"


def test_a_killed_store_holds_whole_batches_of_a_run(folder: Path) -> None:
    """After a kill every stored sighting has its receipt, and the outputs hold at least what the store committed."""
    from seenbefore import open_store

    rng = random.Random(SEED)
    for attempt in range(3):
        store, out = folder / f"h{attempt}.db", folder / f"h{attempt}"
        if killed(command(str(store), str(out)), folder, rng.uniform(0.4, 1.5)) or not store.exists():
            continue
        with open_store(str(store)) as opened:
            for run in opened.runs():
                receipts = b"".join(opened.receipts(run.ordinal))
                assert opened.info().sightings == receipts.count(b"\n")
                assert (out / "receipts.ndjson").read_bytes().startswith(receipts)
                assert len(receipts) == run.outputs.get("receipts.ndjson", 0)


def test_two_writers_to_one_store_lose_nothing(folder: Path) -> None:
    """Two processes with folders of their own: each content is new once, and each has a receipt for every line."""
    both = [
        subprocess.Popen(command("shared.db", out), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for out in ("left", "right")
    ]
    for process in both:
        _, said = process.communicate(timeout=240)
        assert process.returncode == 1, said.decode()
    new: list[str] = []
    for out in ("left", "right"):
        receipts = [json.loads(line) for line in (folder / out / "receipts.ndjson").read_bytes().splitlines()]
        assert len(receipts) == 30_000
        new += [one["content_key"] for one in receipts if one["verdict"] != "refused" and not one["seen_before"]]
    whole = [json.loads(line) for line in (folder / "whole" / "receipts.ndjson").read_bytes().splitlines()]
    contents_ = {one["content_key"] for one in whole if one["verdict"] != "refused"}
    assert len(new) == len(set(new)) == len(contents_)
    assert set(new) == contents_
