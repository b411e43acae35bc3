"""`seenbefore store`: what a store is and holds."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click


@click.group()
def store() -> None:
    """Look at stores."""


@store.command()
@click.argument("store", metavar="URL")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(store: str, as_json: bool) -> None:
    """Say what a store holds: rulesets, runs, contents, places, sightings. Changes nothing."""
    from seenbefore.stores import open_store

    with open_store(store, read_only=True) as opened:
        facts = opened.info()
        rulesets = [
            {"label": row.label, "state": row.state, "fingerprint": row.fingerprint, "unicode": row.unicode_version}
            for row in opened.rulesets()
        ]
        runs = [
            {
                "run": row.ordinal,
                "ruleset": row.ruleset,
                "state": row.state,
                "out": row.out or None,
                "started": row.started,
                "ended": row.ended,
                "records": row.counts.get("records", 0),
                "chain": None if row.chain is None else f"sha256:{row.chain.hex()}",
            }
            for row in opened.runs()
        ]
    members: dict[str, Any] = {**dataclasses.asdict(facts), "rulesets": rulesets, "runs": runs}
    if as_json:
        click.echo(json.dumps(members, ensure_ascii=False))
        return
    click.echo(f"{facts.location}  ({facts.kind}, {facts.size:,} bytes, keeps {facts.keep})")
    click.echo(f"{facts.contents:,} contents, {facts.places:,} places, {facts.sightings:,} sightings")
    for row in rulesets:
        click.echo(f"ruleset {row['label']}  {row['state']}  {row['fingerprint']}")
    for row in runs:
        records, out = f"{row['records']:,} records", row["out"] or "no output"
        click.echo(f"run {row['run']}  {row['state']}  {row['ruleset']}  {records}  {row['started']}  {out}")
