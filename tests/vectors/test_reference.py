"""Runs every vector of spec/vectors through the independent reading of the spec, tests/reference/naive.py."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reference"))

import naive  # noqa: E402  (the folder is no package: naive.py is shipped as one file)


def vectors(name: str) -> list[Any]:
    """The vectors of one file as pytest parameters named after them."""
    items = json.loads((ROOT / "spec" / "vectors" / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
    return [pytest.param(item, id=item["name"]) for item in items]


def expected(vector: dict[str, Any]) -> dict[str, Any]:
    return {key: vector[key] for key in ("out", "refused") if key in vector}


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def read(text: str) -> Any:
    """A JSON value as the reference's own reader gives it."""
    return naive.Parsed(text).document()


def checkable(vector: dict[str, Any]) -> bool:
    """Whether this Python's Unicode knows the vector's characters; `unicode` names the version that first does."""
    return version(vector.get("unicode", "1.0")) <= version(unicodedata.unidata_version)


def text_form(vector: dict[str, Any], kind: str) -> Any:
    return naive.Context().canonical(vector["in"], {"kind": kind, **vector.get("settings", {})})


@pytest.mark.parametrize(
    ("kind", "vector"), [pytest.param(k, *p.values, id=f"{k}-{p.id}") for k in ("text", "code") for p in vectors(k)]
)
def test_strings(kind: str, vector: dict[str, Any]) -> None:
    """A string has the normal form that its vector states, and that form is its own normal form."""
    if not checkable(vector):
        with pytest.raises(naive.NotCheckable):
            text_form(vector, kind)
        return
    form = text_form(vector, kind)
    assert form == vector["out"]
    if form is not None:
        assert text_form({**vector, "in": form}, kind) == form


VALUE_KINDS = [
    "decimal", "name", "id", "auto", "isbn", "issn", "gtin", "integer", "money", "timestamp", "date", "boolean", "url",
    "list", "set", "object",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "vector"), [pytest.param(k, *p.values, id=f"{k}-{p.id}") for k in VALUE_KINDS for p in vectors(k)]
)
def test_values(kind: str, vector: dict[str, Any]) -> None:
    """A JSON value under a kind has one canonical form, is absent, or is refused with the stated code."""
    context = naive.Context(vector.get("record"), vector.get("url"))
    try:
        form = context.canonical(read(vector["in"]), {"kind": kind, **vector.get("settings", {})})
        found: dict[str, Any] = {"out": None if form is None else naive.canonical_json(form).decode("utf-8")}
    except naive.Refused as refusal:
        found = {"refused": refusal.code}
    assert found == expected(vector)
    assert sorted(context.problems) == vector.get("problems", [])


@pytest.mark.parametrize("vector", vectors("canonical"))
def test_canonical_json(vector: dict[str, Any]) -> None:
    """A JSON text has exactly one canonical form, and without long numbers reading that form gives it again."""
    long_numbers = vector.get("long_numbers", False)
    if "refused" in vector:
        with pytest.raises(naive.Refused) as refusal:
            naive.canonical_json(read(vector["in"]), long_numbers)
        assert refusal.value.code == vector["refused"]
        return
    out = naive.canonical_json(read(vector["in"]), long_numbers)
    assert out.decode("utf-8") == vector["out"]
    if not long_numbers:  # 10e999999999999999999 can be read, its normalised exponent of 19 digits cannot
        assert naive.canonical_json(read(vector["out"])) == out
    if "sha256" in vector:
        assert naive.hashlib.sha256(out).hexdigest() == vector["sha256"]


def reading(line: bytes, limit: int = naive.MAX_LINE) -> dict[str, Any]:
    try:
        return {"out": naive.canonical_json(naive.read_record(line, limit), long_numbers=True).decode("utf-8")}
    except naive.Refused as refusal:
        return {"refused": refusal.code}


@pytest.mark.parametrize("vector", vectors("reading"))
def test_reading(vector: dict[str, Any]) -> None:
    """A line is one record, or is refused with the first fault in the order of the spec."""
    assert reading(bytes.fromhex(vector["in_hex"]), vector.get("limit", naive.MAX_LINE)) == expected(vector)


