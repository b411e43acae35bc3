"""Everything a store in memory holds, as maps, and how a transaction writes beside them."""

from __future__ import annotations

import threading
from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from seenbefore.errors import UsageError
from seenbefore.stores.rows import Digest, InputRow, Keep, RunRow, Sighting

LOCATION = "memory:"

# Rulesets of one store, by id: a key is looked up together with the ruleset that made it.
Key: TypeAlias = tuple[int, Digest]


@dataclass
class Tables:
    """Everything a store holds. A transaction has such a set too, of which each write goes into a map of its own."""

    runs: MutableMapping[int, RunRow] = field(default_factory=dict)
    inputs: MutableMapping[tuple[int, int], InputRow] = field(default_factory=dict)
    sources: MutableMapping[str, int] = field(default_factory=dict)
    contents: MutableMapping[Key, tuple[int, int | None]] = field(default_factory=dict)
    places: MutableMapping[Key, tuple[int, int, int]] = field(default_factory=dict)
    sightings: MutableMapping[int, Sighting] = field(default_factory=dict)
    # (run, first seq) → records, first sighting, receipts, kept rows
    blocks: MutableMapping[tuple[int, int], tuple[int, int, bytes, bytes]] = field(default_factory=dict)
    # Kept beside the maps, because a ChainMap finds its length by going through all keys.
    next_sighting: int = 1
    next_source: int = 1

    def overlay(self) -> Tables:
        """A set that reads what is here, and writes beside it."""
        maps: dict[str, Any] = {name: ChainMap({}, getattr(self, name)) for name in _MAPS}
        return Tables(**maps, next_sighting=self.next_sighting, next_source=self.next_source)

    def copy(self) -> Tables:
        """A set of its own with the same rows."""
        maps: dict[str, Any] = {name: dict(getattr(self, name)) for name in _MAPS}
        return Tables(**maps, next_sighting=self.next_sighting, next_source=self.next_source)

    def take(self, overlay: Tables) -> None:
        """Write what was written into the overlay."""
        for name in _MAPS:
            getattr(self, name).update(getattr(overlay, name).maps[0])
        self.next_sighting, self.next_source = overlay.next_sighting, overlay.next_source


_MAPS = ("runs", "inputs", "sources", "contents", "places", "sightings", "blocks")


class State:
    """The tables of one store, the write lock, and what the store holds of receipts and rows."""

    def __init__(self, *, blocks: bool, keep: Keep) -> None:
        self.tables = Tables()
        self.blocks, self.keep = blocks, keep
        # Held for moments only: while a commit is written, and while rows are copied out.
        self.publishing = threading.Lock()
        self._writing = threading.Lock()
        self._writer: int | None = None

    def copy(self) -> State:
        """A state of its own with the same rows. `publishing` is to be held."""
        copy = State(blocks=self.blocks, keep=self.keep)
        copy.tables = self.tables.copy()
        return copy

    def begin(self) -> Tables:
        """Take the write lock → tables to write to. Raises UsageError where this thread has the lock."""
        if self._writer == threading.get_ident():
            raise UsageError("a transaction is open already", path=LOCATION, hint="end it before the next one")
        self._writing.acquire()
        self._writer = threading.get_ident()
        return self.tables.overlay()

    def publish(self, overlay: Tables) -> None:
        """Make visible at once what a transaction wrote."""
        with self.publishing:
            self.tables.take(overlay)

    def end(self) -> None:
        """Let go of the write lock."""
        self._writer = None
        self._writing.release()
