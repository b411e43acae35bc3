"""A provisional batch believes what a store would that never saw the released records."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from seenbefore import Deduplicator, Ruleset, Verdict

RULES = Ruleset.from_toml('name = "posts"\nversion = 1\nidentity = ["text"]\n[record]\nurl = "url"\n')

# A record (its text and its place, or none), or a turn back to an earlier one: confirmed, or released.
RECORDS = st.tuples(st.sampled_from("ab"), st.sampled_from(["https://e.example/1", "https://e.example/2", None]))
STEPS = st.lists(RECORDS | st.tuples(st.sampled_from(["confirm", "release"]), st.integers(0, 20)), max_size=24)


@dataclass
class Row:
    """A record as the model remembers it."""

    text: str
    url: str | None
    keep: bool
    released: bool = False


def believed(rows: list[Row], text: str, url: str | None) -> str:
    """The verdict on a record by the table, after the rows that are left, read from the first one on."""
    contents: set[str] = set()
    places: dict[str, str] = {}
    for row in rows:
        # A repeat of what was released is nowhere: nobody stored it.
        if row.released or (row.text not in contents and not row.keep):
            continue
        contents.add(row.text)
        if row.url is not None:
            places[row.url] = row.text
    if url is not None and places.get(url, text) != text:
        return "changed"
    if text not in contents:
        return "new"
    return "syndicated" if url is not None and url not in places else "duplicate"


@given(STEPS)
def test_each_verdict_is_that_after_the_records_that_are_left(steps: list[tuple[str, str | int | None]]) -> None:
    """Whatever was released in between, the next verdict is the table's over the rest."""
    rows: list[Row] = []
    verdicts: list[Verdict] = []
    with Deduplicator(RULES, "memory:") as deduplicator, deduplicator.batch() as batch:
        for name, what in steps:
            if isinstance(what, int):
                if what < len(verdicts):
                    getattr(batch, name)(verdicts[what])
                    rows[what].released |= name == "release"
                continue
            verdict = batch.judge({"text": name, "url": what})
            assert verdict.verdict == believed(rows, name, what)
            verdicts.append(verdict)
            rows.append(Row(name, what, verdict.action == "keep"))
    settled = [row for row in rows if not row.released]
    assert len(batch.final) + len(batch.unsettled) == len(settled)
    assert {verdict.action for verdict in batch.unsettled} <= {"skip"}
    # What is committed stands by itself: judged once more it gives the same verdicts.
    committed = [rows[verdict.position] for verdict in batch.final]
    with Deduplicator(RULES, "memory:") as deduplicator:
        again = list(deduplicator.judge_many([{"text": row.text, "url": row.url} for row in committed]))
    assert [one.verdict for one in again] == [one.verdict for one in batch.final]


def test_a_verdict_is_a_value() -> None:
    """Verdicts can be compared, hashed, pickled, and written out so that they can be read in again."""
    with Deduplicator(RULES, "memory:") as deduplicator, deduplicator.batch() as batch:
        given = [batch.judge({"text": text, "url": "https://e.example/1"}) for text in ("a", "b", "a", "a")]
        given.append(batch.judge(b"{"))
    assert len(set(given)) == len(given)
    for verdict in given:
        copied = pickle.loads(pickle.dumps(verdict))
        assert copied == verdict
        assert hash(copied) == hash(verdict)
        assert repr(copied) == repr(verdict)
    assert given[2].previous is not None
    assert pickle.loads(pickle.dumps(given[2].previous)) == given[2].previous