@pytest.mark.parametrize("vector", vectors("framing"))
def test_framing(vector: dict[str, Any]) -> None:
    """An input is split at LF only, without its BOM, its blank lines and one CR a line; a bad line stops nothing."""
    found = [
        {"line": line.number, "offset": line.offset, "length": len(line.data), **reading(line.data)}
        for line in naive.lines(bytes.fromhex(vector["in_hex"]))
    ]
    assert found == vector["lines"]


def read_unseen(line: bytes, replace_seen: bool) -> dict[str, Any]:
    """One line's record as a run reads it: with `_seen` only if the caller asked to replace it, then without."""
    record: dict[str, Any] = naive.read_record(line)
    if "_seen" in record and not replace_seen:
        raise naive.Refused("seen-member")
    return {name: value for name, value in record.items() if name != "_seen"}


def stated(vector: dict[str, Any]) -> dict[str, Any]:
    """What the reference makes of a keys vector: the members that the vector states, or code and field of a refusal."""
    rules = naive.Ruleset(tomllib.loads(vector["ruleset"]))
    given = dict(vector.get("given", {}))
    replace_seen = given.pop("replace_seen", False)
    try:
        record = read_unseen(bytes.fromhex(vector["in_hex"]), replace_seen)
        keys = naive.keys_of(rules, record, **given)
        forms = naive.identity_of(rules, record, naive.Context(record, rules.url, rules.identity == "*"))
    except naive.Refused as refusal:
        return {"refused": refusal.code, "field": refusal.field}
    found = keys._asdict()
    found["identity"] = naive.canonical_json(forms).decode("utf-8") if keys.content_key and forms else None
    found["fetched_at"] = None if keys.fetched_at is None else naive.fetched_at_text(keys.fetched_at)
    return {"out": {name: found[name] for name in vector.get("out", found)}}


@pytest.mark.parametrize("vector", vectors("keys"))
def test_keys(vector: dict[str, Any]) -> None:
    """A record under a ruleset has the stated keys, digest, facts and problems, or is refused naming the field."""
    assert stated(vector) == {name: vector[name] for name in ("out", "refused", "field") if name in vector}


@pytest.mark.parametrize("vector", vectors("fetched_at"))
def test_fetched_at(vector: dict[str, Any]) -> None:
    """A time of fetching is read leniently to the microsecond, or not at all."""
    micros = naive.read_fetched_at(vector["in"], vector.get("assume_offset", "Z"))
    assert micros == vector.get("micros")
    if micros is not None:
        assert naive.fetched_at_text(micros) == vector["out"]


def pair(sighting: dict[str, Any] | None) -> list[int] | None:
    return None if sighting is None else [sighting["run"], sighting["seq"]]


@pytest.mark.parametrize("vector", vectors("verdicts"))
def test_verdicts(vector: dict[str, Any]) -> None:
    """Each line of a sequence gets the verdict, the action and the references that the table gives it."""
    judge = naive.Judge(naive.Ruleset(tomllib.loads(vector["ruleset"])))
    for step in vector["steps"]:
        while judge.run < step["run"]:
            judge.next_run()
        (output,) = judge.judge("input", bytes.fromhex(step["in_hex"]))
        receipt = json.loads(output.receipt)
        first_seen = judge.first_seen.get(receipt.get("content_key"))
        found = {
            **receipt,
            "first_seen": None if first_seen is None else naive.fetched_at_text(first_seen),
            "refers_to": pair(receipt.get("refers_to")),
            "previous": pair(receipt.get("previous")),
        }
        stated = {name: value for name, value in step.items() if name not in {"in", "in_hex"}}
        assert {name: found[name] for name in stated} == stated
        assert (output.kept is not None) == (step["action"] == "keep")
        assert (output.refused is not None) == (step["action"] == "refuse")


REFUSED = ["input", "line", "seq", "offset", "length", "code", "detail", "sha256"]


