"""The store in a SQLite file: the default, nothing to install. The tables are in seenbefore.stores.schema."""

from seenbefore.stores.sqlite.store import Durability, SqliteStore

__all__ = ["Durability", "SqliteStore"]
