"""Which record is meant: by row, URL, key, file and line, or given as such."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seenbefore.audit.floats import float_fields
from seenbefore.errors import InputUnreadable, Refused, SeenbeforeError, UsageError
from seenbefore.reading import Dialect, Form, record_at
from seenbefore.rules import UNICODE_VERSION, Ruleset
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import RunRow, SightingRow

_ROW = re.compile(r"([0-9]+):([0-9]+)")
_LINE = re.compile(r"(.+):([0-9]+)", re.DOTALL)
# The last member of a kept row, which is not the record's own.
_SEEN = re.compile(rb',?"_seen":\{[^\n]*\}\}\n?\Z')


@dataclass(frozen=True, slots=True)
class Found:
    """A record to be explained.

    `record` is its JSON as it came, None where no payload is at hand; `receipt` is its receipt, None where no run
    judged it. `whence` says where the record was read, `history` other sightings of the same place or content.
    """

    rules: Ruleset
    record: bytes | None = None
    receipt: Mapping[str, Any] | None = None
    whence: str = ""
    history: tuple[SightingRow, ...] = ()


class Locator:
    """Finds records in a store and in files. `rules` overrides the ruleset that the store has for a run."""

    def __init__(self, store: SeenStore | None, rules: Ruleset | None, default: str) -> None:
        self.store = store
        self._rules, self._default = rules, default

    def by_name(self, name: str) -> Found:
        """RUN:SEQ or FILE:LINE. Raises UsageError, InputUnreadable."""
        row, line = _ROW.fullmatch(name), _LINE.fullmatch(name)
        if row is not None:
            return self.by_row(int(row[1]), int(row[2]))
        if line is not None:
            return self.by_line(line[1], int(line[2]))
        raise UsageError(
            f'"{name}" names no row',
            found=name,
            hint="give RUN:SEQ as in 2:15, FILE:LINE as in crawl.ndjson:15, --url, --key or --record",
        )

    def by_row(self, run: int, seq: int) -> Found:
        """The row of a run. Raises UsageError where there is none."""
        store = self._needed()
        known = store.run(run)
        line = None if known is None else store.receipt(run, seq)
        if known is None or line is None:
            raise UsageError(
                f"{store.location} has no row {run}:{seq}",
                found=f"{run}:{seq}",
                hint="a row is named RUN:SEQ, as receipts and `seenbefore log` name it",
            )
        rules, receipt = self._rules_of(known), json.loads(line)
        kept = store.kept(run, seq)
        if kept is not None:
            return Found(rules, without_seen(kept), receipt, "the store's kept row")
        again = self._again(rules, known, receipt)
        if again is not None:
            return Found(rules, again, receipt, f"{receipt['input']}, line {receipt['line']}")
        return Found(rules, None, receipt)

    def by_url(self, url: str) -> Found:
        """The latest sighting of a URL. Raises UrlRefused, UsageError where the store doesn't know it."""
        store, rules = self._needed(), self.rules()
        key = rules.keys({}, url=url).url_key
        place = None if key is None else store.lookup_place(key)
        if place is None:
            raise UsageError(f"{store.location} has no record at that URL", hint="check the URL and the ruleset")
        return self._latest(tuple(store.sightings(place=place.first)), place.latest)

    def by_key(self, key: str) -> Found:
        """The first sighting of a content key, the latest of a URL key. Raises UsageError."""
        store = self._needed()
        if ":url:" in key:
            place = store.lookup_place(key)
            if place is not None:
                return self._latest(tuple(store.sightings(place=place.first)), place.latest)
        else:
            content = store.lookup_content(key)
            if content is not None:
                return self._latest(tuple(store.sightings(content=content.first)), content.first)
        raise UsageError(
            f"{store.location} doesn't have that key", found=key, hint="keys are compared within one ruleset"
        )

    def by_line(self, path: str, line: int) -> Found:
        """A line of a file, with its receipt where a run of the store judged it. Raises InputUnreadable."""
        if self.store is not None:
            for run in reversed(self.store.runs()):
                receipt = self._receipt_of(run, path, line)
                text = b"" if receipt is None else record_at(path, line, form_of(run))
                if receipt is not None and same(self._rules_of(run), text, receipt):
                    return Found(self._rules_of(run), text, receipt, f"{path}, line {line}")
        return Found(self.rules(), record_at(path, line), None, f"{path}, line {line}")

    def given(self, record: str) -> Found:
        """JSON as such, or @FILE that holds it. Raises InputUnreadable."""
        if not record.startswith("@"):
            return Found(self.rules(), record.encode(), None, "the command line")
        try:
            return Found(self.rules(), Path(record[1:]).read_bytes(), None, record[1:])
        except OSError as error:
            raise InputUnreadable(
                f"can't read {record[1:]}: {error.strerror}", path=record[1:], hint="check the path"
            ) from error

    def rules(self) -> Ruleset:
        """The ruleset for what no run judged: the one asked for, else the store's latest, else the default."""
        if self._rules is not None:
            return self._rules
        runs = [] if self.store is None else self.store.runs()
        return self._rules_of(runs[-1]) if runs else Ruleset.find(self._default)

    def _needed(self) -> SeenStore:
        if self.store is None:
            raise UsageError("there is no store to look in", hint="name it with --store")
        return self.store

    def _rules_of(self, run: RunRow) -> Ruleset:
        store = self._needed()
        text = store.settings_text(run.ruleset, run.configuration)
        rules = self._rules or Ruleset.from_toml(text or "", f"{store.location}, run {run.ordinal}")
        if any(row.label == rules.label for row in store.rulesets()):
            store.ruleset(rules.label, rules.fingerprint, rules.configuration, rules.text, UNICODE_VERSION)
        return rules

    def _latest(self, history: tuple[SightingRow, ...], wanted: int) -> Found:
        row = next(row for row in history if row.id == wanted)
        found = self.by_row(row.run, row.seq)
        return Found(found.rules, found.record, found.receipt, found.whence, history)

    def _again(self, rules: Ruleset, run: RunRow, receipt: Mapping[str, Any]) -> bytes | None:
        """The record read again from its input, where that is still what it was."""
        path = receipt.get("input")
        if path is None or path == "-" or not Path(path).is_file():
            return None
        try:
            text = record_at(path, receipt["line"], form_of(run))
        except SeenbeforeError:
            return None
        return text if same(rules, text, receipt) else None

    def _receipt_of(self, run: RunRow, path: str, line: int) -> Mapping[str, Any] | None:
        """The receipt of a line, found by halving: receipts stand in the order of the inputs and their lines."""
        store = self._needed()
        order = {row.name: row.index for row in store.inputs(run.ordinal)}
        if path not in order:
            return None
        low, high = 1, int(run.counts.get("records", 0))
        while low <= high:
            middle = (low + high) // 2
            found = store.receipt(run.ordinal, middle)
            if found is None:
                return None
            receipt: dict[str, Any] = json.loads(found)
            at = (order.get(receipt["input"], -1), receipt["line"])
            if at == (order[path], line):
                return receipt
            low, high = (middle + 1, high) if at < (order[path], line) else (low, middle - 1)
        return None


def form_of(run: RunRow) -> Form:
    """What a run was told about its inputs."""
    settings = run.position.get("settings", {})
    return Form(settings.get("format"), Dialect(settings.get("delimiter"), settings.get("encoding")))


def same(rules: Ruleset, record: bytes, receipt: Mapping[str, Any]) -> bool:
    """Whether a record has the keys and the payload digest that a receipt states; of a refused line it says neither."""
    if receipt["verdict"] == "refused":
        return True
    try:
        keys = rules.kernel.keys(record, floats=float_fields(rules, record, receipt["content_key"]))
    except Refused:
        return False
    return (keys.content_key, keys.payload_digest) == (receipt["content_key"], receipt["payload_digest"])


def without_seen(kept: bytes) -> bytes:
    """The record of a kept row: its bytes without the `_seen` that was added at the end."""
    found = _SEEN.search(kept, kept.rindex(b'"_seen":{') - 1)
    return kept if found is None else kept[: found.start()] + b"}"
