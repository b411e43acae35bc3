"""A bar on standard error for what takes longer than people wait without a sign."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
# Seconds before a bar is shown, and steps between two of its moves.
PATIENCE = 2.0
_EVERY = 1000


class Bar:
    """Shown after PATIENCE seconds where standard error is a terminal, and only there.

    `what` says what goes on; `total` is the number of steps, None where it isn't known. `shown=False` shows none: where
    the result itself goes to the terminal.
    """

    def __init__(self, what: str, total: int | None = None, *, shown: bool = True) -> None:
        self._what, self._total = what, total
        self.steps = 0
        self._bar: Progress | None = None
        self._task: Any = None
        self._closing = threading.Lock()
        self._timer: threading.Timer | None = None
        if shown and sys.stderr.isatty():
            self._timer = threading.Timer(PATIENCE, self._open)
            self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._closing:
            self._timer = None
            if self._bar is not None:
                self._bar.stop()

    def over(self, things: Iterable[T]) -> Iterator[T]:
        """The things themselves, each of which moves the bar by one."""
        for thing in things:
            self.step()
            yield thing

    def step(self) -> None:
        """Moves the bar by one."""
        self.steps += 1
        if self._bar is not None and self.steps % _EVERY == 0:
            self._bar.update(self._task, completed=self.steps)

    def now(self, what: str, total: int | None = None) -> None:
        """Begins another part of the work, from no steps."""
        self._what, self._total, self.steps = what, total, 0
        if self._bar is not None:
            self._bar.reset(self._task, description=what, total=total)

    def at(self, what: str, done: int, total: int | None) -> None:
        """Moves the bar to so many steps of so many, of another part of the work where `what` is another."""
        if what != self._what:
            self.now(what, total)
        self._total, self.steps = total, done
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        with self._closing:
            if self._timer is not None:
                self._task = bar.add_task(self._what, total=self._total, completed=self.steps)
                bar.start()
                self._bar = bar
