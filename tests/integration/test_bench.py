"""`make bench` runs: every job of ours and home-made steps find the same number of distinct contents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_benchmarks_run_and_agree(tmp_path: Path) -> None:
    """Ours and a home-made step find the same contents, and the table is written with the machine's description."""
    command = [sys.executable, "-m", "benches.run", "--listings", "300", "--articles", "30", "--rounds", "1"]
    subprocess.run(
        [*command, "--only", "seenbefore", "twenty lines", "--results", tmp_path],
        cwd=ROOT,
        env={"PATH": "", "PYTHONHASHSEED": "0"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    (result,) = tmp_path.glob("*.json")
    stated = json.loads(result.read_text("utf-8"))
    rows = [row for row in stated["rows"] if row["corpus"] in {"listings", "articles"}]
    assert not [row for row in rows if "error" in row]
    assert len(rows) == 10
    for corpus in ("listings", "articles"):
        assert len({row["found"] for row in rows if row["corpus"] == corpus}) == 1
    assert stated["machine"]["cpu"]
    assert "| goal |" in result.with_suffix(".md").read_text("utf-8")
