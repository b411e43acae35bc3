"""The smaller commands: explain, rules, completion, --version and --help."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seenbefore import UNICODE_VERSION, __version__

SEENBEFORE = Path(sys.executable).with_name("seenbefore")


@pytest.fixture
def judged(run: Any) -> Any:
    """The command after one run over day.ndjson."""
    assert run("dedup", "day.ndjson", "--out", "out").returncode == 1
    return run


def test_version_names_the_unicode_version(run: Any) -> None:
    """--version prints the package's version and the Unicode version that keys rest on."""
    assert run("--version").stdout == f"seenbefore {__version__} (Unicode {UNICODE_VERSION})\n"


def test_help_names_every_command(run: Any) -> None:
    """Bare, with -h or --help, the commands and exit statuses are listed."""
    for arguments in (("-h",), ("--help",)):
        done = run(*arguments)
        assert done.returncode == 0
        for word in ("completion", "dedup", "explain", "rules", "store", "130"):
            assert word in done.stdout


def test_explain_a_row(judged: Any) -> None:
    """A duplicate names its row of the table, the earlier row, and each step that made the two equal."""
    done = judged("explain", "1:3")
    assert done.returncode == 0
    for words in (
        "duplicate, skip",
        "its URL shows this very content already",
        "1:3, day.ndjson line 3",
        "the row it refers to: 1:1",
        "equal after normalisation only",
        'casefold: "T" U+0054 → "t" U+0074',
    ):
        assert words in done.stdout


def test_explain_as_json(judged: Any) -> None:
    """--json gives the same as one value."""
    told = json.loads(judged("explain", "1:2", "--json").stdout)
    assert (told["receipt"]["verdict"], told["judged"]) == ("syndicated", True)
    (field,) = told["fields"]
    assert field["steps"][0]["changes"] == ["U+00A0 → U+0020"]
    assert told["earlier"]["fields"][0]["value"] == '"The ferry runs again."'


def test_explain_by_url_key_line_and_record(judged: Any) -> None:
    """A URL gives its latest record, a content key its first, a line its row, a record what it would get now."""
    told = json.loads(judged("explain", "--url", "https://a.example/1#top", "--json").stdout)
    assert told["receipt"]["seq"] == 4
    by_key = json.loads(judged("explain", "--key", told["url_key"], "--json").stdout)
    assert by_key["receipt"]["seq"] == 4
    by_key = json.loads(judged("explain", "--key", told["content_key"], "--json").stdout)
    assert by_key["receipt"]["seq"] == 4
    by_line = json.loads(judged("explain", "day.ndjson:2", "--json").stdout)
    assert (by_line["receipt"]["seq"], by_line["judged"]) == (2, True)
    record = '{"text": "The ferry runs again.", "url": "https://c.example/"}'
    Path("record.json").write_text(record)
    for given in (record, "@record.json"):
        would = json.loads(judged("explain", "--record", given, "--json").stdout)
        assert (would["receipt"]["verdict"], would["judged"]) == ("syndicated", False)
    assert "sighted 3 times" in judged("explain", "--url", "https://a.example/1").stdout


def test_explain_without_a_store(run: Any) -> None:
    """A record and a line of a file can be explained by their keys alone, under any ruleset; no file is created."""
    before = set(Path().iterdir())
    told = json.loads(run("explain", "day.ndjson:2", "--rules", "records/1", "--json").stdout)
    assert (told["ruleset"], told["receipt"], told["judged"]) == ("records/1", None, False)
    assert "none: no run judged it" in run("explain", "--record", '{"text":"x"}').stdout
    assert "refused: wrong-type" in run("explain", "--record", '{"text":true}').stdout
    assert run("explain", "--url", "https://a.example/1", "--store", "gone.db").returncode == 2
    assert set(Path().iterdir()) == before


