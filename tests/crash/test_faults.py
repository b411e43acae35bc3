"""Each call that writes or reads goes wrong once: by an error, half a write, a signal; the same command mends it.

`make crash` goes through all calls of a small run, one after the other; `make test` draws some.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.crash.drawn import AGAIN, EVERY_CALL, SEED, say
from tests.crash.faults import Faulty
from tests.crash.states import State, same

SOME = 3
DAY = ["dedup", "day.ndjson", "--store", "seen.db", "--out", "out", "--batch-size", "25", "--max-line", "250"]
BEFORE = ["dedup", "before.ndjson", "--store", "seen.db", "--out", "before"]
SIGNALS = {"KILL": -signal.SIGKILL, "INT": 130, "TERM": 130, "HUP": 130, "rKILL": -signal.SIGKILL}
# Statuses that a run may end with where it doesn't end well. What can't be read is the input's fault, or the store's.
FAILED = {"EIO": {6}, "ENOSPC": {6}, "ENOSPC+": {6}, "SHORT": {6}, "HALF": set[int](), "rEIO": {3, 4, 6}}
ACTIONS = [*SIGNALS, *FAILED]


@dataclass
class Sweep:
    """A small run in three batches, with refused and over-long lines; the first of its store, or the second."""

    faulty: Faulty
    ready: Path
    folder: Path
    whole: State | None = None

    def undisturbed(self) -> State:
        """What the run leaves when all goes well."""
        if self.whole is None:
            self.whole = State.of(self.folder, self.faulty.run(self.fresh(), DAY).status)
            assert self.whole.status == 1
        return self.whole

    def fresh(self) -> Path:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.ready, self.folder)
        return self.folder


@pytest.fixture(scope="module", params=["first", "second"])
def sweep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    reason = Faulty.missing()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("faults")
    ready = folder / "ready"
    ready.mkdir()
    for name, first, count in (("before", 20, 30), ("day", 0, 60)):
        (ready / f"{name}.ndjson").write_bytes(b"".join(lines(first, count)))
    with Faulty(folder) as faulty:
        if request.param == "second":
            assert faulty.run(ready, BEFORE).status == 1
        yield Sweep(faulty, ready, folder / "run")


def lines(first: int, count: int) -> Iterator[bytes]:
    for number in range(first, first + count):
        place, time = f"https://shop.example/{number % 40}", f"2026-03-0{number % 9 + 1}T00:00:00Z"
        yield json.dumps({"title": f"Lamp {number % 30}", "url": place, "fetched_at": time}).encode() + b"\n"
        if number % 20 == 9:
            yield b'{"x": "%s"}\n' % (b"y" * 300)
        if number % 20 == 11:
            yield b'{"x":\n'


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_call_that_goes_wrong_costs_nothing(sweep: Sweep, action: str) -> None:
    """Whatever call fails or is the last one, the end has a name, and the same command leaves what it should."""
    whole = sweep.undisturbed()
    calls = sweep.faulty.calls(sweep.fresh(), DAY, action)
    drawn = random.Random(f"{SEED} {action}").sample(range(1, len(calls) + 1), SOME)
    points = range(1, len(calls) + 1) if EVERY_CALL else sorted(drawn)
    say(f"{action} at {len(points)} of {len(calls)} calls; {AGAIN}")
    for nth in points:
        folder = sweep.fresh()
        told = f"{action} at call {nth}, as a rule {calls[nth - 1]!r}; {AGAIN}"
        ended = sweep.faulty.run(folder, DAY, nth, action)
        told = f"{told}; it ended with {ended.status} and said {ended.said!r}"
        check_end(ended.status, ended.said, action, told)
        mended = sweep.faulty.run(folder, DAY)
        assert mended.status == 1, f"{mended.said}; {told}"
        # An input that can't be read ends its run behind its last whole line, so that the end is met once more later.
        same(State.of(folder, mended.status), whole, told, but=("run",) if ended.status == 3 else ())


def check_end(status: int, said: str, action: str, told: str) -> None:
    """A run that a fault met ends well all the same, by the signal, or with a message and a status of its own."""
    if status == 1:
        # It was over already, the call was one that may fail, or it was made again.
        assert said == "", told
        return
    if action in SIGNALS:
        assert status == SIGNALS[action], told
    else:
        assert status in FAILED[action], told
    if status > 0:
        assert said.lstrip().startswith("error: "), told
        assert "\n  → " in said, told
    assert "Traceback" not in said, told
