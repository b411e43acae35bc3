"""`seenbefore store info`: what a store is and holds."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from seenbefore.stores.base import SeenStore
    from seenbefore.stores.rows import RunRow, StoreInfo

# Runs that the table shows, the latest ones; --json has all.
_SHOWN = 10
_COUNTED = ("new", "changed", "syndicated", "duplicate", "unkeyed", "refused")
# Characters of a chain digest that the table shows.
_SHORT = 12


@click.command()
@click.argument("store", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(store: str, *, as_json: bool) -> None:
    """Say what a STORE holds: rulesets, contents, places, sightings, size, and its latest runs. Changes nothing."""
    from seenbefore.stores import open_store

    with open_store(store, create=False, read_only=True) as opened:
        facts = opened.info()
        rulesets = [
            {"label": row.label, "state": row.state, "fingerprint": row.fingerprint, "unicode": row.unicode_version}
            for row in opened.rulesets()
        ]
        runs = [_run(opened, row) for row in opened.runs()]
    if as_json:
        members: dict[str, Any] = dataclasses.asdict(facts)
        members |= {"bytes_per_record": _each(facts), "rulesets": rulesets, "runs": runs}
        click.echo(json.dumps(members, ensure_ascii=False))
    else:
        _print(facts, rulesets, runs)


def _run(store: SeenStore, row: RunRow) -> dict[str, Any]:
    verdicts = row.counts.get("verdicts", {})
    return {
        "run": row.ordinal,
        "ruleset": row.ruleset,
        "state": row.state,
        "out": row.out or None,
        "started": row.started,
        "ended": row.ended,
        "inputs": len(store.inputs(row.ordinal)),
        "records": row.counts.get("records", 0),
        "verdicts": {name: verdicts.get(name, 0) for name in _COUNTED},
        "kept": row.counts.get("kept", 0),
        "chain": None if row.chain is None else f"sha256:{row.chain.hex()}",
    }


def _each(facts: StoreInfo) -> float | None:
    """Bytes a record, to one place."""
    return round(facts.size / facts.sightings, 1) if facts.sightings else None


def _print(facts: StoreInfo, rulesets: list[dict[str, Any]], runs: list[dict[str, Any]]) -> None:
    from seenbefore.cli.tables import print_table
    from seenbefore.cli.terminal import say

    keeps = "keeps rows" if facts.keep == "kept" else "keeps no rows"
    each = "" if not facts.sightings else f", {_each(facts):,} a record"
    schema = ", ".join(["", *(f"schema {name}" for name in facts.migrations[-1:])])
    say(f"{facts.location}  ({facts.kind}, {facts.size:,} bytes{each}, {keeps}{schema})")
    say(f"{facts.contents:,} contents, {facts.places:,} places, {facts.sightings:,} sightings")
    for row in rulesets:
        say(f"ruleset {row['label']}  {row['state']}  {row['fingerprint']}  Unicode {row['unicode']}")
    if not runs:
        say("no runs")
        return
    latest = runs[-_SHOWN:]
    # A verdict that none of them gave takes no room.
    given = [name for name in _COUNTED if any(run["verdicts"][name] for run in latest)]
    say()
    print_table(
        ["run", "state", "started", "ruleset", "inputs", "records", *given, "kept", "chain"],
        [
            [
                str(run["run"]),
                run["state"],
                run["started"],
                run["ruleset"],
                f"{run['inputs']:,}",
                f"{run['records']:,}",
                *(f"{run['verdicts'][name]:,}" for name in given),
                f"{run['kept']:,}",
                "" if run["chain"] is None else run["chain"].partition(":")[2][:_SHORT],
            ]
            for run in latest
        ],
        left=4,
    )
    if len(runs) > len(latest):
        say(f"… and {len(runs) - len(latest):,} earlier runs: --json has them all")
