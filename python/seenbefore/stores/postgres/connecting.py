"""Connections of a store in PostgreSQL."""

from __future__ import annotations

from typing import Any

import psycopg

from seenbefore.stores.postgres.address import Address

Connection = psycopg.Connection[Any]


def connect(address: Address, *, writes: bool) -> Connection:
    """A connection whose names are those of the store's schema. Raises psycopg.Error."""
    parameters = {"application_name": "seenbefore", **address.parameters}
    connection: Connection = psycopg.Connection.connect(**parameters, client_encoding="utf8", autocommit=True)
    try:
        # A transaction waits for another program as long as that takes, and nobody else's settings may end it.
        settings = {
            "search_path": address.schema,
            "idle_in_transaction_session_timeout": "0",
            "statement_timeout": "0",
            "default_transaction_isolation": "read committed",
            "bytea_output": "hex",
        }
        if writes:
            # Keys come sorted, so looking them up one by one is cheaper than the server thinks; where it takes the cost
            # of a random page for four times that of the next one, it reads the whole of `content` for one batch.
            settings |= {"random_page_cost": "1.1", "enable_mergejoin": "off", "jit": "off"}
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except BaseException:
        connection.close()
        raise
    return connection
