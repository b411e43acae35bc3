"""The sample crawls, judged: each line that is there to show something gets the verdict that the README states."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seenbefore import _kernel

SAMPLE = Path(__file__).parent.parent.parent / "examples" / "sample"
SEENBEFORE = Path(sys.executable).with_name("seenbefore")
ROW = re.compile(r"^\| `([^`]+):(\d+)` \| ([^|]+) \| (.+) \|$", re.MULTILINE)
ROWS = [
    (file, int(line), verdict)
    for file, line, verdict, _ in ROW.findall((SAMPLE / "README.md").read_text(encoding="utf-8"))
]
# What no line of a file can cause under the sample's ruleset, within its kinds, and below the limits.
NOT_SHOWN = {
    "line-too-long",
    "float",
    "bad-base64",
    "no-identity",
    "ragged-row",
    "invalid-csv",
    "invalid-encoding",
    "bad-money",
    "ambiguous-money",
    "excess-decimals",
    "unknown-currency",
    "currency-conflict",
    "no-zone",
    "bad-timestamp",
    "bad-date",
    "url-too-long",
    "bad-check-digit",
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of one run over the whole sample."""
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(SAMPLE, folder / "sample")
    inputs = sorted(path.relative_to(folder).as_posix() for path in (folder / "sample").glob("*.ndjson*"))
    done = subprocess.run(
        [SEENBEFORE, "dedup", *inputs, "--rules", "sample/rules.toml", "--store", "seen.db", "--out", "out"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return folder / "out"


def receipts(out: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The receipts by file name and line."""
    lines = (out / "receipts.ndjson").read_text(encoding="utf-8").splitlines()
    return {(Path(one["input"]).name, one["line"]): one for one in map(json.loads, lines)}


def said(receipt: dict[str, Any]) -> str:
    """A receipt in the words of the sample's table."""
    words = [receipt["verdict"], *receipt.get("problems", [])]
    if receipt["verdict"] == "duplicate":
        words.append(receipt["matched_on"])
    if receipt["verdict"] == "refused":
        words.append(receipt["code"])
    if receipt["verdict"] == "changed" and receipt["seen_before"]:
        words.append("seen before")
    return ", ".join(words)


def test_lines_get_the_verdicts_that_the_readme_states(judged: Path) -> None:
    """Each row of the README's table names a line and the verdict that its receipt has."""
    given = receipts(judged)
    assert [(file, line, said(given[file, line])) for file, line, _ in ROWS] == ROWS


def test_sample_shows_every_code_and_verdict(judged: Path) -> None:
    """Every verdict, and every code that a line can get under the sample's rules, is there to be seen."""
    summary = json.loads((judged / "summary.json").read_text(encoding="utf-8"))
    shown = {
        *summary["refusals"],
        *summary["problems"],
        *(name for name, count in summary["verdicts"].items() if count),
    }
    assert shown == {*_kernel.VERDICTS, *_kernel.REFUSAL_CODES, *_kernel.PROBLEM_CODES} - NOT_SHOWN
    assert summary["changed_seen_before"] > 0


def test_no_password_reaches_a_receipt(judged: Path) -> None:
    """The credentials in one URL of the sample are in no receipt and in no summary."""
    for name in ("receipts.ndjson", "summary.json"):
        assert "swordfish" not in (judged / name).read_text(encoding="utf-8")


def test_no_password_reaches_the_store(judged: Path) -> None:
    """Nor are they in the store's sightings; a kept row would be the user's own bytes, and this one is a duplicate."""
    assert b"swordfish" not in (judged.parent / "seen.db").read_bytes()


def test_every_line_ends_somewhere(judged: Path) -> None:
    """Kept, skipped and refused lines add up to the receipts: nothing is lost."""
    counts = {name: len((judged / name).read_bytes().splitlines()) for name in ("kept.ndjson", "refused.ndjson")}
    skipped = json.loads((judged / "summary.json").read_text(encoding="utf-8"))["skipped"]
    assert counts["kept.ndjson"] + counts["refused.ndjson"] + skipped == len(receipts(judged))
