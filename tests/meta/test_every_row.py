"""Each row of each table of the specification has its example in spec/vectors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from seenbefore import _kernel

ROOT = Path(__file__).parent.parent.parent
SPEC = (ROOT / "spec" / "keys-1.md").read_text(encoding="utf-8")
KINDS_PAGE = (ROOT / "docs" / "reference" / "kinds.md").read_text(encoding="utf-8")
# Codes that NDJSON cannot bring about; the tests of the Python doors have them.
NOT_IN_LINES = {"float"}


def vectors(name: str) -> list[dict[str, Any]]:
    """The vectors of one file."""
    found: list[dict[str, Any]] = json.loads((ROOT / "spec" / "vectors" / f"{name}.json").read_bytes())["vectors"]
    return found


def table(name: str) -> dict[str, Any]:
    """One of the tables that the rule carries."""
    found: dict[str, Any] = json.loads((ROOT / "spec" / "tables" / f"{name}.json").read_bytes())
    return found


def scalars(step: str) -> set[int]:
    """The code points that a step of text/1 writes out, kept ones included."""
    text = re.search(rf"^\d\. \*\*{step}\*\*:(.*?)^\d\. ", SPEC, re.MULTILINE | re.DOTALL)
    assert text is not None
    points: set[int] = set()
    for low, high in re.findall(r"\b([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?\b", text[1]):
        points.update(range(int(low, 16), int(high or low, 16) + 1))
    # What is kept and given as a range has its ends only.
    return points - set(range(0xFE01, 0xFE0D)) - set(range(0xE0101, 0xE01EF))


@pytest.mark.parametrize(("step", "least"), [("spaces", 29), ("invisibles", 64), ("typography", 16)])
def test_each_written_character(step: str, least: int) -> None:
    """Each character that a step of text/1 writes out stands in a vector of its own text."""
    points = scalars(step)
    assert len(points) >= least
    seen = {ord(char) for vector in vectors("text") for char in vector["in"]}
    assert {f"{point:04X}" for point in points - seen} == set()


def test_each_step_of_text() -> None:
    """Each step of text/1 changes something in a vector's trace."""
    rules = _kernel.Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n[fields.t]\nkind = "text"\n')
    changed = {
        name
        for vector in vectors("text")
        if not vector.get("settings")
        for field in rules.trace({"t": vector["in"]})
        for name, _, _ in field["steps"]
    }
    assert changed == set(_kernel.TEXT_STEPS)


def test_each_step_of_urls() -> None:
    """Each step of url/1 changes something in a vector's trace, at its strength or a stronger one."""
    changed = set()
    for strength in _kernel.URL_STRENGTHS:
        rules = _kernel.Ruleset.from_toml(
            f'name = "t"\nversion = 1\nidentity = ["t"]\n[url]\nstrength = "{strength}"\n'
            '[[url.host]]\nmatch = "e.example"\ndrop = ["dropped"]\n'
        )
        for vector in vectors("urls"):
            if "out" in vector:
                changed.update(name for name, _, _ in rules.trace_url(vector["in"]))
    stated = re.findall(r"^\|[^|]*\| `([a-z-]+)` \|", SPEC.partition("url:start")[2], re.MULTILINE)
    assert len(stated) == len(_kernel.URL_STEPS) - 1
    assert changed - {"host-rule-1"} == set(stated)
    assert set(_kernel.URL_STEPS) == {*stated, "host-rules"}
    assert any(vector.get("hosts") for vector in vectors("urls"))


def test_each_tracking_name() -> None:
    """Each name and prefix of the tracking list is dropped in a vector, and so is each session id."""
    dropped = set()
    for vector in vectors("urls"):
        if vector.get("strength") in {"page", "site"} and "out" in vector:
            given, kept = (urlsplit(unquote(vector[side])).query.lower() for side in ("in", "out"))
            dropped |= {piece.partition("=")[0] for piece in given.split("&")} - {
                piece.partition("=")[0] for piece in kept.split("&")
            }
    tracking = table("tracking")
    assert {*tracking["names"], *tracking["prefixes"], "jsessionid", "phpsessid"} - dropped == set()


