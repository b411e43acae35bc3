"""What is wrong by itself with a store in PostgreSQL: rows that name others which are not there, ids with gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from seenbefore.stores.rows import Fault

Each: TypeAlias = Callable[..., Iterator[Any]]

_BATCHES = """
SELECT id, first_sighting, expected FROM (
    SELECT id, first_sighting,
        coalesce(lag(first_sighting + records) OVER (ORDER BY first_sighting), 1) AS expected
    FROM batch
) AS each WHERE first_sighting <> expected ORDER BY first_sighting
"""
_COUNTED = """
SELECT b.id, b.records, count(s.id) FROM batch AS b
LEFT JOIN sighting AS s ON s.id >= b.id << 24 AND s.id < (b.id + 1) << 24
GROUP BY b.id, b.records HAVING b.records <> count(s.id) ORDER BY b.id
"""
_STRAYS = {
    "sighting": "SELECT id, id >> 24 FROM sighting AS t WHERE NOT EXISTS (SELECT FROM batch WHERE id = t.id >> 24)",
    "content": "SELECT first, first >> 24 FROM content AS t"
    " WHERE NOT EXISTS (SELECT FROM sighting AS s WHERE s.id = t.first AND s.content = s.id)",
    "place": "SELECT first, first >> 24 FROM place AS t"
    " WHERE NOT EXISTS (SELECT FROM sighting AS s WHERE s.id = t.first AND s.place = s.id)",
}


def found(each: Each, *, quick: bool) -> Iterator[Fault]:
    """The faults, row by row."""
    for number, first, expected in each(_BATCHES):
        yield Fault("batch", str(number), "begins with another id than follows", str(expected), str(first))
    for last, following in each(
        "SELECT (SELECT coalesce(max(first_sighting + records), 1) FROM batch), next FROM counter"
        " WHERE name = 'sighting'"
    ):
        if last != following:
            yield Fault("counter", "sighting", "gives another id than follows", str(last), str(following))
    missing = "SELECT id, source FROM sighting WHERE NOT EXISTS (SELECT FROM source WHERE id = sighting.source)"
    for number, records, count in each(_COUNTED):
        yield Fault("batch", str(number), "has another number of sightings than it says", str(records), str(count))
    if quick:
        return
    for one, source in each(missing):
        yield Fault("sighting", str(one), "has a source that is not there", f"source {source}", "none")
    for table, statement in _STRAYS.items():
        for one, number in each(statement):
            what = (
                "is of a batch that is not there" if table == "sighting" else "is of a sighting that was not its first"
            )
            yield Fault(table, str(one), what, f"batch {number}", "none")
