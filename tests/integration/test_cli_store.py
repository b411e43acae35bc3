"""`seenbefore store`: info, check, copy, init and vacuum, as people start them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def judged(run: Any) -> Any:
    """The command after one run over day.ndjson."""
    assert run("dedup", "day.ndjson", "--out", "out").returncode == 1
    return run


def test_info(judged: Any) -> None:
    """A store says what it holds and what its runs did, and is not changed by being asked."""
    before = Path("seenbefore.db").read_bytes()
    told = json.loads(judged("store", "info", "seenbefore.db", "--json").stdout)
    assert (told["contents"], told["places"], told["sightings"]) == (2, 2, 6)
    assert told["bytes_per_record"] == round(told["size"] / 6, 1)
    (one,) = told["runs"]
    summary = json.loads(Path("out/summary.json").read_text())
    assert (one["state"], one["inputs"], one["records"]) == ("finished", 1, 6)
    assert {name: one[name] for name in ("run", "verdicts", "kept", "chain")} == {
        name: summary[name] for name in ("run", "verdicts", "kept", "chain")
    }
    lines = judged("store", "info", "seenbefore.db").stdout.splitlines()
    assert "keeps rows" in lines[0]
    assert lines[1] == "2 contents, 2 places, 6 sightings"
    verdicts = "new changed syndicated duplicate unkeyed refused"
    assert " ".join(lines[-2].split()) == f"run state started ruleset inputs records {verdicts} kept chain"
    assert lines[-1].split()[4:] == [*"16111111", "4", summary["chain"][7:19]]
    assert Path("seenbefore.db").read_bytes() == before
    assert judged("store", "info", "gone.db").returncode == 2
    assert not Path("gone.db").exists()


def test_info_shows_the_latest_runs(judged: Any) -> None:
    """Of many runs people see the latest ones, and programs all of them."""
    for _ in range(11):
        judged("dedup", "day.ndjson", "--again", "--no-output")
    done = judged("store", "info", "seenbefore.db")
    assert "… and 2 earlier runs: --json has them all" in done.stdout
    assert len(json.loads(judged("store", "info", "seenbefore.db", "--json").stdout)["runs"]) == 12


def test_check(judged: Any) -> None:
    """A whole store gives 0, one that isn't gives 1 and a line for each fault; nothing is changed."""
    before = Path("seenbefore.db").read_bytes()
    done = judged("store", "check", "seenbefore.db")
    assert (done.returncode, done.stdout) == (0, "seenbefore.db is whole: 6 sightings, 2 contents, 2 places\n")
    assert "as far as a quick look shows" in judged("store", "check", "seenbefore.db", "--quick").stdout
    assert Path("seenbefore.db").read_bytes() == before
    damage = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
    arguments = ["seenbefore.db", "DELETE FROM sighting WHERE id = 2"]
    subprocess.run([sys.executable, "-c", damage, *arguments], check=True)
    done = judged("store", "check", "seenbefore.db")
    assert done.returncode == 1
    assert "sighting 2: is not there (expected a sighting of row 1:2, found none)" in done.stdout.splitlines()
    told = json.loads(judged("store", "check", "seenbefore.db", "--json").stdout)
    assert (told["whole"], told["faults"]) == (False, len(done.stdout.splitlines()))
    assert told["listed"][0]["row"] == "2"
    assert judged("store", "check", "gone.db").returncode == 2
    assert not Path("gone.db").exists()


def test_copy(judged: Any) -> None:
    """A copy holds the same, and replaces nothing."""
    done = judged("store", "copy", "seenbefore.db", "copy.db")
    assert (done.returncode, done.stdout) == (0, f"copy.db: {Path('copy.db').stat().st_size:,} bytes\n")
    assert judged("merged", "copy.db").stdout == judged("merged", "seenbefore.db").stdout
    assert judged("store", "copy", "seenbefore.db", "copy.db").returncode == 2
    assert judged("store", "copy", "gone.db", "other.db").returncode == 2


def test_init(run: Any) -> None:
    """A store can be made beforehand, so that it keeps no rows; one that is there is left alone."""
    assert run("store", "init", "small.db", "--keep", "none").returncode == 0
    assert run("store", "init", "small.db").returncode == 2
    assert run("store", "init", "memory:").returncode == 2
    assert run("dedup", "day.ndjson", "--store", "small.db", "--out", "out").returncode == 1
    assert json.loads(run("store", "info", "small.db", "--json").stdout)["keep"] == "none"
    done = run("merged", "small.db")
    assert done.stderr == "small.db keeps no rows: `record` is null in each row\n"
    assert '"record":null' in done.stdout


def test_vacuum(judged: Any) -> None:
    """The file is written anew, and says what it said."""
    before = judged("merged", "seenbefore.db").stdout
    done = judged("store", "vacuum", "seenbefore.db")
    assert (done.returncode, "less than before" in done.stdout) == (0, True)
    assert judged("merged", "seenbefore.db").stdout == before
    assert judged("store", "vacuum", "gone.db").returncode == 2
