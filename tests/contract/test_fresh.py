"""The laws on a fresh store: first sightings, first_seen, look-ups, receipts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.builder import (
    Item,
    Judged,
    begin,
    content_text,
    crawl,
    digest,
    dump,
    place_text,
    prepare,
    record,
    register,
    run_whole,
)

from seenbefore.errors import StoreDamaged, UsageError
from seenbefore.stores import MemoryStore, SeenStore
from seenbefore.stores.rows import InputRow, Progress


@pytest.mark.parametrize("batch", [1, 7, 100, 1500])
def test_says_what_the_oracle_says(store: SeenStore, batch: int) -> None:
    """A crawl with every verdict gives the rows, receipts and look-ups of the oracle, in batches of any size."""
    oracle = MemoryStore(blocks=True)
    items = crawl(1600 if batch > 1 else 150)
    for one in (store, oracle):
        register(one)
        run_whole(one, items, batch=batch)
    assert dump(store) == dump(oracle)


def test_a_batch_of_many_contents_is_whole(store: SeenStore) -> None:
    """A batch with more new keys than one statement takes is written to its last row, and found again."""
    register(store)
    items = [Item(f"k{number}", f"p{number}", number) for number in range(6000)]
    run_whole(store, items, "/one", batch=6000)
    run_whole(store, items[::-1], "/two", batch=5000)
    rows = list(store.sightings(run=2))
    assert [row.content for row in rows] == [row.place for row in rows] == list(range(6000, 0, -1))
    assert {row.verdict for row in rows} == {3}
    info = store.info()
    assert (info.contents, info.places, info.sightings) == (6000, 6000, 12000)


def test_first_sighting_is_for_ever(store: SeenStore) -> None:
    """A content and a place keep the id of their first sighting, whatever is seen of them later, in whatever run."""
    register(store)
    run_whole(store, [Item("a", "u"), Item("b", "u")], "/one")
    run_whole(store, [Item("b", "v"), Item("a", "u")], "/two")
    first, second = store.lookup_content(content_text("a")), store.lookup_content(content_text("b"))
    assert first is not None
    assert second is not None
    assert (first.first, second.first) == (1, 2)
    place = store.lookup_place(place_text("u"))
    assert place is not None
    assert (place.first, place.latest, place.latest_content) == (1, 4, 1)


def test_first_seen_moves_back_only(store: SeenStore) -> None:
    """first_seen is the least time of any sighting: later and missing times leave it, earlier ones move it back."""
    register(store)
    seen = []
    for number, time in enumerate([None, 500, 700, None, -3, 4, 0]):
        run_whole(store, [Item("a", fetched_at=time)], f"/{number}")
        row = store.lookup_content(content_text("a"))
        seen.append(row and row.first_seen)
    assert seen == [None, 500, 500, 500, -3, -3, -3]


def test_a_batch_cannot_move_first_seen_forward(store: SeenStore) -> None:
    """Even a batch that says otherwise leaves the least time in place."""
    register(store)
    run_whole(store, [Item("a", fetched_at=5)])
    run = begin(store, "/two")
    with store.transaction() as transaction:
        judged = prepare(transaction, run, [Item("a", fetched_at=9)])
        judged.contents_earlier = [(digest("a"), 9)]
        transaction.record(judged, Progress(run))
        transaction.commit()
    row = store.lookup_content(content_text("a"))
    assert row is not None
    assert row.first_seen == 5


def test_claims_are_of_one_ruleset(store: SeenStore) -> None:
    """The same keys under another ruleset are not known; each ruleset has first sightings of its own."""
    one, two = register(store, "products/3"), register(store, "products/4", "sha256:bb")
    with store.transaction(one) as transaction:
        run = transaction.begin_run("/one", "sha256:cc", "now")
        record(transaction, run, [Item("a", "u"), Item("b", "v")])
        transaction.commit()
    keys = b"".join(sorted([digest("a"), digest("b"), digest("c")]))
    with store.transaction(two) as transaction:
        assert transaction.claim(keys, digest("u")) == ([], [])
        run = transaction.begin_run("/two", "sha256:cc", "now")
        record(transaction, run, [Item("a", "u")])
        transaction.commit()
    with store.transaction(two) as transaction:
        assert transaction.claim(digest("a"), digest("u")) == ([(0, 3, None)], [(0, 3, 3, 3)])
    with store.transaction(one) as transaction:
        assert transaction.claim(digest("a"), digest("u")) == ([(0, 1, None)], [(0, 1, 1, 1)])
    rows = [store.lookup_content(content_text("a", label)) for label in ("products/3", "products/4", "products/5")]
    assert [row and row.first for row in rows] == [1, 3, None]


def test_claim_gives_indices_in_order(store: SeenStore) -> None:
    """A claim says of each known key where it stands among those asked for, and nothing of the others."""
    register(store)
    known = [f"k{number}" for number in range(0, 3000, 3)]
    run_whole(store, [Item(text, text, fetched_at=number) for number, text in enumerate(known)], batch=400)
    asked = sorted((digest(f"k{number}"), number) for number in range(3000))
    with store.transaction() as transaction:
        contents, places = transaction.claim(*[b"".join(key for key, _ in asked)] * 2)
        assert transaction.claim(b"", b"") == ([], [])
    ids = {f"k{number}": at + 1 for at, number in enumerate(range(0, 3000, 3))}
    expected = [(at, ids[f"k{number}"]) for at, (_, number) in enumerate(asked) if number % 3 == 0]
    assert [(at, number) for at, number, _ in contents] == expected
    assert [row[2] for row in contents] == [number - 1 for _, number in expected]
    assert places == [(at, number, number, number) for at, number in expected]


def test_earlier_gives_the_facts_of_sightings(store: SeenStore) -> None:
    """Facts of earlier sightings come in the order of their ids; one that isn't there means damage."""
    register(store)
    run_whole(store, [Item("a", "u", 7), Item("b"), Item("c", "v", refused=True), Item(None)])
    with store.transaction() as transaction:
        assert transaction.earlier([]) == []
        assert transaction.earlier([1, 3, 4]) == [
            (1, 1, 1, "u", 7, digest(("a", "payload"))),
            (3, 1, 3, "v", None, None),
            (4, 1, 4, None, None, digest((None, "payload"))),
        ]
        with pytest.raises(StoreDamaged):
            transaction.earlier([2, 5])


