"""The examples of README and docs: `console` blocks run by bash, `pycon` ones by doctest, `python` ones as scripts.

A page is one story: its blocks run in their order, in one temporary folder that holds `examples/`. A shown output is
compared loosely: white space counts as one space, `…` stands for anything, and a page may show the beginning only by
ending in `…`. Blocks marked `sh` are for reading.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
END = "\x1e"


def name(page: Path) -> str:
    """The page's path from the root: its name in reports."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page in order: language and text."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def told(console: str) -> list[tuple[str, str]]:
    """A console block → its commands, each with the output shown for it."""
    commands = re.split(r"^\$ ", console, flags=re.MULTILINE)
    assert not commands[0].strip(), "a console block starts with a command"
    return [(line, shown) for line, _, shown in (command.partition("\n") for command in commands[1:])]


def run(commands: list[str], folder: Path) -> list[str]:
    """What each command prints, in one shell, so that `$?` and `cd` carry over."""
    keep_status = f"status=$?; printf '{END}'; (exit $status)"
    script = "\n".join(f"{command}\n{keep_status}" for command in commands)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return done.stdout.split(END)[:-1]


def agrees(shown: str, printed: str) -> bool:
    """True where the output is the one shown, white space and what stands for `…` aside."""
    pattern = r"\s*".join(re.escape(word) for word in shown.split())
    return re.fullmatch(rf"\s*{pattern.replace('…', '.*')}\s*", printed, re.DOTALL) is not None


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh folder with the examples in it, made the current one."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_do_what_the_page_says(page: Path, story: Path) -> None:
    """Every command of a page prints what the page shows, and every Python example gives what it claims."""
    names: dict[str, object] = {}
    for language, text in blocks(page):
        if language == "console":
            commands = told(text)
            printed = run([command for command, _ in commands], story)
            for (command, shown), output in zip(commands, printed, strict=True):
                assert agrees(shown, output), f"$ {command}\n{output}"
        elif language == "pycon":
            run_doctest(text, names, page)
        elif language == "python":
            exec(compile(text, name(page), "exec"), names)


def run_doctest(text: str, names: dict[str, object], page: Path) -> None:
    """Run a session whose names go on from block to block; fails with doctest's own report."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(text, names, name(page), str(page), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=options).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not report, "".join(report)


@pytest.mark.parametrize("page", [*PAGES[1:], *ROOT.glob("*.md"), *ROOT.glob("[est]*/**/README.md")], ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file or folder that exists, and a heading that is there."""
    for target, heading in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading[1:] in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}, (
                heading
            )
