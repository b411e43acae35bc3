"""What seenbefore does of the same work. Each is run in a process of its own."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Job = Callable[[Path, Path], tuple[int, float]]
# Records that a program judges before it stores them.
_BLOCK = 10_000


def _dedup(*arguments: str | Path) -> tuple[int, float]:
    """Run the command in this process → distinct contents, and the seconds that it states itself."""
    from seenbefore.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main(["dedup", *map(str, arguments), "--json"])
    summary = json.loads(said.getvalue())
    verdicts = summary["verdicts"]
    unseen = verdicts["new"] + verdicts["changed"] - summary["changed_seen_before"]
    return unseen, summary["seconds"]


def keys_and_verdicts(path: Path, rules: Path) -> tuple[int, float]:
    """Keys and verdicts in memory; no store, no output files."""
    return _dedup(path, "--rules", rules, "--store", "memory:", "--no-output")


def main_job(path: Path, rules: Path) -> tuple[int, float]:
    """The main job: SQLite store, kept rows, receipts, summary."""
    with tempfile.TemporaryDirectory(prefix="seenbefore-bench-") as folder:
        return _dedup(path, "--rules", rules, "--store", Path(folder, "s.db"), "--out", Path(folder, "out"))


def one_at_a_time(path: Path, rules: Path) -> tuple[int, float]:
    """`judge(line)` from Python, one at a time, in memory, in blocks that each end with their commit."""
    import seenbefore

    with path.open("rb") as file, seenbefore.Deduplicator(seenbefore.Ruleset.load(rules), "memory:") as deduplicator:
        started, unseen = time.perf_counter(), 0
        for lines in iter(lambda: list(itertools.islice(file, _BLOCK)), []):
            with deduplicator.batch() as batch:
                for line in lines:
                    unseen += not batch.judge(line).seen_before
        return unseen, time.perf_counter() - started


OURS: dict[str, Job] = {
    "seenbefore: keys and verdicts": keys_and_verdicts,
    "seenbefore: main job, SQLite": main_job,
    "seenbefore: judge() one at a time": one_at_a_time,
}
