"""`seenbefore merged`: one row a content."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seenbefore.stores.base import SeenStore

# Bytes that are written at once.
_PIECE = 1 << 18


@click.command()
@click.argument("store", metavar="STORE")
@click.option("--out", "-o", metavar="FILE", help="File to write [default: standard output]")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--ruleset", metavar="LABEL", help="Contents of one ruleset, such as products/3 [default: of all]")
@click.option("--source", metavar="S", help="Count the sightings of one source only.")
@click.option("--runs", metavar="A..B", help="Count the sightings of some runs only; A.. and ..B and A will do too.")
def merged(
    store: str, out: str | None, *, force: bool, ruleset: str | None, source: str | None, runs: str | None
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
    with open_store(store, read_only=True) as seen:
        _notes(seen, ruleset)
        shown = out is not None or not sys.stdout.isatty()
        with opened(out, force=force) as file, Bar("sorting and merging, contents so far", shown=shown) as bar:
            for piece in _pieces(row.line() for row in bar.over(rows_of(seen, wanted))):
                file.write(piece)
        if out is not None:
            say(f"{out}: {bar.steps:,} contents")


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
