"""Several writers on one store, and one of them killed, or standing still, while it holds the lock."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.crash.crawls import RULES, SEENBEFORE
from tests.crash.drawn import AGAIN, SEED
from tests.crash.watched import holder

from seenbefore import open_store

WRITERS, RECORDS, BATCH = 8, 1200, 40


def crawl(writer: int) -> bytes:
    """What one of the writers reads: half of it is what its neighbours read too."""
    rows = list(range(writer * RECORDS // 2, writer * RECORDS // 2 + RECORDS))
    random.Random(writer).shuffle(rows)
    records = ({"title": f"Lamp {row}", "price": "1", "url": f"https://w{row % 3}.example/{row}"} for row in rows)
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def start(folder: Path, out: str, rules: str = "rules.toml") -> subprocess.Popen[bytes]:
    options = ("--rules", rules, "--store", "seen.db", "--out", out, "--batch-size", str(BATCH))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [SEENBEFORE, "dedup", "-", *options], cwd=folder, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe
    )


class Writers:
    """Eight of them, each fed by a thread of its own, so that all write at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all = [start(folder, f"out{number}") for number in range(WRITERS)]
        self.said = [b""] * WRITERS
        self._threads = [threading.Thread(target=self._serve, args=(number,)) for number in range(WRITERS)]

    def begin(self) -> None:
        """Feed them as soon as each has begun its run."""
        end = time.monotonic() + 60
        while not all((self.folder / f"out{number}" / "kept.ndjson").exists() for number in range(WRITERS)):
            assert time.monotonic() < end
            time.sleep(0.01)
        for thread in self._threads:
            thread.start()

    def stop_holder(self, but: set[int]) -> int:
        """Have a writer that holds the store's lock, in the middle of its run, stand still → its number."""
        end = time.monotonic() + 60
        pids = {process.pid: number for number, process in enumerate(self.all)}
        while time.monotonic() < end:
            number = pids.get(holder(self.folder / "seen.db-shm") or 0, -1)
            receipts = self.folder / f"out{number}" / "receipts.ndjson"
            # Two batches written means that one of them at least is committed.
            if number < 0 or number in but or receipts.read_bytes().count(b"\n") < 2 * BATCH:
                continue
            process = self.all[number]
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if holder(self.folder / "seen.db-shm") == process.pid:
                return number
            process.send_signal(signal.SIGCONT)
        raise AssertionError("nobody was met holding the lock")

    def end(self) -> list[int]:
        """Wait for all → their exit statuses."""
        for thread in self._threads:
            thread.join(200)
        return [process.returncode for process in self.all]

    def _serve(self, number: int) -> None:
        _, self.said[number] = self.all[number].communicate(crawl(number), timeout=200)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.toml").write_text(RULES)
    return tmp_path


@pytest.mark.slow
def test_eight_writers_share_a_store(folder: Path) -> None:
    """Each content is new once, all get on, and none fails though one stands still and one dies holding the lock."""
    writers = Writers(folder)
    writers.begin()
    still = writers.stop_holder(set())
    time.sleep(2.5)
    writers.all[still].send_signal(signal.SIGCONT)
    dead = writers.stop_holder({still})
    writers.all[dead].kill()
    statuses = writers.end()
    assert statuses == [-signal.SIGKILL if number == dead else 0 for number in range(WRITERS)], writers.said
    for number, said in enumerate(writers.said):
        assert b"locked" not in said
        assert b"Traceback" not in said
        if number not in {still, dead}:
            words = f"waiting for process {writers.all[still].pid} (run "
            assert words.encode() in said, said
    again = start(folder, f"out{dead}")
    _, said = again.communicate(crawl(dead), timeout=60)
    assert (again.returncode, b"goes on behind its record" in said) == (0, True), said
    check_laws(folder, [f"out{number}" for number in range(WRITERS)], {dead, still})
    new = [key for number in range(WRITERS) for key in unseen(folder / f"out{number}")]
    assert len(new) == len(set(new)) == (WRITERS + 1) * RECORDS // 2


def test_two_runs_killed_in_turns(folder: Path) -> None:
    """Two unfinished runs of one store go on by turns, each killed again and again, and both end whole."""
    dice, kills = random.Random(SEED), Counter[int]()
    for turn in itertools.cycle(range(2)):
        with start(folder, f"out{turn}") as process:
            try:
                _, said = process.communicate(crawl(turn), timeout=dice.uniform(0.2, 0.7) if kills[turn] < 4 else 60)
            except subprocess.TimeoutExpired:
                process.kill()
                kills[turn] += 1
                continue
        assert process.returncode == 0, said
        if all((folder / f"out{number}" / "summary.json").exists() for number in range(2)):
            break
        # It ended before its kills were used up; the other goes on.
        kills[turn] = 4
    check_laws(folder, ["out0", "out1"], set())
    new = unseen(folder / "out0") + unseen(folder / "out1")
    assert len(new) == len(set(new)) == RECORDS * 3 // 2, AGAIN


def unseen(out: Path) -> list[str]:
    """The content keys that a run's receipts call unseen."""
    receipts = [json.loads(line) for line in (out / "receipts.ndjson").read_bytes().splitlines()]
    assert [one["seq"] for one in receipts] == list(range(1, RECORDS + 1))
    return [one["content_key"] for one in receipts if not one["seen_before"]]


def check_laws(folder: Path, outs: list[str], slow: set[int]) -> None:
    """Files and store agree, and the verdicts are those that one writer would have given in the order of commits."""
    with open_store(str(folder / "seen.db"), read_only=True) as store:
        runs = {Path(run.out).name: run for run in store.runs()}
        assert sorted(runs) == sorted(outs)
        for out, run in runs.items():
            assert run.state == "finished"
            assert b"".join(store.receipts(run.ordinal)) == (folder / out / "receipts.ndjson").read_bytes()
            assert b"".join(store.kept_rows(run.ordinal)) == (folder / out / "kept.ndjson").read_bytes()
        rows = list(store.sightings())
    contents, shown = set[int](), dict[int, int]()
    for row in rows:
        assert row.content is not None
        assert row.place is not None
        known, elsewhere = row.place in shown, row.content in contents
        same_again = shown.get(row.place) == row.content
        # new 0, changed 1, syndicated 2, duplicate 3
        assert row.verdict == {False: 2 * elsewhere, True: 3 if same_again else 1}[known]
        contents.add(row.content)
        shown[row.place] = row.content
    if len(outs) == WRITERS:
        check_turns([row.run for row in rows], {runs[f"out{number}"].ordinal for number in slow})


def check_turns(order: list[int], slow: set[int]) -> None:
    """Nobody starves: when the first writer is through, every other one that wasn't held up has come in too."""
    last = {run: at for at, run in enumerate(order)}
    through = min(last.values())
    came = Counter(order[:through])
    assert all(came[run] >= RECORDS // 10 for run in last if run not in slow), came
