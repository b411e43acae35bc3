"""What is named on the command line, as the inputs of a run; and stages that run ahead of each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from seenbefore.errors import InputUnreadable, UsageError
from seenbefore.reading import Ahead, expand


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of crawls, as the working directory."""
    for name in (
        "b.ndjson",
        "a.jsonl.gz",
        "sub/c.NDJSON.zst",
        ".hidden.ndjson",
        ".git/d.ndjson",
        "notes.txt",
        "x.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*arguments: str) -> list[str]:
    """The names of what the arguments give."""
    return [one.name for one in expand(arguments)]


@pytest.mark.usefixtures("folder")
def test_inputs_come_in_the_order_given() -> None:
    """Files stay as they were named, any ending will do, and a name given twice is read twice."""
    assert names("b.ndjson", "./notes.txt", "b.ndjson") == ["b.ndjson", "./notes.txt", "b.ndjson"]
    assert expand(["b.ndjson"])[0].size == 3


@pytest.mark.usefixtures("folder")
def test_directories_and_globs_come_in_name_order() -> None:
    """A directory gives its files of records, hidden ones left out, others named; a glob gives all that match."""
    told: list[str] = []
    found = [one.name for one in expand(["."], told.append)]
    assert found == ["./a.jsonl.gz", "./b.ndjson", "./sub/c.NDJSON.zst", "./x.json"]
    assert told == ["left out, because their names don't end as those of records do: ./notes.txt"]
    assert names("*.*") == ["a.jsonl.gz", "b.ndjson", "notes.txt", "x.json"]
    assert names("**/*.zst") == ["sub/c.NDJSON.zst"]


def test_output_folders_are_no_crawls(folder: Path) -> None:
    """What an earlier run wrote into a folder of crawls is not judged again, but by name it can be."""
    (folder / "sub" / "out").mkdir()
    for name in ("kept.ndjson", "receipts.ndjson"):
        (folder / "sub" / "out" / name).write_bytes(b"{}\n")
    assert names("sub") == ["sub/c.NDJSON.zst"]
    assert names("sub/out/kept.ndjson") == ["sub/out/kept.ndjson"]


def test_a_name_that_is_there_is_no_glob(folder: Path) -> None:
    """A file whose name has brackets is found by its name."""
    (folder / "[a].ndjson").write_bytes(b"")
    assert names("[a].ndjson") == ["[a].ndjson"]


def test_names_that_are_no_text_are_printable(folder: Path) -> None:
    """A file name of other bytes than UTF-8 can be read, and its name can be written into JSON."""
    path = os.fsencode(folder) + b"/caf\xe9.ndjson"
    Path(os.fsdecode(path)).write_bytes(b"{}\n")
    (one,) = expand(["caf*.ndjson"])
    assert one.name == "caf\\xe9.ndjson"
    assert one.path == "caf\udce9.ndjson"


@pytest.mark.usefixtures("folder")
def test_what_can_not_be_an_input_is_named() -> None:
    """A missing file, a glob without a match, an empty folder; no input at all; standard input twice."""
    for argument in ("gone.ndjson", "*.gone", ".git/gone/"):
        with pytest.raises(InputUnreadable) as caught:
            expand([argument])
        assert argument.rstrip("/") in str(caught.value)
    Path("empty").mkdir()
    with pytest.raises(InputUnreadable, match="no file of records in empty"):
        expand(["empty"])
    for wrong in ([], ["-", "-"], [""]):
        with pytest.raises(UsageError):
            expand(wrong)


def test_a_stage_runs_ahead_by_its_depth_and_hands_errors_on() -> None:
    """At depth 1 the second item is made only once the first is taken; an error comes after the items before it."""
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(3):
            made.append(number)
            yield number
        raise InputUnreadable("at the end")

    stage = Ahead(items(), 1, "test")
    assert stage.take() == 0
    assert stage.take() == 1
    assert 2 not in made[:2]
    assert stage.take() == 2
    with pytest.raises(InputUnreadable, match="at the end"):
        stage.take()
    with pytest.raises(InputUnreadable, match="at the end"):
        stage.take()
    stage.close()


def test_a_stage_that_is_waited_for_in_vain_says_so() -> None:
    """A pipe that is silent for long lets the taker do something else meanwhile."""
    reading, writing = os.pipe()
    stage = Ahead(iter([lambda: os.read(reading, 1)]), 1, "test")
    assert callable(stage.take())
    stage.close()
    stage = Ahead((os.read(reading, 1) for _ in range(1)), 1, "silent")  # type: ignore[assignment]
    with pytest.raises(TimeoutError):
        stage.take(0.05)
    os.write(writing, b"x")
    assert stage.take() == b"x"  # type: ignore[comparison-overlap]
    assert list(stage) == []
    stage.close()
    for end in (reading, writing):
        os.close(end)
