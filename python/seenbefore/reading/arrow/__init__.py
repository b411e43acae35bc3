"""Parquet and Arrow IPC, through pyarrow: rows in bounded batches, and how far they go (spec/inputs-1.md §5)."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from seenbefore._kernel import Records
from seenbefore.errors import InputTruncated, InputUnreadable, UsageError
from seenbefore.reading.content import Content
from seenbefore.reading.events import End, Event, Mark, Rows

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that are made into lines at a time.
_ROWS = 16_384
_FIRST = {b"PAR1": "parquet", b"ARROW1": "file"}


@dataclass(frozen=True, slots=True)
class _Marks:
    """The points of a columnar file: rows are counted, and the digest is that of all its bytes."""

    digest: bytes

    def __call__(self, row: int) -> Mark:
        return Mark(row, self.digest)


def columnar(content: Content, form: str) -> Iterator[Event]:
    """The rows of a Parquet file, an Arrow IPC file or stream, and its end.

    Raises UsageError where pyarrow is not installed, InputUnreadable for what it can't read, with the rows before
    given out, InputTruncated where the end is missing.
    """
    _needed()
    with _whole(content) as (file, digest):
        mark = Mark(0, digest)
        for batch in _batches(content, form, file):
            for start in range(0, batch.num_rows, _ROWS):
                part = batch.slice(start, _ROWS)
                yield Rows(_records(part, mark.offset, content), _Marks(digest))
                mark = Mark(mark.offset + part.num_rows, digest)
        yield End(*content.stored(digest), mark)


def _records(batch: pa.RecordBatch, first: int, content: Content) -> Records:
    from seenbefore.reading.arrow.cells import lines

    try:
        made = lines(batch)
    except ValueError as error:
        raise InputUnreadable(
            f"{content.source.name} can't be read: {error}",
            path=content.source.name,
            hint="leave that column out, or convert it to a type that docs/reference/formats.md names",
        ) from None
    return Records.of_lines(made.text, first, made.floats, made.refused)


def _batches(content: Content, form: str, file: IO[bytes]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    name = content.source.name
    head = file.read(8)
    file.seek(0)
    kind = next((kind for magic, kind in _FIRST.items() if head.startswith(magic)), "stream")
    if (kind == "parquet") != (form == "parquet"):
        raise InputUnreadable(
            f"{name} is no {'Parquet' if form == 'parquet' else 'Arrow IPC'} file",
            path=name,
            hint="check its format: --format says what it is",
        )
    if kind != "stream":
        _refuse_cut(name, file, head[:4] if kind == "parquet" else head[:6])
    try:
        if kind == "parquet":
            with parquet.ParquetFile(file) as opened:
                yield from opened.iter_batches(batch_size=_ROWS)
        elif kind == "file":
            with ipc.open_file(file) as reader:
                for index in range(reader.num_record_batches):
                    yield reader.get_batch(index)
        else:
            with ipc.open_stream(file) as reader:
                yield from reader
    except (pa.ArrowException, OSError, EOFError) as error:
        cut = kind == "stream" and "xpected" in str(error)
        kind_of = InputTruncated if cut else InputUnreadable
        raise kind_of(
            f"{name} {'is cut off' if cut else 'is damaged'} at byte {file.tell():,}: {str(error).splitlines()[0]}",
            path=name,
            found=str(error).splitlines()[0],
            hint="fetch the file again and run the same command",
        ) from None


def _refuse_cut(name: str, file: IO[bytes], magic: bytes) -> None:
    """Refuses a file without its magic bytes at its end: what is needed to read it stands just before them."""
    size = file.seek(0, 2)
    file.seek(max(0, size - len(magic)))
    tail = file.read()
    file.seek(0)
    if tail != magic or size < 2 * len(magic):
        raise InputTruncated(
            f"{name} is cut off: it ends at byte {size:,} without its footer",
            path=name,
            expected=f"{magic.decode()} at its end",
            found=f"end of input at byte {size}",
            hint="fetch the file again and run the same command",
        )


@contextlib.contextmanager
def _whole(content: Content) -> Iterator[tuple[IO[bytes], bytes]]:
    """The input as a file that can be read in any order, and the SHA-256 of its bytes behind compression."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        content.head()
        path = content.source.path
        plain = content.compression is None and content.source.size is not None and path is not None
        copy = None if plain else stack.enter_context(tempfile.TemporaryFile())
        for block in content:
            digest.update(block)
            if copy is not None:
                copy.write(block)
        file: Any = stack.enter_context(Path(path or "").open("rb")) if copy is None else copy
        file.seek(0)
        yield file, digest.digest()


def _needed() -> None:
    if importlib.util.find_spec("pyarrow") is None:
        raise UsageError(
            "Parquet and Arrow need pyarrow, which is not installed", hint="pip install 'seenbefore[arrow]'"
        )
