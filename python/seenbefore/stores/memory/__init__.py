"""The store in memory: the simplest correct one, the oracle of the others, and what counting needs."""

from seenbefore.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
