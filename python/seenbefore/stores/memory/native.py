"""The store in memory with its contents, places and sightings in the kernel: what `memory:` opens.

It answers as MemoryStore does, which is the plain one that the tests hold it against.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, TypeVar

from seenbefore._kernel import Batch, Judged, Memory, SqliteError
from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.laws import contradicted, still_unfinished
from seenbefore.stores.memory.store import MemoryStore
from seenbefore.stores.memory.tables import LOCATION, Key, State
from seenbefore.stores.memory.transaction import MemoryTransaction
from seenbefore.stores.rows import Keep, Progress, RulesetRow

K = TypeVar("K")


class _Rows(MutableMapping[K, Any]):
    """A table of the kernel as a map. Rows are changed by transactions only, and never go."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __setitem__(self, key: K, row: Any) -> None:
        raise NotImplementedError

    def __delitem__(self, key: K) -> None:
        raise NotImplementedError

    def update(self, rows: Any = (), /, **_: Any) -> None:
        """Take what a transaction wrote row by row; the kernel makes it visible with the rest."""
        if rows:
            self._put(rows)

    def _put(self, rows: Any) -> None:
        raise NotImplementedError


class _Contents(_Rows[Key]):
    def __getitem__(self, key: Key) -> tuple[int, int | None]:
        found = self._memory.content(*key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[Key]:
        return ((owner, key) for owner, key, *_ in self._memory.contents())

    def __len__(self) -> int:
        return len(self._memory.contents())

    def _put(self, rows: Any) -> None:
        self._memory.put([(*key, *row) for key, row in rows.items()], [], [])


class _Places(_Rows[Key]):
    def __getitem__(self, key: Key) -> tuple[int, int, int]:
        found = self._memory.place(*key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[Key]:
        return ((owner, key) for owner, key, *_ in self._memory.places())

    def __len__(self) -> int:
        return len(self._memory.places())

    def _put(self, rows: Any) -> None:
        self._memory.put([], [(*key, *row) for key, row in rows.items()], [])


class _Sightings(_Rows[int]):
    def __getitem__(self, sighting: int) -> Any:
        found = self._memory.sighting(sighting)
        if found is None:
            raise KeyError(sighting)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))

    def __len__(self) -> int:
        return self._memory.sightings

    def _put(self, rows: Any) -> None:
        self._memory.put([], [], [row for _, row in sorted(rows.items())])


class NativeState(State):
    """The state of a store in memory whose large tables are the kernel's."""

    def __init__(self, *, blocks: bool, keep: Keep) -> None:
        super().__init__(blocks=blocks, keep=keep)
        self.memory = Memory()
        self.tables.contents = _Contents(self.memory)
        self.tables.places = _Places(self.memory)
        self.tables.sightings = _Sightings(self.memory)

    def publish(self, overlay: Any) -> None:
        """Make visible at once what a transaction wrote."""
        with self.publishing:
            self.tables.take(overlay)
            self.memory.commit()

    def end(self) -> None:
        """Let go of the write lock; what was not published is forgotten."""
        self.memory.rollback()
        super().end()


class NativeTransaction(MemoryTransaction):
    """A transaction whose batches are judged and taken in by the kernel."""

    _state: NativeState

    def judge(self, batch: Batch, *, evidence: bool = True) -> Judged:
        """Claims, judges and, where evidence is wanted, can render a keyed batch."""
        sources = self.source_ids(batch.sources())
        return self._state.memory.judge(batch, self._ruleset.id, self.next_sighting, sources, evidence)

    def record(self, judged: JudgedBatch, progress: Progress) -> None:
        """Write a judged batch and where its run stands."""
        if not isinstance(judged, Judged) or not judged.claimed:
            super().record(judged, progress)
            return
        tables = self._tables
        run = still_unfinished(tables.runs.get(progress.run), progress.run)
        try:
            added = self._state.memory.record(judged, self._ruleset.id, progress.run, self.next_sighting)
        except SqliteError as error:
            raise contradicted(LOCATION, str(error.args[0])) from error
        self._keep_blocks(judged, progress.run)
        tables.next_sighting += added
        self._move_on(run, progress)


class NativeMemoryStore(MemoryStore):
    """A store that lives as long as this object, as MemoryStore: faster, and smaller."""

    _state: NativeState

    def __init__(self, *, blocks: bool = False, keep: Keep = "kept") -> None:
        super().__init__(blocks=blocks, keep=keep)
        self._state = NativeState(blocks=blocks, keep=keep)

    def transaction(self, ruleset: RulesetRow | None = None) -> NativeTransaction:
        """A write transaction: see SeenStore."""
        return NativeTransaction(self._state, ruleset or self._current)

    @property
    def asked(self) -> tuple[Memory, int]:
        """Whom the kernel asks about single records: itself."""
        return self._state.memory, 0 if self._current is None else self._current.id
