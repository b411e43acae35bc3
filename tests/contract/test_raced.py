"""The laws with many writers at once: processes on a file, threads on the store in memory."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.contract.builder import CONTENTS, content_text, crawl, register, run_whole, start

from seenbefore.stores import MemoryStore, SeenStore, open_store

WRITERS, RECORDS, BATCH = 8, 900, 60


@pytest.fixture(scope="module", params=["threads", "processes"])
def raced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeenStore]:
    """A store after eight writers judged overlapping crawls in it at once, from the moment when it wasn't there."""
    if request.param == "threads":
        store: SeenStore = MemoryStore(blocks=True)
        register(store)
        threads = [
            threading.Thread(target=run_whole, args=(store, crawl(RECORDS, seed), f"/{seed}"), kwargs={"batch": BATCH})
            for seed in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        path = tmp_path_factory.mktemp("raced") / "seen.db"
        workers = [start(path, f"/{seed}", seed, RECORDS, BATCH) for seed in range(WRITERS)]
        ended = [(worker.communicate(timeout=200)[1], worker.returncode) for worker in workers]
        assert ended == [("", 0)] * WRITERS
        store = open_store(str(path), read_only=True)
    yield store
    store.close()


def test_each_content_is_first_once(raced: SeenStore) -> None:
    """Each content is unseen exactly once, at its first sighting, which is the least of its ids; nothing is lost."""
    rows = list(raced.sightings())
    assert [row.id for row in rows] == list(range(1, WRITERS * RECORDS + 1))
    firsts = Counter(row.id for row in rows if row.content == row.id)
    assert set(firsts.values()) == {1}
    wanted = {item.content for seed in range(WRITERS) for item in crawl(RECORDS, seed) if item.content_key}
    known = {f"c{number}": raced.lookup_content(content_text(f"c{number}")) for number in range(CONTENTS)}
    assert {name for name, row in known.items() if row is not None} == wanted
    for row in known.values():
        if row is not None:
            assert firsts.pop(row.first) == 1
    assert not firsts


def test_verdicts_follow_the_order_of_commits(raced: SeenStore) -> None:
    """Read in the order of ids, the sightings of all writers are those that one writer would have made."""
    contents: set[int] = set()
    latest: dict[int, int] = {}
    for row in raced.sightings():
        if row.content is None:
            assert row.verdict in {4, 5}
            continue
        seen = row.content in contents
        shown = latest.get(row.place) if row.place is not None else None
        if shown is not None:
            expected = 3 if shown == row.content else 1
        else:
            expected = (3 if row.place is None else 2) if seen else 0
        assert row.verdict == expected
        contents.add(row.content)
        if row.place is not None:
            latest[row.place] = row.content


def test_runs_are_whole(raced: SeenStore) -> None:
    """Each writer has a finished run of its own, with a receipt for each record in order and a link of the chain."""
    runs = raced.runs()
    assert sorted(run.out for run in runs) == [f"/{seed}" for seed in range(WRITERS)]
    assert sorted(run.ordinal for run in runs) == sorted(run.link or 0 for run in runs) == [*range(1, WRITERS + 1)]
    for run in runs:
        lines = b"".join(raced.receipts(run.ordinal)).splitlines()
        assert [json.loads(line)["seq"] for line in lines] == [*range(1, RECORDS + 1)]
        assert run.state == "finished"
