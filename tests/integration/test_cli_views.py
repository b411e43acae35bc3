"""Looking at what a store has seen: merged and log, as people start them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.integration.conftest import RULES, call, fill


class Judged:
    """A folder whose store has two runs: day.ndjson, and a record of it fetched earlier, at another place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        fill(folder)
        late = {
            "url": "https://c.example/1",
            "at": "2026-03-01T23:00:00Z",
            "channel": "c",
            "text": "the ferry runs again.",
        }
        (folder / "late.ndjson").write_text(f"{json.dumps(late)}\n", encoding="utf-8")
        assert self("dedup", "day.ndjson", "--out", "out").returncode == 1
        assert self("dedup", "late.ndjson", "--out", "out2").returncode == 0

    def __call__(self, *arguments: str) -> CompletedProcess[str]:
        return call(self.folder, *arguments)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """One for all tests here: none of them changes its store."""
    return Judged(tmp_path_factory.mktemp("views"))


def test_merged_gives_a_row_a_content(judged: Judged) -> None:
    """Each content once, with every URL and source, the earliest time whatever the order of arrival, and its record."""
    done = judged("merged", "seenbefore.db")
    assert (done.returncode, done.stderr) == (0, "")
    ferry, stopped = map(json.loads, done.stdout.splitlines())
    assert (ferry["run"], ferry["seq"], ferry["sightings"], ferry["sources"]) == (1, 1, 4, ["a", "c"])
    assert (ferry["first_seen"], ferry["last_seen"]) == ("2026-03-01T23:00:00Z", "2026-03-02T08:02:00Z")
    assert [(shown["url"], shown["source"], shown["sightings"]) for shown in ferry["urls"]] == [
        ("https://a.example/1", "a", 2),
        ("https://a.example/2", "a", 1),
        ("https://c.example/1", "c", 1),
    ]
    assert ferry["record"] == json.loads(judged.read("day.ndjson").splitlines()[0])
    assert stopped["urls"][0] == {
        "url": "https://a.example/1",
        "source": "a",
        "first_seen": "2026-03-02T08:03:00Z",
        "last_seen": "2026-03-02T08:03:00Z",
        "sightings": 1,
    }


def test_merged_of_a_part(judged: Judged) -> None:
    """A source, some runs or a ruleset: only those sightings count, and a content without any has no row."""
    (row,) = judged("merged", "seenbefore.db", "--source", "c").stdout.splitlines()
    assert json.loads(row)["first_seen"] == "2026-03-01T23:00:00Z"
    assert len(judged("merged", "seenbefore.db", "--runs", "1..2").stdout.splitlines()) == 2
    (row,) = judged("merged", "seenbefore.db", "--runs", "2").stdout.splitlines()
    assert (json.loads(row)["run"], json.loads(row)["sightings"]) == (1, 1)
    assert judged("merged", "seenbefore.db", "--runs", "2..1").returncode == 2
    assert len(judged("merged", "seenbefore.db", "--ruleset", "posts/1").stdout.splitlines()) == 2
    done = judged("merged", "seenbefore.db", "--ruleset", "posts/2")
    assert (done.returncode, "it has posts/1" in done.stderr) == (2, True)


def test_merged_into_a_file(judged: Judged) -> None:
    """The file is there whole or not at all, and one that is there is replaced by --force alone; the store stays."""
    before = (judged.folder / "seenbefore.db").read_bytes()
    assert judged("merged", "seenbefore.db", "--out", "merged.ndjson").stdout == "merged.ndjson: 2 contents\n"
    assert judged.read("merged.ndjson") == judged("merged", "seenbefore.db").stdout
    (judged.folder / "merged.ndjson").write_text("mine")
    done = judged("merged", "seenbefore.db", "--out", "merged.ndjson")
    assert (done.returncode, judged.read("merged.ndjson")) == (2, "mine")
    assert judged("merged", "seenbefore.db", "--out", "merged.ndjson", "--force").returncode == 0
    assert judged.read("merged.ndjson") != "mine"
    for out in ("gone/merged.ndjson", "out"):
        assert judged("merged", "seenbefore.db", "--out", out, "--force").returncode == 2
    assert not list(judged.folder.glob(".merged*"))
    assert (judged.folder / "seenbefore.db").read_bytes() == before
    assert judged("merged", "gone.db").returncode == 2
    assert not (judged.folder / "gone.db").exists()


