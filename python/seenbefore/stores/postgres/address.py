"""Where a store in PostgreSQL is: a URL as libpq reads it, and the schema in that database.

libpq's own parameters and environment say all else: TLS, password file, service, timeouts
(https://www.postgresql.org/docs/current/libpq-connect.html, 34.1.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from seenbefore.errors import StoreUnsupported, UsageError

SCHEMA = "seenbefore"
# A name that needs no quotes in SQL, so that the tables can be named by hand as they are in the docs.
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# What nobody may read in a message, a log or a receipt: libpq's parameters that are secrets.
_SECRETS = {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
# libpq would wait for ever for a host that doesn't answer.
_CONNECT_TIMEOUT = 15


@dataclass(frozen=True, slots=True)
class Address:
    """A database and a schema in it. `shown` is its URL without secrets; `parameters` are libpq's, with them."""

    shown: str
    schema: str
    parameters: dict[str, Any]

    def __repr__(self) -> str:
        """Without the parameters, which hold the password."""
        return f"Address({self.shown!r})"


def parse(url: str) -> Address:
    """`postgresql://[user@][host][:port][/database][?parameter=value…]`, where `schema` is a parameter of ours.

    Raises UsageError, and StoreUnsupported where the driver is not installed.
    """
    driver()
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        schema = dict(query).get("schema", SCHEMA)
        rest = [(name, value) for name, value in query if name != "schema"]
        parameters: dict[str, Any] = dict(conninfo_to_dict(urlunsplit(parts._replace(query=_query(rest)))))
    except (ValueError, ProgrammingError):
        # What libpq says quotes parts of the URL, where the password may be.
        raise UsageError(
            "this URL of a PostgreSQL database can't be read",
            expected="postgresql://USER@HOST:PORT/DATABASE?schema=NAME",
            hint="characters with a meaning in URLs are written as % and two digits",
        ) from None
    if _NAME.fullmatch(schema) is None or schema.startswith("pg_"):
        raise UsageError(
            f"{schema!r} is no name for the schema of a store",
            expected="small letters, digits and _, beginning with a letter, 63 at most",
            found=schema,
        )
    parameters.setdefault("connect_timeout", _CONNECT_TIMEOUT)
    return Address(_shown(parts.netloc, parts.path, rest, schema), schema, parameters)


def _query(pairs: list[tuple[str, str]]) -> str:
    """Parameters as libpq reads them, which takes a + for a plus."""
    return urlencode(pairs, quote_via=quote)


def _shown(netloc: str, path: str, pairs: list[tuple[str, str]], schema: str) -> str:
    user, at, host = netloc.rpartition("@")
    open_pairs = [(name, value) for name, value in pairs if name not in _SECRETS]
    if schema != SCHEMA:
        open_pairs.append(("schema", schema))
    return urlunsplit(("postgresql", user.partition(":")[0] + at + host, path, _query(open_pairs), ""))


def driver() -> None:
    """Pass where psycopg is there. Raises StoreUnsupported with what to do."""
    try:
        import psycopg  # noqa: F401 - looked for only
    except ImportError as error:
        raise StoreUnsupported(
            f"a store in PostgreSQL needs psycopg: {error}",
            path="postgresql:",
            hint="pip install 'seenbefore[postgres]'",
        ) from error
