"""What a run refuses: each with its exit status, words that say what to do, and nothing touched."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SEENBEFORE = Path(sys.executable).with_name("seenbefore")


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but those of a store's writers."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-writer", "-wal", "-shm"))
    }


def test_usage_errors_end_in_2(run: Any) -> None:
    """Options that don't go together, or are missing, name what to give instead."""
    for arguments, words in {
        ("dedup", "day.ndjson"): "--dry-run only counts",
        ("dedup", "--out", "o"): "no input given",
        ("dedup", "day.ndjson", "--out", "o", "--no-output"): "exclude each other",
        ("dedup", "--abandon"): "--abandon needs --out",
        ("dedup", "--out", "o", "--abandon"): "no unfinished run in o",
        ("dedup", "day.ndjson", "--out", "o", "--batch-size", "0"): "--batch-size",
        ("dedup", "day.ndjson", "--nonsense"): "No such option",
        ("nonsense",): "No such command",
        ("explain",): "no records named",
        ("explain", "2-15"): "names no row",
    }.items():
        done = run(*arguments)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not Path("o").exists()


def test_inputs_that_can_not_be_read_end_in_3(run: Any) -> None:
    """A missing file, and one that is no lines of JSON at all; under --json the error is a value."""
    done = run("dedup", "day.ndjson", "gone.ndjson", "--out", "o", "--json")
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["path"]) == ("input-unreadable", "gone.ndjson")
    assert (
        not Path("seenbefore.db").exists()
        or json.loads(run("store", "info", "seenbefore.db", "--json").stdout)["runs"] == []
    )
    Path("a.zip").write_bytes(b"PK\x03\x04...")
    done = run("dedup", "a.zip", "--out", "o")
    assert (done.returncode, "a zip archive" in done.stderr) == (3, True)


def test_a_cut_off_input_keeps_its_whole_lines_and_goes_on_with_the_whole_file(run: Any) -> None:
    """The run fails with both offsets; the same command goes on once the whole file is there."""
    whole = b"".join(b'{"text":"number %d","url":"https://e.example/%d"}\n' % (n, n) for n in range(500))
    data = gzip.compress(whole, mtime=0)
    Path("a.ndjson.gz").write_bytes(data[:-300])
    done = run("dedup", "a.ndjson.gz", "--out", "out", "--batch-size", "100")
    assert done.returncode == 3
    assert "cut off" in done.stderr
    assert "decompressed" in done.stderr
    assert not Path("out/summary.json").exists()
    assert Path("out/kept.ndjson").read_bytes().endswith(b"}\n")
    before = Path("out/kept.ndjson").read_bytes().count(b"\n")
    assert 0 < before < 500
    Path("a.ndjson.gz").write_bytes(data)
    done = run("dedup", "a.ndjson.gz", "--out", "out", "--batch-size", "100")
    assert (done.returncode, f"goes on behind its record {before:,}" in done.stderr) == (0, True)
    assert run("dedup", "a.ndjson.gz", "--out", "other", "--store", "memory:").returncode == 0
    assert everything(Path("out")) == everything(Path("other"))


def test_a_bomb_is_stopped_by_its_limit(run: Any) -> None:
    """--max-input bounds what one input may unpack to."""
    Path("bomb.gz").write_bytes(gzip.compress(b"\n" * (8 << 20)))
    done = run("dedup", "bomb.gz", "--out", "o", "--max-input", "1000000")
    assert (done.returncode, "unpacks to more than 1,000,000 bytes" in done.stderr) == (3, True)


def test_a_damaged_store_is_refused_and_untouched(run: Any) -> None:
    """A store with a torn page and a file that is no store end in 4, byte for byte as they were."""
    run("dedup", "day.ndjson", "--out", "out")
    data = bytearray(Path("seenbefore.db").read_bytes())
    data[0:16] = b"not SQLite any m"
    Path("seenbefore.db").write_bytes(data)
    Path("foreign.db").write_bytes(b"a text of somebody else's, long enough to be a header\n" * 20)
    before = everything(Path())
    for store in ("seenbefore.db", "foreign.db"):
        done = run("dedup", "day.ndjson", "--out", "o", "--store", store)
        assert done.returncode == 4, done.stderr
        assert run("explain", "1:1", "--store", store).returncode == 4
    assert everything(Path()) == before


def test_a_rule_edited_without_a_new_version_ends_in_4(run: Any) -> None:
    """The store names what changed, and nothing is judged."""
    run("dedup", "day.ndjson", "--out", "out/{run}")
    rules = Path("seenbefore.toml").read_text()
    Path("seenbefore.toml").write_text(rules.replace('["text"]', '["text", "channel"]'))
    done = run("dedup", "day.ndjson", "--out", "out/{run}", "--again")
    assert (done.returncode, "identity" in done.stderr) == (4, True)
    Path("seenbefore.toml").write_text(rules.replace("version = 1", "version = 2"))
    assert run("dedup", "day.ndjson", "--out", "out/{run}", "--again").returncode == 1


