"""`seenbefore merged`: one row a content."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from seenbefore.cli.given import store_given
from seenbefore.errors import UsageError

if TYPE_CHECKING:
    from seenbefore.stores.base import SeenStore

FORMATS = ("ndjson", "csv", "parquet")
# Bytes that are written at once.
_PIECE = 1 << 18


@click.command()
@store_given
@click.option("--out", "-o", metavar="FILE", help="File to write [default: standard output]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="What is written; Parquet needs pip install 'seenbefore[arrow]' [default: by the file's name, else ndjson]",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--ruleset", metavar="LABEL", help="Contents of one ruleset, such as products/3 [default: of all]")
@click.option("--source", metavar="S", help="Count the sightings of one source only.")
@click.option("--runs", metavar="A..B", help="Count the sightings of some runs only; A.. and ..B and A will do too.")
def merged(
    store: str,
    out: str | None,
    *,
    form: str | None,
    force: bool,
    ruleset: str | None,
    source: str | None,
    runs: str | None,
) -> None:
    """Write one row for each content of a STORE: its URLs, sources and times, and the record that was kept.

    Rows come in the order in which the contents were first seen. The store is not changed.
    """
    from seenbefore.audit.merged import Wanted
    from seenbefore.audit.merged import merged as rows_of
    from seenbefore.cli.destination import opened
    from seenbefore.cli.terminal import say
    from seenbefore.cli.waiting import Bar
    from seenbefore.evidence.chosen import ordinals
    from seenbefore.stores import open_store

    wanted = Wanted(ruleset, source, None if runs is None else ordinals(runs))
    form = _form(form, out)
    with open_store(store, read_only=True) as seen:
        _notes(seen, ruleset)
        shown = out is not None or not sys.stdout.isatty()
        with opened(out, force=force) as file, Bar("sorting and merging, contents so far", shown=shown) as bar:
            pieces = _pieces(row.line() for row in bar.over(rows_of(seen, wanted)))
            if form == "ndjson":
                for piece in pieces:
                    file.write(piece)
            else:
                _table(pieces, file, form, out)
        if out is not None:
            say(f"{out}: {bar.steps:,} contents")


def _form(form: str | None, out: str | None) -> str:
    """The format asked for, else what the file's name says. Raises UsageError where it can't be had."""
    from seenbefore.writing import needed

    if form is None:
        ending = "" if out is None else Path(out).suffix[1:].lower()
        form = ending if ending in FORMATS else "ndjson"
    if form == "parquet" and out in {None, "-"} and sys.stdout.isatty():
        raise UsageError("Parquet is nothing for a terminal", hint="name a file with --out")
    needed(form)
    return form


def _table(pieces: Iterable[bytes], file: BinaryIO, form: str, out: str | None) -> None:
    """Rows as a table, whose columns are known when all rows were seen: till then these are kept in a file."""
    from seenbefore.writing import write_table

    with tempfile.TemporaryFile(dir=None if out in {None, "-"} else Path(out or "").resolve().parent) as rows:
        for piece in pieces:
            rows.write(piece)
        write_table(lambda: _again(rows), file, form, ["record"])


def _again(rows: BinaryIO) -> Iterator[bytes]:
    """Whole lines of a file from its start."""
    rows.seek(0)
    while piece := rows.read(_PIECE):
        yield piece + rows.readline()


def _notes(store: SeenStore, ruleset: str | None) -> None:
    """Says on standard error what a reader of the rows might miss."""
    from seenbefore.cli.terminal import say

    if store.keep == "none":
        say(f"{store.location} keeps no rows: `record` is null in each row", err=True)
    labels = [row.label for row in store.rulesets()]
    if ruleset is None and len(labels) > 1:
        say(f"contents of {len(labels)} rulesets: {', '.join(labels)}; --ruleset takes one of them", err=True)


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined to pieces that are worth a call of the system."""
    held, size = [], 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
