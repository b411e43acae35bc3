"""Thirteen real crawls as a bundle: built, copied away, checked by both verifiers, and one letter changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seenbefore import Deduplicator, Ruleset
from seenbefore.evidence.bundle import build
from seenbefore.stores import open_store

pytestmark = [pytest.mark.shared, pytest.mark.slow]
RULES = """
name = "telegram"
version = 1
identity = ["text"]
[record]
url = "url"
fetched_at = "fetched_at"
[fields.text]
kind = "text"
"""


@pytest.mark.skipif("SEENBEFORE_SHARED" not in os.environ, reason="SEENBEFORE_SHARED does not name the test data")
def test_thirteen_runs(tmp_path: Path) -> None:
    """The bundle passes in an empty environment and under the command; of one other letter both name row and file."""
    crawls = sorted((Path(os.environ["SEENBEFORE_SHARED"]) / "data" / "recrawl" / "telegram_fa").glob("*.gz"))
    assert len(crawls) == 13
    with Deduplicator(Ruleset.from_toml(RULES), tmp_path / "seen.db") as deduplicator:
        for crawl in crawls:
            deduplicator.run([crawl])
    with open_store(str(tmp_path / "seen.db"), read_only=True) as store:
        made = build(store, tmp_path / "bundle")
    assert (made.receipts, made.rows) == (13_000, 5_992)
    bundle = Path(shutil.copytree(made.folder, tmp_path / "copy" / "bundle"))
    commands = (
        [sys.executable, "-I", bundle / "data" / "verify.py"],
        [Path(sys.executable).with_name("seenbefore"), "verify", bundle],
    )
    for command in commands:
        done = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    path = bundle / "data" / "rows.ndjson"
    lines = path.read_bytes().split(b"\n")
    at = lines[2999].index(b'"text":"') + len(b'"text":"')
    lines[2999] = lines[2999][:at] + b"x" + lines[2999][at:]
    path.write_bytes(b"\n".join(lines))
    for command in commands:
        done = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "data/rows.ndjson: SHA-256 (manifest)" in done.stdout
        assert "data/rows.ndjson, line 3000: content key of " in done.stdout
