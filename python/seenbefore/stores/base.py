"""What every store is: its laws, and its two protocols. The values that go in and out are in seenbefore.stores.rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from seenbefore.stores.rows import (
    Block,
    ContentRow,
    Digest,
    DoneInput,
    EarlierContent,
    EarlierSighting,
    Fault,
    Gathered,
    InputRow,
    Keep,
    Known,
    KnownContent,
    KnownPlace,
    NewContent,
    PlaceNow,
    PlaceRow,
    Progress,
    RulesetRow,
    RunRow,
    Sighting,
    SightingRow,
    StoreInfo,
    Stretch,
)


class JudgedBatch(Protocol):
    """What a judged batch writes and changes. Lists are in the order of their ids or sorted by their keys."""

    @property
    def blocks(self) -> Iterable[Block]:
        """Receipts, kept rows and refused lines of about 1,024 records each; a store keeps no refused lines."""

    @property
    def contents_new(self) -> Sequence[NewContent]:
        """Contents that the claim did not find."""

    @property
    def contents_earlier(self) -> Sequence[EarlierContent]:
        """Contents that the claim found, with an earlier first_seen than it gave."""

    @property
    def places(self) -> Sequence[PlaceNow]:
        """Places as they are after the batch: to be inserted, or to replace what is there."""

    @property
    def sightings(self) -> Sequence[Sighting]:
        """One row a record, refused and unkeyed ones too, with ids that follow each other."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A writer waits for another one: the store, for how many seconds by now, and who holds it, where that is known."""

    location: str
    seconds: float
    pid: int | None = None
    host: str | None = None
    run: int | None = None

    @property
    def holder(self) -> str:
        """Who holds the store, for people."""
        if self.pid is None:
            return "another process"
        run = "" if self.run is None else f" (run {self.run})"
        return f"process {self.pid}{'' if self.host is None else f' on {self.host}'}{run}"


class Closing(Protocol):
    """What a `with` block takes."""

    def __enter__(self) -> Self:
        """Return itself."""

    def __exit__(self, *error: object) -> None:
        """End it."""


class Transaction(Closing, Protocol):
    """What is written in one piece, from entering the `with` block to its end. What is not committed by then never was.

    The ruleset is the one that `SeenStore.transaction` was given. After `commit` nothing else may be called. Entering
    may wait for other writers and raises InUse, StoreDamaged, PermissionDenied. From `next_sighting` on there is no
    other writer; before, in a store for many of them, each key that one has claimed waits for the end of that one.

    A store on a server may give a transaction up: any call then raises StoreUnreachable. It may begin again, and asks
    `standing` first, as a commit may have come to pass whose answer was lost.
    """

    @property
    def next_sighting(self) -> int:
        """The id that the next sighting gets."""

    def free_run(self, wanted: int | None = None) -> int:
        """The ordinal that a new run gets: `wanted`, else the next; nobody else takes it before the end.

        Raises UsageError where `wanted` is taken.
        """

    def begin_run(self, out: str, configuration: str, started: str, *, run: int | None = None) -> int:
        """Begin a run under the ruleset → its ordinal: `run`, else the next. Raises UsageError where it is taken."""

    def unfinished_run(self, out: str) -> RunRow | None:
        """The unfinished run whose output directory is `out`, whatever its ruleset."""

    def standing(self, run: int) -> RunRow:
        """A run as it stands, which nobody else changes before the end of the transaction. Raises UsageError."""

    def claim(self, content_keys: bytes, place_keys: bytes) -> tuple[list[KnownContent], list[KnownPlace]]:
        """Which of the keys are known under the ruleset, sorted by index. Keys are 32 bytes each, sorted, each once."""

    def earlier(self, ids: Sequence[int]) -> list[EarlierSighting]:
        """The facts of sightings in the order of `ids`, which are sorted. Raises StoreDamaged where one isn't there."""

    def source_ids(self, names: Sequence[str]) -> list[int]:
        """The ids of sources, in the order of the names; names not seen before get one."""

    def record(self, judged: JudgedBatch, progress: Progress) -> None:
        """Write a judged batch and where its run stands. Raises StoreDamaged where it contradicts what was claimed."""

    def set_input(self, run: int, row: InputRow) -> None:
        """Write or replace one input of a run."""

    def finish_run(self, run: int, receipts_sha256: Digest, ended: str) -> Digest:
        """Finish an unfinished run → its chain digest.

        It is SHA-256(chain digest of the run finished before it, or 32 zero bytes ‖ receipts_sha256).
        """

    def abandon_run(self, run: int, ended: str) -> None:
        """Close an unfinished run and keep what it committed. It takes no part in the chain."""

    def commit(self) -> None:
        """Make everything durable at once. Raises DiskFull, OutputFailed; then nothing of it was written."""


