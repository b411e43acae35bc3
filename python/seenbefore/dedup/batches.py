"""Inputs → keyed batches, each with the point of the inputs that it ends at.

Runs ahead of the store in a thread of its own; reading and decompressing run ahead of that in another.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Self

from seenbefore._kernel import Batch
from seenbefore.errors import InputTruncated, InputUnreadable
from seenbefore.reading import Ahead, End, Form, LongLine, LongPart, Mark, Piece, Reader, Rows
from seenbefore.rules import Ruleset
from seenbefore.types import Input

# Pieces of 4 MiB read ahead of the kernel.
_PIECES_AHEAD = 4
NOTHING = hashlib.sha256().digest()
NAMES = {"json": "a JSON array", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow IPC"}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run reads and cuts.

    Only the first group changes what its files hold; the second may differ when a run goes on.

    Sizes are in bytes. `batch_bytes` of lines become some ten times that in memory, while the next batch is being made
    beside it: this bounds what a run needs, whatever its input. `batch_seconds` bounds how long a record from a pipe
    waits for its commit. `digests` is off where nothing needs a payload digest. `kept_format` is `csv` or
    `parquet` where the kept rows are wanted as a table too.
    """

    source: str | None = None
    fetched_at: str | None = None
    replace_seen: bool = False
    max_line: int = 64 << 20
    form: Form = field(default_factory=Form)
    from_name: str | None = None

    batch_size: int = 200_000
    batch_bytes: int = 24 << 20
    batch_seconds: float = 5.0
    max_input: int | None = None
    digests: bool = True
    kept_format: str = "ndjson"

    def lasting(self) -> dict[str, Any]:
        """What must stay the same when an unfinished run goes on."""
        names = ("source", "fetched_at", "replace_seen", "max_line", "from_name")
        form = {"format": self.form.format, **asdict(self.form.dialect)}
        return {name: getattr(self, name) for name in names} | form


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands in its inputs.

    `input` is the index of the input that comes next or is half read, `offset`, `line` and `records` count what was
    taken of it, `prefix` is the SHA-256 of its first `offset` decompressed bytes, `seq` the ordinal of the last
    record of the run.
    """

    input: int = 0
    offset: int = 0
    line: int = 0
    records: int = 0
    seq: int = 0
    prefix: bytes = NOTHING

    def as_json(self) -> dict[str, Any]:
        """The members as a store keeps them."""
        return {**asdict(self), "prefix": f"sha256:{self.prefix.hex()}"}

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Self:
        """The opposite of `as_json`."""
        prefix = bytes.fromhex(str(members["prefix"]).removeprefix("sha256:"))
        return cls(**{**members, "prefix": prefix})


@dataclass(frozen=True, slots=True)
class Done:
    """An input that was read to its end: index, records and refused lines, size and SHA-256 as stored."""

    index: int
    records: int
    size: int
    sha256: bytes


@dataclass(slots=True)
class Keyed:
    """A batch whose keys are made, the point it ends at, the inputs that ended in it, how far refused.bin goes then.

    `notes` is what a person should know by then.
    """

    batch: Batch | None
    position: Position
    done: tuple[Done, ...]
    long_bytes: int
    raw_read: int
    notes: tuple[str, ...] = ()

    def take(self) -> Batch:
        """The batch, once: whoever is done with it frees its memory by letting go of it."""
        batch, self.batch = self.batch, None
        if batch is None:
            raise RuntimeError("a batch is judged once")
        return batch


class Batches:
    """Iterating gives keyed batches from `start` to the end of the inputs; and `rest` then says what else ended.

    `append_long` takes the bytes of lines over the limit, of which `long_bytes` are there already. An input that is
    cut off or damaged ends the iteration with its error, after a batch with its whole lines.
    """

    def __init__(
        self,
        rules: Ruleset,
        run: int,
        inputs: Sequence[Input],
        start: Position,
        settings: Settings,
        append_long: Callable[[bytes], None],
        long_bytes: int,
    ) -> None:
        self._rules, self._run, self._inputs, self._start, self._settings = rules, run, inputs, start, settings
        self._append_long, self._long_bytes = append_long, long_bytes
        # Where the inputs stand: what Position says, but the digest is made when a batch is cut.
        self._input, self._line, self._records, self._seq = start.input, start.line, start.records, start.seq
        self._mark: Callable[[], Mark] = lambda: Mark(start.offset, start.prefix)
        self._done: list[Done] = []
        self._notes: list[str] = []
        self._since: float | None = None
        self._batch = self._new_batch()
        self._raw_before = 0
        self._reader: Reader | None = None

    @property
    def reading(self) -> int:
        """The index of the input that is being read."""
        return self._input

    @property
    def rest(self) -> tuple[Done, ...]:
        """Inputs that ended after the last batch."""
        return tuple(self._done)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know since the last batch."""
        return self._take_notes()

    def _take_notes(self) -> tuple[str, ...]:
        notes, self._notes = tuple(self._notes), []
        return notes

    @property
    def raw_read(self) -> int:
        """Stored bytes read so far, for whoever shows progress."""
        return self._raw_before + (self._reader.raw_read if self._reader else 0)

    def __iter__(self) -> Iterator[Keyed]:
        resume = Mark(self._start.offset, self._start.prefix)
        for source in self._inputs[self._start.input :]:
            yield from self._read(source, resume)
            resume = Mark(0, NOTHING)
        if self._batch.records:
            yield self._cut()

    def _read(self, source: Input, resume: Mark) -> Iterator[Keyed]:
        settings = self._settings
        reader = Reader(
            source,
            max_line=settings.max_line,
            max_bytes=settings.max_input,
            resume=resume,
            form=settings.form,
            told=lambda form: self._note_format(source, form),
        )
        self._reader = reader
        events = Ahead(iter(reader), _PIECES_AHEAD, "seenbefore-read")
        try:
            while True:
                try:
                    event = events.take(self._patience(source))
                except TimeoutError:
                    yield self._cut()
                    continue
                except StopIteration:
                    break
                if isinstance(event, Piece):
                    yield from self._feed(event, source)
                elif isinstance(event, Rows):
                    yield from self._feed_rows(event, source)
                elif isinstance(event, LongPart):
                    self._append_long(event.data)
                elif isinstance(event, LongLine):
                    yield from self._refuse(event, source)
                else:
                    self._end(event)
        except (InputTruncated, InputUnreadable):
            if self._batch.records:
                yield self._cut()
            raise
        finally:
            events.close()
        self._reader, self._raw_before = None, self.raw_read

    def _feed(self, piece: Piece, source: Input) -> Iterator[Keyed]:
        at = 0
        while at < len(piece.data):
            self._facts(source)
            before = self._batch.records
            at, lines = self._batch.feed(piece.data, at, source.name, piece.offset, self._line)
            self._line += lines
            self._took(self._batch.records - before, partial(piece.mark, at))
            if self._batch.full:
                yield self._cut()

    def _feed_rows(self, rows: Rows, source: Input) -> Iterator[Keyed]:
        at = rows.start
        while at < len(rows.records):
            self._facts(source)
            before = at
            at = self._batch.feed_rows(rows.records, at, source.name)
            self._line = rows.lines(at)
            self._took(at - before, partial(rows.mark, at))
            if self._batch.full:
                yield self._cut()

    def _facts(self, source: Input) -> None:
        """Tells the open batch what the name of an input says about its records."""
        if source.facts:
            self._batch.facts(source.name, source.facts.get("source"), source.facts.get("fetched_at"))

    def _refuse(self, long: LongLine, source: Input) -> Iterator[Keyed]:
        self._facts(source)
        self._line = long.line or self._line + 1
        self._batch.refuse_long(source.name, self._line, long.offset, long.length, long.sha256, self._long_bytes)
        self._long_bytes += long.length
        self._took(1, lambda: long.after)
        if self._batch.full:
            yield self._cut()

    def _note_format(self, source: Input, form: str) -> None:
        """Notes what is read as something else than NDJSON, if nobody said so."""
        if form != "ndjson" and self._settings.form.format is None:
            self._notes.append(f"{source.name} is read as {NAMES[form]}")

    def _took(self, records: int, mark: Callable[[], Mark]) -> None:
        self._records += records
        self._mark = mark
        if records and self._since is None:
            self._since = time.monotonic()

    def _end(self, end: End) -> None:
        self._done.append(Done(self._input, self._records, end.size, end.sha256))
        self._input, self._line, self._records = self._input + 1, 0, 0
        self._mark = lambda: Mark(0, NOTHING)

    def _patience(self, source: Input) -> float | None:
        """How long the open batch may still wait for its next record, in seconds; files are not waited for."""
        if source.size is not None or self._since is None:
            return None
        return max(0.0, self._since + self._settings.batch_seconds - time.monotonic())

    def _cut(self) -> Keyed:
        """Hands the open batch on, keyed, and opens the next one."""
        batch, mark = self._batch, self._mark()
        batch.key()
        self._seq += batch.records
        position = Position(self._input, mark.offset, self._line, self._records, self._seq, mark.digest)
        keyed = Keyed(batch, position, tuple(self._done), self._long_bytes, self.raw_read, self._take_notes())
        self._done, self._since = [], None
        self._batch = self._new_batch()
        return keyed

    def _new_batch(self) -> Batch:
        settings = self._settings
        return Batch(
            self._rules.kernel,
            self._run,
            self._seq + 1,
            max_records=settings.batch_size,
            max_bytes=settings.batch_bytes,
            max_line=settings.max_line,
            source=settings.source,
            fetched_at=settings.fetched_at,
            replace_seen=settings.replace_seen,
            digests=settings.digests,
        )