def test_merged_as_a_table(judged: Judged) -> None:
    """CSV has a column for each member of a row and of its record; the format is the file's ending, or --format."""
    printed = judged("merged", "seenbefore.db", "--format", "csv").stdout
    rows = list(csv.DictReader(printed.splitlines()))
    lines = [json.loads(line) for line in judged("merged", "seenbefore.db").stdout.splitlines()]
    assert [row["content_key"] for row in rows] == [line["content_key"] for line in lines]
    assert [json.loads(row["urls"]) for row in rows] == [line["urls"] for line in lines]
    assert [row["record.text"] for row in rows] == [line["record"]["text"] for line in lines]
    assert rows[0]["first_seen"] == "2026-03-01T23:00:00Z"
    assert judged("merged", "seenbefore.db", "--out", "table.csv").returncode == 0
    assert judged.read("table.csv") == printed
    assert judged("merged", "seenbefore.db", "--out", "table.txt").returncode == 0
    assert judged.read("table.txt") == judged("merged", "seenbefore.db", "--format", "ndjson").stdout
    assert [path.name for path in judged.folder.iterdir() if path.name.startswith((".table", "tmp"))] == []


def test_merged_as_parquet(judged: Judged) -> None:
    """Parquet holds the same, with numbers as numbers."""
    parquet = pytest.importorskip("pyarrow.parquet")
    assert judged("merged", "seenbefore.db", "--out", "table.parquet").returncode == 0
    table = parquet.read_table(judged.folder / "table.parquet")
    assert table["sightings"].to_pylist() == [4, 1]
    assert table["record.channel"].to_pylist() == ["a", "a"]


def test_merged_says_once_what_its_rows_lack(run: Any) -> None:
    """Contents of two rulesets in one stream are pointed out, on standard error."""
    run("dedup", "day.ndjson", "--no-output")
    Path("seenbefore.toml").write_text(RULES.replace("version = 1", "version = 2"), encoding="utf-8")
    run("dedup", "day.ndjson", "--no-output")
    done = run("merged", "seenbefore.db")
    assert done.stderr == "contents of 2 rulesets: posts/1, posts/2; --ruleset takes one of them\n"
    assert len(done.stdout.splitlines()) == 4


def test_log_lists_records(judged: Judged) -> None:
    """A line a record, named as explain takes it, with what it refers to."""
    done = judged("log", "seenbefore.db")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["row", "verdict", "refers", "to", "match", "fetched", "at", "source", "URL"]
    assert lines[3] == ["1:3", "duplicate", "1:1", "content", "2026-03-02T08:02:00Z", "a", "https://a.example/1"]
    assert lines[6] == ["1:6", "refused", "invalid-json,", "day.ndjson:6"]
    assert len(lines) == 8
    assert judged("explain", lines[3][0]).returncode == 0


def test_log_as_json_is_receipts(judged: Judged) -> None:
    """--json prints the receipts themselves."""
    printed = judged("log", "seenbefore.db", "--run", "1", "--json").stdout
    assert printed == judged.read("out/receipts.ndjson")


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        (("--run", "2"), ["2:1"]),
        (("--source", "a", "--verdict", "duplicate"), ["1:3"]),
        (("--url", "HTTPS://A.example:443/1?utm_source=x#top"), ["1:1", "1:3", "1:4"]),
        (("--url", "https://a.example/1", "--verdict", "changed"), ["1:4"]),
        (("--since", "2026-03-02T08:01Z", "--until", "2026-03-02T08:03:00Z"), ["1:2", "1:3"]),
        (("--until", "2026-03-02"), ["2:1"]),
        (("--limit", "2"), ["1:6", "2:1"]),
        (("--row", "1:1"), ["1:1", "1:2", "1:3", "2:1"]),
        (("--action", "skip"), ["1:3"]),
        (("--action", "refuse", "--run", "1"), ["1:6"]),
        (("--action", "keep", "--limit", "1"), ["2:1"]),
        (("--url", "https://z.example/"), []),
    ],
)
def test_log_of_a_part(judged: Judged, asked: tuple[str, ...], rows: list[str]) -> None:
    """Filters narrow the list together; a URL is found by any spelling of the same place."""
    done = judged("log", "seenbefore.db", *asked)
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == rows
    assert done.returncode == 0
    assert (done.stderr == "no record has all that\n") is not bool(rows)


