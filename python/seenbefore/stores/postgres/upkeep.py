"""Upkeep of a store in PostgreSQL: the server does it."""

from __future__ import annotations

from psycopg import sql

from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.connecting import connect
from seenbefore.stores.postgres.failures import named
from seenbefore.stores.postgres.reader import Reader

_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
)


def size(reader: Reader) -> int:
    """Bytes of all tables with their indexes."""
    return int(reader.one(_SIZE)[0])


def vacuum(address: Address, reader: Reader) -> tuple[int, int]:
    """Write every table anew, without the room that nothing uses → size before and after.

    Each table is locked while it is written. Raises PermissionDenied where the role doesn't own the tables.
    """
    before = size(reader)
    tables = reader.all(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace", (address.schema,)
    )
    with named(address.shown), connect(address, writes=True) as connection:
        for (table,) in sorted(tables):
            connection.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier(table)))
    return before, size(reader)