def test_a_finished_folder_is_refused_with_the_hint(run: Any) -> None:
    """So is one that holds files of somebody else; nothing is overwritten."""
    run("dedup", "day.ndjson", "--out", "out")
    before = everything(Path("out"))
    done = run("dedup", "day.ndjson", "--out", "out", "--again")
    assert (done.returncode, "--out 'out/{run}'" in done.stderr) == (2, True)
    done = run("dedup", "day.ndjson", "--out", "out", "--store", "memory:")
    assert (done.returncode, "no run of this store" in done.stderr) == (2, True)
    assert everything(Path("out")) == before


def test_an_unfinished_run_goes_on_only_with_the_same_command(run: Any) -> None:
    """Other options, other inputs and a changed file are refused; --abandon closes it, and it can't be gone on with."""
    Path("more.ndjson").write_text('{"text":"x"}\n' * 5)
    cut = gzip.compress(b'{"text":"y"}\n' * 100)[:-8]
    Path("cut.gz").write_bytes(cut)
    command = ("dedup", "more.ndjson", "cut.gz", "--out", "out", "--batch-size", "3")
    assert run(*command).returncode == 3
    assert "with --source None, not s" in run(*command, "--source", "s").stderr
    done = run("dedup", "more.ndjson", "--out", "out")
    assert (done.returncode, "cut.gz, which this command" in done.stderr) == (3, True)
    Path("more.ndjson").write_text('{"text":"z"}\n' * 5)
    done = run(*command)
    assert (done.returncode, "more.ndjson changed since run 1 read it" in done.stderr) == (3, True)
    Path("out/kept.ndjson").write_bytes(b"")
    Path("more.ndjson").write_text('{"text":"x"}\n' * 5)
    done = run(*command)
    assert (done.returncode, "shorter than what the store committed" in done.stderr) == (6, True)
    done = run("dedup", "--out", "out", "--abandon")
    assert (done.returncode, "run 1 is closed" in done.stderr) == (0, True)
    done = run(*command)
    assert (done.returncode, "run 1, which is abandoned" in done.stderr) == (2, True)


@pytest.mark.parametrize("second", [("--store", "s.db", "--out", "out"), ("--store", "other.db", "--out", "out")])
def test_a_second_run_in_the_same_folder_ends_in_5(folder: Path, run: Any, second: tuple[str, ...]) -> None:
    """While a run lives its folder is in use by its process; another folder of the same store is not."""
    command = [SEENBEFORE, "dedup", "-", "--store", "s.db", "--out", "out"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        while not (folder / "out" / "kept.ndjson").exists():
            time.sleep(0.02)
        done = run("dedup", "-", *second, stdin=b"")
        assert (done.returncode, f"in use by process {first.pid}" in done.stderr) == (5, True)
        assert run("dedup", "day.ndjson", "--store", "s.db", "--out", "else").returncode == 1
        assert first.stdin is not None
        first.stdin.write(b'{"text":"The ferry runs again."}\n')
        first.stdin.close()
        assert first.wait(60) == 0
    assert json.loads((folder / "out" / "receipts.ndjson").read_text())["verdict"] == "duplicate"


def test_a_full_disk_ends_in_6_and_goes_on(run: Any, folder: Path) -> None:
    """A file that may not grow ends the run by name; the same command goes on when there is room."""
    Path("big.ndjson").write_text("".join(f'{{"text":"number {n}"}}\n' for n in range(3000)))
    limited = "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000)); sys.argv[0] = 'seenbefore'; "
    limited += "runpy.run_module('seenbefore', run_name='__main__')"
    arguments = ["dedup", "big.ndjson", "--out", "out", "--batch-size", "500"]
    done = subprocess.run(
        [sys.executable, "-c", limited, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 6, done.stderr
    assert "the same command" in done.stderr
    assert run(*arguments).returncode == 0
    assert run("dedup", "big.ndjson", "--out", "whole", "--store", "memory:").returncode == 0
    assert everything(Path("out")) == everything(Path("whole"))


def test_output_without_permission_ends_in_6(run: Any) -> None:
    """A folder below a file can't be made."""
    done = run("dedup", "day.ndjson", "--out", "day.ndjson/out")
    assert (done.returncode, "can't write" in done.stderr) == (6, True)


def test_numbers_that_no_column_holds_are_usage_errors(run: Any) -> None:
    """A run's number is a whole number that every reader of JSON has; limits may be as large as one likes."""
    last = (1 << 53) - 1
    for number in (last + 1, 1 << 63, 1 << 64):
        done = run("dedup", "day.ndjson", "--out", "o", "--run-id", str(number))
        assert (done.returncode, f"run {number} is no ordinal" in done.stderr) == (2, True), done.stderr
    assert not Path("o").exists()
    limits = ("--batch-size", str(1 << 70), "--max-line", str(1 << 70), "--max-input", str(1 << 70))
    assert run("dedup", "day.ndjson", "--out", "out", "--run-id", str(last), *limits).returncode == 1
    done = run("dedup", "day.ndjson", "--out", "again", "--again")
    assert (done.returncode, f"run {last + 1} is no ordinal" in done.stderr) == (2, True)
