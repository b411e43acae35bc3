"""Killed at random moments and started again with the same command: files and store equal those of an undisturbed run.

KILLS says how many (50), SEED which shapes, stages and moments are drawn; a failure prints the command that draws them
again. Only a kill that hit a process at work counts.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.crash.crawls import BATCHES, HISTORY, RECORDS, SEENBEFORE, SHAPES, Shape, command, live_through, make
from tests.crash.drawn import AGAIN, KILLS, SEED, say
from tests.crash.states import State, same
from tests.crash.watched import FILES, STAGES, Lengths, Watched

# Kills before a run is left alone at last.
MOST_KILLS_A_RUN = 10
KEPT, RECEIPTS, REFUSED = FILES


@dataclass
class Rounds:
    """Runs in one folder after the other, always at the same path; the undisturbed ones are remembered."""

    place: Path
    whole: dict[tuple[str, int, bool], tuple[State, list[Lengths]]] = field(default_factory=dict)

    def fresh(self, batch: int, *, tenth: bool) -> Path:
        """The folder with the inputs, and with a store that holds nine runs where this is the tenth."""
        folder, made = self.place / "run", self.place / f"{RECORDS[batch]}"
        if not made.exists():
            make(made, RECORDS[batch])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
        if tenth:
            lived = self.place / "lived.db"
            if not lived.exists():
                live_through(folder)
                shutil.copy(folder / "seen.db", lived)
            shutil.copy(lived, folder / "seen.db")
            (folder / "seen.db-writer").touch()
        return folder

    def undisturbed(self, shape: Shape, batch: int, *, tenth: bool) -> tuple[State, list[Lengths]]:
        """What the run leaves when nobody disturbs it, and where its batches end."""
        key = (shape.name, batch, tenth)
        if key not in self.whole:
            folder, started = self.fresh(batch, tenth=tenth), time.monotonic()
            status, _, said = Watched(arguments(shape, batch), folder, shape.stdin, []).end()
            assert status in {0, 1}, said
            seconds = time.monotonic() - started
            whole = State.of(folder, status)
            whole.seconds = seconds
            self.whole[key] = whole, ends_of_batches(whole, batch)
        return self.whole[key]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Rounds:
    return Rounds(tmp_path_factory.mktemp("killed"))


def arguments(shape: Shape, batch: int) -> list[str | Path]:
    return [SEENBEFORE, *command(shape.inputs, batch), *shape.options]


def ends_of_batches(whole: State, batch: int) -> list[Lengths]:
    """The lengths of the files at the end of each batch."""
    ends, lengths = list[Lengths](), [0, 0, 0]
    kept, refused = (whole.files[name].splitlines(keepends=True) for name in (KEPT, REFUSED))
    receipts = whole.files[RECEIPTS].splitlines(keepends=True)
    for number, line in enumerate(receipts, 1):
        action = json.loads(line)["action"]
        lengths[1] += len(line)
        if action == "keep":
            lengths[0] += len(kept.pop(0))
        if action == "refuse":
            lengths[2] += len(refused.pop(0))
        if number % batch == 0 or number == len(receipts):
            ends.append((lengths[0], lengths[1], lengths[2]))
    return ends


def kinds_of_runs(rng: random.Random) -> list[tuple[Shape, int, bool]]:
    """Shape, size of batches, and whether it is the tenth run: each of them some times, more with more kills."""
    shapes, variants = list(SHAPES), [(batch, tenth) for batch in BATCHES for tenth in (False, True)]
    rng.shuffle(shapes)
    rng.shuffle(variants)
    # 9 shapes and 8 variants have no divisor in common, so that counting on meets each pair once in 72.
    count = min(len(shapes) * len(variants), max(len(shapes), KILLS // 10))
    return [(shapes[at % len(shapes)], *variants[at % len(variants)]) for at in range(count)]


def one_run(rounds: Rounds, rng: random.Random, kind: tuple[Shape, int, bool], stages: Counter[str]) -> list[str]:
    """Kill a run some times, let it end and compare → the stages that it was killed at."""
    shape, batch, tenth = kind
    whole, ends = rounds.undisturbed(shape, batch, tenth=tenth)
    folder, kills = rounds.fresh(batch, tenth=tenth), list[str]()
    # From its beginning to its end, so that most of them find it at work.
    for share in sorted(rng.random() for _ in range(rng.randrange(1, MOST_KILLS_A_RUN + 1))):
        # The short ones are missed often, so what was hit least is aimed at most.
        stage = rng.choices(STAGES, [1 / (1 + stages[one] + kills.count(one)) for one in STAGES])[0]
        watched = Watched(arguments(shape, batch), folder, shape.stdin, ends)
        at = watched.kill_at(stage, share, patience=rng.uniform(1.0, 1.5) * whole.seconds)
        if at is None:
            status, _, said = watched.end()
            assert status == whole.status, f"{said}; {AGAIN}"
            break
        kills.append(at)
    told = f"{shape.name}, batches of {batch}, run {HISTORY + 1 if tenth else 1}, killed {kills}; {AGAIN}"
    status, _, said = Watched(arguments(shape, batch), folder, shape.stdin, ends).end()
    assert status == whole.status, f"{said}; {told}"
    for went_on in re.findall(r"goes on behind its record ([\d,]+)", said):
        records = int(went_on.replace(",", ""))
        assert records % batch == 0 or records == whole.files[RECEIPTS].count(b"\n"), told
    same(State.of(folder, status), whole, told)
    return kills


@pytest.mark.slow
@pytest.mark.timeout(300 + 5 * KILLS)
def test_killed_runs_end_with_the_same_files_and_tables(rounds: Rounds) -> None:
    """Killed at whatever moment, the same command ends with the files and tables of an undisturbed run."""
    say(f"killing {KILLS} times; {AGAIN}")
    rng, stages, runs = random.Random(SEED), Counter[str](), 0
    kinds = kinds_of_runs(rng)
    while stages.total() < KILLS or (KILLS >= 50 and min(stages[stage] for stage in STAGES) == 0):
        stages.update(one_run(rounds, rng, kinds[runs % len(kinds)], stages))
        runs += 1
        if runs % 50 == 0:
            say(f"{stages.total()} kills in {runs} runs")
    say(f"{stages.total()} kills in {runs} runs: {', '.join(f'{stages[one]} {one}' for one in STAGES)}; {AGAIN}")
