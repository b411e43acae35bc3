"""Other people's JSON suites: what must be read is read, the rest is refused, and the bytes are RFC 8785's."""

from __future__ import annotations

import gzip
import json
import os
import struct
import tarfile
from decimal import Decimal
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from seenbefore import _kernel
from seenbefore.errors import Refused

SHARED = os.environ.get("SEENBEFORE_SHARED")
JSON = Path(SHARED or ".") / "data" / "conformance" / "json"
shared = pytest.mark.skipif(not SHARED, reason="SEENBEFORE_SHARED does not name the folder with the JSON suites")

# JSONTestSuite leaves these to each reader. Decided here: numbers are read exactly where 1,000 digits are enough to
# write them out; unpaired surrogates, bytes that are no UTF-8, UTF-16, a BOM inside a line and 500 levels are refused.
DECIDED = {
    "i_number_double_huge_neg_exp": "",
    "i_number_huge_exp": "number-too-long",
    "i_number_neg_int_huge_exp": "number-too-long",
    "i_number_pos_double_huge_exp": "number-too-long",
    "i_number_real_neg_overflow": "number-too-long",
    "i_number_real_pos_overflow": "number-too-long",
    "i_number_real_underflow": "number-too-long",
    "i_number_too_big_neg_int": "",
    "i_number_too_big_pos_int": "",
    "i_number_very_big_negative_int": "",
    "i_object_key_lone_2nd_surrogate": "unpaired-surrogate",
    "i_string_1st_surrogate_but_2nd_missing": "unpaired-surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid": "unpaired-surrogate",
    "i_string_UTF-16LE_with_BOM": "invalid-utf8",
    "i_string_UTF-8_invalid_sequence": "invalid-utf8",
    "i_string_UTF8_surrogate_U+D800": "invalid-utf8",
    "i_string_incomplete_surrogate_and_escape_valid": "unpaired-surrogate",
    "i_string_incomplete_surrogate_pair": "unpaired-surrogate",
    "i_string_incomplete_surrogates_escape_valid": "unpaired-surrogate",
    "i_string_invalid_lonely_surrogate": "unpaired-surrogate",
    "i_string_invalid_surrogate": "unpaired-surrogate",
    "i_string_invalid_utf-8": "invalid-utf8",
    "i_string_inverted_surrogates_U+1D11E": "unpaired-surrogate",
    "i_string_iso_latin_1": "invalid-utf8",
    "i_string_lone_second_surrogate": "unpaired-surrogate",
    "i_string_lone_utf8_continuation_byte": "invalid-utf8",
    "i_string_not_in_unicode_range": "invalid-utf8",
    "i_string_overlong_sequence_2_bytes": "invalid-utf8",
    "i_string_overlong_sequence_6_bytes": "invalid-utf8",
    "i_string_overlong_sequence_6_bytes_null": "invalid-utf8",
    "i_string_truncated-utf-8": "invalid-utf8",
    "i_string_utf16BE_no_BOM": "invalid-utf8",
    "i_string_utf16LE_no_BOM": "invalid-utf8",
    "i_structure_500_nested_arrays": "too-deep",
    "i_structure_UTF-8_BOM_empty_object": "invalid-json",
}
# RFC 8785 rounds numbers to doubles; ours are exact, so documents with longer numbers differ in those.
LONGER_NUMBERS = {"values"}


def members(archive: str) -> dict[str, bytes]:
    """The files of a tar archive by their path."""
    with tarfile.open(JSON / archive) as tar:
        files = [(info.name, tar.extractfile(info)) for info in tar.getmembers() if info.isfile()]
        return {name: file.read() for name, file in files if file is not None}


def code(data: bytes) -> str:
    """The refusal code of a JSON text as a value, empty where it is read."""
    try:
        _kernel.canonical_json(data)
    except Refused as refusal:
        return refusal.code
    return ""


@pytest.mark.shared
@shared
def test_json_test_suite() -> None:
    """Every y_ is read but the two with a repeated member, every n_ is refused, every i_ is decided."""
    found = {
        Path(name).stem: code(data)
        for name, data in members("JSONTestSuite.tar.gz").items()
        if "/test_parsing/" in f"/{name}"
    }
    repeated = {"y_object_duplicated_key", "y_object_duplicated_key_and_value"}
    assert {name for name, code in found.items() if name.startswith("y_") and code} == repeated
    assert {found[name] for name in repeated} == {"repeated-member"}
    accepted = {name for name, code in found.items() if name.startswith("n_") and not code}
    assert accepted == set()
    assert {name: code for name, code in found.items() if name.startswith("i_")} == DECIDED


