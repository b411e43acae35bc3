"""Stores by URL: `memory:`, a path or `sqlite:PATH`."""

from __future__ import annotations

import re
from collections.abc import Callable

from seenbefore.errors import UsageError
from seenbefore.stores.base import SeenStore, Waiting
from seenbefore.stores.memory import MemoryStore, NativeMemoryStore
from seenbefore.stores.rows import Keep
from seenbefore.stores.sqlite import Durability, SqliteStore

__all__ = ["MemoryStore", "NativeMemoryStore", "SeenStore", "SqliteStore", "make_store", "open_store"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)


def open_store(
    url: str,
    *,
    create: bool = True,
    read_only: bool = False,
    keep: Keep | None = None,
    durability: Durability = "normal",
    told: Callable[[Waiting], None] | None = None,
    patience: float = 3600.0,
) -> SeenStore:
    """The store at `url`; for the settings and what is raised see SqliteStore.

    `memory:` is a new, empty store that holds no receipts. Anything else that is no kind of store is taken for a path,
    unless it is a URL with `//`.
    """
    found = _SCHEME.fullmatch(url)
    kind, rest = (found[1].lower(), found[2]) if found else ("", url)
    if kind == "memory" and not rest:
        return NativeMemoryStore(keep=keep or "kept")
    if kind in {"postgresql", "postgres"}:
        # The driver is optional.
        from seenbefore.stores.postgres import address

        where = address.parse(url)
        from seenbefore.stores.postgres.store import PostgresStore

        return PostgresStore(where, create=create, read_only=read_only, keep=keep)
    path = rest if kind == "sqlite" else url
    if not path or path == ":memory:" or (kind != "sqlite" and rest.startswith("//") and kind):
        shown = f"{kind}:" if kind else repr(url)
        raise UsageError(f"{shown} names no store", found=shown, hint="give a path, sqlite:PATH, or memory:")
    return SqliteStore(
        path,
        create=create,
        read_only=read_only,
        keep=keep,
        durability=durability,
        told=told,
        patience=patience,
    )


def make_store(url: str, *, keep: Keep) -> str:
    """Make a new, empty store at `url` → its location, for people.

    Raises UsageError where there is one, and what `open_store` raises.
    """
    try:
        there = open_store(url, create=False, read_only=True)
    except UsageError:
        with open_store(url, keep=keep) as made:
            return made.location
    there.close()
    if isinstance(there, MemoryStore):
        raise UsageError("a store in memory begins with whoever uses it", path=url, hint="name a file")
    where = there.location
    raise UsageError(
        f"{where} is there already", path=where, hint="it can be used as it is, see `seenbefore store info`"
    )
