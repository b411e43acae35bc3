"""The same command again: it goes on with a run, or says that it is finished; pipes are replayed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seenbefore.outputs import Outputs

SEENBEFORE = Path(sys.executable).with_name("seenbefore")


def everything(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_command_on_a_finished_run_answers_as_it_did(run: Any) -> None:
    """Nothing is judged or written: a job that was killed at its very end finds out that all is done."""
    first = run("dedup", "day.ndjson", "--out", "out", "--json")
    files, store = everything(Path("out")), Path("seenbefore.db").read_bytes()
    Path("out/.lock").write_text("1\n")
    again = run("dedup", "day.ndjson", "--out", "out", "--json")
    assert again.returncode == first.returncode == 1
    assert again.stderr.endswith("/out is finished already: nothing to do\n")
    one, other = json.loads(first.stdout), json.loads(again.stdout)
    assert one.pop("seconds") > other.pop("seconds") == 0
    assert one == other
    assert everything(Path("out")) == files
    assert Path("seenbefore.db").read_bytes() == store


def test_a_finished_pipe_is_told_by_its_bytes(run: Any) -> None:
    """The same bytes on standard input are the same command; others are not."""
    data = Path("day.ndjson").read_bytes()
    first = run("dedup", "-", "--out", "out", stdin=data)
    again = run("dedup", "-", "--out", "out", stdin=data)
    assert (first.returncode, again.returncode) == (1, 1)
    assert "finished already" in again.stderr
    assert run("dedup", "-", "--out", "out", stdin=data[:-9]).returncode == 2


@pytest.mark.parametrize("change", ["input", "option", "run", "file", "summary", "others", "fewer", "again"])
def test_another_command_on_a_finished_run_is_refused(run: Any, change: str) -> None:
    """Other inputs, options or rules, and files that are gone, end in 2 with the hint."""
    Path("more.ndjson").write_text('{"text":"x"}\n')
    assert run("dedup", "day.ndjson", "more.ndjson", "--out", "out").returncode == 1
    arguments = ["dedup", "day.ndjson", "more.ndjson", "--out", "out"]
    if change == "input":
        Path("more.ndjson").write_text('{"text":"y"}\n')
    elif change == "option":
        arguments += ["--source", "s"]
    elif change == "run":
        arguments += ["--run-id", "2"]
    elif change == "file":
        Path("out/kept.ndjson").write_bytes(b"")
    elif change == "summary":
        Path("out/summary.json").unlink()
    elif change == "others":
        Path("third.ndjson").write_text('{"text":"z"}\n')
        arguments.insert(1, "third.ndjson")
    elif change == "fewer":
        arguments.remove("more.ndjson")
    else:
        arguments.append("--again")
    done = run(*arguments)
    assert (done.returncode, "--out 'out/{run}'" in done.stderr) == (2, True)


def test_inputs_that_were_left_out_before_are_left_out_again(run: Any) -> None:
    """A run that left out what was judged before is finished for the command that named that too."""
    run("dedup", "day.ndjson", "--out", "out/{run}")
    Path("more.ndjson").write_text('{"text":"x"}\n')
    arguments = ("dedup", "day.ndjson", "more.ndjson", "--out", "out/2")
    assert run(*arguments).returncode == 0
    done = run(*arguments)
    assert (done.returncode, "run 2 in" in done.stderr, "finished already" in done.stderr) == (0, True, True)


def test_a_pipe_that_was_read_to_its_end_is_replayed(run: Any) -> None:
    """A run that stopped behind a pipe goes on when the pipe gives the same bytes, and is refused when it doesn't."""
    data = Path("day.ndjson").read_bytes()
    Path("cut.gz").write_bytes(b"\x1f\x8b\x08\x00")
    command = ("dedup", "-", "cut.gz", "--out", "out", "--batch-size", "4")
    assert run(*command, stdin=data).returncode == 3
    Path("cut.gz").write_bytes(b'{"text":"whole"}\n')
    done = run(*command, stdin=data + b"\n")
    assert (done.returncode, "- changed since run 1 read it" in done.stderr) == (3, True)
    assert run(*command, stdin=data).returncode == 1
    assert run("dedup", "-", "cut.gz", "--out", "whole", "--store", "memory:", stdin=data).returncode == 1
    assert everything(Path("out")) == everything(Path("whole"))


def test_a_summary_that_was_not_committed_goes(run: Any) -> None:
    """summary.json stands for a finished run: one that was written just before a crash goes when the run goes on."""
    Path("cut.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert run("dedup", "day.ndjson", "cut.gz", "--out", "out").returncode == 3
    for name in ("summary.json", ".summary.json.new"):
        Path("out", name).write_text("{}")
    assert run("dedup", "--out", "out", "--abandon").returncode == 0
    assert sorted(everything(Path("out"))) == ["kept.ndjson", "receipts.ndjson", "refused.ndjson"]


@pytest.mark.parametrize("harm", ["removed", "replaced"])
def test_an_output_folder_that_goes_away_is_named(folder: Path, run: Any, harm: str) -> None:
    """Files that were removed while they are written, or others in their place, end the run before its next commit."""
    command = [SEENBEFORE, "dedup", "-", "--out", "out"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as first:
        while not (folder / "out" / "refused.ndjson").exists():
            time.sleep(0.02)
        shutil.move(folder / "out", folder / "away")
        if harm == "replaced":
            shutil.copytree(folder / "away", folder / "out")
        _, said = first.communicate((folder / "day.ndjson").read_bytes(), timeout=60)
    assert (first.returncode, b"was moved or removed while the run was writing it" in said) == (6, True), said
    shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.move(folder / "away", folder / "out")
    assert run("dedup", "-", "--out", "out", stdin=(folder / "day.ndjson").read_bytes()).returncode == 1
    assert len((folder / "out" / "receipts.ndjson").read_bytes().splitlines()) == 6


@pytest.mark.parametrize("harm", ["removed", "replaced"])
def test_a_store_that_goes_away_is_named(folder: Path, run: Any, harm: str) -> None:
    """A store that was moved while a run writes to it, or another in its place, is told before the next batch."""
    command = [SEENBEFORE, "dedup", "-", "--out", "out"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as first:
        while not (folder / "out" / "refused.ndjson").exists():
            time.sleep(0.02)
        (folder / "away").mkdir()
        for path in folder.glob("seenbefore.db*"):
            path.rename(folder / "away" / path.name)
        if harm == "replaced":
            run("dedup", "day.ndjson", "--out", "other")
        _, said = first.communicate((folder / "day.ndjson").read_bytes(), timeout=60)
    assert (first.returncode, b"seenbefore.db was moved or removed while it was in use" in said) == (6, True), said
    for path in folder.glob("seenbefore.db*"):
        path.unlink()
    for path in (folder / "away").iterdir():
        path.rename(folder / path.name)
    assert run("dedup", "-", "--out", "out", stdin=(folder / "day.ndjson").read_bytes()).returncode == 1


def test_a_lock_that_can_not_be_removed_is_no_error(tmp_path: Path) -> None:
    """The file of a lock may stay: what counts is who holds it."""
    outputs = Outputs(tmp_path / "out")
    (tmp_path / "out" / ".lock").unlink()
    outputs.close()
    Outputs(tmp_path / "out").close()
