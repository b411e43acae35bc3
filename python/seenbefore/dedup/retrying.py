"""Once more: for transactions that a store gave up for the sake of another one, or lost with its server.

Nothing of such a transaction was committed, or all of it was and nobody heard. So whoever tries again asks first,
within the new transaction, where its run stands: the store keeps that as it is until the transaction's end.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from seenbefore.errors import StoreUnreachable

# Seconds: for so long it is tried again; the first pause, and the longest. A server that is started anew takes a while.
PATIENCE, FIRST, LONGEST = 300.0, 0.02, 5.0
# Seconds after which whoever watches is told.
_QUIET = 2.0


class Tries:
    """The tries of one transaction."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._began: float | None = None
        self._pause, self._told = FIRST, False

    def wait(self, error: StoreUnreachable) -> None:
        """Pause before the next try. Raises the error where there was time enough."""
        now = time.monotonic()
        self._began = self._began or now
        if now - self._began > PATIENCE:
            raise error
        if not self._told and now - self._began > _QUIET:
            self._told = True
            self._note(f"{error.message}; trying again")
        # Two that gave way to each other must not come back at the same moment.
        time.sleep(self._pause * random.uniform(0.5, 1.5))  # noqa: S311 - a pause is no secret
        self._pause = min(self._pause * 2, LONGEST)