def test_sources_keep_their_ids(store: SeenStore) -> None:
    """A source has one id for ever, and texts that look like numbers stay apart."""
    register(store)
    names = ["3970e14784", "15E2621", "008", "8", "1e2", "100", "", "ünïcode", "with\0zero"]
    with store.transaction() as transaction:
        ids = transaction.source_ids(names)
        assert transaction.source_ids(names[::-1]) == ids[::-1]
        transaction.commit()
    assert len(set(ids)) == len(names)
    with store.transaction() as transaction:
        assert transaction.source_ids(["new", *names])[1:] == ids


def test_texts_come_back_unchanged(store: SeenStore) -> None:
    """Sources, URLs, input names and output directories that look like numbers come back as they went in."""
    register(store)
    texts = ["3970e14784", "15E2621", "008", " 8 ", "1e400", "0x10", "NULL", "ünï\0code"]
    run = begin(store, "008")
    with store.transaction() as transaction:
        record(transaction, run, [Item(text, text, source=text) for text in texts])
        for index, text in enumerate(texts):
            transaction.set_input(run, InputRow(index, text, facts={"source": text}))
        transaction.commit()
    rows = list(store.sightings())
    assert [row.url for row in rows] == [row.source for row in rows] == texts
    assert [(row.name, row.facts["source"]) for row in store.inputs(run)] == [(text, text) for text in texts]
    found = store.run(run)
    assert found is not None
    assert found.out == "008"
    with store.transaction() as transaction:
        assert transaction.unfinished_run("8") is None
        assert transaction.unfinished_run("008") == found


def test_receipts_and_rows_come_back_as_they_were(store: SeenStore) -> None:
    """Joined, receipts and kept rows are the bytes recorded; each is found by its run and seq."""
    register(store)
    items = crawl(2500)
    run_whole(store, [Item("other")], "/before")
    run = begin(store)
    receipts = kept = b""
    for start in range(0, len(items), 1700):
        with store.transaction() as transaction:
            judged = record(transaction, run, items[start : start + 1700], start + 1)
            transaction.commit()
        receipts += b"".join(block[2] for block in judged.blocks)
        kept += b"".join(block[3] for block in judged.blocks)
    assert b"".join(store.receipts(run)) == receipts
    assert b"".join(store.kept_rows(run)) == kept
    lines = receipts.splitlines(keepends=True)
    for seq in (1, 2, 1024, 1025, 1700, 1701, 2500):
        assert store.receipt(run, seq) == lines[seq - 1]
    rows = iter(kept.splitlines(keepends=True))
    for seq, line in enumerate(lines[:200], 1):
        assert store.kept(run, seq) == (next(rows) if b'"keep"' in line else None)
    for seq in (0, -1, 2501):
        assert store.receipt(run, seq) is None
        assert store.kept(run, seq) is None
        assert store.sighting(run, seq) is None
    assert store.receipt(9, 1) is None
    assert list(store.receipts(9)) == []


