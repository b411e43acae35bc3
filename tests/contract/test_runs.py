"""The laws of rulesets, runs, inputs and transactions."""

from __future__ import annotations

import hashlib

import pytest
from tests.contract.builder import (
    Item,
    Judged,
    begin,
    content_text,
    crawl,
    digest,
    finish,
    record,
    register,
    run_whole,
)

from seenbefore.errors import RuleChanged, UsageError
from seenbefore.stores import SeenStore
from seenbefore.stores.rows import InputRow, Progress


def test_runs_have_ordinals(store: SeenStore) -> None:
    """Ordinals go up from 1; one may be chosen where it is free."""
    register(store)
    with store.transaction() as transaction:
        assert transaction.begin_run("/a", "sha256:cc", "t1") == 1
        assert transaction.begin_run("/b", "sha256:cc", "t2", run=7) == 7
        assert transaction.begin_run("/c", "sha256:cc", "t3") == 8
        for taken in (7, 0, -1):
            with pytest.raises(UsageError):
                transaction.begin_run("/d", "sha256:cc", "t4", run=taken)
        transaction.commit()
    runs = store.runs()
    assert [(run.ordinal, run.out, run.state, run.started) for run in runs] == [
        (1, "/a", "unfinished", "t1"),
        (7, "/b", "unfinished", "t2"),
        (8, "/c", "unfinished", "t3"),
    ]
    assert store.run(2) is None
    assert {(run.ruleset, run.configuration) for run in runs} == {("products/3", "sha256:cc")}


def test_an_unfinished_run_is_found_by_its_directory(store: SeenStore) -> None:
    """An unfinished run is known with its position; finished and abandoned ones are not unfinished."""
    register(store)
    run = begin(store, "/a")
    with store.transaction() as transaction:
        record(transaction, run, crawl(10))
        transaction.commit()
    with store.transaction() as transaction:
        found = transaction.unfinished_run("/a")
        assert transaction.unfinished_run("/b") is None
    assert found is not None
    assert (found.ordinal, found.position, found.counts) == (run, {"seq": 10}, {"records": 10})
    assert found.outputs["receipts.ndjson"] == len(b"".join(store.receipts(run)))
    other = begin(store, "/b")
    finish(store, run)
    with store.transaction() as transaction:
        transaction.abandon_run(other, "later")
        transaction.commit()
    with store.transaction() as transaction:
        assert transaction.unfinished_run("/a") is None
        assert transaction.unfinished_run("/b") is None
        for closed in (run, other, 99):
            with pytest.raises(UsageError):
                transaction.finish_run(closed, digest(""), "later")
            with pytest.raises(UsageError):
                transaction.abandon_run(closed, "later")
            with pytest.raises(UsageError):
                transaction.set_input(closed, InputRow(0, "a"))
    states = [(row.state, row.ended) for row in store.runs()]
    assert states == [("finished", "2026-03-02T10:01:00Z"), ("abandoned", "later")]
    assert store.lookup_content(content_text(crawl(10)[0].content or "")) is not None


def test_the_chain_follows_the_order_of_finishing(store: SeenStore) -> None:
    """A run's chain digest covers its receipts and the run that was finished before it; abandoned runs take no part."""
    register(store)
    one, two, three = begin(store, "/1"), begin(store, "/2"), begin(store, "/3")
    with store.transaction() as transaction:
        transaction.abandon_run(one, "later")
        transaction.commit()
    chains = [finish(store, three), finish(store, two)]
    first = hashlib.sha256(bytes(32) + digest(("receipts", three))).digest()
    second = hashlib.sha256(first + digest(("receipts", two))).digest()
    assert chains == [first, second]
    assert [(run.link, run.chain) for run in store.runs()] == [(None, None), (2, second), (1, first)]