@pytest.mark.shared
@shared
def test_rfc8785_documents() -> None:
    """RFC 8785's documents have its bytes, but where a number has more digits than a double holds."""
    files = members("jcs_testdata.tar.gz")
    names = sorted({Path(name).stem for name in files})
    differing = set()
    for name in names:
        found = _kernel.canonical_json(files[f"input/{name}.json"])
        if found != files[f"output/{name}.json"]:
            differing.add(name)
            ours, theirs = (json.loads(text, parse_int=float) for text in (found, files[f"output/{name}.json"]))
            assert ours == theirs, "as doubles the numbers are the same"
    assert differing == LONGER_NUMBERS


@pytest.mark.shared
@shared
def test_es6_numbers() -> None:
    """Of the 10,000 numbers of RFC 8785's test file, those in the stated domain have its spelling."""
    checked = 0
    for line in gzip.decompress((JSON / "es6_numbers_10000.txt.gz").read_bytes()).decode().split():
        bits, expected = line.split(",")
        number = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0]
        exact = Decimal(repr(number))
        digits = len(exact.as_tuple().digits)
        if digits <= 15 and (not number or 1e-6 <= abs(number) < 1e21):
            assert _kernel.canonical_json(exact).decode() == expected
            checked += 1
    assert checked > 40


SHORT = st.integers(-(10**15) + 1, 10**15 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | SHORT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=500, deadline=None)
@given(value=VALUES)
def test_against_rfc8785(value: object) -> None:
    """On texts, nesting and short integers the bytes are those of the rfc8785 package."""
    expected = rfc8785.dumps(value)  # type: ignore[arg-type]  # its JSON type is stricter than `object`
    assert _kernel.canonical_json(value) == expected


@settings(max_examples=1_000, deadline=None)
@given(digits=st.integers(1, 10**15 - 1), exponent=st.integers(-20, 20), sign=st.sampled_from([1, -1]))
def test_decimals_against_rfc8785(digits: int, exponent: int, sign: int) -> None:
    """A number of at most 15 digits between 1e-6 and 1e21 is spelled as RFC 8785 spells its double."""
    exact = sign * Decimal(digits).scaleb(exponent)
    if Decimal("1e-6") <= abs(exact) < Decimal("1e21"):
        assert _kernel.canonical_json(exact) == rfc8785.dumps(float(exact))


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b'{"t":"caf\xe9"}', "invalid-utf8"),
        (b'{"t":NaN}', "invalid-json"),
        (b'{"t":1}{"t":2}', "invalid-json"),
        (b'{"t":"\\ud83d"}', "unpaired-surrogate"),
        (b'{"t":1,"\\u0074":2}', "repeated-member"),
        (b'{"t":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too-deep"),
        (b"[1]", "not-an-object"),
        (b'{"t":1,"_seen":{}}', "seen-member"),
        (b'{"t":1e1000}', "number-too-long"),
    ],
)
def test_one_bad_line(bad: bytes, code: str) -> None:
    """Of 10,000 lines one is bad: it is refused with its code, and nothing else is lost."""
    lines = [b'{"t":%d}' % at for at in range(10_000)]
    lines[5_000] = bad
    codes = (
        _kernel.Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n').keys_ndjson(b"\n".join(lines)).codes
    )
    assert [(at, found) for at, found in enumerate(codes) if found] == [(5_000, code)]
    assert len(codes) == len(lines)


def test_many_members() -> None:
    """A million members in one object are read, a repeated one among them is found, both in bounded time."""
    names = ",".join(f'"k{at}":1' for at in range(1_000_000))
    assert code(f"{{{names}}}".encode()) == ""
    assert code(f'{{{names},"k500000":2}}'.encode()) == "repeated-member"


def test_long_line() -> None:
    """A line of 60 MiB is one record like any other."""
    rules = _kernel.Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n')
    batch = rules.keys_ndjson(b'{"t":"' + b"a" * (60 << 20) + b'"}\n{"t":"a"}')
    assert batch.codes == [None, None]
    assert batch.content_keys[:32] != batch.content_keys[32:]
