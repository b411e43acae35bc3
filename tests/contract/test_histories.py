"""The laws of reading a store from end to end: every content and place, what was seen of each, all receipts."""

from __future__ import annotations

import itertools
import random
import sqlite3
from pathlib import Path

from tests.contract.builder import Item, begin, content_text, crawl, place_text, record, register, run_whole

from seenbefore.stores import SeenStore, open_store


def test_contents_and_places_come_by_id(store: SeenStore) -> None:
    """Every content and every place of all rulesets comes once, by its id, as a look-up gives it."""
    register(store)
    run_whole(store, crawl(300), "/one")
    register(store, "posts/1")
    run_whole(store, crawl(200, seed=1), "/two")
    contents, places = list(store.contents()), list(store.places())
    assert contents == sorted(contents, key=lambda row: row.first)
    assert places == sorted(places, key=lambda row: row.first)
    labels = ("products/3", "posts/1")
    known = [store.lookup_content(content_text(f"c{number}", label)) for label in labels for number in range(300)]
    assert contents == sorted((row for row in known if row), key=lambda row: row.first)
    known_places = [store.lookup_place(place_text(f"u{number}", label)) for label in labels for number in range(200)]
    assert places == sorted((row for row in known_places if row), key=lambda row: row.first)


def test_sightings_are_gathered(store: SeenStore) -> None:
    """Gathering gives the sightings that have the id, and no others, sorted by it and by their own."""
    register(store)
    run_whole(store, crawl(400))
    rows = list(store.sightings())
    assert list(store.gathered("content")) == sorted(
        (row.content, row.id, row.run, row.seq, row.source, row.url, row.fetched_at, row.content)
        for row in rows
        if row.content is not None
    )
    assert [row[:2] for row in store.gathered("place")] == sorted(
        (row.place, row.id) for row in rows if row.place is not None
    )


def test_stretches_are_the_receipts_of_all_runs(store: SeenStore) -> None:
    """Joined by run, stretches are its receipts and kept rows; their records are counted, and follow the sightings."""
    register(store)
    for out in ("/one", "/two"):
        run_whole(store, crawl(2500), out, batch=2000)
    stretches = list(store.stretches())
    for run in (1, 2):
        own = [one for one in stretches if one.run == run]
        assert b"".join(one.receipts for one in own) == b"".join(store.receipts(run))
        assert b"".join(one.kept or b"" for one in own) == b"".join(store.kept_rows(run))
        assert [one.first_seq for one in own] == [1, 1025, 2001]
    ends = itertools.accumulate((one.records for one in stretches), initial=1)
    assert [one.first_sighting for one in stretches] == list(ends)[:-1]


def test_a_snapshot_stays_as_it_was(store: SeenStore) -> None:
    """A snapshot shows what was committed when it was taken, whatever is committed later, until it is closed."""
    register(store)
    run_whole(store, crawl(50), "/one")
    before = [list(store.contents()), list(store.gathered("place")), store.runs()]
    with store.snapshot() as seen:
        assert seen.location == store.location
        run = begin(store, "/two")
        with store.transaction() as transaction:
            record(transaction, run, crawl(90, seed=1))
            transaction.commit()
        assert [list(seen.contents()), list(seen.gathered("place")), seen.runs()] == before
    assert len(list(store.sightings())) == 140


def check_histories(store: SeenStore) -> None:
    """What is asked by content or place is what all sightings together say."""
    rows = list(store.sightings())
    dice = random.Random(len(rows))
    for after in (0, dice.randrange(len(rows)), len(rows)):
        for of in sorted({row.content for row in rows if row.content is not None})[::9]:
            expected = [row for row in rows if row.content == of and row.id > after]
            assert list(store.sightings(content=of, after=after)) == expected
        for of in sorted({row.place for row in rows if row.place is not None})[::9]:
            expected = [row for row in rows if row.place == of and row.id > after]
            assert list(store.sightings(place=of, after=after)) == expected
    of = next(row.content for row in rows if row.content is not None)
    for row in [row for row in rows if row.content == of] + rows[::50]:
        wanted = {"content": of, "place": row.place, "run": row.run, "source": row.source, "verdict": row.verdict}
        found = store.sightings(**{name: value for name, value in wanted.items() if value is not None})  # type: ignore[arg-type]
        assert (row in list(found)) == (row.content == of)


def test_a_history_is_all_that_was_seen(store: SeenStore) -> None:
    """Histories are whole, whether batches are of one record or of thousands, and one content is in all of them."""
    register(store)
    for at, batch in enumerate((1, 7, 400, 3)):
        run_whole(store, crawl(400, seed=at), f"/{at}", batch=batch)
    check_histories(store)
    same = [Item("c0", f"u{at % 3}", at) for at in range(5000)]
    run_whole(store, same, "/same", batch=4000)
    content = store.lookup_content(content_text("c0"))
    assert content is not None
    found = list(store.sightings(content=content.first))
    assert len(found) >= 5000
    assert found == [row for row in store.sightings() if row.content == content.first]


def test_a_history_begins_before_its_index(tmp_path: Path) -> None:
    """A store from before the index of histories gets it when it is written to; what was there is found too."""
    path = tmp_path / "seen.db"
    with open_store(str(path)) as store:
        register(store)
        run_whole(store, crawl(300), "/one", batch=50)
    with sqlite3.connect(path) as old:
        old.executescript(
            "DROP TABLE later; DELETE FROM meta WHERE name = 'later_from';"
            "DELETE FROM migration WHERE name = '2-histories'; PRAGMA user_version = 1;"
        )
    old.close()
    with open_store(str(path)) as store:
        register(store)
        check_histories(store)
        run_whole(store, crawl(300, seed=1), "/two", batch=50)
        check_histories(store)
        assert list(store.faults(quick=False)) == []
