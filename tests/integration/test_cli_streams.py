"""Streams that are closed, full or go away: the run is not harmed, and the exit status says what was lost of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
FILES = ["kept.ndjson", "receipts.ndjson", "refused.ndjson", "summary.json"]


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which `$S` is the program; its status is that of the program."""
    line = f"set -o pipefail; S={SEENBEFORE}; {script}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert "a fault of seenbefore" not in done.stderr
    return done


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_matter(folder: Path, closed: str) -> None:
    """A run that was started with closed streams ends as any other, and no file of its own takes their places."""
    assert shell(folder, f"$S dedup day.ndjson --out out {closed}").returncode == 1
    assert shell(folder, f"$S dedup day.ndjson --out whole --store memory: {closed}").returncode == 1
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
    for name in FILES:
        assert (folder / "out" / name).read_bytes() == (folder / "whole" / name).read_bytes()


def test_a_closed_standard_input_is_not_an_empty_one(folder: Path) -> None:
    """- can't be read where standard input is closed: the run ends in 3 instead of finding no records."""
    done = shell(folder, "$S dedup - --out out <&-")
    assert (done.returncode, "can't read -" in done.stderr) == (3, True)
    assert not (folder / "out" / "summary.json").exists()


def test_a_reader_that_has_enough_ends_in_141(folder: Path) -> None:
    """`head` closes the pipe: that is no error of the run, which is whole, and the same command says so."""
    done = shell(folder, "$S dedup day.ndjson --out out | true")
    assert (done.returncode, done.stderr) == (141, "")
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
    assert shell(folder, "$S dedup day.ndjson --out out | head -1").stdout == "run 1: 6 records in 0.0 s\n"
    # A table is printed by another library, which would end the process with a status of its own.
    assert shell(folder, "$S dedup day.ndjson --out out | { read -r line; }").returncode == 141
    # Nobody hears what it says: it goes on, and ends as the reader of its standard output does.
    assert shell(folder, "$S dedup day.ndjson --out other --again 2>&1 | true").returncode == 141
    assert sorted(path.name for path in (folder / "other").iterdir()) == FILES


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_ends_in_6(folder: Path) -> None:
    """What can't be printed is told by name, also under --json; the run is finished, and can be asked again."""
    done = shell(folder, "$S dedup day.ndjson --out out > /dev/full")
    assert (done.returncode, "can't write standard output: No space left" in done.stderr) == (6, True)
    done = shell(folder, "$S dedup day.ndjson --out out --json > /dev/full")
    assert (done.returncode, "can't write standard output: No space left" in done.stderr) == (6, True)
    assert shell(folder, "$S dedup day.ndjson --out out 2> /dev/full").returncode == 1
    assert json.loads(shell(folder, "$S dedup day.ndjson --out out --json").stdout)["records"] == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_says_that_it_goes_on(folder: Path, number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM and a terminal that hangs up end in 130 with the way on, and the same command goes it."""
    command = [SEENBEFORE, "dedup", "-", "--out", "out"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        while not (folder / "out" / "kept.ndjson").exists():
            time.sleep(0.02)
        first.send_signal(number)
        assert first.stderr is not None
        assert first.wait(60) == 130
        said = first.stderr.read().decode()
        assert "run the same command again" in said
        assert "Traceback" not in said
    assert shell(folder, "$S dedup - --out out < day.ndjson").returncode == 1
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES


def test_nohup_keeps_a_run_alive(folder: Path) -> None:
    """A process that was told to ignore SIGHUP goes on when it comes."""
    command = ["nohup", SEENBEFORE, "dedup", "-", "--out", "out"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as run:
        while not (folder / "out" / "kept.ndjson").exists():
            time.sleep(0.02)
        run.send_signal(signal.SIGHUP)
        run.communicate((folder / "day.ndjson").read_bytes(), timeout=60)
        assert run.returncode == 1
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
