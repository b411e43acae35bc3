"""The hot functions of the core take no more instructions than bounds.json says: a count, not a time."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BOUNDS = json.loads((Path(__file__).parent / "bounds.json").read_text(encoding="utf-8"))
# Calls in the shorter of two runs; `judge` judges 1,024 records a call.
CALLS = {"read": 3_000, "normalise": 3_000, "canonicalise": 3_000, "key": 3_000, "judge": 3}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        "SEENBEFORE_COUNTS" not in os.environ, reason="SEENBEFORE_COUNTS is not set: make counts sets it"
    ),
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
]


@pytest.fixture(scope="module")
def program() -> str:
    """The benchmark that calls one function so many times, built as a release is."""
    command = ["cargo", "bench", "--locked", "-p", "seenbefore-core", "--bench", "counted", "--no-run"]
    built = subprocess.run([*command, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True)
    (executable,) = (
        message["executable"]
        for message in map(json.loads, built.stdout.splitlines())
        if message.get("executable") and message["target"]["name"] == "counted"
    )
    return str(executable)


def count(program: str, function: str, calls: int) -> int:
    """The instructions of one run. Valgrind has no SHA instructions, so that hashing counts as written out."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, function, str(calls)]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


@pytest.mark.parametrize("function", CALLS)
def test_instructions(program: str, function: str) -> None:
    """A call takes as many instructions as recorded, give or take a few in a hundred."""
    calls = CALLS[function]
    each = (count(program, function, 2 * calls) - count(program, function, calls)) / calls
    recorded, tolerance = BOUNDS["instructions"][function], BOUNDS["tolerance_percent"] / 100
    print(f"{function}: {each:.0f} instructions a call, {recorded} recorded")  # noqa: T201  what `make counts` is for
    assert each <= recorded * (1 + tolerance), (
        f"{function} takes {each:.0f} instructions a call, {recorded} are recorded"
    )
    assert each >= recorded * (1 - 4 * tolerance), f"{function} takes {each:.0f} now: write that into bounds.json"
