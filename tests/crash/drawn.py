"""What is drawn in this run of the tests, and how it is drawn again."""

from __future__ import annotations

import os
import random
import sys

KILLS = int(os.environ.get("KILLS") or 50)
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
# `make crash` tries every call of a run; `make test` some.
EVERY_CALL = bool(os.environ.get("EVERY_CALL"))
AGAIN = f"again: make crash SEED={SEED} KILLS={KILLS}"


def say(text: str) -> None:
    """For whoever watches with -s, or reads a failure."""
    sys.stderr.write(f"\n{text}\n")
    sys.stderr.flush()
