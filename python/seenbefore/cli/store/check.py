"""`seenbefore store check`: whether a store is whole."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seenbefore.audit.check.totals import Totals
    from seenbefore.stores.rows import Fault

# Faults that --json holds; text shows all of them as they are found.
_HELD = 10_000


@click.command()
@click.argument("store", metavar="STORE")
@click.option("--quick", is_flag=True, help="Look at the file and the counts only: read no receipts, sort nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(store: str, *, quick: bool, as_json: bool) -> int:
    """Check that a STORE is whole: every key has its sightings, every sighting its receipt, all counts agree.

    Every fault is named. Exit status 1 where there is one. Changes nothing.
    """
    from seenbefore.audit.check import check as parts_of
    from seenbefore.audit.check.totals import Totals
    from seenbefore.cli.terminal import say
    from seenbefore.cli.waiting import Bar
    from seenbefore.stores import open_store

    held: list[Fault] = []
    totals, found = Totals(), 0
    with open_store(store, create=False, read_only=True) as opened, Bar("file") as bar:
        for part in parts_of(opened, totals, quick=quick, step=bar.step):
            bar.now(part.name)
            for fault in part.faults:
                found += 1
                if as_json:
                    held += [fault] if found <= _HELD else []
                else:
                    say(_line(fault))
    if as_json:
        members = {
            "store": store,
            "whole": not found,
            "quick": quick,
            "sightings": totals.sightings,
            "faults": found,
            "listed": [dataclasses.asdict(fault) for fault in held],
        }
        click.echo(json.dumps(members, ensure_ascii=False))
    elif found:
        say(f"{found:,} {'fault' if found == 1 else 'faults'} in {store}", err=True)
    else:
        say(_whole(store, totals, quick=quick))
    return 1 if found else 0


def _line(fault: Fault) -> str:
    """A fault for people: where, what, and the two sides."""
    where = f"{fault.table} {fault.row}".strip()
    sides = [f"{name} {value}" for name, value in (("expected", fault.expected), ("found", fault.found)) if value]
    return f"{where}: {fault.what}{' (' if sides else ''}{', '.join(sides)}{')' if sides else ''}"


def _whole(store: str, totals: Totals, *, quick: bool) -> str:
    if quick:
        return f"{store} is whole as far as a quick look shows: {totals.sightings:,} sightings"
    counts = (totals.sightings, "sightings"), (totals.contents, "contents"), (totals.places, "places")
    return f"{store} is whole: {', '.join(f'{count:,} {name}' for count, name in counts)}"
