"""The stores that every law is tested on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from tests.servers import postgres_server

from seenbefore.stores import MemoryStore, NativeMemoryStore, SeenStore, SqliteStore, open_store


class Opener(Protocol):
    """Opens one and the same store again and again."""

    def open(self) -> SeenStore:
        """The store, made at the first call."""

    def close(self) -> None:
        """Close all handles."""


class Memory:
    """A store in memory has one handle: opening it again gives the same."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def open(self) -> SeenStore:
        return self._store

    def close(self) -> None:
        self._store.close()


class Sqlite:
    """A file in a fresh folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handles: list[SqliteStore] = []

    def open(self) -> SeenStore:
        self._handles.append(SqliteStore(self.path))
        return self._handles[-1]

    def close(self) -> None:
        for handle in self._handles:
            handle.close()


class Postgres:
    """A schema in the session's server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._handles: list[SeenStore] = []

    def open(self) -> SeenStore:
        self._handles.append(open_store(self.url))
        return self._handles[-1]

    def close(self) -> None:
        for handle in self._handles:
            handle.close()


@pytest.fixture(params=["memory", "memory-native", "sqlite", "sqlite-merging", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """One store, fresh; `sqlite-merging` has so small classes of segments that nearly every batch merges some."""
    if request.param == "sqlite-merging":
        monkeypatch.setattr("seenbefore.stores.sqlite.store.SMALL", 3)
        monkeypatch.setattr("seenbefore.stores.sqlite.store.FAN", 2)
    memory = {"memory": MemoryStore, "memory-native": NativeMemoryStore}.get(request.param)
    opener: Opener
    if request.param == "postgres":
        opener = Postgres(postgres_server().schema())
    else:
        opener = Sqlite(tmp_path / "seen.db") if memory is None else Memory(memory(blocks=True))
    yield opener
    opener.close()


@pytest.fixture
def store(opener: Opener) -> SeenStore:
    """A fresh store, open."""
    return opener.open()
