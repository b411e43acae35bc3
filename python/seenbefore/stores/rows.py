"""What goes into a store and comes out of it: type aliases, and frozen values without behaviour of their own.

Digests are 32 raw bytes, times are integer microseconds since 1970 in UTC, verdicts are indices into the kernel's
VERDICTS. A *sighting id* counts all records of all runs in the order of their commits, from 1. A content or a place has
the id of its first sighting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Digest: TypeAlias = bytes
RunState: TypeAlias = Literal["unfinished", "finished", "abandoned"]
RulesetState: TypeAlias = Literal["active", "pending", "retired"]
Keep: TypeAlias = Literal["kept", "none"]  # the rows of kept.ndjson beside the receipts, or the receipts alone

# The shapes that go between a store and a batch of the kernel.
KnownContent: TypeAlias = tuple[int, int, int | None]  # index into the claimed content keys, content id, first_seen
# index into the claimed place keys, place id, latest sighting, content id of that one
KnownPlace: TypeAlias = tuple[int, int, int, int]
# sighting id, run, seq, url, fetched_at, payload digest
EarlierSighting: TypeAlias = tuple[int, int, int, str | None, int | None, Digest | None]
# (content id, first_seen) and (place id, latest sighting, content id of that one), None for what is not known
Known: TypeAlias = tuple[tuple[int, int | None] | None, tuple[int, int, int] | None]
NewContent: TypeAlias = tuple[Digest, int, int | None]  # key, content id, first_seen
EarlierContent: TypeAlias = tuple[Digest, int]  # key, first_seen moved back
PlaceNow: TypeAlias = tuple[Digest, int, int, int]  # key, place id, latest sighting, content id of that one
# id, run, seq, source id, content id, place id, fetched_at, verdict, url, payload digest
Sighting: TypeAlias = tuple[int, int, int, int, int | None, int | None, int | None, int, str | None, Digest | None]
Block: TypeAlias = tuple[int, int, bytes, bytes, bytes]  # first seq, records, receipts, kept rows, refused lines
# Sightings gathered by content or by place: the id that they share, id, run, seq, source, url, fetched_at, content id
Gathered: TypeAlias = tuple[int, int, int, int, str, str | None, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands after a batch: written in one transaction with the batch's claims.

    `position` says how far the inputs were read, `outputs` how long each output file is by then, `counts` what the run
    counted so far. A store keeps them as JSON and does not look into them.
    """

    run: int
    position: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RulesetRow:
    """A ruleset as the store knows it. `text` is that of the configuration registered last."""

    id: int
    name: str
    version: int
    fingerprint: str
    configuration: str
    text: str
    unicode_version: str
    state: RulesetState

    @property
    def label(self) -> str:
        """Name and version as keys carry them: `products/3`."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `started` and `ended` are texts as the caller gave them.

    `link` counts finished runs in the order in which they finished, from 1; `chain` is the chain digest, which covers
    the run with the link before. Both are None until the run is finished.
    """

    ordinal: int
    ruleset: str
    configuration: str
    out: str
    state: RunState
    started: str
    ended: str | None = None
    position: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    link: int | None = None
    chain: Digest | None = None


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input of a run: `index` from 0, `size` and `sha256` of its bytes as stored.

    `facts` is what was drawn from the name. `sha256` and `records` are None until the input was read to its end.
    """

    index: int
    name: str
    size: int | None = None
    sha256: Digest | None = None
    records: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DoneInput:
    """An input that a finished run judged."""

    run: int
    name: str
    records: int


@dataclass(frozen=True, slots=True)
class ContentRow:
    """A content: its first sighting, which is its id, and the earliest time that any sighting of it was fetched."""

    ruleset: str
    key: Digest
    first: int
    first_seen: int | None


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A place: its first sighting, which is its id, its latest one, and the content that one showed."""

    ruleset: str
    key: Digest
    first: int
    latest: int
    latest_content: int


@dataclass(frozen=True, slots=True)
class SightingRow:
    """One record at one place at one time. `verdict` is an index; `content` and `place` are ids."""

    id: int
    run: int
    seq: int
    source: str
    content: int | None
    place: int | None
    fetched_at: int | None
    verdict: int
    url: str | None
    payload: Digest | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """About 1,024 records of one run: what their receipts and kept rows are, which `unpack` gives as they were."""

    run: int
    first_seq: int
    first_sighting: int
    records: int
    packed_receipts: bytes
    packed_kept: bytes | None
    unpack: Callable[[bytes], bytes]

    @property
    def receipts(self) -> bytes:
        """The receipts. Raises StoreDamaged."""
        return self.unpack(self.packed_receipts)

    @property
    def kept(self) -> bytes | None:
        """The kept rows, None where the store keeps none. Raises StoreDamaged."""
        return None if self.packed_kept is None else self.unpack(self.packed_kept)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a store that doesn't fit together: where, what is wrong, what should be there and what is.

    `row` names a row of the table by what people can look up: an id, RUN:SEQ, or a key.
    """

    table: str
    row: str
    what: str
    expected: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is and how much it holds. `size` is in bytes on disk, 0 for one in memory."""

    kind: str
    location: str
    migrations: tuple[str, ...]
    keep: Keep
    rulesets: int
    runs: int
    contents: int
    places: int
    sightings: int
    size: int
