"""What all stores decide in the same way: labels, keys, whether a rule changed, what a batch may write, the chain."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from seenbefore.errors import RuleChanged, StoreDamaged, UsageError
from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.rows import Digest, KnownContent, KnownPlace, Progress, RulesetRow, RunRow

WIDTH = 32
FIRST_LINK = bytes(WIDTH)
_LABEL = re.compile(r"([a-z0-9][a-z0-9_-]*)/([1-9][0-9]*)")
_KEY = re.compile(r"([^:]*)(:url)?:sha256:([0-9a-f]{64})")
_SHOWN = 60


def split_label(label: str) -> tuple[str, int]:
    """`products/3` → name and version. Raises UsageError."""
    found = _LABEL.fullmatch(label)
    if found is None:
        raise UsageError(
            f"{label!r} is no ruleset", expected="a name, a slash and a version from 1, such as products/3", found=label
        )
    return found[1], int(found[2])


def split_key(key: str, *, url: bool) -> tuple[str, Digest]:
    """A content key's text, or that of a URL key, → label and digest. Raises UsageError."""
    found = _KEY.fullmatch(key)
    if found is None or bool(found[2]) is not url:
        shape = f"products/3{':url' if url else ''}:sha256:<64 hex digits>"
        raise UsageError(f"{key!r} is no {'URL' if url else 'content'} key", expected=shape, found=key)
    return found[1], bytes.fromhex(found[3])


def check_ruleset(known: RulesetRow, fingerprint: str, text: str, unicode_version: str, location: str) -> None:
    """Pass where the ruleset is the one known by that label. Raises RuleChanged naming what differs."""
    if known.fingerprint == fingerprint and known.unicode_version == unicode_version:
        return
    changed = list(differences(parsed(known.text), parsed(text)))
    if known.unicode_version != unicode_version:
        changed.insert(0, ("Unicode version", known.unicode_version, unicode_version))
    raise RuleChanged(
        f"the rule {known.label} is not the one that {location} knows by that name",
        changed=changed,
        path=location,
        expected=known.fingerprint,
        found=fingerprint,
    )


