"""The kernel and the independent reading of the spec give the same keys, the same refusals and the same receipts."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seenbefore import _kernel
from seenbefore.errors import Refused

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import naive
import naive as urls

# What sameness is decided by: joiners, invisibles, spaces, signs, marks, letters that fold oddly, foreign digits.
NASTY = (
    "aAzZ019 -_'\"\\/&;,.+\t\n\x00\x1c\x7f\x85\xa0\xad\xb2\xdf\xe9\xc9"
    "\u0130\u0131\u0149\u0300\u0301\u0323\u0327\u0331\u0345\u034f\u03a3\u03c2\u03c3\u03b1\u0391\u1fb3\u1fb4\u1e96"
    "\u0628\u0645\u06cc\u0660\u0661\u0915\u0916\u093e\u094d\u0e01\u0e33\u1100\u1161\u11a8\uac00\u180e\u200b\u200c\u200d"
    "\u200e\u2010\u2011\u2018\u2019\u201c\u2026\u2028\u202f\u2060\u2126\u212b\u2212\u2800\u3000\u3042\u3099\u3164\u4e2d"
    "\ufb01\ufe0f\ufeff\uff11\uff21\uffff\U0001f468\U0001f469\U0001f3fb\U0001f3f4\U000e0067\U000e007f\U00010400\U0001f600"
)
TEXT = st.text(NASTY, max_size=12) | st.text(st.sampled_from("abc 1-"), max_size=8)
NUMBER = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    st.integers(0, 10**20).map(str) | st.sampled_from(["0", "9007199254740993"]),
    st.sampled_from(["", ".0", ".90", ".000", ".125"]),
    st.sampled_from(["", "e2", "E-3", "e+0", "e400", "e-1200", "e99999999999999999999"]),
)


def string(text: str) -> str:
    """A JSON string, escaped by the standard library or not at all where that is allowed."""
    return json.dumps(text) if len(text) % 2 else json.dumps(text, ensure_ascii=False)


SCALAR = (
    TEXT.map(string) | NUMBER | st.sampled_from(["null", "true", "false", '""', '" "', "[]", "{}", '"12.50"', '"1e3"'])
)
NAMES = st.sampled_from(["title", "sku", "price", "n", "u", "at", "s", "tags", "\ufb33", "\U0001f600", "etag"])


def listed(values: list[str]) -> str:
    return f"[{','.join(values)}]"


def mapped(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{string(name)}:{value}" for name, value in members) + "}"


def objects(value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(NAMES, value), max_size=6).map(mapped)


VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3).map(listed) | objects(inner), max_leaves=8)
URL = st.sampled_from(
    [
        "https://e.example/a",
        "HTTP://E.example:80/a/../b?utm_source=x&b=2&a=1#top",
        "https://u:p@e.example/",
        "not a url",
        "mailto:a@b",
        "",
        "https://e.example/a?q=a+b%2Bc",
    ]
)
RECORD = st.builds(
    lambda members, url, at: mapped([*members, ("u", string(url)), ("at", string(at))]),
    st.lists(
        st.tuples(st.sampled_from(["title", "sku", "price", "n", "s", "tags", "etag", "\ufb33", "\U0001f600"]), VALUE),
        max_size=6,
        unique_by=lambda m: m[0],
    ),
    URL,
    st.sampled_from(
        ["2024-06-01T10:00:00Z", "2024-06-01 10:00:00.5+02:00", "20240601", "soon", "", "Sat, 01 Jun 2024 10:00:00 GMT"]
    ),
)
LINE = RECORD | objects(VALUE) | VALUE
RULESETS = [
    'identity = ["title", "sku", "price"]\nfields = {title = {}, sku = {kind = "code"}, price = {kind = "decimal"}}\n',
    'identity = ["title", "\\uFB33", "\\U0001F600", "tags"]\nrequire = ["title"]\n',
    'identity = ["title", "sku"]\n[fields.title]\nkind = "name"\ncompatibility = true\n[fields.sku]\nkind = "id"\n',
    'identity = "*"\nvolatile = ["etag", "n"]\n',
    'volatile = ["etag"]\n',
    'identity = ["sku"]\npayload = "title"\n[fields.sku]\nkind = "code"\nstrip_punctuation = true\n',
    'identity = ["n"]\nfields.n.compatibility = true\nactions = {unkeyed = "refuse", changed = "skip"}\n',
]
HEAD = 'name = "t"\nversion = 1\nkeys = "keys/1"\n'
RECORD_TABLE = '[record]\nurl = "u"\nfetched_at = "at"\nsource = "s"\n'


def toml(body: str) -> str:
    return HEAD + body + RECORD_TABLE


def of_kernel(rules: _kernel.Ruleset, line: bytes) -> Any:
    """The kernel's keys and facts of one line, or its refusal."""
    try:
        keys = rules.keys(line)
    except Refused as refusal:
        return refusal.code, refusal.field
    return (
        keys.content_key,
        keys.url_key,
        keys.payload_digest,
        list(keys.problems),
        keys.url,
        keys.source,
        keys.fetched_at,
    )


