"""Hard cases from public reports, as far as they are about keys: each kind's example gives what was decided for it."""

from __future__ import annotations

import json
import os
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from seenbefore import _kernel
from seenbefore.errors import Refused, UrlRefused

SHARED = os.environ.get("SEENBEFORE_SHARED")
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="SEENBEFORE_SHARED does not name the folder with the cases"),
]


def case(name: str) -> dict[str, Any]:
    """The case with this id."""
    for file in ("acceptance.ndjson", "decided.ndjson"):
        for line in (Path(SHARED or ".") / "cases" / file).read_text(encoding="utf-8").splitlines():
            found: dict[str, Any] = json.loads(line)
            if found["id"] == name:
                return found
    raise AssertionError(name)


def ruleset(identity: list[str], body: str = "") -> _kernel.Ruleset:
    """A ruleset over these fields, its record facts under their usual names."""
    names = ", ".join(json.dumps(name) for name in identity)
    return _kernel.Ruleset.from_toml(f'name = "t"\nversion = 1\nidentity = [{names}]\n[record]\nurl = "url"\n{body}')


def form(text: str, **settings: object) -> str:
    """The normal form of a text, empty where it is absent."""
    return _kernel.normalise(text, **settings) or ""


@pytest.mark.parametrize("name", ["H01", "H06", "H09", "H10", "H13", "H15", "H16", "H18"])
def test_text_pairs(name: str) -> None:
    """Two texts of a pair have one form exactly where the case says that they are the same."""
    found = case(name)
    expected = found["expected"]
    assert [form(a) == form(b) for a, b in found["input"]["pairs"]] == expected["same"]
    for (left, _), output in zip(found["input"]["pairs"], expected.get("outputs", []), strict=False):
        assert form(left) == output
        assert form(output) == output
    for (a, b), same in zip(found["input"].get("also", {}).get("pairs", []), expected.get("also", []), strict=True):
        assert (form(a, kind="name") == form(b, kind="name")) is same


def test_entities_stay() -> None:
    """Bytes that are no UTF-8 are refused, and entities are not decoded while a key is made (H19)."""
    found = case("H19")["input"]
    data = b"\n".join(bytes.fromhex(line) for line in found["ndjson_lines_hex"])
    assert ruleset(["t"]).keys_ndjson(data).codes == ["invalid-utf8", "invalid-utf8"]
    (a, b) = found["text_pairs"][0]
    assert form(a) != form(b)


def test_strings() -> None:
    """A lone surrogate and a repeated member name are refused; an escaped and a plain emoji are one text (H23)."""
    found = case("H23")
    lines = found["input"]["text"].encode().splitlines()
    rules = ruleset(["title"])
    batch = rules.keys_ndjson(b"\n".join(lines))
    assert batch.codes == ["unpaired-surrogate", None, "repeated-member", None]
    assert batch.content_keys[32:64] == batch.content_keys[96:128]


def test_numbers() -> None:
    """Spellings of one number are one value, everything else is apart, and NaN and Infinity are no JSON (H27)."""
    found = case("H27")
    rules = ruleset(["n"])
    texts = found["input"]["texts"]
    batch = rules.keys_ndjson("\n".join(f'{{"n":{text}}}' for text in texts).encode())
    keys = {text: batch.content_keys[32 * at : 32 * at + 32] for at, text in enumerate(texts)}
    refused = [text for text, code in zip(texts, batch.codes, strict=True) if code]
    assert refused == found["expected"]["rejected"]
    groups = found["expected"]["groups"]
    for group in groups:
        assert len({keys[text] for text in group}) == 1
    apart = [text for text in texts if text not in refused and not any(text in group[1:] for group in groups)]
    assert len({keys[text] for text in apart}) == len(apart)


def test_missing() -> None:
    """Null, absent and blank are one state, without identity there is no key, and the word None is text (H31)."""
    found = case("H31")
    rules = ruleset(found["input"]["identity"])
    keys = [rules.keys(record).content_key for record in found["input"]["records"]]
    assert [at for at, key in enumerate(keys) if key is None] == found["expected"]["no_identity"]
    for a, b in found["expected"]["same_key"]:
        assert keys[a] == keys[b]
    for a, b in found["expected"]["distinct"]:
        assert keys[a] != keys[b]


def test_structure() -> None:
    """Member order, new and volatile fields change no key; list order does, but not in a set (H33)."""
    found = case("H33")
    for body in ("", '[fields.images]\nkind = "set"\n'):
        rules = ruleset(found["input"]["identity"], body)
        same = [rules.keys(a).content_key == rules.keys(b).content_key for a, b in found["input"]["pairs"]]
        assert same == ([True, True, True] if body else found["expected"]["same_key"])


