"""Judged batches made without the kernel: the verdict table in a few lines, over facts that a test gives."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seenbefore import errors
from seenbefore.stores.base import SeenStore, Transaction
from seenbefore.stores.rows import (
    Block,
    EarlierContent,
    KnownContent,
    KnownPlace,
    NewContent,
    PlaceNow,
    Progress,
    RulesetRow,
    Sighting,
)

VERDICTS = ("new", "changed", "syndicated", "duplicate", "unkeyed", "refused")
BLOCK = 1024
# Of the invented crawls: contents c0 …, places u0 ….
CONTENTS, PLACES = 300, 200


def digest(text: object) -> bytes:
    """32 bytes that stand for a text."""
    return hashlib.sha256(str(text).encode()).digest()


@dataclass(frozen=True)
class Item:
    """One record as a kernel would know it: its keys' texts, and its facts."""

    content: str | None
    place: str | None = None
    fetched_at: int | None = None
    source: str = "shop"
    refused: bool = False

    @property
    def content_key(self) -> bytes | None:
        return None if self.content is None or self.refused else digest(self.content)

    @property
    def place_key(self) -> bytes | None:
        return None if self.place is None or self.content_key is None else digest(self.place)


@dataclass
class Judged:
    """The shapes of a JudgedBatch, as a test may also spoil them."""

    blocks: list[Block] = field(default_factory=list)
    contents_new: list[NewContent] = field(default_factory=list)
    contents_earlier: list[EarlierContent] = field(default_factory=list)
    places: list[PlaceNow] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)


@dataclass
class _State:
    """What is known while a batch is judged: content key → [id, first_seen], place key → [id, latest, content id]."""

    contents: dict[bytes, tuple[int, int | None]]
    places: dict[bytes, tuple[int, int, int]]

    def verdict(self, item: Item) -> str:
        """The row of the verdict table."""
        if item.content_key is None:
            return "refused" if item.refused else "unkeyed"
        content = self.contents.get(item.content_key)
        place = self.places.get(item.place_key) if item.place_key else None
        if place is not None and (content is None or place[2] != content[0]):
            return "changed"
        if content is None:
            return "new"
        return "syndicated" if item.place_key and place is None else "duplicate"

    def see(self, item: Item, number: int) -> tuple[int | None, int | None]:
        """Mark a record as seen → the ids of its content and of its place."""
        if item.content_key is None:
            return None, None
        content, seen = self.contents.get(item.content_key, (number, None))
        times = [time for time in (seen, item.fetched_at) if time is not None]
        self.contents[item.content_key] = (content, min(times, default=None))
        if item.place_key is None:
            return content, None
        place = self.places.get(item.place_key, (number,))[0]
        self.places[item.place_key] = (place, number, content)
        return content, place


def sorted_keys(keys: Iterable[bytes | None]) -> list[bytes]:
    """The distinct keys, sorted."""
    return sorted({key for key in keys if key is not None})


def judge(
    items: Sequence[Item],
    run: int,
    first_seq: int,
    first_sighting: int,
    known: tuple[Sequence[KnownContent], Sequence[KnownPlace]],
    sources: dict[str, int],
) -> Judged:
    """Judge in order, against what the claim found and what came earlier in the batch."""
    content_keys = sorted_keys(item.content_key for item in items)
    place_keys = sorted_keys(item.place_key for item in items)
    before = {content_keys[at]: (number, seen) for at, number, seen in known[0]}
    state = _State(dict(before), {place_keys[at]: (one, two, three) for at, one, two, three in known[1]})
    judged, receipts, kept = Judged(), [], []
    for number, item in enumerate(items, first_sighting):
        seq = first_seq + number - first_sighting
        verdict = state.verdict(item)
        content, place = state.see(item, number)
        payload = None if item.refused else digest((item.content, "payload"))
        facts = (item.fetched_at, VERDICTS.index(verdict), item.place, payload)
        judged.sightings.append((number, run, seq, sources[item.source], content, place, *facts))
        action = {"refused": "refuse", "duplicate": "skip"}.get(verdict, "keep")
        receipts.append(line({"run": run, "seq": seq, "verdict": verdict, "action": action, "content": item.content}))
        kept.append(line({"text": item.content, "_seen": {"verdict": verdict}}) if action == "keep" else b"")
    for start in range(0, len(items), BLOCK):
        part = slice(start, start + BLOCK)
        pair = b"".join(receipts[part]), b"".join(kept[part])
        judged.blocks.append((first_seq + start, len(receipts[part]), *pair, b""))
    for key, (content, seen) in sorted(state.contents.items()):
        if key not in before:
            judged.contents_new.append((key, content, seen))
        elif seen is not None and seen != before[key][1]:
            judged.contents_earlier.append((key, seen))
    judged.places = [(key, *state.places[key]) for key in place_keys]
    return judged


