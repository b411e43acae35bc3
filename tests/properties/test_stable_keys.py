"""Keys depend on the record and the rule alone: not on hash seeds, locales, threads, process or member order."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from seenbefore import _kernel

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample"
DIGEST = """
import hashlib, pathlib, sys
from seenbefore import _kernel
sample = pathlib.Path(sys.argv[1])
rules = _kernel.Ruleset.from_toml((sample / "rules.toml").read_text(encoding="utf-8"))
digest = hashlib.sha256()
for path in sorted(sample.glob("*.ndjson")):
    batch = rules.keys_ndjson(path.read_bytes())
    digest.update(batch.content_keys + batch.url_keys + batch.payload_digests + repr(batch.codes).encode())
print(digest.hexdigest())
"""
SURROUNDINGS = [
    {},
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "4711", "LC_ALL": "C"},
    {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"},
    {"RAYON_NUM_THREADS": "1"},
    {"RAYON_NUM_THREADS": "7", "TZ": "Asia/Kathmandu"},
]


def digest(surroundings: dict[str, str]) -> str:
    """One digest over all keys of the sample, made in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", DIGEST, str(SAMPLE)],
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_same_keys_everywhere() -> None:
    """Hash seed, locale, time zone and number of threads change no key."""
    assert len({digest(surroundings) for surroundings in SURROUNDINGS}) == 1


@pytest.mark.parametrize("seed", range(20))
def test_member_order(seed: int) -> None:
    """Members in another order, at any depth, give the same keys and payload digest."""
    shuffled = random.Random(seed)

    def other_order(value: object) -> object:
        if isinstance(value, dict):
            members = list(value.items())
            shuffled.shuffle(members)
            return {name: other_order(member) for name, member in members}
        return [other_order(item) for item in value] if isinstance(value, list) else value

    rules = _kernel.Ruleset.from_toml((SAMPLE / "rules.toml").read_text(encoding="utf-8"))
    lines = (SAMPLE / "2026-03-02_lantern.ndjson").read_bytes().split(b"\n")
    codes = rules.keys_ndjson(b"\n".join(lines)).codes
    readable = [
        line for line, code in zip([line for line in lines if line.strip()], codes, strict=True) if code is None
    ]
    reordered = [json.dumps(other_order(json.loads(line)), ensure_ascii=False).encode() for line in readable]
    before, after = (rules.keys_ndjson(b"\n".join(part)) for part in (readable, reordered))
    assert before.content_keys == after.content_keys
    assert before.url_keys == after.url_keys
    assert before.payload_digests == after.payload_digests


def test_volatile_fields() -> None:
    """A volatile member moves no key and no digest; an identity field always moves the content key."""
    toml = 'name = "t"\nversion = 1\nidentity = ["title"]\nvolatile = ["etag"]\n'
    rules = _kernel.Ruleset.from_toml(toml)
    base, volatile, other = (
        rules.keys(record) for record in ({"title": "a"}, {"title": "a", "etag": "x"}, {"title": "b"})
    )
    assert (base.content_key, base.payload_digest) == (volatile.content_key, volatile.payload_digest)
    assert base.content_key != other.content_key
