"""The connection that reads: it sees what was committed, and nothing of a transaction that is open."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.connecting import Connection, connect
from seenbefore.stores.postgres.failures import named

_SEEN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Rows that an iteration asks for at once.
_ROWS = 2000


class Reader:
    """Reads rows. As long as an iteration is not at its end, everything sees what that one saw when it began."""

    def __init__(self, address: Address, connection: Connection) -> None:
        self._address, self._connection, self._location = address, connection, address.shown
        self._iterations, self._cursors, self._held = 0, 0, False
        self._lock = threading.Lock()

    def hold(self) -> None:
        """From here on see what is there now, until `close`."""
        with named(self._location):
            self._connection.execute(_SEEN)
            # What a transaction sees is settled when it first reads.
            self._connection.execute("SELECT max(first_sighting) FROM batch")
        self._held = True

    def all(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows. A connection that was lost while nothing was being read is made anew."""
        with named(self._location):
            try:
                return self._rows(statement, parameters)
            except psycopg.OperationalError:
                if self._held or self._iterations or not self._connection.broken:
                    raise
                self._connection = connect(self._address, writes=False)
                return self._rows(statement, parameters)

    def one(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """The first row, None where there is none."""
        return next(iter(self.all(statement, parameters)), None)

    def _rows(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(statement.encode(), parameters).fetchall()

    def begin(self) -> None:
        """An iteration begins."""
        with self._lock:
            self._iterations += 1
            first = self._iterations == 1 and not self._held
        if first:
            self.all("SELECT 1")
            with named(self._location):
                self._connection.execute(_SEEN)

    def end(self) -> None:
        """An iteration has ended."""
        with self._lock:
            self._iterations -= 1
            last = self._iterations == 0 and not self._held
        if last and not self._connection.closed:
            with named(self._location):
                self._connection.execute("ROLLBACK")

    def each(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[Any]:
        """Rows one after the other, without holding them all."""
        self.begin()
        try:
            self._cursors += 1
            with (
                named(self._location),
                self._connection.cursor(name=f"rows_{self._cursors}", binary=True) as cursor,
            ):
                cursor.itersize = _ROWS
                cursor.execute(statement.encode(), parameters)
                yield from cursor
        finally:
            self.end()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
