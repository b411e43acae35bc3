"""`seenbefore log`: what was sighted, one line a record, or one for each version of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import click

from seenbefore.cli.given import store_given
from seenbefore.errors import UsageError
from seenbefore.rules import VERDICTS

# Heads and widths of the columns but the last one; what is wider moves the rest of its line.
_RECORDS = (("row", 9), ("verdict", 10), ("refers to", 9), ("match", 7), ("fetched at", 20), ("source", 16))
_VERSIONS = (("row", 9), ("verdict", 10), ("refers to", 9), ("first seen", 20), ("last seen", 20), ("sightings", 9))
_ACTIONS = ("keep", "skip", "refuse")
_ROW = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")


@click.command()
@store_given
@click.option("--run", type=click.IntRange(1), metavar="R", help="Records of one run.")
@click.option("--source", metavar="S", help="Records of one source.")
@click.option("--url", metavar="U", help="Records at one place: any spelling that the store's rules take for the same.")
@click.option("--key", metavar="K", help="Records with a content key, or with a URL key.")
@click.option("--row", metavar="RUN:SEQ", help="Records with the same content as a row: who else published it.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Records with one verdict.")
@click.option("--action", type=click.Choice(_ACTIONS), help="Records that were kept, skipped or refused.")
@click.option(
    "--since", metavar="T", help="Records fetched at T or later; a date, or a time such as 2026-03-02T08:00Z."
)
@click.option("--until", metavar="T", help="Records fetched before T.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The latest N of them [default: all]")
@click.option("--versions", "by_version", is_flag=True, help="With a URL: one line for each content that it showed.")
@click.option("--json", "as_json", is_flag=True, help="Print NDJSON: receipts, or versions.")
def log(
    store: str,
    *,
    run: int | None,
    source: str | None,
    url: str | None,
    key: str | None,
    row: str | None,
    verdict: str | None,
    action: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    by_version: bool,
    as_json: bool,
) -> None:
    """List the records that a STORE has seen, in the order of judging, each named RUN:SEQ as `explain` takes it.

    \b
    seenbefore log --run 2 --source lantern --action skip    what was skipped, and why
    seenbefore log --url https://e.example/a --versions      what a page showed, from when to when
    seenbefore log --row 1:75                                who else published this
    """  # noqa: D301 - click's mark for lines that stay as they are
    from seenbefore.audit.log import Asked, receipts, sighted
    from seenbefore.audit.times import instant
    from seenbefore.audit.versions import members, versions
    from seenbefore.cli.terminal import say
    from seenbefore.stores import open_store

    if by_version and url is None and (key is None or ":url:" not in key):
        raise UsageError("--versions are those of one URL", hint="name it with --url, or its URL key with --key")
    asked = Asked(
        run=run,
        source=source,
        url=url,
        key=key,
        row=None if row is None else _row(row),
        verdict=None if verdict is None else VERDICTS.index(verdict),
        action=action,
        since=None if since is None else instant(since),
        until=None if until is None else instant(until),
        limit=limit,
    )
    with open_store(store, create=False, read_only=True) as opened, opened.snapshot() as seen:
        rows = sighted(seen, asked)
        if by_version:
            lines = (members(seen, version) for version in versions(rows))
            found = _print(_VERSIONS, lines, as_json=as_json)
        elif as_json:
            found = sum(map(_pass_on, receipts(seen, rows)))
        else:
            found = _print(_RECORDS, map(json.loads, receipts(seen, rows)), as_json=False)
    if not found and not as_json:
        say("no record has all that", err=True)


def _row(name: str) -> tuple[int, int]:
    found = _ROW.fullmatch(name)
    if found is None:
        raise UsageError(f'"{name}" names no row', found=name, hint="rows are named RUN:SEQ, as in 2:15")
    return int(found[1]), int(found[2])


def _pass_on(receipt: bytes) -> int:
    """Prints a receipt as it is → 1, which it counts for."""
    click.echo(receipt, nl=False)
    return 1


def _print(heads: tuple[tuple[str, int], ...], rows: Iterable[Mapping[str, Any]], *, as_json: bool) -> int:
    """Prints rows as NDJSON, or as a table that has its heads where it has a row → how many."""
    from seenbefore.cli.terminal import say

    found = 0
    for found, row in enumerate(rows, 1):
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
            continue
        if found == 1:
            say(_line(heads, {name: name for name, _ in heads}, "URL"))
        refused = row["verdict"] == "refused"
        what = f"{row['code']}, {row['input']}:{row['line']}" if refused else row["url"]
        say(_line(heads, _cells(row), what or ""))
    return found


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """What stands under each head."""
    refers_to = row.get("refers_to")
    return {
        "row": f"{row['run']}:{row['seq']}",
        "verdict": row["verdict"],
        "refers to": "" if refers_to is None else f"{refers_to['run']}:{refers_to['seq']}",
        "match": row.get("matched_on"),
        "fetched at": row.get("fetched_at"),
        "source": row.get("source"),
        "first seen": row.get("first_seen"),
        "last seen": row.get("last_seen"),
        "sightings": row.get("sightings"),
    }


def _line(heads: tuple[tuple[str, int], ...], cells: Mapping[str, Any], last: str) -> str:
    return "  ".join([*(f"{cells[name] or '':<{width}}" for name, width in heads), last]).rstrip()