def differences(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """The settings that differ between two parsed rulesets, as (path, before, now); what isn't there is `(none)`."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            below = f"{path}.{name}" if path else name
            yield from differences(before.get(name, _ABSENT), now.get(name, _ABSENT), below)
    elif before is _ABSENT or now is _ABSENT or before != now:
        yield path, _shown(before), _shown(now)


_ABSENT = object()


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def parsed(text: str) -> Any:
    """A ruleset's text, JSON or TOML, as a table; the text itself where it is neither."""
    for reader in (json.loads, tomllib.loads):
        try:
            return reader(text)
        except ValueError:
            continue
    return text


# Every reader of JSON has whole numbers up to here, and every column of 64 bits has room for them.
LAST_RUN = (1 << 53) - 1


def free_ordinal(wanted: int | None, known: Sequence[int] | set[int]) -> int:
    """The ordinal of a new run: `wanted`, else the next after the known ones.

    Raises UsageError where it is taken, or no ordinal.
    """
    ordinal = max(known, default=0) + 1 if wanted is None else wanted
    if not 1 <= ordinal <= LAST_RUN or ordinal in known:
        why = "is there already" if ordinal in known else "is no ordinal"
        raise UsageError(f"run {ordinal} {why}", found=str(ordinal), hint=f"choose a free number from 1 to {LAST_RUN}")
    return ordinal


def known_run(run: RunRow | None, ordinal: int) -> RunRow:
    """The run. Raises UsageError where there is none."""
    if run is None:
        raise UsageError(f"run {ordinal} is not there", found=str(ordinal))
    return run


def still_unfinished(run: RunRow | None, ordinal: int) -> RunRow:
    """The run, where it is unfinished. Raises UsageError where it is not, or where there is none."""
    if run is None or run.state != "unfinished":
        state = "not there" if run is None else run.state
        raise UsageError(f"run {ordinal} is {state}", expected="an unfinished run", found=state)
    return run


def chain_digest(before: Digest | None, receipts_sha256: Digest) -> Digest:
    """The chain digest of a run; `before` is that of the run finished before it, None for the first."""
    return hashlib.sha256((before or FIRST_LINK) + receipts_sha256).digest()


def contradicted(location: str, fault: str) -> StoreDamaged:
    """The error for a batch that would write something else than was claimed."""
    return StoreDamaged(
        f"{location} and the batch that was to be written contradict each other: {fault}",
        path=location,
        hint="nothing of the batch was written; please report this, with the version and the command",
    )


class Claimed:
    """What one transaction claimed: the only thing that its batch may write.

    A kernel and a store that disagree would give a content a second first sighting; so it is checked and not assumed.
    """

    def __init__(
        self, contents: bytes, places: bytes, known: Sequence[KnownContent], known_places: Sequence[KnownPlace]
    ) -> None:
        self._contents, self._places = contents, places
        self._known, self._known_places = known, known_places

    def known(self) -> dict[Digest, tuple[int, int | None]]:
        """The claimed contents that were there: key → (content id, first_seen)."""
        keys = self._contents
        return {keys[index * WIDTH : index * WIDTH + WIDTH]: (first, seen) for index, first, seen in self._known}

    def check(self, judged: JudgedBatch, progress: Progress, next_sighting: int, location: str) -> None:
        """Pass where the batch writes what was claimed. Raises StoreDamaged."""
        fault = self._order(judged, progress, next_sighting)
        if fault is None and not (self._all_written(judged) and not judged.contents_earlier):
            fault = self._strangers(judged)
        if fault is not None:
            raise contradicted(location, fault)

    def _order(self, judged: JudgedBatch, progress: Progress, next_sighting: int) -> str | None:
        rows = judged.sightings
        if sum(block[1] for block in judged.blocks) != len(rows):
            return "not every sighting has a receipt"
        ends = [row[:2] for row in (*rows[:1], *rows[-1:])]
        last = next_sighting + len(rows) - 1
        if rows and ends != [(next_sighting, progress.run), (last, progress.run)]:
            return "the sightings are not the next ones of this run"
        return None

    def _all_written(self, judged: JudgedBatch) -> bool:
        """True where the claimed keys are those that are there and those that are written, as they nearly always are.

        Everything is sorted, so this takes a tenth of the time of building sets.
        """
        keys, first = self._contents, itemgetter(0)
        contents = list(map(first, judged.contents_new))
        contents += [keys[row[0] * WIDTH : row[0] * WIDTH + WIDTH] for row in self._known]
        contents.sort()
        return b"".join(contents) == keys and b"".join(map(first, judged.places)) == self._places

    def _strangers(self, judged: JudgedBatch) -> str | None:
        known, new = self.known().keys(), {row[0] for row in judged.contents_new}
        if not known.isdisjoint(new) or len(new) < len(judged.contents_new):
            return "a content is written that is there already"
        if not new <= set(cut(self._contents)):
            return "a content is written that was not claimed"
        if not {row[0] for row in judged.contents_earlier} <= known:
            return "a first_seen is moved of a content that is not there"
        if not {row[0] for row in judged.places} <= set(cut(self._places)):
            return "a place is written that was not claimed"
        return None


NOTHING_CLAIMED = Claimed(b"", b"", (), ())


def cut(keys: bytes) -> list[Digest]:
    """Keys one after the other in one bytes object → each of them."""
    return [keys[start : start + WIDTH] for start in range(0, len(keys), WIDTH)]


def lines(block: bytes) -> list[bytes]:
    """The lines of a block without their LF. A kept row may hold a CR, as white space between its tokens."""
    return block.split(b"\n")[:-1]


def line(block: bytes, index: int) -> bytes | None:
    """One line of a block with its LF, by its index from 0."""
    found = lines(block)
    return found[index] + b"\n" if 0 <= index < len(found) else None


def kept_indices(receipts: bytes) -> list[int]:
    """Which records of a block were kept, by their index from 0: its kept rows are theirs, in this order.

    Receipts are canonical, and a quote within a string is escaped: so these bytes can be nothing but that member.
    """
    return [index for index, receipt in enumerate(lines(receipts)) if b'"action":"keep"' in receipt]


def kept_line(receipts: bytes, kept: bytes, index: int) -> bytes | None:
    """The kept row of the record at `index` of a block: the receipts say which records were kept."""
    places = kept_indices(receipts)
    return line(kept, places.index(index)) if index in places else None