@pytest.mark.parametrize("name", ["ref", "source", "id", "game", "gallery", "reference"])
def test_never_dropped(name: str) -> None:
    """Generic names stay at every strength, whatever lists of trackers hold them."""
    for strength in _kernel.URL_STRENGTHS:
        url = f"https://e.example/p?{name}=1"
        assert _kernel.canonical_url(url, strength) == url
    assert any(vector["name"] == f"y_never_tracking_{name}" for vector in vectors("urls"))


def test_each_currency() -> None:
    """Each currency has a vector that shows its decimal places, each sign one for every currency that it can mean."""
    listed = table("iso4217")
    codes = {
        code: int(places)
        for part in ("minor_units", "withdrawn")
        for places, row in listed[part].items()
        for code in row
    }
    money = vectors("money")
    shown = {vector["settings"]["currency"]: vector["out"] for vector in money if vector["in"] == "7"}
    assert shown == {code: f'["{code}",{7 * 10**places}]' for code, places in codes.items()}
    read = {
        (json.loads(vector["in"])[:-1], vector["settings"]["currency"])
        for vector in money
        if vector["name"].startswith("y_sign_")
    }
    assert read == {(sign, code) for sign, row in listed["signs"].items() for code in row}
    refused = {json.loads(vector["in"])[2:] for vector in money if vector["name"].startswith("n_sign_")}
    assert refused == set(listed["signs"])


@pytest.mark.parametrize("kind", _kernel.KINDS)
def test_each_kind(kind: str) -> None:
    """A kind is one file of the core and one file of vectors, which has every code that its page names for it."""
    assert f"| `{kind}`" in SPEC or f"` `{kind}` |" in SPEC or f" `{kind}` " in SPEC
    assert (ROOT / "crates" / "seenbefore-core" / "src" / "kinds" / f"{kind}.rs").exists()
    found = vectors(kind)
    section = re.search(rf"^## `{kind}`$(.*?)(?=^## |\Z)", KINDS_PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None
    named = set(re.findall("`([a-z]+-[a-z-]+|float)`", section[1])) & {*_kernel.REFUSAL_CODES, *_kernel.PROBLEM_CODES}
    # The vectors of text and code are texts, so that what else they take stands among the keys.
    lines = [vector for vector in vectors("keys") if vector["name"].startswith(f"n_kind_{kind}_")]
    stated = {vector.get("refused") for vector in [*found, *lines]}
    stated.update(code for vector in found for code in vector.get("problems", []))
    assert named - NOT_IN_LINES <= stated
    assert any(vector.get("out") is not None for vector in found)
    assert any("out" in vector and vector["out"] is None for vector in found), "nothing shows what is absent"


def test_each_fault_of_a_line() -> None:
    """Each code of the table of faults (keys-1.md 3) is the outcome of a vector about a line."""
    rows = re.findall(r"^\| \d+ \| (`[^|]*) \|", SPEC.partition("## 3.")[2].partition("## 4.")[0], re.MULTILINE)
    codes = {code for row in rows for code in re.findall("`([a-z0-9-]+)`", row)}
    assert len(codes) >= 11
    assert codes <= {vector.get("refused") for name in ("reading", "keys") for vector in vectors(name)}


ROWS = {
    ("new", False, None, None, True),
    ("new", False, None, None, False),
    ("changed", False, None, "place", True),
    ("syndicated", True, "content", None, True),
    ("changed", True, "content", "place", True),
    ("duplicate", True, "content", None, True),
    ("duplicate", True, "content", None, False),
    ("unkeyed", False, None, None, True),
    ("unkeyed", False, None, None, False),
    ("refused", None, None, None, None),
}


def test_each_verdict_row() -> None:
    """Each row of the verdict table (verdicts-1.md 2) has a vector, and no vector falls outside the table."""
    shown = set()
    for vector in vectors("verdicts"):
        for step in vector["steps"]:
            if step["verdict"] == "refused":
                shown.add(("refused", None, None, None, None))
                continue
            url = json.loads(step["in"]).get("u") if "in" in step else None
            shown.add(
                (
                    step["verdict"],
                    step["seen_before"],
                    "content" if step["refers_to"] else None,
                    "place" if step["previous"] else None,
                    isinstance(url, str) and url.startswith("http"),
                )
            )
    assert shown == ROWS
