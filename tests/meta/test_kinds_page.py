"""docs/reference/kinds.md is what tools/kinds_page.py makes of the kinds' doc comments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_page_is_what_the_doc_comments_say() -> None:
    """The page of kinds equals what its script writes, so that a kind is described in one place only."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "kinds_page.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_page_has_every_kind() -> None:
    """Each row of the registry has its section."""
    registry = (ROOT / "crates" / "seenbefore-core" / "src" / "kinds" / "mod.rs").read_text(encoding="utf-8")
    names = [line.split('"')[1] for line in registry.splitlines() if line.startswith('    ("')]
    page = (ROOT / "docs" / "reference" / "kinds.md").read_text(encoding="utf-8")
    sections = [line.strip("# `") for line in page.splitlines() if line.startswith("## ")]
    assert sections == names
    assert len(names) > 10
