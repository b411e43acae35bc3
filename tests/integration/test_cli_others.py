"""The smaller commands: explain, rules, completion, --version and --help."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
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
    Path("gaps.ndjson").write_bytes(b'{"text":"a"}\n\n \t\r\n{"text":"b"}\n\f\n')
    for line in (2, 3):
        done = run("explain", f"gaps.ndjson:{line}")
        assert (done.returncode, f"line {line} of gaps.ndjson is blank" in done.stderr) == (3, True)
    assert run("explain", "gaps.ndjson:4").returncode == 0
    # As a run has it.
    assert "refused: invalid-json" in run("explain", "gaps.ndjson:5").stdout


@pytest.mark.parametrize("command", ["log", "merged"])
def test_the_store_is_named_in_any_usual_way(judged: Any, command: str) -> None:
    """As the argument, by the option of dedup, or not at all: then it is the one that dedup makes."""
    told = [judged(command, *how).stdout for how in ((), ("seenbefore.db",), ("--store", "seenbefore.db"))]
    assert len(set(told)) == 1
    assert told[0]
    assert judged(command, "seenbefore.db", "--store", "other.db").returncode == 2


def test_explain_shows_what_was_refused(judged: Any) -> None:
    """A line that can't be read is shown as it came, with bytes that are no text as such."""
    assert 'as it came   {"text": "cut' in judged("explain", "1:6").stdout
    Path("odd.json").write_bytes(b'{"text":"\xff\x1b"}')
    assert 'as it came   {"text":"\\xff⟨U+001B⟩"}' in judged("explain", "--record", "@odd.json").stdout


def test_explain_a_changed_page(judged: Any) -> None:
    """A new version of a page is shown beside what its URL showed before; in JSON it is there as a whole."""
    shown = judged("explain", "1:4").stdout
    assert "its URL showed before: 1:3\nfetched at   2026-03-02T08:02:00Z" in shown
    assert re.search(r'before ".*ferry.*"\n  now    ".*"', shown)
    assert re.search(r"^source +a\nfetched at +2026-03-02T08:03:00Z$", shown, re.MULTILINE)
    told = json.loads(judged("explain", "1:4", "--json").stdout)
    assert told["previous"]["receipt"]["seq"] == 3
    assert told["history"] == []


def test_explain_shows_where_long_texts_differ(run: Any) -> None:
    """Of a long text the stretch around the difference is shown, and of a step the one around its first change."""
    start = "lorem ipsum " * 40
    both = [json.dumps({"text": f"{start}{end}"}) for end in ("ends here.", "ends Th\u00a0re.")]
    shown = run("explain", "--record", both[0], "--record", both[1]).stdout
    assert "lorem ipsum ends here." in shown
    assert "ends Th⟨U+00A0⟩re." in shown
    assert shown.count("…") >= 4


def test_the_history_is_listed(judged: Any) -> None:
    """What was seen at a URL stands behind its explanation, with verdicts and times, also as JSON."""
    shown = judged("explain", "--url", "https://a.example/1").stdout
    assert re.search(r"sighted 3 times\n  1:1 +new +2026-03-02T08:00:00Z  a  https://a\.example/1\n", shown)
    told = json.loads(judged("explain", "--url", "https://a.example/1", "--json").stdout)
    assert [(one["seq"], one["verdict"]) for one in told["history"]] == [(1, "new"), (3, "duplicate"), (4, "changed")]


def test_explain_takes_the_store_in_either_way(judged: Any) -> None:
    """The store may stand first, as for other commands; a name that is none is told."""
    told = judged("explain", "1:3").stdout
    assert judged("explain", "seenbefore.db", "1:3").stdout == told
    assert judged("explain", "--store", "seenbefore.db", "1:3").stdout == told
    for arguments, status in (
        (("seenbefore.db", "1:3", "-s", "x.db"), 2),
        (("gone.db", "1:3"), 2),
        (("out", "1:3"), 4),
    ):
        assert judged("explain", *arguments).returncode == status, arguments


def test_colours_are_for_terminals(judged: Any) -> None:
    """A terminal gets colours, unless NO_COLOR says otherwise; a pipe or a file gets none."""
    assert "\x1b" not in judged("explain", "1:4").stdout
    command = [str(SEENBEFORE), "explain", "1:4"]
    for setting, coloured in (("", True), ("1", False)):
        assert (b"\x1b[33mchanged" in on_a_terminal(command, setting)) is coloured


def on_a_terminal(command: list[str], no_color: str) -> bytes:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=environment):
        os.close(theirs)
        written = b""
        # Reading fails once nobody holds the other end.
        with contextlib.suppress(OSError):
            while some := os.read(ours, 1 << 16):
                written += some
    os.close(ours)
    return written


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


def test_help_shows_no_marks(run: Any) -> None:
    r"""Lines of examples stay as they are in every help; click's mark for them, \b, is not seen."""
    for command in ("explain", "log", "completion"):
        shown = run(command, "--help").stdout
        assert "\\b" not in shown
        assert re.search(r"^  (bash: )?seenbefore \w", shown, re.MULTILINE)