@pytest.mark.parametrize("vector", vectors("receipts"))
def test_receipts(vector: dict[str, Any]) -> None:
    """Receipts and kept rows come out byte for byte, refused lines member for member but their detail."""
    judge = naive.Judge(naive.Ruleset(tomllib.loads(vector["ruleset"])), **vector.get("options", {}))
    outputs = []
    for item in vector["inputs"]:
        while judge.run < item["run"]:
            judge.next_run()
        outputs += judge.judge(item["name"], bytes.fromhex(item["in_hex"]))
    assert [output.receipt.decode("utf-8") for output in outputs] == vector["receipts"]
    assert naive.sha256(b"".join(output.receipt + b"\n" for output in outputs)) == vector["receipts_sha256"]
    assert [output.kept.hex() for output in outputs if output.kept is not None] == vector["kept_hex"]
    rows = [json.loads(output.refused) for output in outputs if output.refused is not None]
    for row in rows:
        assert list(row) == [*REFUSED, "raw_base64" if "raw_base64" in row else "raw"]
        del row["detail"]
    assert rows == vector["refused_lines"]


@pytest.mark.parametrize("vector", vectors("fingerprints"))
def test_fingerprints(vector: dict[str, Any]) -> None:
    """A ruleset's fingerprint is the digest of what can change a key, defaults left out."""
    assert naive.sha256(bytes.fromhex(vector["out_hex"])) == vector["fingerprint"]
    assert naive.Ruleset(tomllib.loads(vector["in"])).fingerprint() == vector["fingerprint"]


def test_built_in_ruleset() -> None:
    """The frozen ruleset of the package is the one that the vectors hold."""
    frozen = (ROOT / "python" / "seenbefore" / "rules" / "builtin" / "records-1.toml").read_text(encoding="utf-8")
    assert frozen in [param.values[0]["in"] for param in vectors("fingerprints")]


def test_currency_table() -> None:
    """The reference's table of currencies and signs is the one in spec/tables/iso4217.json."""
    table = json.loads((ROOT / "spec" / "tables" / "iso4217.json").read_text(encoding="utf-8"))
    units = {
        code: int(digits)
        for part in ("minor_units", "withdrawn")
        for digits, codes in table[part].items()
        for code in codes
    }
    assert units == naive.CURRENCIES
    assert table["signs"] == naive.SIGNS


def codes_in(value: Any) -> set[str]:
    """Every refusal and problem code that stands in a vector, at any depth."""
    if isinstance(value, list):
        return set().union(*map(codes_in, value))
    if not isinstance(value, dict):
        return set()
    own = {value[name] for name in ("refused", "code") if isinstance(value.get(name), str)}
    return own.union(value.get("problems", []), *map(codes_in, value.values()))


def test_every_code_has_a_vector() -> None:
    """Each code of the closed sets is in a vector, but one that text can't cause and one that is too long."""
    section = (ROOT / "spec" / "keys-1.md").read_text(encoding="utf-8").partition("## 11. The codes")[2]
    closed = set(re.findall("`([a-z0-9-]+)`", section.partition("\n## ")[0]))
    found = codes_in([json.loads(path.read_bytes()) for path in (ROOT / "spec" / "vectors").glob("*.json")])
    assert closed - found == {"float", "url-too-long"}
    assert found <= closed


def test_url_too_long() -> None:
    """A URL of 64 KiB is keyed, one byte more is url-too-long and the record is judged without it."""
    rules = naive.Ruleset({"name": "t", "version": 1, "keys": "keys/1", "identity": ["t"], "record": {"url": "u"}})
    head = "https://e.example/"
    for size, problems in ((65536, []), (65537, ["url-too-long"])):
        keys = naive.keys_of(rules, {"t": "x", "u": head + "a" * (size - len(head))})
        assert keys.problems == problems
        assert (keys.url_key is None) == bool(problems)
        assert keys.content_key is not None


@pytest.mark.parametrize("path", sorted((ROOT / "spec" / "vectors").glob("*.json")), ids=lambda p: p.stem)
def test_format(path: Path) -> None:
    """Vector files are ASCII, name each vector once with y_ or n_, say why, and hold the hex of UTF-8 beside text."""
    data = json.loads(path.read_bytes().decode("ascii"))
    assert set(data) == {"about", "provenance", "vectors"}
    names = [vector["name"] for vector in data["vectors"]]
    assert len(set(names)) == len(names)
    for vector in data["vectors"]:
        assert vector["name"][:2] == ("n_" if {"refused", "code"} & set(vector) else "y_")
        assert vector["why"]
        for text, hexed in (("in", "in_hex"), ("out", "out_hex")):
            if isinstance(vector.get(text), str):
                assert bytes.fromhex(vector[hexed]).decode("utf-8") == vector[text], vector["name"]
