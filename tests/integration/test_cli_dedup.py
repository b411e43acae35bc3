"""`seenbefore dedup`: what it writes, prints and answers, option by option."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

FILES = ["kept.ndjson", "receipts.ndjson", "refused.ndjson", "summary.json"]


def lines(path: str) -> list[dict[str, Any]]:
    """The lines of an NDJSON file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_first_run_writes_four_files_and_says_where(run: Any) -> None:
    """Kept rows, receipts, refused lines and a summary; tables, rule and files are named; refusals end in 1."""
    done = run("dedup", "day.ndjson", "--out", "out")
    assert done.returncode == 1
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    assert [one["verdict"] for one in lines("out/receipts.ndjson")] == [
        "new",
        "syndicated",
        "duplicate",
        "changed",
        "unkeyed",
        "refused",
    ]
    assert [one["_seen"]["verdict"] for one in lines("out/kept.ndjson")] == ["new", "syndicated", "changed", "unkeyed"]
    assert [(one["code"], one["line"], one["raw"]) for one in lines("out/refused.ndjson")] == [
        ("invalid-json", 6, '{"text": "cut')
    ]
    for words in ("run 1: 6 records", "collapse rate", "posts/1 (seenbefore.toml)", "seenbefore.db", "files   out:"):
        assert words in done.stdout


def test_summary_is_the_same_as_what_json_prints(run: Any) -> None:
    """--json prints summary.json with the seconds that it took, and nothing else on standard output."""
    done = run("dedup", "day.ndjson", "--out", "out", "--json")
    printed, written = json.loads(done.stdout), json.loads(Path("out/summary.json").read_text())
    assert printed.pop("seconds") >= 0
    assert list(printed.items()) == list(written.items())
    assert list(written) == [
        "run",
        "ruleset",
        "fingerprint",
        "inputs",
        "records",
        "verdicts",
        "changed_seen_before",
        "kept",
        "skipped",
        "refusals",
        "problems",
        "sources",
        "chain",
    ]
    digest = hashlib.sha256(Path("day.ndjson").read_bytes()).hexdigest()
    assert written["inputs"] == [{"name": "day.ndjson", "records": 6, "sha256": f"sha256:{digest}"}]
    assert written["verdicts"] == {
        "new": 1,
        "changed": 1,
        "syndicated": 1,
        "duplicate": 1,
        "unkeyed": 1,
        "refused": 1,
    }
    assert (written["kept"], written["skipped"], written["refusals"]) == (4, 1, {"invalid-json": 1})
    assert written["sources"]["a"]["collapse_rate"] == 0.5
    receipts = hashlib.sha256(Path("out/receipts.ndjson").read_bytes()).digest()
    assert written["chain"] == f"sha256:{hashlib.sha256(bytes(32) + receipts).hexdigest()}"


def test_second_day_is_judged_against_the_first(run: Any) -> None:
    """The same posts under another name are duplicates of run 1, and the note says that the bytes are the same."""
    run("dedup", "day.ndjson", "--out", "out/{run}")
    Path("next.ndjson").write_bytes(Path("day.ndjson").read_bytes())
    done = run("dedup", "next.ndjson", "--out", "out/{run}")
    assert "next.ndjson holds the same bytes as day.ndjson, which run 1 judged" in done.stderr
    second = lines("out/2/receipts.ndjson")
    assert [one["verdict"] for one in second[:4]] == ["changed", "duplicate", "duplicate", "changed"]
    assert [one["refers_to"]["run"] for one in second[:4]] == [1, 1, 1, 1]


def test_inputs_that_were_judged_are_left_out_unless_again(run: Any) -> None:
    """The same file is named and left out; --again judges it, in a run of its own."""
    run("dedup", "day.ndjson", "--out", "out/{run}")
    done = run("dedup", "day.ndjson", "--out", "out/{run}")
    assert done.returncode == 0
    assert "day.ndjson was judged in run 1 already" in done.stderr
    assert "nothing to do" in done.stdout
    assert not Path("out/2").exists()
    assert run("dedup", "day.ndjson", "--out", "out/{run}", "--again").returncode == 1
    assert len(lines("out/2/receipts.ndjson")) == 6
    Path("day.ndjson").write_bytes(Path("day.ndjson").read_bytes() + b'"}\n')
    assert run("dedup", "day.ndjson", "--out", "out/{run}").returncode == 0
    assert lines("out/3/receipts.ndjson")[-1]["verdict"] == "new"


def test_a_pipe_is_an_input(run: Any) -> None:
    """- reads standard input, compressed or not, under the name -."""
    done = run("dedup", "-", "--out", "out", stdin=gzip.compress(Path("day.ndjson").read_bytes()))
    assert done.returncode == 1
    assert {one["input"] for one in lines("out/receipts.ndjson")} == {"-"}


def test_no_output_remembers_and_writes_no_files(run: Any) -> None:
    """--no-output counts and remembers: the next run finds everything seen."""
    before = set(Path().iterdir())
    done = run("dedup", "day.ndjson", "--no-output", "--json")
    assert json.loads(done.stdout)["kept"] == 4
    assert all(path.name.startswith("seenbefore.db") for path in set(Path().iterdir()) - before)
    Path("next.ndjson").write_bytes(Path("day.ndjson").read_bytes())
    assert json.loads(run("dedup", "next.ndjson", "--no-output", "--json").stdout)["verdicts"]["new"] == 0


