"""Stages that overlap: an iterator that runs in a thread of its own, a few items ahead of whoever takes them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class _Over:
    """The last thing a stage hands on: nothing more comes, or `error` is why."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Ahead(Generic[T]):
    """Takes items from `items` in a thread, at most `depth` of them finished or under way before they are asked for.

    With depth 1 the next item is made while the last one is used, so two exist at a time. An exception of the
    iterator is raised to the taker after the items before it.
    """

    def __init__(self, items: Iterator[T], depth: int, name: str) -> None:
        self._items = items
        self._ready: queue.SimpleQueue[T | _Over] = queue.SimpleQueue()
        self._permits = threading.Semaphore(depth)
        self._closed = False
        self._over: _Over | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def take(self, timeout: float | None = None) -> T:
        """The next item.

        Raises StopIteration at the end, TimeoutError after `timeout` seconds, and whatever the iterator raised.
        """
        if self._over is None:
            try:
                item = self._ready.get(timeout=timeout)
            except queue.Empty:
                raise TimeoutError from None
            if not isinstance(item, _Over):
                self._permits.release()
                return item
            self._over = item
        if self._over.error is not None:
            raise self._over.error
        raise StopIteration

    def __iter__(self) -> Iterator[T]:
        while True:
            try:
                item = self.take()
            except StopIteration:
                return
            yield item

    def close(self, wait: float = 5.0) -> None:
        """Stops the stage; waits `wait` seconds at most for the item under way: a read from a pipe may never end."""
        self._closed = True
        self._permits.release()
        self._thread.join(wait)

    def _work(self) -> None:
        over = _Over(None)
        try:
            while True:
                self._permits.acquire()
                if self._closed:
                    break
                try:
                    item = next(self._items)
                except StopIteration:
                    break
                self._ready.put(item)
                del item  # or this thread would keep a whole batch alive while it waits
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that takes
            over = _Over(error)
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            self._ready.put(over)
