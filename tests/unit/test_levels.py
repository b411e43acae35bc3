"""The two levels of a table of keys give what one table would, whenever they merge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seenbefore._kernel import Sqlite
from seenbefore.stores.schema import MIGRATIONS
from seenbefore.stores.sqlite import levels
from seenbefore.stores.sqlite.bulk import write
from seenbefore.stores.sqlite.levels import Levels

KEYS = st.integers(0, 40).map(lambda number: bytes([number * 6]) * 32)
BATCH = st.dictionaries(KEYS, st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=12)


@contextmanager
def table(limit: int) -> Iterator[tuple[Levels, Sqlite]]:
    """The contents of an empty store in memory, of whose rows at most `limit` stay in the recent level."""
    with (
        closing(Sqlite(":memory:")) as connection,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(levels, "RECENT_ROWS", limit)
        patch.setattr(levels, "COUNT_EVERY", 0)
        for migration in MIGRATIONS:
            connection.script(migration.sql)
        yield Levels(connection, "content", ("first", "first_seen")), connection


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9), st.lists(st.tuples(st.sampled_from([1, 2, 300]), BATCH), max_size=12))
def test_two_levels_are_one_table(limit: int, batches: list[tuple[int, dict[bytes, int | None]]]) -> None:
    """Claims and the view give the rows written last, each ruleset its own; the recent level keeps to its limit."""
    expected: dict[tuple[int, bytes], tuple[int, int | None]] = {}
    with table(limit) as (contents, connection):
        for number, (ruleset, batch) in enumerate(batches):
            keys = sorted(batch)
            claimed = contents.claim(ruleset, b"".join(keys))
            known = {keys[index]: facts for index, *facts in claimed}
            assert known == {key: [*expected[ruleset, key]] for key in keys if (ruleset, key) in expected}
            assert claimed == sorted(claimed)
            new = [(key, number, batch[key]) for key in keys if key not in known]
            contents.insert(ruleset, new)
            contents.replace(ruleset, [(key, known[key][0], batch[key]) for key in keys if key in known])
            expected |= {(ruleset, key): (number, seen) for key, _, seen in new}
            expected |= {(ruleset, key): (known[key][0], batch[key]) for key in known}
            contents.settle()
            assert connection.execute("SELECT count(*) FROM content_recent")[0][0] <= limit
            rows = connection.execute("SELECT ruleset, key, first, first_seen FROM content")
            assert {row[:2]: row[2:] for row in rows} == expected
            assert len(rows) == len(expected)


def test_rows_are_merged_stretch_by_stretch() -> None:
    """What is over the limit is merged from where the last merge ended, so that its rows are neighbours."""
    with table(10) as (contents, connection):
        contents.insert(1, [(bytes([number]) * 32, number, None) for number in range(14)])
        contents.settle()
        contents.insert(1, [(bytes([number]) * 32, number, None) for number in range(100, 103)])
        contents.settle()
        settled = [first for (first,) in connection.execute("SELECT first FROM content_settled ORDER BY key")]
        assert settled == list(range(7))


@pytest.mark.parametrize("count", [0, 1, 799, 800, 801, 2401])
def test_many_rows_in_few_statements(count: int) -> None:
    """Every row is written once, at whatever number a statement ends."""
    with closing(Sqlite(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a, b, c, d, e, f, g, h, i, j)")
        rows = [tuple(range(number, number + 10)) for number in range(count)]
        write(connection, "INSERT INTO t", rows)
        assert connection.execute("SELECT * FROM t") == rows
        connection.execute("CREATE TABLE owned (owner, a, b)")
        write(connection, "INSERT INTO owned", [row[:2] for row in rows], owner=7)
        assert connection.execute("SELECT * FROM owned") == [(7, *row[:2]) for row in rows]
