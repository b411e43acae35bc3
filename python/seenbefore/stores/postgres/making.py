"""Making the tables of a store, and bringing older ones up to date: under a lock, whole or not at all."""

from __future__ import annotations

from psycopg import sql

from seenbefore.errors import StoreForeign, StoreNewer, StoreUnsupported, UsageError
from seenbefore.stores.postgres.address import Address
from seenbefore.stores.postgres.connecting import Connection
from seenbefore.stores.postgres.schema import MIGRATIONS
from seenbefore.stores.rows import Keep

# "seenbefo" in ASCII: whoever makes or changes tables holds this lock, whatever the schema is called.
_LOCK = int.from_bytes(b"seenbefo")
_APPLICATION = "seenbefore store"


def applied(connection: Connection, address: Address) -> int | None:
    """How many migrations the schema has; None where there is no store. Raises StoreForeign, StoreNewer."""
    # Asked by the schema's name: the search path may be that of a moment when the schema wasn't there.
    tables = _tables(connection, address)
    if not {"migration", "meta"} <= tables:
        return None
    row = connection.execute("SELECT value FROM meta WHERE name = 'application'").fetchone()
    if row is None or row[0] != _APPLICATION:
        raise _foreign(address)
    names = [name for (name,) in connection.execute("SELECT name FROM migration ORDER BY number")]
    known = [migration.name for migration in MIGRATIONS]
    if names[: len(known)] != known[: len(names)]:
        raise _foreign(address)
    if len(names) > len(known):
        raise StoreNewer(
            f"{address.shown} was written by a newer version",
            path=address.shown,
            expected=known[-1],
            found=names[-1],
        )
    return len(names)


def _tables(connection: Connection, address: Address) -> set[str]:
    """The names of all tables, views and sequences in the schema."""
    inside = "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE n.nspname = %s"
    return {name for (name,) in connection.execute(inside, (address.schema,))}


def _foreign(address: Address) -> StoreForeign:
    return StoreForeign(
        f"the schema {address.schema} of {address.shown} holds tables that are not seenbefore's",
        path=address.shown,
        hint="name another schema with ?schema=NAME",
    )


def prepare(connection: Connection, address: Address, keep: Keep | None, *, create: bool, read_only: bool) -> None:
    """Make the tables where there are none and `create` says so, and bring older ones up to date.

    Raises UsageError, StoreForeign, StoreNewer, StoreUnsupported, psycopg.Error.
    """
    version = applied(connection, address)
    if version == len(MIGRATIONS):
        return
    if version is None and (read_only or not create):
        raise UsageError(
            f"there is no store at {address.shown}",
            path=address.shown,
            hint=f"check the name; its schema would be {address.schema}",
        )
    if read_only:
        raise StoreUnsupported(
            f"{address.shown} has an older schema, and reading alone may not change it",
            path=address.shown,
            expected=f"schema {len(MIGRATIONS)}",
            hint="let its owner open it once for writing, for instance with `seenbefore dedup`",
        )
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        # Another process may have been first.
        version = applied(connection, address)
        if version is None:
            if _tables(connection, address):
                raise _foreign(address)
            _refuse_encoding(connection, address)
            _make_schema(connection, address.schema)
        for number, migration in list(enumerate(MIGRATIONS, 1))[version or 0 :]:
            connection.execute(migration.sql.encode())
            connection.execute("INSERT INTO migration (number, name) VALUES (%s, %s)", (number, migration.name))
        if version is None:
            settings = [("application", _APPLICATION), ("keep", keep or "kept")]
            for setting in settings:
                connection.execute("INSERT INTO meta (name, value) VALUES (%s, %s)", setting)


def _make_schema(connection: Connection, name: str) -> None:
    """Make the schema where an administrator has not; that needs the right to."""
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)).fetchone()
    if found is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))


def _refuse_encoding(connection: Connection, address: Address) -> None:
    row = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    if row is not None and row[0] != "UTF8":
        raise StoreUnsupported(
            f"the database of {address.shown} has the encoding {row[0]}, which can't hold every text",
            path=address.shown,
            expected="UTF8",
            found=str(row[0]),
            hint="make a database WITH ENCODING 'UTF8' TEMPLATE template0",
        )
