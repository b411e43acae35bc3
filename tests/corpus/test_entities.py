"""Character references at the boundary: decoded once where the ruleset says so, by the rules of the HTML Standard."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from seenbefore import _kernel

SHARED = os.environ.get("SEENBEFORE_SHARED")


def rules(kind: str) -> _kernel.Ruleset:
    """One field whose entities are decoded as it is read."""
    head = 'name = "t"\nversion = 1\nidentity = ["t"]\n'
    return _kernel.Ruleset.from_toml(f'{head}[fields.t]\nkind = "{kind}"\n[boundary.t]\nentities = "decode"\n')


def decoded(text: str, kind: str = "id") -> str:
    """What the field holds after the boundary, before its kind."""
    steps = _kernel.Ruleset.trace(rules(kind), {"t": text})[0]["steps"]
    return next((json.loads(after) for step, _, after in steps if step == "entities"), text)


def html5lib() -> list[Any]:
    """html5lib's tests of references in text and in attributes, as pytest parameters."""
    found = []
    for name in ("entities", "namedEntities", "numericEntities"):
        path = Path(SHARED or ".") / "data" / "conformance" / "html" / f"html5lib_{name}.test.gz"
        if SHARED:
            tests = json.loads(gzip.decompress(path.read_bytes()))["tests"]
            found += [pytest.param(test, id=f"{name}-{at}") for at, test in enumerate(tests)]
    return found


@pytest.mark.shared
@pytest.mark.skipif(not SHARED, reason="SEENBEFORE_SHARED does not name the folder with html5lib's tests")
@pytest.mark.parametrize("test", html5lib())
def test_html5lib(test: dict[str, Any]) -> None:
    """References in text and in attribute values stand for what html5lib's tests say."""
    ((what, *rest),) = test["output"]
    if what == "Character":
        assert decoded(test["input"]) == rest[0]
        return
    value = test["input"].split("=", 1)[1].rstrip(">").strip("'\"")
    assert decoded(value, kind="url") == next(iter(rest[1].values()))


def test_decoded_once() -> None:
    """What a reference gives is not decoded again; what is left is counted as residue."""
    keys = rules("text").keys({"t": "AT&amp;amp;T"})
    assert list(keys.problems) == ["entity-residue"]
    assert keys.content_key == rules("text").keys({"t": "at&amp;amp;t"}).content_key
    assert keys.content_key != rules("text").keys({"t": "AT&amp;T"}).content_key


def test_part_of_the_rule() -> None:
    """Decoding is part of a ruleset's fingerprint, and undecoded text keeps its own key."""
    plain = _kernel.Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n[fields.t]\n')
    assert rules("text").fingerprint != plain.fingerprint
    assert json.loads(rules("text").identity_json)["boundary"] == {"t": {"entities": "decode"}}
    assert (
        rules("text").keys({"t": "AT&amp;T"}).content_key.split(":")[2]
        == plain.keys({"t": "AT&T"}).content_key.split(":")[2]
    )


def test_link() -> None:
    """In a record's URL a name without semicolon before `=` is left alone."""
    toml = 'name = "t"\nversion = 1\nidentity = ["t"]\n[record]\nurl = "u"\n[boundary.u]\nentities = "decode"\n'
    keys = _kernel.Ruleset.from_toml(toml).keys({"t": "a", "u": "https://e.example/?a=1&copy=2&amp;x=4"})
    assert keys.canonical_url == "https://e.example/?a=1&copy=2&x=4"