def line(members: dict[str, Any]) -> bytes:
    """One line of JSON, as compact as canonical JSON is."""
    return json.dumps(members, separators=(",", ":")).encode() + b"\n"


def record(transaction: Transaction, run: int, items: Sequence[Item], first_seq: int = 1) -> Judged:
    """Claim, judge and record one batch in an open transaction; its position is the last seq."""
    judged = prepare(transaction, run, items, first_seq)
    last = first_seq + len(items) - 1
    size = sum(len(block[2]) for block in judged.blocks)
    transaction.record(judged, Progress(run, {"seq": last}, {"receipts.ndjson": size}, {"records": last}))
    return judged


def prepare(transaction: Transaction, run: int, items: Sequence[Item], first_seq: int = 1) -> Judged:
    """Claim and judge one batch, without recording it."""
    contents = b"".join(sorted_keys(item.content_key for item in items))
    places = b"".join(sorted_keys(item.place_key for item in items))
    known = transaction.claim(contents, places)
    names = sorted({item.source for item in items})
    sources = dict(zip(names, transaction.source_ids(names), strict=True))
    return judge(items, run, first_seq, transaction.next_sighting, known, sources)


def register(
    store: SeenStore, label: str = "products/3", fingerprint: str = "sha256:aa", text: str = "{}"
) -> RulesetRow:
    """A ruleset with invented facts."""
    return store.ruleset(label, fingerprint, "sha256:cc", text, "17.0.0")


def begin(store: SeenStore, out: str = "/out") -> int:
    """A run that is begun → its ordinal."""
    with store.transaction() as transaction:
        run = transaction.begin_run(out, "sha256:cc", "2026-03-02T10:00:00Z")
        transaction.commit()
    return run


def run_whole(store: SeenStore, items: Sequence[Item], out: str = "/out", *, batch: int = 100) -> int:
    """One finished run over the items, a transaction a batch → its ordinal."""
    run = begin(store, out)
    for start in range(0, len(items), batch):
        with store.transaction() as transaction:
            record(transaction, run, items[start : start + batch], start + 1)
            transaction.commit()
    finish(store, run)
    return run


def finish(store: SeenStore, run: int) -> bytes:
    """Finish a run with invented receipts → its chain digest."""
    with store.transaction() as transaction:
        chain = transaction.finish_run(run, digest(("receipts", run)), "2026-03-02T10:01:00Z")
        transaction.commit()
    return chain


def environment() -> dict[str, str]:
    """The environment of a process that is to find the same package and the same tests as this one."""
    places = [Path(errors.__file__).parent.parent, Path(__file__).parent.parent.parent]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}


def start(*arguments: object) -> subprocess.Popen[str]:
    """A process of worker.py."""
    command = [sys.executable, "-m", "tests.contract.worker", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


def content_text(content: str, label: str = "products/3") -> str:
    """The text of a content's key."""
    return f"{label}:sha256:{digest(content).hex()}"


def place_text(place: str, label: str = "products/3") -> str:
    """The text of a place's key."""
    return f"{label}:url:sha256:{digest(place).hex()}"


def dump(store: SeenStore) -> dict[str, Any]:
    """Everything that a store says of itself, but for its size and location."""
    info = store.info()
    return {
        "counts": (info.rulesets, info.runs, info.contents, info.places, info.sightings),
        "rulesets": store.rulesets(),
        "runs": store.runs(),
        "inputs": [store.inputs(run.ordinal) for run in store.runs()],
        "sightings": list(store.sightings()),
        "contents": [store.lookup_content(content_text(f"c{number}")) for number in range(CONTENTS)],
        "places": [store.lookup_place(place_text(f"u{number}")) for number in range(PLACES)],
        "all contents": list(store.contents()),
        "all places": list(store.places()),
        "gathered": [list(store.gathered("content")), list(store.gathered("place"))],
        "stretches": [(one.run, one.first_seq, one.first_sighting, one.records) for one in store.stretches()],
        "receipts": [b"".join(store.receipts(run.ordinal)) for run in store.runs()],
        "kept": [b"".join(store.kept_rows(run.ordinal)) for run in store.runs()],
    }


def crawl(count: int, seed: int = 0) -> list[Item]:
    """Records that show every verdict, the same for the same seed."""
    dice = random.Random(seed)
    items = []
    for _ in range(count):
        content = None if dice.random() < 0.03 else f"c{dice.randrange(CONTENTS)}"
        place = None if dice.random() < 0.1 else f"u{dice.randrange(PLACES)}"
        time = None if dice.random() < 0.2 else dice.randrange(-(10**6), 10**16)
        items.append(Item(content, place, time, f"shop{dice.randrange(5)}", refused=dice.random() < 0.02))
    return items
