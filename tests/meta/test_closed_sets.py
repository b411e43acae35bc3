"""Members of closed lists are documented and tested: codes, verdicts, kinds, steps, errors, commands, options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import seenbefore
from seenbefore import _kernel, cli, errors

ROOT = Path(__file__).parent.parent.parent
REFERENCE = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")}


def expectations() -> str:
    """All text that states an expectation: vectors, tests, and the sample's table, which a test compares."""
    places = [
        *(ROOT / "spec" / "vectors").rglob("*.json"),
        *(ROOT / "crates").rglob("tests/**/*.rs"),
        *(ROOT / "crates").rglob("tests.rs"),
        *(path for path in (ROOT / "tests").rglob("*.py") if "meta" not in path.parts),
        ROOT / "examples" / "sample" / "README.md",
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in places)


TESTED = expectations()


def members() -> Iterator[tuple[str, str]]:
    """Each code, verdict, kind and step, with the page that documents it."""
    for page, names in {
        "codes.md": [*_kernel.VERDICTS, *_kernel.REFUSAL_CODES, *_kernel.PROBLEM_CODES],
        "rulesets.md": [*_kernel.KINDS, *_kernel.TEXT_STEPS, *_kernel.URL_STRENGTHS, *_kernel.URL_STEPS],
    }.items():
        yield from ((page, name) for name in names)


MEMBERS = sorted(set(members()))
ERRORS = sorted(
    name
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.SeenbeforeError) and not name.startswith("_")
)


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Each command below `command` with its full name, `rules show` for instance."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from commands(below, (*path, name))
    else:
        yield " ".join(path), command


COMMANDS = dict(commands(cli.main))
OPTIONS = sorted(
    (name, option)
    for name, command in COMMANDS.items()
    for parameter in command.params
    if isinstance(parameter, click.Option)
    for option in (*parameter.opts, *parameter.secondary_opts)
    if option.startswith("--")
)


def section(name: str) -> str:
    """The part of the command reference that is about one command."""
    parts = re.split(r"^## ", REFERENCE["cli.md"], flags=re.MULTILINE)
    return next((part for part in parts if part.startswith(f"seenbefore {name}\n")), "")


@pytest.mark.parametrize(("page", "member"), MEMBERS, ids=[f"{member}" for _, member in MEMBERS])
def test_member_is_documented(page: str, member: str) -> None:
    """A code, verdict, kind or step stands in the reference."""
    assert f"`{member}`" in REFERENCE[page]


@pytest.mark.parametrize("member", [one for _, one in MEMBERS])
def test_member_is_tested(member: str) -> None:
    """A code, verdict, kind or step stands in a vector or in a test that expects it."""
    assert re.search(rf"(?<![\w-]){member}(?![\w-])", TESTED)


@pytest.mark.parametrize("error", ERRORS)
def test_error_is_documented_and_tested(error: str) -> None:
    """Each class of the error tree stands in the reference and in a test."""
    assert f"`{error}`" in REFERENCE["codes.md"]
    assert re.search(rf"\b{error}\b", TESTED)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_documented_and_tested(command: str) -> None:
    """Each command has its section in the reference and is called by a test."""
    assert section(command)
    assert re.search(rf'"{command.replace(" ", chr(34) + ", " + chr(34))}"', TESTED)


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=[" ".join(pair) for pair in OPTIONS])
def test_option_is_documented_and_tested(command: str, option: str) -> None:
    """Each option stands in its command's section and is used by a test."""
    assert f"`{option}" in section(command)
    assert re.search(rf'"{option}["=]', TESTED)


@pytest.mark.parametrize("public", sorted(seenbefore.__all__))
def test_public_name_is_documented(public: str) -> None:
    """Each name that the package exports stands in the Python reference, or in the table of errors."""
    assert re.search(rf"\b{public}\b", REFERENCE["python.md"]) or public in ERRORS


def test_public_names_are_sorted() -> None:
    """`__all__` is sorted and names what is there."""
    assert list(seenbefore.__all__) == sorted(seenbefore.__all__)
    assert all(hasattr(seenbefore, public) for public in seenbefore.__all__)
