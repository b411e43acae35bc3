"""Waiting for another writer: whom one waits for is told, writers take turns, and patience ends by name."""

from __future__ import annotations

import os
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from tests.contract.builder import Item, begin, record, register, run_whole

from seenbefore.errors import InUse
from seenbefore.stores import SqliteStore
from seenbefore.stores.base import Waiting
from seenbefore.stores.sqlite import turns


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the store goes; people are told soon and often."""
    monkeypatch.setattr(turns, "TOLD_AFTER", 0.05)
    monkeypatch.setattr(turns, "TOLD_EVERY", 0.05)
    return tmp_path / "seen.db"


def test_whoever_waits_is_told_for_whom(path: Path) -> None:
    """A waiting writer hears which process and run hold the store, and goes on when they are done."""
    heard: list[Waiting] = []
    with SqliteStore(path) as first, SqliteStore(path, told=heard.append) as second:
        register(first)
        register(second)
        run = begin(first)
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with first.transaction() as transaction:
                record(transaction, run, [Item("a")])
                held.set()
                done.wait(20)
                transaction.commit()

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(20)
        threading.Timer(0.6, done.set).start()
        with second.transaction() as transaction:
            assert transaction.next_sighting == 2
        holder.join()
    assert len(heard) >= 2
    assert (heard[0].pid, heard[0].run, heard[0].host, heard[0].location) == (os.getpid(), run, None, str(path))
    assert heard[0].holder == f"process {os.getpid()} (run {run})"
    assert 0 < heard[0].seconds < heard[-1].seconds


def test_patience_ends_by_name(path: Path) -> None:
    """After the given time a writer stops waiting, with an error that names the holder; reading needs no patience."""
    with SqliteStore(path) as first, SqliteStore(path, patience=0.3) as second:
        register(first)
        register(second)
        with first.transaction() as transaction:
            run = transaction.begin_run("/a", "sha256:cc", "now")
            started = time.monotonic()
            with pytest.raises(InUse, match=f"process {os.getpid()}") as caught, second.transaction():
                pass
            assert 0.2 < time.monotonic() - started < 10
            assert caught.value.exit_status == 5
            assert second.runs() == []
            transaction.commit()
        with second.transaction() as transaction:
            transaction.abandon_run(run, "later")
            transaction.commit()


def test_another_program_is_waited_for_too(path: Path) -> None:
    """A holder that leaves no note is another process."""
    heard: list[Waiting] = []
    with SqliteStore(path, told=heard.append, patience=0.4) as store:
        register(store)
        with SqliteStore(path) as other:
            assert other._writer is not None
            other._writer.connection.execute("BEGIN IMMEDIATE")
            with pytest.raises(InUse, match="another process"), store.transaction():
                pass
    assert [one.pid for one in heard] == [None] * len(heard)
    assert heard


def test_without_the_second_lock_writers_still_wait(path: Path) -> None:
    """Where the file for turns can't be had, the store's own lock is enough."""
    (path.parent / f"{path.name}{turns.SUFFIX}").mkdir()
    with SqliteStore(path) as first, SqliteStore(path) as second:
        for store, out in ((first, "/a"), (second, "/b")):
            register(store)
            run_whole(store, [Item("a")], out)
        assert [row.content for row in second.sightings()] == [1, 1]


def test_writers_take_turns(path: Path) -> None:
    """A writer that begins again at once does not keep others out: two that never rest come in by turns."""
    with SqliteStore(path) as first, SqliteStore(path) as second:
        register(first)
        register(second)
        order: list[int] = []
        stop = threading.Event()

        def write(number: int, store: SqliteStore) -> None:
            while not stop.is_set():
                with store.transaction() as transaction:
                    order.append(number)
                    transaction.source_ids([str(number)])
                    time.sleep(0.01)
                    transaction.commit()

        threads = [threading.Thread(target=write, args=(number, store)) for number, store in enumerate((first, second))]
        for thread in threads:
            thread.start()
        time.sleep(2)
        stop.set()
        for thread in threads:
            thread.join()
    changes = sum(before != after for before, after in pairwise(order))
    assert changes > len(order) / 2
