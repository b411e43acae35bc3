"""Runs the URL vectors of spec/vectors through the independent reading of the rule, tests/reference/urls.py."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reference"))

import naive as urls  # noqa: E402  (the folder is no package: its files are read by path)


def vectors(name: str) -> list[Any]:
    """The vectors of one file as pytest parameters named after them."""
    items = json.loads((ROOT / "spec" / "vectors" / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
    return [pytest.param(item, id=item["name"]) for item in items]


def outcome(text: str, strength: str, hosts: Any = ()) -> tuple[str, str]:
    try:
        return "out", urls.canonical_url(text, strength, hosts)
    except urls.UrlRefused as refused:
        return "code", refused.code


@pytest.mark.parametrize("vector", vectors("urls"))
def test_canonical_url(vector: dict[str, Any]) -> None:
    """A URL has the canonical form that its vector states, or no key for the reason that it states."""
    for member in ("in", "out"):
        assert bytes.fromhex(vector.get(member + "_hex", "")) == vector.get(member, "").encode("utf-8")
    expected = ("out", vector["out"]) if "out" in vector else ("code", vector["code"])
    strength, hosts = vector["strength"], vector.get("hosts", ())
    try:
        assert outcome(vector["in"], strength, hosts) == expected
    except urls.NotCheckable:
        assert not vector["in"].isascii() or "xn--" in vector["in"].lower()
        return
    if "out" in vector:
        assert outcome(vector["out"], strength, hosts) == expected


@pytest.mark.parametrize("vector", vectors("redact"))
def test_redact(vector: dict[str, Any]) -> None:
    """A URL is shown as its vector states, without credentials."""
    assert urls.redact(vector["in"]) == vector["out"]
    assert urls.redact(vector["out"]) == vector["out"]


def test_length() -> None:
    """65,536 bytes of UTF-8 are the most, as given and in canonical form."""
    base = "https://e.example/"
    longest = base + "a" * (urls.MAX_URL - len(base))
    assert outcome(longest, "page") == ("out", longest)
    assert outcome(longest + "a", "page") == ("code", "url-too-long")
    assert outcome(longest[:-2] + "é", "page") == ("code", "url-too-long")


def test_tracking_list() -> None:
    """The reading carries the published list."""
    table = json.loads((ROOT / "spec" / "tables" / "tracking.json").read_text(encoding="utf-8"))
    assert set(table["names"]) == urls.TRACKING_NAMES
    assert tuple(table["prefixes"]) == urls.TRACKING_PREFIXES
    assert list(table["names"]) == sorted(table["names"])


def test_idempotent() -> None:
    """A canonical URL is its own canonical URL, and a stronger rule sees the same in it as in the text."""
    draw = random.Random(20261130)
    pieces = [
        "/",
        "//",
        "..",
        ".",
        "%2e",
        "%",
        "2",
        "5",
        "%41",
        ";jsessionid=1",
        "index.html",
        "?",
        "&",
        "=",
        "a",
        "b=1",
        "+",
        "#",
        "#!",
        "é",
        "\\",
        ":",
    ]
    for _ in range(3000):
        text = draw.choice(["http://www.e.example/", "https://e.example:80/", "https:e.example:443/"])
        text += "".join(draw.choice(pieces) for _ in range(draw.randrange(12)))
        done = {strength: outcome(text, strength) for strength in urls.STRENGTHS}
        for weak, strong in (
            ("exact", "exact"),
            ("exact", "page"),
            ("page", "page"),
            ("page", "site"),
            ("site", "site"),
        ):
            if done[weak][0] == "out":
                assert outcome(done[weak][1], strong) == done[strong], text


@pytest.mark.shared
@pytest.mark.skipif("SEENBEFORE_SHARED" not in os.environ, reason="SEENBEFORE_SHARED does not name the test data")
def test_web_platform() -> None:
    """The web platform's URL tests hold, but for credentials, a `%` without hex digits, and what needs UTS #46."""
    path = Path(os.environ["SEENBEFORE_SHARED"]) / "data" / "conformance" / "url" / "wpt" / "urltestdata.json"
    compared = 0
    for case in json.loads(path.read_text(encoding="utf-8")):
        if (
            isinstance(case, str)
            or case["base"] is not None
            or any("\ud800" <= char <= "\udfff" for char in case["input"])
        ):
            continue
        try:
            kind, found = outcome(case["input"], "exact")
        except urls.NotCheckable:
            continue
        compared += 1
        if case.get("failure"):
            assert kind == "code", case["input"]
        elif case["protocol"] not in {"http:", "https:"}:
            assert (kind, found) == ("code", "url-scheme"), case["input"]
        else:
            scheme, _, rest = case["href"].partition("//")
            if case["username"] or case["password"]:
                rest = rest.partition("@")[2]
            pieces = f"{scheme}//{rest}".split("%")
            stray = [piece if urls.re.match("[0-9A-Fa-f]{2}", piece) else "25" + piece for piece in pieces[1:]]
            assert found == "%".join([pieces[0], *stray]), case["input"]
    assert compared > 400
