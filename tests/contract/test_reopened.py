"""The laws on a store that is opened again, and on a transaction that is not committed."""

from __future__ import annotations

import threading

import pytest
from tests.contract.builder import Item, begin, content_text, crawl, dump, record, register, run_whole
from tests.contract.conftest import Opener

from seenbefore.stores import MemoryStore, SeenStore
from seenbefore.stores.rows import InputRow


def test_reopening_changes_nothing(opener: Opener) -> None:
    """Whatever a store says, it says after it was closed and opened again, read or written."""
    store = opener.open()
    register(store)
    run_whole(store, crawl(500), "/one")
    begin(store, "/two")
    before = dump(store)
    for _ in range(3):
        store.close()
        store.close()
        store = opener.open()
        assert dump(store) == before
    register(store)
    assert dump(store) == before


def test_a_store_goes_on_where_it_was(opener: Opener) -> None:
    """A run that is continued after every batch by a new handle ends as one in one go."""
    oracle = MemoryStore(blocks=True)
    register(oracle)
    items = crawl(600)
    run_whole(oracle, items, batch=75)
    store = opener.open()
    register(store)
    run = begin(store)
    for start in range(0, len(items), 75):
        store.close()
        store = opener.open()
        register(store)
        with store.transaction() as transaction:
            found = transaction.unfinished_run("/out")
            assert found is not None
            assert found.position.get("seq", 0) == start
            record(transaction, run, items[start : start + 75], start + 1)
            transaction.commit()
    assert dump(store)["sightings"] == dump(oracle)["sightings"]
    assert dump(store)["contents"] == dump(oracle)["contents"]
    assert dump(store)["places"] == dump(oracle)["places"]
    assert dump(store)["receipts"] == dump(oracle)["receipts"]


@pytest.mark.parametrize("how", ["left", "failed"])
def test_what_is_not_committed_never_was(store: SeenStore, how: str) -> None:
    """A transaction that ends without commit, with or without an error, leaves no run, source, claim or position."""
    register(store)
    run_whole(store, crawl(50))
    run = begin(store, "/two")
    before = dump(store)

    def attempt() -> None:
        with store.transaction() as transaction:
            transaction.begin_run("/three", "sha256:cc", "now")
            transaction.set_input(run, InputRow(0, "a.ndjson"))
            record(transaction, run, [Item("a", "u", 3, "nobody"), *crawl(200, 5)])
            transaction.finish_run(run, bytes(32), "now")
            if how == "failed":
                raise KeyError(how)

    if how == "failed":
        with pytest.raises(KeyError):
            attempt()
    else:
        attempt()
    assert dump(store) == before
    assert list(store.sightings(source="nobody")) == []


def test_nothing_is_visible_before_commit(opener: Opener) -> None:
    """Neither the handle that writes nor another one sees what is not committed; both see it afterwards."""
    store, other = opener.open(), opener.open()
    register(store)
    run = begin(store)
    before = dump(store)
    with store.transaction() as transaction:
        record(transaction, run, [Item("a", "u", 3)])
        for reader in (store, other):
            assert dump(reader) == before
            assert reader.lookup_content(content_text("a")) is None
        transaction.commit()
    for reader in (store, other):
        row = reader.lookup_content(content_text("a"))
        assert row is not None
        assert row.first == 1


def test_one_writer_at_a_time(opener: Opener) -> None:
    """A second writer waits until the first has ended, and then knows what that one committed."""
    store = opener.open()
    register(store)
    run = begin(store)
    order: list[str] = []

    def second() -> None:
        other = opener.open()
        register(other)
        with other.transaction() as transaction:
            assert transaction.next_sighting == 2
            order.append("second")

    thread = threading.Thread(target=second)
    with store.transaction() as transaction:
        thread.start()
        record(transaction, run, [Item("a")])
        thread.join(0.3)
        order.append("first")
        transaction.commit()
    thread.join(30)
    assert order == ["first", "second"]