def test_log_by_key(judged: Judged) -> None:
    """A key is that of a content or of a place."""
    receipt = json.loads(judged("log", "seenbefore.db", "--run", "2", "--json").stdout)
    for key, count in ((receipt["content_key"], 4), (receipt["url_key"], 1)):
        assert len(judged("log", "seenbefore.db", "--key", key, "--json").stdout.splitlines()) == count


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (("--run", "7"), 2),
        (("--since", "yesterday"), 2),
        (("--verdict", "odd"), 2),
        (("--key", "nonsense"), 2),
        (("--url", "nonsense"), 1),
        (("--row", "1:6"), 2),
        (("--row", "1:99"), 2),
        (("--row", "day.ndjson:1"), 2),
        (("--row", "1:1", "--url", "https://a.example/1"), 2),
        (("--versions",), 2),
        (("--versions", "--row", "1:1"), 2),
    ],
)
def test_log_refuses_what_can_have_no_answer(judged: Judged, asked: tuple[str, ...], status: int) -> None:
    """What is no run, time, verdict, key or URL is told apart from an empty answer."""
    done = judged("log", "seenbefore.db", *asked)
    assert (done.returncode, done.stdout) == (status, "")


def test_log_of_versions(judged: Judged) -> None:
    """What a page showed: a line for each content, from when to when; by its URL key, and as NDJSON, too."""
    lines = [line.split() for line in judged("log", "--url", "https://A.example/1", "--versions").stdout.splitlines()]
    assert lines[0] == ["row", "verdict", "refers", "to", "first", "seen", "last", "seen", "sightings", "URL"]
    assert lines[1:] == [
        ["1:1", "new", "2026-03-02T08:00:00Z", "2026-03-02T08:02:00Z", "2", "https://a.example/1"],
        ["1:4", "changed", "2026-03-02T08:03:00Z", "2026-03-02T08:03:00Z", "1", "https://a.example/1"],
    ]
    receipts = [json.loads(line) for line in judged.read("out/receipts.ndjson").splitlines()]
    printed = judged("log", "--key", receipts[0]["url_key"], "--versions", "--json").stdout
    versions = [json.loads(line) for line in printed.splitlines()]
    assert [one["content_key"] for one in versions] == [receipts[0]["content_key"], receipts[3]["content_key"]]
    assert [one["sightings"] for one in versions] == [2, 1]
    assert judged("log", "--url", "https://z.example/", "--versions").stderr == "no record has all that\n"


@pytest.mark.parametrize("command", [("log", "--limit", "1"), ("merged",), ("verify",), ("bundle", "--out")])
def test_a_store_is_named_in_either_way(judged: Judged, tmp_path: Path, command: tuple[str, ...]) -> None:
    """As an argument, as --store, or not at all where it is the usual one; two different ones are refused."""
    out = [str(tmp_path / str(at)) for at in range(3)] if command == ("bundle", "--out") else [None] * 3
    ways = [("seenbefore.db",), ("--store", "seenbefore.db"), ()]
    done = [
        judged(*command, *([] if to is None else [to]), *way)
        for way, to in zip(ways, out, strict=True)
        if way or command != ("verify",)
    ]
    assert {one.returncode for one in done} == {0}
    # A bundle says where it is.
    assert len({one.stdout for one in done}) == 1 or command == ("bundle", "--out")
    refused = judged(*command, *([] if out[0] is None else [str(tmp_path / "3")]), "one.db", "-s", "other.db")
    assert refused.returncode == 2
    assert "two stores are named: one.db and other.db" in refused.stderr