def test_explain_two_rows(judged: Any) -> None:
    """Two rows are compared: the same content and why, or the first field that differs and where."""
    assert "same content" in judged("explain", "1:1", "1:2").stdout
    done = judged("explain", "1:1", "--record", '{"text": "The ferry stays."}')
    assert "different contents" in done.stdout
    assert "text: no step makes them equal" in done.stdout
    both = json.loads(judged("explain", "1:1", "1:4", "--json").stdout)
    assert (both["same_content"], both["same_url"], both["field"]) == (False, True, "text")


def test_a_blank_line_is_no_record(run: Any) -> None:
    """A line that a run passed over is called blank, not a record that can't be read."""
    Path("gaps.ndjson").write_bytes(b'{"text":"a"}\n\n \t\r\n{"text":"b"}\n')
    for line in (2, 3):
        done = run("explain", f"gaps.ndjson:{line}")
        assert (done.returncode, f"line {line} of gaps.ndjson is blank" in done.stderr) == (3, True)
    assert run("explain", "gaps.ndjson:4").returncode == 0


@pytest.mark.parametrize("command", ["log", "merged"])
def test_the_store_is_named_in_any_usual_way(judged: Any, command: str) -> None:
    """As the argument, by the option of dedup, or not at all: then it is the one that dedup makes."""
    told = [judged(command, *how).stdout for how in ((), ("seenbefore.db",), ("--store", "seenbefore.db"))]
    assert len(set(told)) == 1
    assert told[0]
    assert judged(command, "seenbefore.db", "--store", "other.db").returncode == 2


def test_explain_what_is_not_there(judged: Any) -> None:
    """Rows, keys, URLs and lines that are not there are named."""
    key = "posts/1:sha256:" + "0" * 64
    for arguments, status in {
        ("1:99",): 2,
        ("--key", key): 2,
        ("--key", "nonsense"): 2,
        ("--url", "https://z.example/"): 2,
        ("--url", "nonsense"): 2,
        ("gone.ndjson:1",): 3,
        ("day.ndjson:99",): 3,
        ("--record", "@gone.json"): 3,
        ("1:1", "1:2", "1:3"): 2,
    }.items():
        assert judged("explain", *arguments).returncode == status, arguments


def test_a_skipped_row_without_its_input_is_explained_by_its_receipt(judged: Any) -> None:
    """Where the input changed, the steps can't be shown, and the explanation says so."""
    Path("day.ndjson").write_text("{}\n")
    done = judged("explain", "1:3")
    assert done.returncode == 0
    assert "the record itself is not at hand" in done.stdout
    assert "the row it refers to: 1:1" in done.stdout


def test_rules_check_and_show(run: Any) -> None:
    """A ruleset is checked, shown with its defaults, and the built-in ones are listed."""
    assert "posts/1, sha256:" in run("rules", "check", "seenbefore.toml").stdout
    checked = json.loads(run("rules", "check", "records/1", "--json").stdout)
    shown = json.loads(run("rules", "show", "records/1", "--json").stdout)
    assert checked["fingerprint"] == shown["fingerprint"]
    assert "records/1" in run("rules", "show").stdout
    assert json.loads(run("rules", "show", "--json").stdout)["builtin"][0] == "records/1"
    assert '"strength": "page"' in run("rules", "show", "seenbefore.toml").stdout
    Path("bad.toml").write_text('name = "x"\nversion = 1\nidentiy = ["a"]\n')
    done = run("rules", "check", "bad.toml")
    assert (done.returncode, "identiy" in done.stderr) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Any, shell: str) -> None:
    """Each shell gets a script that names the command."""
    done = run("completion", shell)
    assert (done.returncode, "_SEENBEFORE_COMPLETE" in done.stdout) == (0, True)


@pytest.mark.usefixtures("judged")
def test_a_reader_that_goes_away_is_no_fault() -> None:
    """Output into a closed pipe ends the command with 141, without a traceback."""
    for command in ("store info seenbefore.db --json", "merged seenbefore.db"):
        done = subprocess.run(
            ["bash", "-c", f"(sleep 1; {SEENBEFORE} {command}; echo $? >&2) | true"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.strip() == "141"
