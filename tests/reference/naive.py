"""What the tests need beside the reading of `spec/` that bundles carry: lines of an input, and a judge of them.

The reading itself is `python/seenbefore/evidence/verify.py`, the program that a buyer runs; every name of it is a name
of this module too. Here is what nobody checks in a bundle, because the inputs are not in it: how an input falls into
lines (keys-1.md 2), what is written about a refused line (receipt-1.md 3), and the bytes of a kept row.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, NamedTuple, Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "seenbefore" / "evidence"))

import verify as reading
from verify import *  # noqa: F403 - the tests take every name of the reading from here
from verify import (
    MAX_LINE,
    Keys,
    Parsed,
    Refused,
    Ruleset,
    action,
    fetched_at_text,
    keys_of,
    ordered_json,
    read_parts,
    sha256,
    verdict,
)

hashlib, re = reading.hashlib, reading.re


class Line(NamedTuple):
    """`number` counts every line from 1; `offset` is where the line starts; `data` has neither LF nor the CR before."""

    number: int
    offset: int
    data: bytes


def lines(data: bytes) -> Iterator[Line]:
    """The lines of an input that are not blank: split at LF only, one CR stripped, a BOM at the start skipped."""
    offset = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while offset < len(data):
        number += 1
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        line = data[offset:end]
        line = line[:-1] if line.endswith(b"\r") else line
        if line.strip(b" \t\r"):
            yield Line(number, offset, line)
        offset = end + 1


class Sighting(NamedTuple):
    """One record at one place at one time, as `refers_to` and `previous` show it."""

    run: int
    seq: int
    url: Optional[str]
    fetched_at: Optional[int]
    payload_digest: Optional[str]

    def shown(self) -> Dict[str, Any]:
        when = None if self.fetched_at is None else fetched_at_text(self.fetched_at)
        return {"run": self.run, "seq": self.seq, "url": self.url, "fetched_at": when}


class Place(NamedTuple):
    latest: Sighting
    content_key: str


class Decision(NamedTuple):
    verdict: str
    seen_before: bool
    refers_to: Optional[Sighting]
    previous: Optional[Sighting]
    first_seen: Optional[int]


class Output(NamedTuple):
    """What one line adds to the three files; None where it adds nothing. Without the LF that ends each line."""

    receipt: bytes
    kept: Optional[bytes]
    refused: Optional[bytes]


class Judge:
    """Judges lines in order against all it judged before; the simplest store there is.

    `source` and `fetched_at` stand in for records without their own; `replace_seen` accepts records with `_seen`.
    """

    def __init__(
        self,
        rules: Ruleset,
        source: Optional[str] = None,
        fetched_at: Optional[str] = None,
        replace_seen: bool = False,
        limit: int = MAX_LINE,
    ) -> None:
        self.rules, self.source, self.fetched_at = rules, source, fetched_at
        self.replace_seen, self.limit = replace_seen, limit
        self.first: Dict[str, Sighting] = {}
        self.first_seen: Dict[str, Optional[int]] = {}
        self.places: Dict[str, Place] = {}
        self.run, self.seq = 1, 0

    def next_run(self) -> None:
        self.run, self.seq = self.run + 1, 0

    def judge(self, name: str, data: bytes) -> Iterator[Output]:
        """Judges one whole input called `name`."""
        for line in lines(data):
            self.seq += 1
            try:
                yield self._record(name, line)
            except Refused as refusal:
                yield self._refused(name, line, refusal)

    def decide(self, keys: Keys) -> Decision:
        """The verdict on a record, and what the next records will find; an unkeyed one leaves nothing behind."""
        key = keys.content_key
        if key is None:
            return Decision("unkeyed", False, None, None, None)
        here = Sighting(self.run, self.seq, keys.url, keys.fetched_at, keys.payload_digest)
        place = self.places.get(keys.url_key or "")
        seen_before = key in self.first
        same = place is not None and place.content_key == key
        word = verdict(seen_before, keys.url_key is not None, place is not None, same)
        refers_to = self.first.get(key)
        times = [t for t in (self.first_seen.get(key), keys.fetched_at) if t is not None]
        self.first.setdefault(key, here)
        self.first_seen[key] = min(times) if times else None
        if keys.url_key is not None:
            self.places[keys.url_key] = Place(here, key)
        previous = place.latest if place is not None and word == "changed" else None
        return Decision(word, seen_before, refers_to, previous, self.first_seen[key])

    def _record(self, name: str, line: Line) -> Output:
        parsed = read_parts(line.data, self.limit)
        record = parsed.record
        if "_seen" in record and not self.replace_seen:
            raise Refused("seen-member")
        record = {member: value for member, value in record.items() if member != "_seen"}
        keys = keys_of(self.rules, record, None, self.source, self.fetched_at, name)
        decision = self.decide(keys)
        done = action(self.rules, decision.verdict, decision.seen_before)
        refers_to, previous = decision.refers_to, decision.previous
        matched_on = None
        if refers_to is not None:
            equal = keys.payload_digest is not None and refers_to.payload_digest == keys.payload_digest
            matched_on = "payload" if equal else "content"
        receipt = {
            "run": self.run,
            "seq": self.seq,
            "input": name,
            "line": line.number,
            "source": keys.source,
            "url": keys.url,
            "url_key": keys.url_key,
            "fetched_at": None if keys.fetched_at is None else fetched_at_text(keys.fetched_at),
            "payload_digest": keys.payload_digest,
            "content_key": keys.content_key,
            "verdict": decision.verdict,
            "action": done,
            "seen_before": decision.seen_before,
            "matched_on": matched_on,
            "refers_to": refers_to and refers_to.shown(),
            "previous": previous and previous.shown(),
            "problems": keys.problems,
        }
        seen = {
            "sha256": keys.payload_digest,
            "content_key": keys.content_key,
            "verdict": decision.verdict,
            "seen_before": decision.seen_before,
            "first_seen": None if decision.first_seen is None else fetched_at_text(decision.first_seen),
            "refers_to": refers_to and refers_to.shown(),
        }
        kept = with_seen(parsed, ordered_json(seen)) if done == "keep" else None
        return Output(ordered_json(receipt), kept, None)

    def _refused(self, name: str, line: Line, refusal: Refused) -> Output:
        digest = sha256(line.data)
        receipt = {
            "run": self.run,
            "seq": self.seq,
            "input": name,
            "line": line.number,
            "verdict": "refused",
            "action": "refuse",
            "code": refusal.code,
            "sha256": digest,
        }
        detail = refusal.detail if refusal.field is None else f"{refusal.field}: {refusal.detail}"
        row: Dict[str, Any] = {
            "input": name,
            "line": line.number,
            "seq": self.seq,
            "offset": line.offset,
            "length": len(line.data),
            "code": refusal.code,
            "detail": detail,
            "sha256": digest,
        }
        if refusal.code == "line-too-long":
            row["bin_offset"] = 0  # where a writer put the bytes in refused.bin; nothing is written here
        else:
            try:
                row["raw"] = line.data.decode("utf-8")
            except UnicodeDecodeError:
                row["raw_base64"] = base64.b64encode(line.data).decode("ascii")
        return Output(ordered_json(receipt), None, ordered_json(row))


def with_seen(parsed: Parsed, seen: bytes) -> bytes:
    """The record's own text without outer white space, its `_seen` (if any) cut out, and the new one as last member."""
    text, spans = parsed.text, parsed.spans
    for at, (name, start, end) in enumerate(spans):
        if name == "_seen":
            if at + 1 < len(spans):
                text = text[:start] + text[spans[at + 1][1] :]
            elif at > 0:
                text = text[: spans[at - 1][2]] + text[end:]
            else:
                text = text[:start] + text[end:]
            spans = spans[:at] + spans[at + 1 :]
            break
    text = text.strip(" \t\r\n")
    return (text[:-1] + ("," if spans else "") + '"_seen":').encode("utf-8") + seen + b"}"
