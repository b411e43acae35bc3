"""The command line as people start it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
RULES = """
name = "posts"
version = 1
identity = ["text"]
volatile = ["views"]
[record]
url = "url"
fetched_at = "at"
source = "channel"
[fields.text]
kind = "text"
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def fill(folder: Path) -> None:
    """Writes a ruleset, seenbefore.toml, and one crawl of six lines, day.ndjson."""
    (folder / "seenbefore.toml").write_text(RULES, encoding="utf-8")
    posts: list[dict[str, Any]] = [
        {"url": "https://a.example/1", "at": "2026-03-02T08:00:00Z", "channel": "a", "text": "The ferry runs again."},
        {
            "url": "https://a.example/2",
            "at": "2026-03-02T08:01:00Z",
            "channel": "a",
            "text": "The\u00a0ferry runs again.",
        },
        {"url": "https://a.example/1", "at": "2026-03-02T08:02:00Z", "channel": "a", "text": "THE FERRY RUNS AGAIN."},
        {"url": "https://a.example/1", "at": "2026-03-02T08:03:00Z", "channel": "a", "text": "The ferry does not run."},
        {"url": "https://b.example/1", "at": "2026-03-02T08:04:00Z", "channel": "b", "text": ""},
    ]
    lines = [json.dumps(post, ensure_ascii=False) for post in posts]
    (folder / "day.ndjson").write_text("\n".join([*lines, '{"text": "cut']), encoding="utf-8")


def call(folder: Path, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder to its end."""
    done = subprocess.run(
        [SEENBEFORE, *arguments], cwd=folder, input=stdin, capture_output=True, check=False, timeout=120
    )
    result = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ruleset, seenbefore.toml, and one crawl of six lines, day.ndjson; the working directory."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Starts the command in that folder."""
    return partial(call, folder)
