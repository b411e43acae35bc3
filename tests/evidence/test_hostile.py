"""Bundles that mean harm: both verifiers report them, follow nothing, and come to an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.evidence.conftest import made
from tests.evidence.verifiers import VERIFIERS, checker, edit, member, places, reseal

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
ROWS, RECEIPTS, RULESETS = "data/rows.ndjson", "data/receipts.ndjson", "data/ruleset.json"


@pytest.fixture(params=VERIFIERS)
def verifier(request: pytest.FixtureRequest) -> Any:
    """Each of the two."""
    return VERIFIERS[request.param]


@pytest.mark.parametrize("path", ["../../secret", "/etc/passwd", "data/../../secret", "C:\\secret", "data/\x00"])
def test_paths_out_of_the_folder(copied: Path, path: str, verifier: Any) -> None:
    """A path in a manifest or a package is compared, and never opened."""
    (copied.parent / "secret").write_text("secret", encoding="utf-8")
    manifest = copied / "manifest-sha256.txt"
    manifest.write_bytes(manifest.read_bytes() + f"{'0' * 64}  {path}\n".encode())
    package = copied / "data" / "datapackage.json"
    package.write_bytes(package.read_bytes().replace(b'"rows.ndjson"', json.dumps(path).encode()))
    told = verifier(copied)
    assert ("manifest", "manifest-sha256.txt", 9) in places(told)
    assert ("package", "data/datapackage.json", 1) in places(told)


def test_links_are_not_followed(copied: Path, verifier: Any) -> None:
    """Links, hard links, folders and pipes in place of files are named, and nothing behind them is read."""
    outside = copied.parent / "outside"
    outside.write_bytes((copied / ROWS).read_bytes())
    (copied / ROWS).unlink()
    (copied / ROWS).symlink_to(outside)
    os.link(outside, copied / "data" / "hard.txt")
    os.mkfifo(copied / "data" / "pipe")
    (copied / "data" / "folder").mkdir()
    (copied / "loop").symlink_to(copied)
    told = verifier(copied)
    found = {(one["file"], str(one["found"])) for one in told["problems"] if one["check"] == "layout"}
    assert found >= {
        (ROWS, "a link"),
        ("data/hard.txt", "a file with other names"),
        ("data/pipe", "a device or pipe"),
        ("data/folder", "a folder"),
        ("loop", "a link"),
    }
    assert len(found) == 6  # and that there are no rows
    assert told["checks"]["rows"]["passed"] == 0


def test_deep_nesting(copied: Path, verifier: Any) -> None:
    """Brackets without end, in a row, a receipt, a ruleset or a package, are no JSON of ours."""
    deep = b"[" * 200_000
    edit(copied / ROWS, 1, lambda line: b'{"a":' + deep + b"," + line[1:])
    edit(copied / RECEIPTS, 2, lambda _: deep)
    (copied / RULESETS).write_bytes(b'{"format":"bundle/1","rulesets":' + deep + b"]" * 200_000 + b"}\n")
    (copied / "data" / "runs.ndjson").write_bytes(deep + b"\n")
    assert verifier(copied)["outcome"] == "failed"


@pytest.mark.parametrize("text", [b"NaN", b"1e999999999", b"-0.0e-99999999999999999999", b"9" * 10_000, b"Infinity"])
def test_numbers(copied: Path, text: bytes, verifier: Any) -> None:
    """NaN is no JSON, and no number is too large to be looked at."""
    edit(copied / ROWS, 1, lambda line: line.replace(b'"views": 102', b'"views": ' + text))
    edit(copied / RECEIPTS, 3, lambda line: line.replace(b'"seq":3', b'"seq":' + text))
    edit(copied / RULESETS, 1, lambda line: line.replace(b'"version":1', b'"version":' + text))
    edit(copied / "data" / "runs.ndjson", 1, lambda line: line.replace(b'"records":104', b'"records":' + text))
    assert verifier(copied)["outcome"] == "failed"


def test_long_lines(copied: Path, verifier: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit ends the reading of that file, and is named."""
    monkeypatch.setattr("seenbefore.audit.files.LONGEST_LINE", 10 << 20)
    monkeypatch.setattr(checker, "LONGEST", 10 << 20)
    edit(copied / ROWS, 2, lambda line: line + b" " * (16 << 20))
    told = verifier(copied)
    assert ("rows", ROWS, 2) in places(told)


def test_references_without_end(tmp_path: Path) -> None:
    """A character reference of ten thousand digits is one beyond Unicode."""
    assert checker.decoded(f"&#{'9' * 10_000};&#x{'0' * 10_000}41;", attribute=False) == "\ufffdA"
    assert tmp_path.exists()


def test_bombs(store: Path, tmp_path: Path) -> None:
    """A small file that unpacks to a huge one is unpacked a piece at a time, within little memory."""
    bundle = made(store, tmp_path / "bundle", compressed=True)
    packer = zstandard.ZstdCompressor(level=19)
    line = b" " * ((1 << 20) - 1) + b"\n"
    (bundle / "data" / "rows.ndjson.zst").write_bytes(packer.compress(line * 150))
    script = (
        "import sys\n"
        "from seenbefore.audit.verify import verify\n"
        "report = verify(sys.argv[1])\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM:'))\n"
        "print(report.tallies['rows'].failed, peak.split()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, bundle], capture_output=True, text=True, check=True)
    failed, kilobytes = map(int, done.stdout.split())
    assert failed > 0
    assert kilobytes < 250_000


@pytest.mark.parametrize(
    "data", [b"", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd", zlib.compress(b"x")]
)
def test_compressed_files_that_are_none(store: Path, tmp_path: Path, data: bytes) -> None:
    """Cut, foreign and skippable frames are a problem of that file."""
    bundle = made(store, tmp_path / "bundle", compressed=True)
    (bundle / "data" / "receipts.ndjson.zst").write_bytes(data)
    assert VERIFIERS["kernel"](bundle)["outcome"] == "failed"


def test_nothing_acts_on_a_terminal(copied: Path) -> None:
    """Escape sequences and marks that turn the direction of text are shown as code points, in names and in values."""
    nasty = "\x1b[2J\u202etxt\x07"
    (copied / "data" / f"a{nasty}").write_bytes(b"")
    edit(copied / RECEIPTS, 1, member("source", nasty))
    edit(copied / RECEIPTS, 2, member("verdict", nasty))
    reseal(copied)
    outputs = [
        subprocess.run([SEENBEFORE, "verify", copied], capture_output=True, check=False),
        subprocess.run([sys.executable, "-I", copied / "data" / "verify.py"], capture_output=True, check=False),
    ]
    for done in outputs:
        assert done.returncode == 1
        text = done.stdout.decode()
        assert "<U+001B>" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_many_strange_files(copied: Path, verifier: Any) -> None:
    """Thousands of files that don't belong are counted, and a thousand of them listed."""
    for number in range(1500):
        (copied / "data" / f"x{number}").touch()
    told = verifier(copied)
    assert told["checks"]["layout"]["failed"] == 1500
    assert sum(one["check"] == "layout" for one in told["problems"]) == 1000
