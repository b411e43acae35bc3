"""The merged view and the log on every store: as the store in memory gives them, on unfinished runs too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.builder import (
    VERDICTS,
    begin,
    content_text,
    crawl,
    place_text,
    record,
    register,
    run_whole,
)

from seenbefore.audit.log import Asked, receipts, sighted
from seenbefore.audit.merged import Wanted, merged
from seenbefore.errors import UsageError
from seenbefore.stores import MemoryStore, SeenStore, SqliteStore
from seenbefore.stores.rows import SightingRow


def filled(store: SeenStore) -> SeenStore:
    """A store with two finished runs, one that was abandoned, and two unfinished ones whose batches alternate."""
    register(store)
    run_whole(store, crawl(150), "/one")
    run_whole(store, crawl(150, seed=1), "/two")
    abandoned, third, fourth = (begin(store, out) for out in ("/three", "/four", "/five"))
    for start in (1, 51):
        for run in (third, fourth, abandoned):
            with store.transaction() as transaction:
                record(transaction, run, crawl(50, seed=run * 100 + start), start)
                transaction.commit()
    with store.transaction() as transaction:
        transaction.abandon_run(abandoned, "2026-03-02T11:00:00Z")
        transaction.commit()
    return store


def test_merged_is_the_same_on_every_store(store: SeenStore) -> None:
    """Every committed sighting counts, whatever became of its run, and all stores give the rows of that in memory."""
    oracle = list(merged(filled(MemoryStore(blocks=True))))
    found = list(merged(filled(store)))
    assert [row.line() for row in found] == [row.line() for row in oracle]
    assert sum(row.sightings for row in found) == sum(row.content is not None for row in store.sightings())
    assert [row.content_key for row in found] == [f"products/3:sha256:{row.key.hex()}" for row in store.contents()]
    for row, content in zip(found, store.contents(), strict=True):
        assert row.first_seen == content.first_seen
        assert json.loads(row.line())["sightings"] == sum(shown.sightings for shown in row.urls)


def test_merged_by_ruleset(store: SeenStore) -> None:
    """Contents of another ruleset are left out where one is named; one that isn't there is refused."""
    filled(store)
    register(store, "posts/1")
    run_whole(store, crawl(40, seed=9), "/posts")
    rows = list(merged(store))
    for label in ("products/3", "posts/1"):
        own = [row for row in rows if row.content_key.startswith(label)]
        assert [row.line() for row in merged(store, Wanted(ruleset=label))] == [row.line() for row in own]
        assert own
    with pytest.raises(UsageError, match="has no ruleset posts/2"):
        list(merged(store, Wanted(ruleset="posts/2")))


def test_merged_without_kept_rows(tmp_path: Any) -> None:
    """Where a store keeps no rows a merged row has no record."""
    with SqliteStore(tmp_path / "seen.db", keep="none") as store:
        rows = list(merged(filled(store)))
        assert {row.record for row in rows} == {None}
        assert rows[0].line().endswith(b',"record":null}\n')


def naive(store: SeenStore, asked: Asked, place: int | None, content: int | None) -> list[SightingRow]:
    """The log by looking at each sighting."""
    wanted = {"run": asked.run, "source": asked.source, "verdict": asked.verdict, "place": place, "content": content}
    rows = [
        row
        for row in store.sightings()
        if all(value is None or getattr(row, name) == value for name, value in wanted.items())
        and (asked.since is None or (row.fetched_at is not None and row.fetched_at >= asked.since))
        and (asked.until is None or (row.fetched_at is not None and row.fetched_at < asked.until))
    ]
    return rows if asked.limit is None else rows[-asked.limit :]


@pytest.mark.parametrize(
    "asked",
    [
        Asked(),
        Asked(limit=7),
        Asked(run=2),
        Asked(run=4, source="shop3"),
        Asked(run=3, verdict=VERDICTS.index("duplicate"), limit=3),
        Asked(since=0, until=10**15),
        Asked(source="nobody"),
        Asked(key=content_text("c5")),
        Asked(key=content_text("c5"), run=1),
        Asked(key=place_text("u7")),
        Asked(key=place_text("u7"), verdict=VERDICTS.index("changed")),
        Asked(key=place_text("never")),
    ],
    ids=str,
)
def test_log_finds_what_has_all_the_facts(store: SeenStore, asked: Asked) -> None:
    """The rows with all the facts, in the order of commits; their receipts are the run's."""
    filled(store)
    content = place = None
    if asked.key is not None:
        known = store.lookup_place(asked.key) if ":url:" in asked.key else store.lookup_content(asked.key)
        first = 0 if known is None else known.first
        content, place = (None, first) if ":url:" in asked.key else (first, None)
    found = list(sighted(store, asked))
    assert found == naive(store, asked, place, content)
    assert b"".join(receipts(store, found)) == b"".join(store.receipt(row.run, row.seq) or b"" for row in found)


def test_log_refuses_what_can_have_no_answer(store: SeenStore) -> None:
    """A run that isn't there, and a URL beside a key, are mistakes and no empty answer."""
    filled(store)
    with pytest.raises(UsageError, match="has no run 9"):
        list(sighted(store, Asked(run=9)))
    with pytest.raises(UsageError, match="exclude"):
        list(sighted(store, Asked(url="https://a.example/", key=place_text("u7"))))


def test_a_block_is_unpacked_once_for_all_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Going over rows in their order reads each block of receipts once, and gives what single look-ups give."""
    unpacked = []
    whole = SqliteStore._unpacked
    monkeypatch.setattr(SqliteStore, "_unpacked", lambda self, packed: unpacked.append(1) or whole(self, packed))
    with SqliteStore(tmp_path / "seen.db") as store:
        register(store)
        for out in ("/one", "/two"):
            run_whole(store, crawl(2500), out, batch=2500)
        listed = list(receipts(store, sighted(store, Asked())))
        assert len(unpacked) == 6
        for run in (2, 1):
            assert [store.receipt(run, seq) for seq in range(2500, 0, -500)] == listed[2500 * run - 1 :: -500][:5]
        assert (store.receipt(2, 2501), store.receipt(2, 0), store.receipt(3, 1)) == (None, None, None)