def test_sightings_are_found_by_their_facts(store: SeenStore) -> None:
    """Sightings come by id and can be asked for by run, source, content, place and verdict."""
    register(store)
    run_whole(store, crawl(300, 1), "/one")
    run_whole(store, crawl(300, 2), "/two")
    rows = list(store.sightings())
    assert [row.id for row in rows] == list(range(1, 601))
    assert [row.seq for row in rows] == [*range(1, 301)] * 2
    asked: list[dict[str, Any]] = [
        {"run": 2},
        {"source": "shop3"},
        {"verdict": 3, "run": 1},
        {"content": rows[0].content},
        {"place": rows[0].place, "after": 100},
        {"after": 599},
        {"source": "nobody"},
    ]
    for facts in asked:
        after = facts.get("after", 0)
        named = {name: value for name, value in facts.items() if name != "after"}
        expected = [row for row in rows if row.id > after and all(getattr(row, k) == v for k, v in named.items())]
        assert list(store.sightings(**facts)) == expected
    assert store.sighting(2, 300) == rows[-1]
    assert store.sighting(3, 1) is None


@pytest.mark.parametrize("key", ["products/3:sha256:00", "sha256:" + "0" * 64, "products/3:sha256:" + "G" * 64, ""])
def test_a_key_that_is_none_is_told(store: SeenStore, key: str) -> None:
    """A text that is no key is an error, and so is a key of the other kind: never "not found"."""
    with pytest.raises(UsageError):
        store.lookup_content(key)
    with pytest.raises(UsageError):
        store.lookup_place(key)
    with pytest.raises(UsageError):
        store.lookup_content(place_text("u"))
    with pytest.raises(UsageError):
        store.lookup_place(content_text("a"))


def spoil(judged: Judged, how: str) -> None:
    """Make a batch contradict what was claimed."""
    key, number, seen = judged.contents_new[0]
    match how:
        case "known content":
            judged.contents_new.append((digest("old"), number, seen))
        case "content twice":
            judged.contents_new.append((key, number + 1, seen))
        case "unclaimed content":
            judged.contents_new.append((digest("stranger"), number, seen))
        case "unknown first_seen":
            judged.contents_earlier.append((key, 1))
        case "unclaimed place":
            judged.places.append((digest("stranger"), number, number, number))
        case "gap":
            judged.sightings = [(row[0] + 1, *row[1:]) for row in judged.sightings]
        case "other run":
            judged.sightings = [(row[0], row[1] + 1, *row[2:]) for row in judged.sightings]
        case _:
            judged.blocks.pop()


@pytest.mark.parametrize(
    "how",
    [
        "known content",
        "content twice",
        "unclaimed content",
        "unknown first_seen",
        "unclaimed place",
        "gap",
        "other run",
        "no receipt",
    ],
)
def test_a_batch_writes_what_it_claimed(store: SeenStore, how: str) -> None:
    """A batch that contradicts its claim is refused, and nothing of it is written."""
    register(store)
    run_whole(store, [Item("old", "u")])
    run = begin(store, "/two")
    before = dump(store)
    with store.transaction() as transaction:
        judged = prepare(transaction, run, [Item("old", "u"), Item("a", "v"), Item("b", "w")])
        spoil(judged, how)
        with pytest.raises(StoreDamaged):
            transaction.record(judged, Progress(run))
    assert dump(store) == before
    with store.transaction() as transaction:
        record(transaction, run, [Item("old", "u"), Item("a", "v"), Item("b", "w")])
        transaction.commit()


def test_a_record_that_was_released_leaves_its_claim_unused(store: SeenStore) -> None:
    """A batch may write less than it claimed."""
    register(store)
    run = begin(store)
    with store.transaction() as transaction:
        transaction.claim(b"".join(sorted([digest("a"), digest("z")])), digest("u"))
        source = transaction.source_ids(["shop"])[0]
        judged = Judged([(1, 1, b"{}\n", b"", b"")], [(digest("a"), 1, None)])
        judged.sightings = [(1, run, 1, source, 1, None, None, 0, None, None)]
        transaction.record(judged, Progress(run))
        transaction.commit()
    assert store.lookup_content(content_text("z")) is None
