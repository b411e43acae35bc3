"""The words of the package as frozen values: what a run, a record and an input are said to be. No behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Input:
    r"""One input of a run.

    `name` is the path as it was given, printable (bytes that are not UTF-8 are written `\xNN`); `path` is what is
    opened, None for standard input; `size` is in bytes as stored (compressed), None for a pipe. `facts` is what its
    name says of its records: `source`, and `fetched_at` in RFC 3339.
    """

    name: str
    path: str | None
    size: int | None
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InputSummary:
    """One input as a run left it.

    `records` counts judged records and refused lines; `sha256` is `sha256:<hex>` of its bytes as stored.
    """

    name: str
    records: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """One source within a run. `collapse_rate` is seen_before ÷ keyed to six places, None where nothing was keyed."""

    keyed: int
    seen_before: int
    collapse_rate: float | None
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run counted.

    `seconds` is the time of this invocation; `notes` are sentences for people; neither is in summary.json.
    """

    run: int
    ruleset: str
    fingerprint: str
    inputs: tuple[InputSummary, ...]
    records: int
    verdicts: Mapping[str, int]
    changed_seen_before: int
    kept: int
    skipped: int
    refusals: Mapping[str, int]
    problems: Mapping[str, int]
    sources: Mapping[str, SourceSummary]
    chain: str | None
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
