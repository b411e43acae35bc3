"""Copying a store and writing its file anew change nothing of what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.builder import begin, crawl, dump, record, register, run_whole

from seenbefore.errors import InUse, PermissionDenied, StoreUnsupported, UsageError
from seenbefore.stores import MemoryStore, SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A file with two runs, one of them unfinished."""
    with SqliteStore(tmp_path / "seen.db", patience=0.2) as store:
        register(store)
        run_whole(store, crawl(400), "/one")
        run = begin(store, "/two")
        with store.transaction() as transaction:
            record(transaction, run, crawl(200, seed=1))
            transaction.commit()
        yield store


def test_a_copy_is_the_store_as_it_stood(store: SqliteStore, tmp_path: Path) -> None:
    """A copy made while another writes holds what was committed, and is a store that goes on by itself."""
    before = dump(store)
    with store.transaction() as transaction:
        record(transaction, 2, crawl(100, seed=2), 201)
        size = store.copy(str(tmp_path / "copy.db"))
        transaction.commit()
    assert size == (tmp_path / "copy.db").stat().st_size
    with SqliteStore(tmp_path / "copy.db") as copy:
        assert dump(copy) == before
        register(copy)
        run_whole(copy, crawl(50, seed=3), "/three")
    assert dump(store) != before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_copy_replaces_nothing(store: SqliteStore, tmp_path: Path) -> None:
    """A name that is taken, a folder that isn't there or that may not be written to are refused."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("mine", "link", "seen.db", "gone/copy.db"):
        with pytest.raises(UsageError):
            store.copy(str(tmp_path / name))
    assert (tmp_path / "mine").read_text() == "mine"
    if os.geteuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(PermissionDenied):
            store.copy(str(tmp_path / "closed" / "copy.db"))


def test_vacuum_gives_room_back_and_changes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    """What nothing uses is given back, and the store says afterwards what it said before, to other handles too."""
    store.close()
    junk = "CREATE TABLE junk (data); INSERT INTO junk VALUES (randomblob(4000000)); DROP TABLE junk;"
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
    subprocess.run([sys.executable, "-c", script, tmp_path / "seen.db", junk], check=True)
    with SqliteStore(tmp_path / "seen.db") as again, SqliteStore(tmp_path / "seen.db", read_only=True) as other:
        told = dump(again)
        before, after = again.vacuum()
        assert before - after > 3_000_000
        assert dump(again) == dump(other) == told
        register(again)
        run_whole(again, crawl(50, seed=3), "/three")


def test_vacuum_waits_for_nobody(store: SqliteStore, tmp_path: Path) -> None:
    """Where another one writes, it is refused and says who that is."""
    with SqliteStore(tmp_path / "seen.db") as other, other.transaction(), pytest.raises(InUse, match=str(os.getpid())):
        store.vacuum()
    store.vacuum()
    with SqliteStore(tmp_path / "seen.db", read_only=True) as reader, pytest.raises(UsageError):
        reader.vacuum()


def test_a_store_in_memory_has_no_file(tmp_path: Path) -> None:
    """What needs a file is refused."""
    with pytest.raises(StoreUnsupported):
        MemoryStore().copy(str(tmp_path / "copy.db"))
    with pytest.raises(StoreUnsupported):
        MemoryStore().vacuum()