def of_reference(rules: naive.Ruleset, line: bytes) -> Any:
    """The reference's keys and facts of one line, or its refusal."""
    try:
        keys = naive.keys_of(rules, naive.read_record(line))
    except naive.Refused as refusal:
        return refusal.code, refusal.field
    at = None if keys.fetched_at is None else naive.fetched_at_text(keys.fetched_at)
    return keys.content_key, keys.url_key, keys.payload_digest, list(keys.problems), keys.url, keys.source or None, at


@pytest.mark.parametrize("body", RULESETS)
@settings(max_examples=300, deadline=None)
@given(text=LINE)
def test_same_keys(body: str, text: str) -> None:
    """Kernel and reference give a record the same keys and facts, or refuse it with the same code and field."""
    line = text.encode()
    assert of_kernel(_kernel.Ruleset.from_toml(toml(body)), line) == of_reference(
        naive.Ruleset(tomllib.loads(toml(body))), line
    )


@settings(max_examples=2_000, deadline=None)
@given(text=st.text(NASTY, max_size=20), fold=st.booleans(), compatibility=st.booleans())
def test_same_text(text: str, fold: bool, compatibility: bool) -> None:
    """Kernel and reference give a text the same normal form, and that form is its own normal form."""
    form = _kernel.normalise(text, kind="text", casefold=fold, compatibility=compatibility) or ""
    assert form == naive.text_1(text, fold, compatibility)
    assert (_kernel.normalise(form, kind="text", casefold=fold, compatibility=compatibility) or "") == form


@settings(max_examples=1_000, deadline=None)
@given(text=st.text(NASTY, max_size=12), blunt=st.booleans())
def test_same_code(text: str, blunt: bool) -> None:
    """Kernel and reference give a code the same form, and that form is its own form."""
    form = _kernel.normalise(text, kind="code", strip_punctuation=blunt) or ""
    assert form == naive.code(text, blunt=blunt)
    assert (_kernel.normalise(form, kind="code", strip_punctuation=blunt) or "") == form


@settings(max_examples=300, deadline=None)
@given(text=VALUE)
def test_same_canonical_json(text: str) -> None:
    """Kernel and reference write the same canonical JSON, or refuse the text with the same code."""
    wrapped = f'{{"v":{text}}}'.encode()
    try:
        expected: Any = naive.canonical_json(naive.read_record(wrapped))
    except naive.Refused as refusal:
        expected = refusal.code
    try:
        found: Any = _kernel.canonical_json(wrapped)
    except Refused as refusal:
        found = refusal.code
    assert found == expected


# What a URL with a password may be made of where it does not parse, or parses otherwise than its writer meant.
PIECES = [
    *(
        "/",
        "//",
        "\\",
        "@",
        ":",
        "?",
        "#",
        "u",
        "pw",
        "8080",
        "99999",
        "a.example",
        "[::1]",
        "[",
        "]",
        " ",
        "\t",
        "\u200b",
        "\u200d",
    ),
    *("https:", "ftp:", "feed:", "file:", "mailto:", "see "),
]


@settings(max_examples=2_000, deadline=None)
@given(text=st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_same_shown_url(text: str) -> None:
    """Kernel and reference show a URL without the same credentials, and what is shown is shown as it is."""
    rules = _kernel.Ruleset.from_toml(toml('identity = ["t"]\n'))
    shown = rules.keys({"u": text}).url or ""
    try:
        assert shown == (urls.redact(text) if naive.trimmed(text) else "")
    except urls.NotCheckable:
        assert not text.isascii()
    assert (rules.keys({"u": shown}).url or "") == shown


@settings(max_examples=500, deadline=None)
@given(
    data=st.binary(max_size=60)
    | st.lists(st.sampled_from(list('{}[]",:\\u d8aZ10.eE-+\ttrue\x00\xff')), max_size=40).map("".join).map(str.encode)
)
def test_any_bytes(data: bytes) -> None:
    """Whatever the bytes, both read a record, or both refuse the line with the same code."""
    rules = _kernel.Ruleset.from_toml(toml('identity = "*"\n'))
    found = [code or "" for code in rules.keys_ndjson(data).codes]
    expected = []
    reference = naive.Ruleset(tomllib.loads(toml('identity = "*"\n')))
    for line in naive.lines(data):
        try:
            naive.keys_of(reference, naive.read_record(line.data))
            expected.append("")
        except naive.Refused as refusal:
            expected.append(refusal.code)
    assert found == expected
