"""Many writers at once on one server: each content is new once, and nobody hears of a deadlock."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.postgres.crawls import check_laws, mixed, receipts_match, record, rules, start, write
from tests.servers import postgres_server

from seenbefore import Deduplicator
from seenbefore.audit.verify import verify
from seenbefore.dedup import Settings
from seenbefore.stores import open_store
from seenbefore.stores.postgres.transaction import PostgresTransaction

WRITERS, RECORDS, ROUNDS = 8, 600, 200


def test_eight_processes_and_each_content_new_once(tmp_path: Path) -> None:
    """Eight runs over overlapping crawls, from the moment when no table is there: the laws hold, receipts replay."""
    rules(tmp_path)
    url = postgres_server().schema()
    files = [write(tmp_path / f"{seed}.ndjson", mixed(seed, RECORDS)) for seed in range(WRITERS)]
    workers = [start(url, [file], tmp_path / file.stem) for file in files]
    ended = [(worker.communicate(timeout=250), worker.returncode) for worker in workers]
    assert [(said[1], status) for said, status in ended if status] == []
    with open_store(url, read_only=True) as store:
        assert store.last_sighting() == WRITERS * RECORDS
        check_laws(store)
        assert sorted(run.link or 0 for run in store.runs()) == [*range(1, WRITERS + 1)]
        for run in store.runs():
            receipts_match(store, run.ordinal, Path(run.out))


@pytest.mark.slow
def test_opposite_orders_never_deadlock(tmp_path: Path) -> None:
    """Two writers bring the same keys in opposite orders, 200 times: nobody hears of 40P01, each is new once."""
    url, path = postgres_server().schema(), rules(tmp_path)
    failures: list[BaseException] = []
    barrier = threading.Barrier(2)

    def write_rounds(backwards: bool) -> None:
        try:
            with Deduplicator(path, url, settings=Settings(batch_size=26)) as dedup:
                for turn in range(ROUNDS):
                    records = [record(turn * 26 + at, turn * 26 + at, 1) for at in range(26)]
                    barrier.wait(60)
                    list(dedup.judge_many(records[::-1] if backwards else records))
        except BaseException as error:
            failures.append(error)
            barrier.abort()
            raise

    threads = [threading.Thread(target=write_rounds, args=(backwards,)) for backwards in (False, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with open_store(url, read_only=True) as store:
        check_laws(store)
        assert (store.info().contents, store.last_sighting()) == (26 * ROUNDS, 2 * 26 * ROUNDS)


def test_a_time_that_moves_meanwhile_is_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that read when a content was first seen before that was moved back gives way and comes again."""
    url, path = postgres_server().schema(), rules(tmp_path)
    write_rows, calls = PostgresTransaction.record, []

    def interrupted(transaction: PostgresTransaction, *arguments: Any) -> None:
        calls.append(transaction)
        if len(calls) == 1:
            other.judge(record(1, 3, 2))
        write_rows(transaction, *arguments)

    with Deduplicator(path, url) as dedup, Deduplicator(path, url) as other:
        dedup.judge(record(1, 1, 20))
        other.judge(record(2, 2, 20))
        monkeypatch.setattr(PostgresTransaction, "record", interrupted)
        assert dedup.judge(record(1, 2, 21)).verdict == "changed"
    # Its own first try, the other's, and the second try.
    assert len(calls) == 3
    with open_store(url, read_only=True) as store:
        check_laws(store)
        replayed = verify(url)
    assert not replayed.failed
