"""Keys in segments give what one table would, however they are cut, merged and looked up; the views show all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seenbefore._kernel import Sqlite, SqliteError
from seenbefore.stores.schema import MIGRATIONS

TIMES = st.none() | st.integers(-(2**63), 2**63 - 1)
# Key → the time of fetching of its sighting. Keys that share their first bytes meet in one bucket.
KEYS = st.integers(0, 40).map(lambda number: bytes([number // 7 * 40]) * 8 + bytes([number]) * 24)
BATCH = st.dictionaries(KEYS, TIMES, max_size=12)
MEMORY = 1 << 20


@contextmanager
def tables(small: int, fan: int, filters: int = MEMORY) -> Iterator[Sqlite]:
    """An empty store in memory, its ruleset rows 1 to 3, under the write lock."""
    with closing(Sqlite(":memory:")) as connection:
        for migration in MIGRATIONS:
            connection.script(migration.sql)
        connection.set_layout(small, fan, filters)
        for number in (1, 2, 3):
            values = ("n", number, "f", "c", "17.0.0", "active")
            connection.execute("INSERT INTO ruleset VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *values))
        connection.execute("INSERT INTO run VALUES (1, 1, '', '', 'unfinished', '', NULL, '', '', '', NULL, NULL)")
        connection.execute("INSERT INTO source VALUES (1, 'shop')")
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def write(
    connection: Sqlite, owner: int, first: int, batch: Mapping[bytes, int | None]
) -> dict[bytes, tuple[int, ...]]:
    """One sighting a key, of a content and a place with that key → what the claim found: key → content, place."""
    keys = sorted(batch)
    contents, places = connection.claim(owner, b"".join(keys), b"".join(keys))
    assert (contents, places) == (sorted(contents), sorted(places))
    known = {keys[at]: (number, seen) for at, number, seen in contents}
    now = {keys[at]: tuple(facts) for at, *facts in places}
    assert known.keys() == now.keys()
    new, moved, shown, sightings = [], [], [], []
    for number, (key, time) in enumerate(batch.items(), first):
        content, seen = known.get(key, (number, None))
        if key not in known:
            new.append((key, number, time))
        elif time is not None and (seen is None or time < seen):
            moved.append((content, time))
        place = now.get(key, (number,))[0]
        shown.append((key, place, number, content))
        sightings.append((number, 1, number, 1, content, place, time, 0, None, None))
    blocks = [(first, len(batch), b"{}\n" * len(batch), b"", b"")] if batch else []
    count = connection.record_rows(owner, 1, first, sorted(new), moved, sorted(shown), sightings, blocks, False)
    assert count == len(batch)
    return {key: (*known[key], *now[key]) for key in known}


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 30),
    st.integers(2, 4),
    st.lists(st.tuples(st.sampled_from([1, 2, 3]), BATCH), max_size=14),
)
def test_segments_are_one_table(small: int, fan: int, batches: list[tuple[int, dict[bytes, int | None]]]) -> None:
    """Claims and views give each ruleset its keys, first sightings, earliest times and latest sightings."""
    contents: dict[tuple[int, bytes], tuple[int, int | None]] = {}
    places: dict[tuple[int, bytes], tuple[int, int, int]] = {}
    first = 1
    with tables(small, fan) as connection:
        for owner, batch in batches:
            found = write(connection, owner, first, batch)
            assert found == {
                key: (*contents[owner, key], *places[owner, key]) for key in batch if (owner, key) in contents
            }
            for number, (key, time) in enumerate(batch.items(), first):
                content, seen = contents.get((owner, key), (number, time))
                times = [one for one in (seen, time) if one is not None]
                contents[owner, key] = (content, min(times, default=None))
                places[owner, key] = (places.get((owner, key), (number,))[0], number, content)
            first += len(batch)
        assert {row[:2]: row[2:] for row in connection.execute("SELECT * FROM content")} == contents
        assert {row[:2]: row[2:] for row in connection.execute("SELECT * FROM place")} == places
        kept = dict(connection.execute("SELECT kind || ruleset, sum(keys) FROM segment GROUP BY kind, ruleset"))
        for owner in (1, 2, 3):
            count = sum(one == owner for one, _ in contents)
            assert kept.get(f"content{owner}", 0) == kept.get(f"place{owner}", 0) == count


@pytest.mark.parametrize("filters", [0, 3000, MEMORY])
def test_many_keys(filters: int) -> None:
    """Keys in many buckets are found again, all and some, with filters in memory, with some of them and with none."""
    keys = [hashlib.sha256(str(number).encode()).digest() for number in range(30_000)]
    with tables(1000, 4, filters) as connection:
        for start in range(0, 24_000, 1500):
            assert write(connection, 1, start + 1, dict.fromkeys(keys[start : start + 1500])) == {}
        segments = connection.execute("SELECT keys, buckets, length(filter) FROM segment WHERE kind = 'content'")
        assert sum(count for count, *_ in segments) == 24_000
        assert len(segments) < 8
        for count, buckets, size in segments:
            assert buckets == -(-count // 160)
            assert size == -(-count * 12 // 512) * 64
        assert connection.execute("SELECT count(*) FROM bucket") == [(2 * sum(buckets for _, buckets, _ in segments),)]
        asked = sorted(keys[12_000:])
        contents, _ = connection.claim(1, b"".join(asked), b"")
        assert {asked[at]: number for at, number, _ in contents} == {
            key: number for number, key in enumerate(keys[:24_000], 1) if number > 12_000
        }
        for number in (0, 23_999):
            assert connection.claim(1, keys[number], keys[number])[0] == [(0, number + 1, None)]
        assert connection.claim(1, keys[24_000], keys[24_000]) == ([], [])
        assert connection.claim(2, keys[0], keys[0]) == ([], [])


def test_what_was_rolled_back_is_forgotten() -> None:
    """A segment of a transaction that came to nothing is not remembered when its id is given again."""
    keys = [hashlib.sha256(str(number).encode()).digest() for number in range(400)]
    with tables(1000, 4) as connection:
        write(connection, 1, 1, dict.fromkeys(keys[:200]))
        assert len(connection.claim(1, b"".join(sorted(keys)), b"")[0]) == 200
        connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
        assert connection.claim(1, b"".join(sorted(keys)), b"") == ([], [])
        write(connection, 1, 1, dict.fromkeys(keys[200:]))
        assert len(connection.claim(1, b"".join(sorted(keys)), b"")[0]) == 200
        assert len(write(connection, 1, 201, dict.fromkeys(keys))) == 200


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE bucket SET entries = substr(entries, 2)", "cut off"),
        ("UPDATE bucket SET entries = CAST(substr(entries, 1, 40) || 'none' AS BLOB)", "no number"),
        ("DELETE FROM bucket", "lacks a bucket"),
        ("UPDATE segment SET filter = x'00'", "has not its length"),
        ("DELETE FROM sighting", "has no sighting 1"),
    ],
)
def test_damage_is_told(damage: str, said: str) -> None:
    """A segment that is not whole is an error of SQLite's kind for damage, never a key that was not seen."""
    keys = sorted(hashlib.sha256(str(number).encode()).digest() for number in range(100))
    with tables(1000, 4) as connection:
        write(connection, 1, 1, dict.fromkeys(keys[:1]))
        connection.execute(damage)
        with pytest.raises(SqliteError, match=said) as caught:
            connection.claim(1, b"".join(keys), b"")
        assert caught.value.args[1] == 11
