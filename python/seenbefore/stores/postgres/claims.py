"""Claims of one batch: contents, then places, each in the order of their keys, so that no two writers wait in a ring.

Every transaction takes its locks in this order: the row `run` of `counter`; contents that it inserts, by key; contents
whose first_seen it moves back, by key; places that it inserts, by key; places that are there, by key; sources, by
digest; last the row `sighting` of `counter`, which it holds for the moment of its commit. An insert of a key that
another transaction has inserted waits for the end of that one, and finds the key there if it was committed.

first_seen of contents that are there is read without a lock, as most writers read it and few move it. Each commit that
moved some counts in `counter.moves`; a writer that finds it counted since it began looks again, and gives way if what
it read has changed. Where that happens to it twice, it locks what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import sql

from seenbefore.errors import StoreUnreachable
from seenbefore.stores.laws import WIDTH
from seenbefore.stores.postgres.connecting import Connection
from seenbefore.stores.postgres.rows import name_digest, stored
from seenbefore.stores.postgres.schema import SHIFT
from seenbefore.stores.rows import Digest, KnownContent, KnownPlace

# Of this connection alone, empty at the end of each transaction.
TEMPORARY = """
CREATE TEMPORARY TABLE IF NOT EXISTS claim_content (idx bigint, key bytea, first bigint, first_seen bigint)
    ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS claim_place (idx bigint, key bytea, first bigint, latest bigint, content bigint)
    ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS claim_now (idx bigint, key bytea, first bigint, latest bigint, content bigint)
    ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS claim_moved (key bytea, before bigint, first_seen bigint) ON COMMIT DELETE ROWS;
