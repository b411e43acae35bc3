"""Killed half-way: a process that ends by SIGKILL at a random moment leaves whole batches or nothing of them."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.contract.builder import Item, crawl, dump, record, register, run_whole, start

from seenbefore.stores import MemoryStore, open_store

RECORDS, BATCH = 6000, 500
# Steps that a batch does not take.
ENOUGH = 10**7
KILLS = int(os.environ.get("SEENBEFORE_STORE_KILLS", "12"))


def whole_batches(path: Path) -> int:
    """Check that what is there are whole batches → the records that they hold."""
    with open_store(str(path), read_only=True) as store:
        runs = store.runs()
        seq: int = runs[0].position.get("seq", 0) if runs else 0
        assert seq % BATCH == 0
        rows = list(store.sightings())
        assert [row.seq for row in rows] == [*range(1, seq + 1)]
        oracle = MemoryStore(blocks=True)
        register(oracle)
        run_whole(oracle, crawl(RECORDS)[:seq], batch=BATCH)
        found, expected = dump(store), dump(oracle)
    for name in ("sightings", "contents", "places"):
        assert found[name] == expected[name]
    if runs:
        assert found["receipts"] == expected["receipts"]
        assert found["kept"] == expected["kept"]
    return seq


def killed_until_done(path: Path, dice: random.Random) -> int:
    """Start the crawl and kill it, again and again, until it ends by itself → how often it was killed."""
    kills = 0
    while True:
        worker = start(path, "/out", 0, RECORDS, BATCH)
        assert worker.stdout is not None
        worker.stdout.readline()
        time.sleep(dice.random() * 0.05)
        worker.kill()
        _, errors = worker.communicate(timeout=60)
        assert errors == ""
        if worker.returncode == 0:
            return kills
        kills += 1
        done = whole_batches(path)
        if done >= RECORDS - 2 * BATCH:
            worker = start(path, "/out", 0, RECORDS, BATCH)
            assert worker.communicate(timeout=120)[1] == ""
            return kills


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Killed again and again and started again with the same arguments, a run ends as one that was left alone."""
    seed = random.randrange(10**9)
    sys.stdout.write(f"seed {seed}\n")
    dice = random.Random(seed)
    oracle = MemoryStore(blocks=True)
    register(oracle)
    run_whole(oracle, crawl(RECORDS), batch=BATCH)
    kills = crawls = 0
    while kills < KILLS:
        path = tmp_path / f"{crawls}.db"
        kills += killed_until_done(path, dice)
        crawls += 1
        assert crawls <= KILLS, "the worker is too fast for the kills: give it more records"
        with open_store(str(path), read_only=True) as store:
            assert dump(store) == dump(oracle)


@pytest.mark.parametrize("steps", [1, 30, 300, 1000, 3000, 10000, ENOUGH])
def test_killed_inside_a_statement(tmp_path: Path, steps: int) -> None:
    """A process that dies within its second batch, after any number of steps of SQLite, leaves the first one whole."""
    path = tmp_path / "seen.db"
    worker = start(path, "/out", 0, 2 * BATCH, BATCH, steps)
    assert worker.communicate(timeout=60)[1] == ""
    killed = worker.returncode == -signal.SIGKILL
    assert killed or worker.returncode == 0
    done = whole_batches(path)
    assert done == (BATCH if killed else 2 * BATCH)
    # Some are more than a batch takes: then nothing was killed, and the list above covers a batch from end to end.
    assert killed is (steps < ENOUGH)
    with open_store(str(path)) as store:
        register(store)
        with store.transaction() as transaction:
            run = transaction.begin_run("/after", "sha256:cc", "later")
            record(transaction, run, [Item("after")])
            transaction.commit()
        assert len(list(store.sightings())) == done + 1
