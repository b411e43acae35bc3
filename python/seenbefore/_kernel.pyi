"""The Rust kernel: whatever decides a byte of a key, a verdict or a receipt. This is its whole surface."""

import builtins
from collections.abc import Sequence
from typing import Any, Final, final

__all__ = [
    "KINDS",
    "PROBLEM_CODES",
    "REFUSAL_CODES",
    "TEXT_STEPS",
    "UNICODE_VERSION",
    "URL_STEPS",
    "URL_STRENGTHS",
    "VERDICTS",
    "VERSION",
    "Batch",
    "Judged",
    "KeyBatch",
    "Keys",
    "Ruleset",
    "canonical_json",
    "canonical_url",
    "normalise",
]

VERSION: Final[str]
UNICODE_VERSION: Final[str]
KINDS: Final[tuple[str, ...]]
TEXT_STEPS: Final[tuple[str, ...]]
URL_STEPS: Final[tuple[str, ...]]
URL_STRENGTHS: Final[tuple[str, ...]]
VERDICTS: Final[tuple[str, ...]]
REFUSAL_CODES: Final[tuple[str, ...]]
PROBLEM_CODES: Final[tuple[str, ...]]

def normalise(value: object, kind: str = "text", **settings: object) -> str | None: ...
def canonical_url(url: str, strength: str = "page") -> str: ...
def canonical_json(value: object) -> bytes: ...

@final
class Ruleset:
    @staticmethod
    def from_toml(text: str) -> Ruleset: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def configuration(self) -> str: ...
    @property
    def identity_json(self) -> str: ...
    @property
    def settings_json(self) -> str: ...
    def keys(
        self, record: object, url: str | None = None, source: str | None = None, fetched_at: str | None = None
    ) -> Keys: ...
    def keys_ndjson(self, data: bytes) -> KeyBatch: ...
    # One dict a field: field, kind, value (JSON text or None), form (JSON text or None), steps [(step, before, after)].
    def trace(self, record: object) -> list[dict[str, Any]]: ...
    def trace_url(self, url: str) -> list[tuple[str, str, str]]: ...

@final
class Keys:
    @property
    def content_key(self) -> str | None: ...
    @property
    def url_key(self) -> str | None: ...
    @property
    def payload_digest(self) -> str | None: ...
    @property
    def problems(self) -> list[str]: ...
    @property
    def url(self) -> str | None: ...
    @property
    def canonical_url(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def fetched_at(self) -> str | None: ...

@final
class KeyBatch:
    # 32 bytes a record in each column, zero bytes where a record has no such key.
    def __len__(self) -> int: ...
    @property
    def content_keys(self) -> bytes: ...
    @property
    def url_keys(self) -> bytes: ...
    @property
    def payload_digests(self) -> bytes: ...
    @property
    def codes(self) -> list[str | None]: ...

@final
class Batch:
    def __new__(
        cls,
        rules: Ruleset,
        run: int,
        first_seq: int,
        *,
        max_records: int,
        max_bytes: int,
        max_line: int,
        source: str | None,
        fetched_at: str | None,
        replace_seen: bool,
        digests: bool,
    ) -> Batch: ...
    # `offset` is where data[0] is in the decompressed input, `line` the number of lines before data[start].
    # Returns the index of the first byte not taken, and how many lines were passed.
    def feed(self, data: builtins.bytes, start: int, input: str, offset: int, line: int) -> tuple[int, int]: ...
    def refuse_long(
        self, input: str, line: int, offset: int, length: int, sha256: builtins.bytes, bin_offset: int
    ) -> None: ...
    def push(
        self, record: object, url: str | None = None, source: str | None = None, fetched_at: str | None = None
    ) -> int: ...
    @property
    def full(self) -> bool: ...
    @property
    def records(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def key(self) -> None: ...
    def content_keys(self) -> builtins.bytes: ...
    def place_keys(self) -> builtins.bytes: ...
    def sources(self) -> list[str]: ...
    # contents: (index into content_keys, content id, first_seen); places: (index into place_keys, place id, latest
    # sighting, its content id). Returns the ids of earlier sightings whose facts `render` needs, sorted.
    def judge(
        self,
        first_sighting: int,
        contents: Sequence[tuple[int, int, int | None]],
        places: Sequence[tuple[int, int, int, int]],
    ) -> list[int]: ...
    def verdicts(self) -> list[str]: ...
    def counts(self) -> dict[str, Any]: ...
    # earlier: (sighting id, run, seq, url, fetched_at, payload digest), sorted by id; source_ids as sources().
    def render(
        self,
        earlier: Sequence[tuple[int, int, int, str | None, int | None, builtins.bytes | None]],
        source_ids: Sequence[int],
    ) -> Judged: ...

@final
class Judged:
    # (first seq, records, receipts, kept rows, refused lines), about 1,024 records each, in order
    @property
    def blocks(self) -> list[tuple[int, int, bytes, bytes, bytes]]: ...
    # (key, content id, first_seen), sorted by key
    @property
    def contents_new(self) -> list[tuple[bytes, int, int | None]]: ...
    # (key, first_seen, moved back), sorted by key
    @property
    def contents_earlier(self) -> list[tuple[bytes, int]]: ...
    # (key, place id, latest sighting, its content id), sorted by key: insert or replace
    @property
    def places(self) -> list[tuple[bytes, int, int, int]]: ...
    # (id, run, seq, source id, content id, place id, fetched_at, index into VERDICTS, url, payload digest)
    @property
    def sightings(
        self,
    ) -> list[tuple[int, int, int, int, int | None, int | None, int | None, int, str | None, bytes | None]]: ...
    @property
    def counts(self) -> dict[str, Any]: ...