class SeenStore(Closing, Protocol):
    """What has been seen. Its laws, each tested on every store by tests/contract/.

    1. A claim is durable only with `commit`, and in one piece with its run's position: killed at any moment, the store
       holds a whole batch or nothing of it. Nothing is visible to others before.
    2. Each content key has one first sighting for ever, whoever races for it. first_seen is the least time that any
       sighting gave; it may move back, never forward, and one without a time never removes it.
    3. `claim` and the look-ups never give rows of another ruleset.
    4. A ruleset's label stands for one fingerprint and one Unicode version, for ever.
    5. Reopening changes nothing.
    6. A damaged, foreign or newer store is refused and left byte for byte as it is. None is started in its place.
    7. Texts come back as they went in: 3970e14784, 15E2621 and 008 are no numbers.
    8. Receipts and kept rows come back as the bytes that were recorded, in order.

    A handle speaks for one ruleset at a time, the one registered last. It is for one thread at a time; reading while a
    transaction is open is allowed, and sees what was committed before. An iterator that is not read to its end holds
    the handle to what it saw when it began. `close` may be called twice.
    """

    @property
    def location(self) -> str:
        """The store's URL, for people and errors."""

    @property
    def holds_receipts(self) -> bool:
        """Whether receipts can be read back; where not, and no files are written, none are made."""

    @property
    def keep(self) -> Keep:
        """What it keeps beside receipts: the rows of kept.ndjson, or none."""

    def ruleset(self, label: str, fingerprint: str, configuration: str, text: str, unicode_version: str) -> RulesetRow:
        """Register a ruleset, or check it against the one known by that label, and make it the handle's.

        `text` is TOML or JSON. Raises RuleChanged naming what changed, a read-only store UsageError for an unknown one.
        """

    def transaction(self, ruleset: RulesetRow | None = None) -> Transaction:
        """A write transaction under `ruleset`, the handle's own where None. Raises UsageError on a read-only store."""

    def rulesets(self) -> list[RulesetRow]:
        """All rulesets, by id."""

    def settings_text(self, label: str, configuration: str) -> str | None:
        """The text of a ruleset as a run with that configuration had it."""

    def runs(self) -> list[RunRow]:
        """All runs, by ordinal."""

    def run(self, ordinal: int) -> RunRow | None:
        """One run."""

    def inputs(self, run: int) -> list[InputRow]:
        """The inputs of a run, by index."""

    def finished_input(self, name: str, sha256: Digest) -> DoneInput | None:
        """The same bytes in a finished run under the handle's ruleset: under the same name, else under any other."""

    def receipt(self, run: int, seq: int) -> bytes | None:
        """One receipt, a line with its LF."""

    def kept(self, run: int, seq: int) -> bytes | None:
        """One kept row, a line with its LF; None where it was not kept, or where the store keeps none."""

    def receipts(self, run: int) -> Iterator[bytes]:
        """The receipts of a run in pieces: joined, the bytes of its receipts.ndjson."""

    def kept_rows(self, run: int) -> Iterator[bytes]:
        """The kept rows of a run in pieces: joined, the bytes of its kept.ndjson; none where the store keeps none."""

    def known(self, content_key: Digest | None, url_key: Digest | None) -> Known:
        """What is committed under the handle's ruleset about the keys of one record; None for a key that is None."""

    def earlier(self, sighting: int) -> EarlierSighting:
        """The facts of one sighting. Raises StoreDamaged where it isn't there."""

    def lookup_content(self, key: str) -> ContentRow | None:
        """A content by its key, `products/3:sha256:<hex>`. Raises UsageError where the text is no content key."""

    def lookup_place(self, key: str) -> PlaceRow | None:
        """A place by its URL key, `products/3:url:sha256:<hex>`. Raises UsageError where the text is no URL key."""

    def sighting(self, run: int, seq: int) -> SightingRow | None:
        """One sighting by its run and ordinal."""

    def sightings(
        self,
        *,
        run: int | None = None,
        source: str | None = None,
        content: int | None = None,
        place: int | None = None,
        verdict: int | None = None,
        after: int = 0,
    ) -> Iterator[SightingRow]:
        """The sightings with all the given facts, by id, from behind the id `after`; reads the table from there."""

    def snapshot(self) -> SeenStore:
        """A handle of its own, for reading alone, that shows the store as it stands now until it is closed."""

    def contents(self) -> Iterator[ContentRow]:
        """All contents of all rulesets, by id."""

    def places(self) -> Iterator[PlaceRow]:
        """All places of all rulesets, by id."""

    def gathered(self, by: Literal["content", "place"]) -> Iterator[Gathered]:
        """The sightings that have a content, or a place: by its id and then by their own."""

    def stretches(self, *, packed: bool = True) -> Iterator[Stretch]:
        """The receipts and kept rows of all runs, in the order of commits; without `packed` only where they are."""

    def last_sighting(self) -> int:
        """The id of the last sighting, 0 where there is none."""

    def faults(self, *, quick: bool) -> Iterator[Fault]:
        """What is wrong by itself with the file or its tables, row by row; `quick` leaves out what takes long."""

    def copy(self, target: str) -> int:
        """Make `target` a store that holds what this one holds now → its size in bytes.

        Raises UsageError where something is there, StoreUnsupported where a store can't be copied to a file.
        """

    def vacuum(self) -> tuple[int, int]:
        """Give back the room that nothing uses → size in bytes before and after. What the store says stays.

        Raises InUse where another process writes, StoreUnsupported where there is no file.
        """

    def info(self) -> StoreInfo:
        """What the store is and how much it holds. Counts rows: seconds for a store of millions."""

    def close(self) -> None:
        """Close the store."""
