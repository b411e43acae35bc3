"""`seenbefore explain`: why a row got its verdict, and what each step did to each field."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seenbefore.cli.given import DEFAULT_STORE, which_store
from seenbefore.errors import UsageError

if TYPE_CHECKING:
    from seenbefore.audit.locate import Found, Locator
    from seenbefore.stores.base import SeenStore

_ONE, _TWO = 1, 2
# A row or a line: what else stands first, and is there, is the store.
_NAME = re.compile(r".*:[0-9]+", re.DOTALL)


@click.command()
@click.argument("rows", nargs=-1, metavar="[STORE] [RUN:SEQ | FILE:LINE]...")
@click.option("--store", "-s", metavar="URL", help=f"The same as STORE, as dedup takes it.  [default: {DEFAULT_STORE}]")
@click.option("--url", multiple=True, metavar="U", help="The latest record at a URL.")
@click.option(
    "--key", multiple=True, metavar="K", help="The first record with a content key, the latest with a URL key."
)
@click.option("--record", multiple=True, metavar="JSON|@FILE", help="A record as such.")
@click.option("--rules", "-r", metavar="FILE|NAME", help="Ruleset [default: the one that judged the row]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    rows: tuple[str, ...],
    store: str | None,
    url: tuple[str, ...],
    key: tuple[str, ...],
    record: tuple[str, ...],
    rules: str | None,
    as_json: bool,
) -> None:
    """Explain one record, or why two records have the same key or different ones.

    \b
    seenbefore explain 2:15                   a row, as run and ordinal
    seenbefore explain crawl.ndjson.gz:15     a line of a file
    seenbefore explain --url https://e.example/a
    seenbefore explain 1:10 2:15              the same, or not, and why
    """  # noqa: D301 - click's mark for lines that stay as they are
    from seenbefore.audit.explain import compare, members, of_found
    from seenbefore.audit.locate import Locator
    from seenbefore.cli.story import print_comparison, print_explanation
    from seenbefore.rules import Ruleset, default_rules

    named, rows = _split(rows)
    opened = _open(which_store(named, store), needed=bool(url or key or named or store))
    try:
        locator = Locator(opened, None if rules is None else Ruleset.find(rules), default_rules())
        found = _found(locator, rows, url, key, record)
        if len(found) == _TWO:
            both = compare(of_found(found[0], opened), of_found(found[1], opened))
            click.echo(json.dumps(members(both), ensure_ascii=False)) if as_json else print_comparison(both)
            return
        earlier, previous = (_row(locator, found[0], member) for member in ("refers_to", "previous"))
        told = of_found(found[0], opened, earlier=earlier, previous=previous)
        if as_json:
            click.echo(json.dumps(members(told) | {"history": _history(found[0])}, ensure_ascii=False))
        else:
            print_explanation(told, found[0].history, found[0].record)
    finally:
        if opened is not None:
            opened.close()


def _split(rows: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The store, where the first argument is one, and the rest."""
    if rows and not _NAME.fullmatch(rows[0]) and ("://" in rows[0] or Path(rows[0]).exists()):
        return rows[0], rows[1:]
    return None, rows


def _found(
    locator: Locator, rows: tuple[str, ...], url: tuple[str, ...], key: tuple[str, ...], record: tuple[str, ...]
) -> list[Found]:
    asked = len(rows) + len(url) + len(key) + len(record)
    if asked not in (_ONE, _TWO):
        raise UsageError(
            f"{asked or 'no'} records named; one is explained, two are compared",
            hint="give RUN:SEQ, FILE:LINE, --url, --key or --record",
        )
    return [
        *map(locator.by_name, rows),
        *map(locator.by_url, url),
        *map(locator.by_key, key),
        *map(locator.given, record),
    ]


def _row(locator: Locator, found: Found, member: str) -> Found | None:
    """The row that a receipt names in one of its members."""
    named = None if found.receipt is None else found.receipt.get(member)
    return None if named is None else locator.by_row(named["run"], named["seq"])


def _history(found: Found) -> list[dict[str, Any]]:
    """The sightings of the place or content that was asked for."""
    from seenbefore.audit.times import utc_text
    from seenbefore.rules import VERDICTS

    return [
        {
            "run": row.run,
            "seq": row.seq,
            "verdict": VERDICTS[row.verdict],
            "source": row.source,
            "url": row.url,
            "fetched_at": utc_text(row.fetched_at),
        }
        for row in found.history
    ]


def _open(store: str, *, needed: bool) -> SeenStore | None:
    """The store, read-only; None where it isn't there and a record can be explained without."""
    from seenbefore.stores import open_store

    try:
        return open_store(store, create=False, read_only=True)
    except UsageError:
        if needed:
            raise
        return None
