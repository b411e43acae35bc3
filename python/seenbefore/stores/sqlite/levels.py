"""Contents and places in two levels: see seenbefore.stores.schema for why, and for the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seenbefore._kernel import Sqlite
from seenbefore.stores.laws import WIDTH
from seenbefore.stores.sqlite.bulk import write

# Rows that the recent level may hold. Merging costs a page per row that is alone on it, so a higher limit makes merging
# cheaper and each insert dearer; between 4 and 100 million rows the sum is least at about a million.
RECENT_ROWS = 1_000_000
# Rows written since the last count before they are counted again.
COUNT_EVERY = 50_000


class Levels:
    """One table of keys, with `facts` as its columns beside the key. Writing needs the connection's write lock."""

    def __init__(self, connection: Sqlite, table: str, facts: tuple[str, ...]) -> None:
        self._connection, self._table = connection, table
        self.limit = RECENT_ROWS
        self._uncounted = COUNT_EVERY
        either = ", ".join(f"iif(r.key IS NULL, s.{fact}, r.{fact})" for fact in facts)
        # One statement for all keys, cut from one value: three times as fast as a SELECT a key, or a temporary table.
        self._claim = f"""
            WITH RECURSIVE wanted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM wanted WHERE n + 1 < :count)
            SELECT n, {either} FROM wanted
            LEFT JOIN {table}_recent AS r ON r.ruleset = :ruleset AND r.key = substr(:keys, n * {WIDTH} + 1, {WIDTH})
            LEFT JOIN {table}_settled AS s
                ON r.key IS NULL AND s.ruleset = :ruleset AND s.key = substr(:keys, n * {WIDTH} + 1, {WIDTH})
            WHERE r.key IS NOT NULL OR s.key IS NOT NULL
        """
        self._columns = f"{table}_recent (ruleset, key, {', '.join(facts)})"

    def claim(self, ruleset: int, keys: bytes) -> list[Any]:
        """The keys that are there, as (index, facts…) sorted by index."""
        count = len(keys) // WIDTH
        if not count:
            return []
        rows: list[Any] = self._connection.execute(self._claim, {"ruleset": ruleset, "keys": keys, "count": count})
        rows.sort()
        return rows

    def insert(self, ruleset: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows (key, facts…) of keys that neither level has."""
        self._write("INSERT", ruleset, rows)

    def replace(self, ruleset: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows (key, facts…) that count from now on, whether or not their keys are there."""
        self._write("INSERT OR REPLACE", ruleset, rows)

    def _write(self, how: str, ruleset: int, rows: Sequence[tuple[Any, ...]]) -> None:
        write(self._connection, f"{how} INTO {self._columns}", rows, owner=ruleset)
        self._uncounted += len(rows)

    def settle(self) -> None:
        """Merge what the recent level holds over its limit: the next stretch of the key space, in order."""
        if self._uncounted < COUNT_EVERY:
            return
        self._uncounted = 0
        while (over := self._one(f"SELECT count(*) FROM {self._table}_recent")[0] - self.limit) > 0:
            self._merge(over)

    def _merge(self, count: int) -> None:
        """Merge the next `count` rows, or those up to the end of the key space."""
        start = self._start()
        # SQLite orders rows of values as it orders the primary key, so this is a walk along it.
        behind = "WHERE (ruleset, key) > (?, ?)"
        end = self._one(
            f"SELECT ruleset, key FROM {self._table}_recent {behind} ORDER BY ruleset, key LIMIT 1 OFFSET ?",
            (*start, count - 1),
        )
        stretch = f"{behind} AND (ruleset, key) <= (?, ?)" if end else behind
        bounds = (*start, *(end or ()))
        merge = f"INSERT OR REPLACE INTO {self._table}_settled SELECT * FROM {self._table}_recent {stretch}"
        self._connection.execute(merge, bounds)
        self._connection.execute(f"DELETE FROM {self._table}_recent {stretch}", bounds)
        # At the end of the key space it begins again from the front.
        ruleset, key = end or (0, b"")
        mark = (self._mark, f"{ruleset}:{key.hex()}")
        self._connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", mark)

    @property
    def _mark(self) -> str:
        return f"{self._table}_settled_to"

    def _start(self) -> tuple[int, bytes]:
        found = self._one("SELECT value FROM meta WHERE name = ?", (self._mark,))
        if not found:
            return 0, b""
        ruleset, _, key = found[0].partition(":")
        return int(ruleset), bytes.fromhex(key)

    def _one(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        return next(iter(self._connection.execute(sql, parameters)), None)