def test_inputs_are_known_once_their_run_is_finished(store: SeenStore) -> None:
    """The same bytes are named as done only by a finished run under the same ruleset, the same name first."""
    register(store)
    run = begin(store, "/1")
    rows = [InputRow(0, "a.ndjson", 9, digest("A"), 3, {"source": "a"}), InputRow(1, "b.ndjson", None, digest("A"), 3)]
    with store.transaction() as transaction:
        transaction.set_input(run, InputRow(0, "a.ndjson"))
        transaction.set_input(run, rows[1])
        transaction.set_input(run, rows[0])
        transaction.commit()
    assert store.inputs(run) == rows
    assert store.finished_input("a.ndjson", digest("A")) is None
    finish(store, run)
    for name, known in (("a.ndjson", "a.ndjson"), ("b.ndjson", "b.ndjson"), ("c.ndjson", "a.ndjson")):
        found = store.finished_input(name, digest("A"))
        assert found is not None
        assert (found.run, found.name, found.records) == (run, known, 3)
    assert store.finished_input("a.ndjson", digest("B")) is None
    register(store, "products/4", "sha256:bb")
    assert store.finished_input("a.ndjson", digest("A")) is None


def test_a_changed_rule_is_refused_by_name(store: SeenStore) -> None:
    """Another fingerprint under one label is refused, and what changed is named; another version is another rule."""
    before = 'name = "products"\nversion = 3\nrequire = ["title"]\n[url]\nstrength = "page"\n'
    after = 'name = "products"\nversion = 3\n[url]\nstrength = "site"\n'
    row = register(store, text=before)
    assert (row.label, row.fingerprint, row.text, row.state) == ("products/3", "sha256:aa", before, "active")
    with pytest.raises(RuleChanged) as caught:
        register(store, fingerprint="sha256:bb", text=after)
    assert caught.value.changed == (("require", '["title"]', "(none)"), ("url.strength", '"page"', '"site"'))
    assert (caught.value.expected, caught.value.found) == ("sha256:aa", "sha256:bb")
    with pytest.raises(RuleChanged, match=r"Unicode version: 17\.0\.0 → 18\.0\.0"):
        store.ruleset("products/3", "sha256:aa", "sha256:cc", before, "18.0.0")
    assert register(store, text=before) == row
    assert register(store, "products/4", "sha256:bb", after).id != row.id
    assert [one.label for one in store.rulesets()] == ["products/3", "products/4"]


def test_the_settings_of_a_past_run_can_be_read(store: SeenStore) -> None:
    """The configuration may change; the text that a run had is kept beside the newest."""
    store.ruleset("products/3", "sha256:aa", "sha256:01", "one", "17.0.0")
    store.ruleset("products/3", "sha256:aa", "sha256:02", "two", "17.0.0")
    row = store.ruleset("products/3", "sha256:aa", "sha256:02", "two, reformatted", "17.0.0")
    assert (row.configuration, row.text) == ("sha256:02", "two")
    texts = [store.settings_text("products/3", f"sha256:0{number}") for number in (1, 2, 3)]
    assert texts == ["one", "two", None]


@pytest.mark.parametrize("label", ["products", "products/0", "Products/1", "products/x", "/1", "products/1/2"])
def test_a_label_has_a_name_and_a_version(store: SeenStore, label: str) -> None:
    """A text that is no label is refused."""
    with pytest.raises(UsageError):
        register(store, label)
    assert store.rulesets() == []


def test_transactions_do_not_nest_and_do_not_linger(store: SeenStore) -> None:
    """A second transaction of the same handle, and calls after the end of one, are told as mistakes."""
    with pytest.raises(UsageError), store.transaction() as transaction:
        transaction.claim(b"", b"")
    register(store)
    with store.transaction() as transaction:
        with pytest.raises(UsageError), store.transaction():
            pass
        run = transaction.begin_run("/a", "sha256:cc", "now")
        transaction.commit()
        with pytest.raises(UsageError):
            transaction.commit()
    for call in (
        lambda: transaction.begin_run("/b", "sha256:cc", "now"),
        lambda: transaction.claim(b"", b""),
        lambda: transaction.source_ids(["a"]),
        lambda: transaction.record(Judged(), Progress(run)),
        transaction.commit,
    ):
        with pytest.raises(UsageError):
            call()
    assert [row.ordinal for row in store.runs()] == [run]


def test_info_counts(store: SeenStore) -> None:
    """What a store says of itself agrees with what was written."""
    register(store)
    run_whole(store, [Item("a", "u"), Item("a", "v"), Item("b", "u"), Item(None)])
    info = store.info()
    assert (info.rulesets, info.runs, info.contents, info.places, info.sightings) == (1, 1, 2, 2, 4)
    assert info.keep == "kept"
    assert info.location == store.location
