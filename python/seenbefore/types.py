"""The words of the package as frozen values: what a run, a record and an input are said to be. No behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Input:
    r"""One input of a run.

    `name` is the path as it was given, printable (bytes that are not UTF-8 are written `\xNN`); `path` is what is
    opened, None for standard input; `size` is in bytes as stored (compressed), None for a pipe.
    """

    name: str
    path: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier row that a verdict points at. `fetched_at` is RFC 3339 in UTC."""

    run: int
    seq: int
    url: str | None = None
    fetched_at: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one record: the members of its receipt, and what only a program needs.

    `position` numbers the records of a batch from 0. `code` and `detail` are set where the verdict is `refused`.
    `waits_for` is the position of the record of the same batch, not yet confirmed, that this verdict rests on; None
    where it rests on stored rows or on nothing.
    """

    verdict: str
    action: str
    seen_before: bool = False
    run: int = 0
    seq: int = 0
    position: int = 0
    source: str | None = None
    url: str | None = None
    url_key: str | None = None
    fetched_at: str | None = None
    payload_digest: str | None = None
    content_key: str | None = None
    matched_on: str | None = None
    refers_to: Reference | None = None
    previous: Reference | None = None
    problems: tuple[str, ...] = ()
    code: str | None = None
    detail: str | None = None
    waits_for: int | None = None


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