def test_dry_run_changes_nothing(run: Any) -> None:
    """--dry-run counts what a run would find, against the store as it is, and leaves no trace."""
    done = run("dedup", "day.ndjson", "--out", "out", "--dry-run", "--json")
    assert json.loads(done.stdout)["verdicts"]["new"] == 1
    assert not Path("seenbefore.db").exists()
    run("dedup", "day.ndjson", "--out", "out")
    store = Path("seenbefore.db").read_bytes()
    done = run("dedup", "day.ndjson", "--dry-run", "--again", "--json", "--batch-size", "2")
    summary = json.loads(done.stdout)
    assert (summary["verdicts"]["new"], summary["chain"]) == (0, None)
    assert Path("seenbefore.db").read_bytes() == store
    assert sorted(path.name for path in Path("out").iterdir()) == FILES


@pytest.mark.parametrize("change", ["name", "actions", "version"])
def test_dry_run_tells_the_store_of_no_ruleset(run: Any, change: str) -> None:
    """Another ruleset, or other actions of the same one, is tried without a trace in the store."""
    run("dedup", "day.ndjson", "--out", "out")
    store, rules = Path("seenbefore.db").read_bytes(), Path("seenbefore.toml").read_text()
    changed = {"name": ('"posts"', '"other"'), "actions": ("[record]", '[actions]\nsyndicated = "skip"\n[record]')}
    before, after = changed.get(change, ("version = 1", "version = 2"))
    Path("seenbefore.toml").write_text(rules.replace(before, after))
    done = run("dedup", "day.ndjson", "--dry-run", "--again", "--json")
    summary = json.loads(done.stdout)
    assert (summary["run"], summary["verdicts"]["new"]) == (2, 0 if change == "actions" else 1)
    assert Path("seenbefore.db").read_bytes() == store


def test_memory_store_leaves_nothing_but_the_files(run: Any) -> None:
    """memory: judges within the run alone."""
    for out in ("one", "two"):
        assert run("dedup", "day.ndjson", "--store", "memory:", "--out", out).returncode == 1
    assert Path("one/receipts.ndjson").read_bytes() == Path("two/receipts.ndjson").read_bytes()
    assert not Path("seenbefore.db").exists()


def test_options_stand_in_for_what_records_do_not_say(run: Any) -> None:
    """--source and --fetched-at count where a record names none; --run-id numbers the run."""
    Path("bare.ndjson").write_text('{"text":"x"}\n{"text":"y","channel":"own","at":"2026-01-01"}\n')
    arguments = ("--source", "given", "--fetched-at", "2026-03-02T09:00:00+01:00", "--run-id", "7")
    assert run("dedup", "bare.ndjson", "--out", "out/{run}", *arguments).returncode == 0
    first, second = lines("out/7/receipts.ndjson")
    assert (first["run"], first["source"], first["fetched_at"]) == (7, "given", "2026-03-02T08:00:00Z")
    assert (second["source"], second["fetched_at"]) == ("own", "2026-01-01T00:00:00Z")
    done = run("dedup", "day.ndjson", "--out", "out/{run}", "--run-id", "7")
    assert done.returncode == 2


def test_kept_rows_can_be_judged_again_with_replace_seen(run: Any) -> None:
    """A record that carries _seen is refused, unless --replace-seen puts a new one in its place."""
    run("dedup", "day.ndjson", "--out", "out")
    assert run("dedup", "out/kept.ndjson", "--out", "again", "--store", "memory:").returncode == 1
    assert {one["code"] for one in lines("again/refused.ndjson")} == {"seen-member"}
    done = run("dedup", "out/kept.ndjson", "--out", "third", "--store", "memory:", "--replace-seen")
    assert done.returncode == 0
    assert len(lines("third/kept.ndjson")) == 4


def test_lines_over_the_limit_go_to_a_file_of_their_own(run: Any) -> None:
    """--max-line refuses a longer line, whose bytes are in refused.bin at the offset that is stated."""
    long = b'{"text":"' + b"x" * 300 + b'"}'
    Path("long.ndjson").write_bytes(b'{"text":"a"}\n' + long + b"\r\n" + b'{"text":"b"}\n' + long[:-3] + b"\n")
    arguments = ("--rules", "records/1", "--max-line", "200", "--batch-size", "1")
    assert run("dedup", "long.ndjson", "--out", "out", *arguments).returncode == 1
    refused = lines("out/refused.ndjson")
    assert [(one["code"], one["line"], one["length"], one["bin_offset"]) for one in refused] == [
        ("line-too-long", 2, 311, 0),
        ("line-too-long", 4, 308, 311),
    ]
    held = Path("out/refused.bin").read_bytes()
    assert held == long + long[:-3]
    assert refused[0]["sha256"] == f"sha256:{hashlib.sha256(long).hexdigest()}"
    assert refused[1]["offset"] == Path("long.ndjson").read_bytes().rindex(b'{"text":"xx')


def test_rules_are_found_by_name_and_by_file(run: Any) -> None:
    """--rules takes a built-in name or a file; a mistake in it and a name that is none end in 2."""
    done = run("dedup", "day.ndjson", "--rules", "records/1", "--store", "memory:", "--out", "out", "--json")
    assert json.loads(done.stdout)["ruleset"] == "records/1"
    assert "did you mean records/1" in run("dedup", "day.ndjson", "--rules", "record/1", "--out", "o").stderr
    Path("bad.toml").write_text("name = 1\n")
    done = run("dedup", "day.ndjson", "--rules", "bad.toml", "--out", "o")
    assert done.returncode == 2
    assert "bad.toml has" in done.stderr


@pytest.mark.parametrize("size", ["1", "2", "7"])
def test_batches_of_any_size_give_the_same_files(run: Any, size: str) -> None:
    """Where batches are cut shows nowhere."""
    run("dedup", "day.ndjson", "--store", "memory:", "--out", "whole")
    run("dedup", "day.ndjson", "--store", "s.db", "--out", "cut", "--batch-size", size)
    for name in FILES:
        assert (Path("whole") / name).read_bytes() == (Path("cut") / name).read_bytes()