def test_canonical_order() -> None:
    """Member names are sorted by UTF-16 code units (H26)."""
    found = case("H26")
    canonical = _kernel.canonical_json(json.loads(found["input"]["json_text"]))
    assert canonical.decode() == found["expected"]["canonical"]
    assert sha256(canonical).hexdigest() == found["expected"]["sha256"]


def test_unicode_version() -> None:
    """A letter paired in Unicode 16 folds, whatever Unicode the interpreter knows (H05)."""
    assert _kernel.UNICODE_VERSION == "17.0.0"
    assert form(case("H05")["input"]["text"]) == "\u0264"


@pytest.mark.parametrize("name", ["H43", "H45"])
def test_codes(name: str) -> None:
    """Separators of a code go where they tell nothing apart, and stay where they do."""
    found = case(name)
    same = [form(a, kind="code") == form(b, kind="code") for a, b in found["input"]["sku_pairs"]]
    assert same == found["expected"]["sku_same"]


def test_isbn() -> None:
    """One book has one form, and a bad check digit never equals a valid number (H43)."""
    found = case("H43")
    assert [form(a, kind="isbn") == form(b, kind="isbn") for a, b in found["input"]["isbn_pairs"]] == [True] * 3
    rules = ruleset(["isbn"], '[fields.isbn]\nkind = "isbn"\n')
    valid = {rules.keys({"isbn": text}).content_key for pair in found["input"]["isbn_pairs"] for text in pair}
    for text in found["input"]["isbn_bad"]:
        keys = rules.keys({"isbn": text})
        assert list(keys.problems) == ["bad-check-digit"]
        assert keys.content_key not in valid


def test_money() -> None:
    """Amounts are exact minor units of the declared currency, or refused (H41)."""
    found = case("H41")
    minor: list[int | None] = []
    for value, currency, sign in found["input"]["values"]:
        settings = {"currency": currency} | ({"decimal": sign} if sign else {})
        try:
            minor.append(json.loads(form(value, kind="money", **settings))[1])
        except Refused:
            minor.append(None)
    assert minor == found["expected"]["minor"]


def test_timestamps() -> None:
    """One instant is one value, and a time without zone or in a guessed order is refused (H38)."""
    found = case("H38")
    first, second = found["input"]["field_pairs"]
    assert form(first[0], kind="timestamp") == form(first[1], kind="timestamp")
    for text, code in [(second[0], "no-zone"), (found["input"]["undeclared"][0], "bad-timestamp")]:
        with pytest.raises(Refused) as refusal:
            form(text, kind="timestamp")
        assert refusal.value.code == code


@pytest.mark.parametrize("name", ["H46", "H49", "H50", "H52"])
def test_urls(name: str) -> None:
    """URLs have the canonical form of the case, are the same or apart as it says, and canonical ones stay."""
    found = case(name)
    given, expected = found["input"], found["expected"]
    for url, canonical in zip(given.get("urls", []), expected.get("canonical", []), strict=True):
        assert _kernel.canonical_url(url) == canonical
        assert _kernel.canonical_url(canonical) == canonical
    pairs = Counter({True: 0, False: 0})
    for a, b in given.get("pairs_same", []):
        assert _kernel.canonical_url(a) == _kernel.canonical_url(b)
        pairs[True] += 1
    for a, b in given.get("pairs_different", []):
        assert _kernel.canonical_url(a) != _kernel.canonical_url(b)
        pairs[False] += 1
    for (a, b), same in zip(given.get("pairs", []), expected.get("same", []), strict=True):
        assert (_kernel.canonical_url(a) == _kernel.canonical_url(b)) is same
        pairs[same] += 1
    assert pairs.total()


def test_odd_urls() -> None:
    """Odd URLs stop nothing, secrets never leave the record, and long links are told apart (H53)."""
    records = case("H53")["input"]["records"]
    filler = "".join(chr(97 + at * 7 % 26) for at in range(12_000))
    for at in (2, 3):
        records[at]["url"] = f"https://example.com/?q={filler}{at}"
    rules = ruleset(["title"])
    keys = [rules.keys(record) for record in records]
    assert keys[0].canonical_url == keys[0].url == case("H53")["expected"]["canonical_0"]
    assert [list(key.problems) for key in keys] == [[], ["url-scheme"], [], [], [], ["url-relative"]]
    assert keys[2].url_key != keys[3].url_key
    assert keys[4].url_key is not None
    assert len({key.content_key for key in keys}) == len(keys)
    assert "pw-1234" not in repr(keys[0])
    with pytest.raises(UrlRefused) as refusal:
        _kernel.canonical_url(records[1]["url"])
    assert refusal.value.code == "url-scheme"
