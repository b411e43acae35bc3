"""Records of a program: judged at once, marked as seen when the block ends well, and only those that were stored."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from seenbefore import Deduplicator, Ruleset, UsageError, Verdict

RULES = Ruleset.from_toml(
    'name = "posts"\nversion = 1\nidentity = ["text"]\n[record]\nurl = "url"\nfetched_at = "at"\nsource = "shop"\n'
)


def post(text: Any, url: str | None = None, at: str | None = None) -> dict[str, Any]:
    """A record."""
    return {"text": text, "url": url, "at": at, "shop": "s"}


@pytest.fixture(params=["memory", "sqlite"])
def dedup(request: pytest.FixtureRequest, tmp_path: Path) -> Deduplicator:
    """A Deduplicator on each kind of store."""
    return Deduplicator(RULES, "memory:" if request.param == "memory" else tmp_path / "s.db")


def said(*verdicts: Verdict) -> list[str]:
    """Verdicts by name."""
    return [verdict.verdict for verdict in verdicts]


def test_verdicts_are_given_against_the_store_and_the_batch(dedup: Deduplicator) -> None:
    """Records are judged in order, within the batch and against earlier batches, as the table says."""
    with dedup.batch() as batch:
        one = batch.judge(post("a", "https://e.example/1", "2026-03-02T08:00:00Z"))
        again = batch.judge(post("A ", "https://e.example/1"))
        elsewhere = batch.judge(post("a", "https://e.example/2"))
        other = batch.judge(post("b", "https://e.example/1"))
        revert = batch.judge(post("a", "https://e.example/1"))
        nothing = batch.judge(post(None))
    assert said(one, again, elsewhere, other, revert, nothing) == [
        "new",
        "duplicate",
        "syndicated",
        "changed",
        "changed",
        "unkeyed",
    ]
    assert [one.action, again.action, revert.action] == ["keep", "skip", "keep"]
    assert again.refers_to is not None
    assert (again.refers_to.seq, again.refers_to.fetched_at) == (1, "2026-03-02T08:00:00Z")
    assert again.matched_on == "content"
    assert revert.previous is not None
    assert revert.previous.seq == other.seq
    with dedup.batch() as batch:
        later = batch.judge(post("a", "https://e.example/1"))
        assert later.refers_to is not None
        assert (later.verdict, later.refers_to.run, later.refers_to.seq) == ("duplicate", one.run, 1)
        assert batch.judge(post("c", "https://e.example/1")).verdict == "changed"
    assert batch.final == tuple(batch.final)
    assert [one.seq for one in batch.final] == [7, 8]


def test_a_block_that_fails_marks_nothing(dedup: Deduplicator) -> None:
    """After an exception the records of the block are new when they come again."""

    def fail() -> None:
        with dedup.batch() as batch:
            assert batch.judge(post("a")).verdict == "new"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with dedup.batch() as batch:
        assert batch.judge(post("a")).verdict == "new"


def test_a_released_record_marks_nothing(dedup: Deduplicator) -> None:
    """A record that was not stored is new when it comes again, in the same batch and in the next one."""
    with dedup.batch() as batch:
        lost = batch.judge(post("a", "https://e.example/1"))
        batch.release(lost)
        assert batch.judge(post("a", "https://e.example/1")).verdict == "new"
    assert said(*batch.final) == ["new"]
    with dedup.batch() as batch:
        batch.release(batch.judge(post("b", "https://e.example/1")))
    assert batch.final == ()
    with dedup.batch() as batch:
        again = batch.judge(post("b", "https://e.example/1"))
        assert again.verdict == "changed"
        assert not again.seen_before


def test_what_was_skipped_for_a_released_record_is_unsettled(dedup: Deduplicator) -> None:
    """Repeats of a record that was then not stored are not committed: they are named and come again."""
    with dedup.batch() as batch:
        first = batch.judge(post("a"))
        repeats = [batch.judge(post("a")) for _ in range(5)]
        other = batch.judge(post("b"))
        assert [one.waits_for for one in repeats] == [0] * 5
        assert other.waits_for is None
        batch.release(first)
    assert batch.unsettled == tuple(repeats)
    assert said(*batch.final) == ["new"]
    with dedup.batch() as batch:
        assert batch.judge(post("a")).verdict == "new"
        assert batch.judge(post("b")).verdict == "duplicate"


def test_a_syndicated_copy_that_was_stored_takes_the_place_of_a_released_first(dedup: Deduplicator) -> None:
    """Where another copy of the content was stored, later repeats rest on that one, and nothing is unsettled."""
    with dedup.batch() as batch:
        first = batch.judge(post("a", "https://e.example/1"))
        copy = batch.judge(post("a", "https://e.example/2"))
        repeat = batch.judge(post("a", "https://e.example/2"))
        batch.release(first)
        later = batch.judge(post("a", "https://e.example/2"))
        at_first = batch.judge(post("a", "https://e.example/1"))
    assert said(copy, repeat, later, at_first) == ["syndicated", "duplicate", "duplicate", "syndicated"]
    assert batch.unsettled == ()
    assert said(*batch.final) == ["new", "duplicate", "duplicate", "syndicated"]


def test_confirmed_records_are_not_waited_for(dedup: Deduplicator) -> None:
    """A verdict that rests on a record that is stored already waits for nothing."""
    with dedup.batch() as batch:
        first = batch.judge(post("a"))
        assert batch.judge(post("a")).waits_for == 0
        batch.confirm(first)
        assert batch.judge(post("a")).waits_for is None


def test_later_changes_of_the_object_change_nothing(dedup: Deduplicator) -> None:
    """A program that fills one object again and again has as many records."""
    record = post("a")
    with dedup.batch() as batch:
        for text in ("a", "b", "c"):
            record["text"] = text
            assert batch.judge(record).verdict == "new"
    assert len({one.content_key for one in batch.final}) == 3
    with dedup.batch() as batch:
        assert said(*(batch.judge(post(text)) for text in "abc")) == ["duplicate"] * 3


def test_refused_records_get_a_verdict_and_no_number(dedup: Deduplicator) -> None:
    """A float in an identity field is refused with its code; the batch goes on without it."""
    with dedup.batch() as batch:
        refused = batch.judge(post(9.9))
        assert (refused.verdict, refused.action, refused.code) == ("refused", "refuse", "float")
        assert batch.judge(post("a")).seq == 1
        with pytest.raises(UsageError):
            batch.release(refused)


def test_another_writer_in_between_is_reported_late(tmp_path: Path) -> None:
    """Content that another writer committed meanwhile: both stored it, and the end of the block says so."""
    with Deduplicator(RULES, tmp_path / "s.db") as mine, Deduplicator(RULES, tmp_path / "s.db") as theirs:
        with mine.batch() as batch:
            assert batch.judge(post("a")).verdict == "new"
            assert batch.judge(post("b")).verdict == "new"
            theirs.judge(post("a"))
        assert [(one.position, one.verdict) for one in batch.late] == [(0, "duplicate")]
        assert said(*batch.final) == ["duplicate", "new"]


def test_each_content_is_new_once_over_racing_threads(tmp_path: Path) -> None:
    """Writers with a store handle each: the committed verdicts hold each content new exactly once."""
    finals: list[Verdict] = []

    def work(order: list[int]) -> None:
        with Deduplicator(RULES, tmp_path / "s.db") as mine:
            for start in range(0, len(order), 10):
                with mine.batch() as batch:
                    for number in order[start : start + 10]:
                        batch.judge(post(f"text {number}"))
                finals.extend(batch.final)

    numbers = list(range(60))
    Deduplicator(RULES, tmp_path / "s.db").close()
    threads = [
        threading.Thread(target=work, args=(order,)) for order in (numbers, numbers[::-1], numbers[30:] + numbers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [one.content_key for one in finals if one.verdict == "new"]
    assert len(keys) == len(set(keys)) == 60


def test_what_a_program_committed_is_a_run_with_receipts(tmp_path: Path) -> None:
    """Its batches are one run without output files, finished and chained when the Deduplicator is closed."""
    with Deduplicator(RULES, tmp_path / "s.db") as mine:
        for text in ("a", "b"):
            mine.judge(post(text))
        list(mine.judge_many([post("a"), post("c")]))
        (run,) = mine.store.runs()
        assert run.state == "unfinished"
    with Deduplicator(RULES, tmp_path / "s.db") as mine:
        (run,) = mine.store.runs()
        assert (run.state, run.counts["records"], run.chain is None) == ("finished", 4, False)
        assert b"".join(mine.store.receipts(1)).count(b"\n") == 4


def test_batches_are_used_in_their_block_only(dedup: Deduplicator) -> None:
    """Judging outside the block, and verdicts of another batch, are usage errors."""
    batch = dedup.batch()
    with pytest.raises(UsageError):
        batch.judge(post("a"))
    with batch:
        verdict = batch.judge(post("a"))
    with dedup.batch() as other, pytest.raises(UsageError):
        other.release(verdict)
