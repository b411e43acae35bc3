"""spec/receipt-1.schema.json takes every receipt there is, and none that was altered against the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from seenbefore import _kernel

SPEC = Path(__file__).parent.parent.parent / "spec"
SCHEMA = json.loads((SPEC / "receipt-1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
VECTORS = json.loads((SPEC / "vectors" / "receipts.json").read_text(encoding="utf-8"))["vectors"]


@pytest.mark.parametrize("vector", [pytest.param(one, id=one["name"]) for one in VECTORS])
def test_receipts_of_vectors_are_valid(vector: dict[str, Any]) -> None:
    """Each receipt of the vectors is an instance of the schema."""
    for receipt in vector["receipts"]:
        VALIDATOR.validate(json.loads(receipt))


def test_receipts_of_the_sample_are_valid(whole: Path) -> None:
    """Each receipt of the sample is an instance of the schema, refused lines too."""
    receipts = [json.loads(line) for line in (whole / "data" / "receipts.ndjson").read_bytes().splitlines()]
    assert {one["verdict"] for one in receipts} == {*_kernel.VERDICTS}
    for receipt in receipts:
        VALIDATOR.validate(receipt)


def test_the_schema_is_one() -> None:
    """The schema is valid by its own meta-schema, and knows the closed sets of codes."""
    Draft202012Validator.check_schema(SCHEMA)
    kinds = SCHEMA["$defs"]
    assert set(kinds["refused"]["properties"]["code"]["enum"]) == set(_kernel.REFUSAL_CODES)
    assert set(kinds["judged"]["properties"]["problems"]["items"]["enum"]) == set(_kernel.PROBLEM_CODES)


CHANGES: dict[str, dict[str, Any]] = {
    "run 0": {"run": 0},
    "a fraction": {"seq": 1.5},
    "no such verdict": {"verdict": "same"},
    "skipped though unseen": {"action": "skip"},
    "seen without reference": {"seen_before": True},
    "unseen with reference": {"refers_to": {"run": 1, "seq": 1, "url": None, "fetched_at": None}},
    "previous of a new one": {"previous": {"run": 1, "seq": 1, "url": None, "fetched_at": None}},
    "digest in capitals": {"payload_digest": "sha256:" + "A" * 64},
    "key without label": {"content_key": "sha256:" + "a" * 64},
    "URL key as content key": {"content_key": "t/1:url:sha256:" + "a" * 64},
    "no key though new": {"content_key": None},
    "a time with zeros": {"fetched_at": "2026-03-02T08:00:00.500Z"},
    "a time with an offset": {"fetched_at": "2026-03-02T08:00:00+00:00"},
    "an unknown problem": {"problems": ["odd"]},
    "a problem twice": {"problems": ["url-invalid", "url-invalid"]},
    "a further member": {"payload": "x"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_altered_receipts_are_invalid(change: str) -> None:
    """A receipt that no run writes is no instance."""
    receipt = json.loads(VECTORS[0]["receipts"][0])
    assert VALIDATOR.is_valid(receipt)
    assert not VALIDATOR.is_valid({**receipt, **CHANGES[change]})


@pytest.mark.parametrize("member", json.loads(VECTORS[0]["receipts"][0]))
def test_every_member_is_needed(member: str) -> None:
    """A receipt without one of its members is no instance."""
    receipt = json.loads(VECTORS[0]["receipts"][0])
    del receipt[member]
    assert not VALIDATOR.is_valid(receipt)
