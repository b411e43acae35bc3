"""Lines of JSON → a table in a file: the columns are learned in a first pass over the lines and written in a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from seenbefore._kernel import Columns
from seenbefore.outputs import replaced

KEPT_FORMATS = ("ndjson", "csv", "parquet")
_PIECE = 1 << 22


def write(pieces: Callable[[], Iterable[bytes]], file: IO[bytes], form: str, apart: Sequence[str] = ()) -> None:
    """Writes a table. `pieces` gives the same whole lines of NDJSON whenever it is called; it is called twice.

    `form` is `csv` or `parquet`. Each member of an object that is a member named in `apart` becomes a column of its
    own, `name.member`, behind all others. Raises UsageError where Parquet needs what isn't installed.
    """
    columns = Columns(list(apart))
    if form == "parquet":
        needed(form)
    for piece in pieces():
        columns.look(piece)
    if form == "parquet":
        from seenbefore.writing.parquet import write as write_parquet

        write_parquet(columns, pieces(), file)
        return
    if columns.named:
        file.write(columns.csv_header())
    for piece in pieces():
        file.write(columns.csv(piece))


def needed(form: str) -> None:
    """Raises UsageError where a format needs a package that isn't there."""
    if form == "parquet":
        from seenbefore.writing.parquet import needed as needs_pyarrow

        needs_pyarrow()


def convert(source: Path, form: str) -> Path:
    """Makes `kept.csv` or `kept.parquet` of `kept.ndjson`, beside it, in one step: it is there whole, or not at all.

    Raises DiskFull, OutputFailed.
    """
    target = source.with_suffix(f".{form}")
    with replaced(target) as file:
        write(lambda: _pieces(source), file, form, ["_seen"])
    return target


def _pieces(path: Path) -> Iterator[bytes]:
    """Whole lines of a file, some MiB at a time."""
    with path.open("rb") as file:
        rest = b""
        while block := file.read(_PIECE):
            whole, end, tail = (rest + block).rpartition(b"\n")
            rest = tail
            if end:
                yield whole + end
        if rest:
            yield rest
