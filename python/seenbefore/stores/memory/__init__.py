"""The store in memory: a plain one, which is the oracle of all others, and one in the kernel, which is used."""

from seenbefore.stores.memory.native import NativeMemoryStore
from seenbefore.stores.memory.store import MemoryStore

__all__ = ["MemoryStore", "NativeMemoryStore"]
