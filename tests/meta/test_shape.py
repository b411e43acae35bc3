"""The shape of the repository: file sizes, module names, and the sample as its script writes it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LIMIT = 350
# Files over the limit, each with the reason why it is one file all the same.
LONGER = {
    "crates/seenbefore-core/src/entities/table.rs": "a generated table",
    "python/seenbefore/_kernel.pyi": "the whole Rust surface in one place: a stub is one module",
    "python/seenbefore/evidence/verify.py": "one file on purpose: a buyer reads it and runs it alone",
}
# What a buyer reads before trusting us is held to a length: this is lowered when it gets shorter, and not raised.
MOST_TO_READ = {"python/seenbefore/evidence/verify.py": 2300}
VAGUE = {"utils", "util", "misc", "helpers", "helper", "common", "core", "base_utils", "tools", "stuff", "lib_utils"}
# The workspace's own lib.rs and folders are named by cargo.
SOURCES = [
    path
    for folder, endings in {
        "crates": ("*.rs",),
        "python": ("*.py", "*.pyi"),
        "tests": ("*.py",),
        "tools": ("*.py",),
    }.items()
    for ending in endings
    for path in sorted((ROOT / folder).rglob(ending))
    if "target" not in path.parts
]


def name(path: Path) -> str:
    """The file's path from the root."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_long_files_have_a_reason(path: Path) -> None:
    """A source file over 350 lines stands in the list above with its reason."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LIMIT or name(path) in LONGER, f"{lines} lines: split it, or say above why it is one file"


def test_reasons_are_needed() -> None:
    """The list of long files holds no file that is gone or has become short."""
    long = {name(path) for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > LIMIT}
    assert long == set(LONGER)


@pytest.mark.parametrize("path", MOST_TO_READ)
def test_what_a_buyer_reads_is_short(path: str) -> None:
    """The file is no longer than its bound, and tables are a small part of it."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_TO_READ[path]
    tables = [line for line in lines if re.fullmatch(r" {4,8}[0-9A-Za-z_ -]{90,}", line)]
    assert len(tables) < len(lines) / 15


def test_no_vague_names() -> None:
    """No module or folder is named after nothing in particular."""
    package = [path.relative_to(ROOT) for path in SOURCES if path.relative_to(ROOT).parts[0] != "tools"]
    parts = {part for path in package for part in (*path.parts[1:-1], path.stem)}
    assert not parts & VAGUE


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name.startswith("test_")], ids=name)
def test_tests_say_the_behaviour(path: Path) -> None:
    """Each test has a docstring that says what is expected, for whoever sees it fail."""
    functions = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    )
    assert [one.name for one in functions if one.name.startswith("test_") and not ast.get_docstring(one)] == []


def test_sample_is_what_the_script_writes() -> None:
    """examples/sample equals the output of tools/make_sample.py, so that it can be changed in one place only."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_sample.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_lists_its_targets() -> None:
    """Bare `make` names every target that people call, each with one line of help."""
    printed = subprocess.run(
        ["make", "-C", ROOT, "--no-print-directory"], capture_output=True, text=True, check=True
    ).stdout
    targets = {line.split()[1] for line in printed.splitlines() if line.startswith("make ")}
    assert {"demo", "test", "lint", "bench", "clean"} <= targets