"""
_TABLES = {
    "claim_content": ("int8", "bytea", "int8", "int8"),
    "claim_place": ("int8", "bytea", "int8", "int8", "int8"),
    "claim_now": ("int8", "bytea", "int8", "int8", "int8"),
    "claim_moved": ("bytea", "int8", "int8"),
    "sighting": ("int8", "int8", "int8", "int8", "int8", "int8", "int8", "int2", "text", "bytea"),
    "block": ("int8", "int8", "int8", "int8", "bytea", "bytea"),
}


def source_ids(connection: Connection, names: Sequence[str]) -> list[int]:
    """The ids of sources; new names get one, in the order of their digests."""
    digests = {name: name_digest(name) for name in names}
    asked = ("SELECT digest, id FROM source WHERE digest = ANY(%s)", (list(digests.values()),))
    found: dict[Digest, int] = dict(connection.execute(*asked).fetchall())
    missing = sorted((digest, stored(name)) for name, digest in digests.items() if digest not in found)
    if missing:
        for row in missing:
            connection.execute("INSERT INTO source (digest, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", row)
        found = dict(connection.execute(*asked).fetchall())
    return [found[digests[name]] for name in names]


class Claims:
    """The claims of a batch under a ruleset. `base` is the inner id of its first record."""

    def __init__(self, connection: Connection, location: str, ruleset: int) -> None:
        self._connection, self._location, self._ruleset = connection, location, ruleset
        row = self._row("SELECT nextval('batch_number'), moves FROM counter WHERE name = 'sighting'")
        self.number, self._moves = int(row[0]), int(row[1])
        self.base = self.number << SHIFT
        self._seen: dict[int, int | None] = {}

    def contents(self, count: int, rows: bytes | Iterable[Sequence[Any]]) -> bool:
        """Insert the contents that are not there → whether some were."""
        self._fill("claim_content", rows)
        inserted = self._connection.execute(
            "INSERT INTO content (ruleset, key, first, first_seen)"
            " SELECT %s, key, first, first_seen FROM claim_content ORDER BY idx ON CONFLICT DO NOTHING",
            (self._ruleset,),
        )
        return inserted.rowcount < count

    def known_contents(self, *, lock: bool = False) -> list[KnownContent]:
        """The contents that were there, with inner ids.

        Those that the batch moves are nobody else's to move before the end of the transaction; with `lock` all of them.
        """
        rows = self._seen_now()
        self._seen = {index: seen for index, _, seen, _ in rows}
        mine = [index for index, _, _, moves in rows if lock or moves]
        if mine:
            self._seen |= dict(
                self._rows(
                    "SELECT t.idx, c.first_seen FROM claim_content AS t"
                    " JOIN content AS c ON c.ruleset = %s AND c.key = t.key WHERE t.idx = ANY(%s::bigint[])"
                    " ORDER BY t.idx FOR NO KEY UPDATE OF c",
                    (self._ruleset, mine),
                )
            )
        return [(index, first, self._seen[index]) for index, first, _, _ in rows]

    def _seen_now(self) -> list[tuple[int, int, int | None, bool]]:
        """Of each content that was there: index, inner id, first_seen, and whether the batch moves that back."""
        return self._rows(
            "SELECT t.idx, c.first, c.first_seen, t.first_seen IS NOT NULL AND"
            " (c.first_seen IS NULL OR t.first_seen < c.first_seen) FROM claim_content AS t"
            " JOIN content AS c ON c.ruleset = %s AND c.key = t.key WHERE c.first >> 24 <> %s ORDER BY t.idx",
            (self._ruleset, self.number),
        )

    def places(self, count: int, rows: bytes | Iterable[Sequence[Any]]) -> bool:
        """Insert the places that are not there → whether some were."""
        self._fill("claim_place", rows)
        inserted = self._connection.execute(
            "INSERT INTO place (ruleset, key, first, latest, latest_content)"
            " SELECT %s, key, first, latest, content FROM claim_place ORDER BY idx ON CONFLICT DO NOTHING",
            (self._ruleset,),
        )
        return inserted.rowcount < count

    def known_places(self) -> list[KnownPlace]:
        """The places that were there, with inner ids; nobody else changes them before the end of the transaction."""
        return self._rows(
            "SELECT t.idx, p.first, p.latest, p.latest_content FROM claim_place AS t"
            " JOIN place AS p ON p.ruleset = %s AND p.key = t.key WHERE p.first >> 24 <> %s"
            " ORDER BY t.idx FOR NO KEY UPDATE OF p",
            (self._ruleset, self.number),
        )

    def move_places(self, rows: bytes | Iterable[Sequence[Any]]) -> None:
        """Write the latest sighting of places that were there."""
        self._fill("claim_now", rows)
        self._connection.execute(
            "UPDATE place AS p SET latest = t.latest, latest_content = t.content FROM claim_now AS t"
            " WHERE p.ruleset = %s AND p.key = t.key",
            (self._ruleset,),
        )

    def release(self) -> None:
        """Let go of what was inserted."""
        for table in ("content", "place"):
            self._connection.execute(
                f"DELETE FROM {table} AS own USING claim_{table} AS t"
                " WHERE own.ruleset = %s AND own.key = t.key AND own.first >> 24 = %s".encode(),
                (self._ruleset, self.number),
            )

    def settle_contents(self, rows: Iterable[Sequence[Any]], unknown: int) -> None:
        """Write (key, inner id, first_seen) of contents that were claimed as `unknown`; what is left of those goes."""
        self._fill("claim_moved", rows)
        given = (self._ruleset, self.base | unknown)
        self._connection.execute(
            "UPDATE content AS c SET first = t.before, first_seen = t.first_seen FROM claim_moved AS t"
            " WHERE c.ruleset = %s AND c.key = t.key AND c.first = %s",
            given,
        )
        self._connection.execute(
            "DELETE FROM content AS c USING claim_content AS t WHERE c.ruleset = %s AND c.key = t.key AND c.first = %s",
            given,
        )

    def settle_places(self, rows: Iterable[Sequence[Any]], unknown: int) -> None:
        """Write places as they are now, those claimed as `unknown` too; what is left of these goes."""
        self._fill("claim_now", rows)
        self._connection.execute(
            "UPDATE place AS p SET first = t.first, latest = t.latest, latest_content = t.content"
            " FROM claim_now AS t WHERE p.ruleset = %s AND p.key = t.key",
            (self._ruleset,),
        )
        self._connection.execute(
            "DELETE FROM place AS p USING claim_place AS t WHERE p.ruleset = %s AND p.key = t.key AND p.first = %s",
            (self._ruleset, self.base | unknown),
        )

    def move_contents(self, moved: Sequence[tuple[Digest, int]], content_keys: bytes) -> None:
        """Move first_seen of contents back. Raises StoreUnreachable where another writer moved one meanwhile."""
        if not moved:
            return
        keys = {content_keys[index * WIDTH : index * WIDTH + WIDTH]: index for index in self._seen}
        rows = [(key, self._seen[keys[key]], seen) for key, seen in moved]
        self._fill("claim_moved", rows)
        done = self._connection.execute(
            "UPDATE content AS c SET first_seen = t.first_seen FROM claim_moved AS t"
            " WHERE c.ruleset = %s AND c.key = t.key AND c.first_seen IS NOT DISTINCT FROM t.before",
            (self._ruleset,),
        )
        if done.rowcount != len(rows):
            raise self._gave_way()
        self._seen |= {keys[key]: seen for key, seen in moved}

    def sightings(self, rows: bytes | Iterable[Sequence[Any]]) -> None:
        """Append sightings, with inner ids."""
        self._fill("sighting", rows)

    def blocks(self, rows: bytes | Iterable[Sequence[Any]]) -> None:
        """Append blocks."""
        self._fill("block", rows)

    def number_batch(self, run: int, records: int, *, moved: bool) -> int:
        """Take the ids of the batch, which from here on nobody else does before the commit → that of its first record.

        Raises StoreUnreachable where another writer moved a first_seen that was read.
        """
        moves = int(moved)
        first, counted = self._row(
            "WITH taken AS (UPDATE counter SET next = next + %s, moves = moves + %s WHERE name = 'sighting'"
            " RETURNING next - %s AS first, moves), numbered AS (INSERT INTO batch (id, run, first_sighting, records)"
            " SELECT %s, %s, first, %s FROM taken) SELECT first, moves FROM taken",
            (records, moves, records, self.number, run, records),
        )
        others_moved = counted - moves != self._moves and bool(self._seen)
        if others_moved and {index: seen for index, _, seen, _ in self._seen_now()} != self._seen:
            raise self._gave_way()
        return int(first)

    def _gave_way(self) -> StoreUnreachable:
        return StoreUnreachable(
            f"{self._location}: another writer moved the time that a content was first seen, again and again",
            path=self._location,
            hint="run the same command again: it goes on",
        )

    def _fill(self, table: str, rows: bytes | Iterable[Sequence[Any]]) -> None:
        if table.startswith("claim_"):
            self._connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
        statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table))
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            if isinstance(rows, bytes):
                copy.write(rows)
                return
            copy.set_types(_TABLES[table])
            for row in rows:
                copy.write_row(row)

    def _rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(statement.encode(), parameters).fetchall()

    def _row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        return self._rows(statement, parameters)[0]
