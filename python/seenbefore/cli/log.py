"""`seenbefore log`: what was sighted, one line a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from seenbefore.cli.given import store_given
from seenbefore.rules import VERDICTS

# Widths of the columns but the last one; what is wider moves the rest of its line.
_HEADS = ("row", "verdict", "refers to", "fetched at", "source")
_WIDTHS = (9, 10, 9, 20, 16)


@click.command()
@store_given
@click.option("--run", type=click.IntRange(1), metavar="R", help="Records of one run.")
@click.option("--source", metavar="S", help="Records of one source.")
@click.option("--url", metavar="U", help="Records at one place: any spelling that the store's rules take for the same.")
@click.option("--key", metavar="K", help="Records with a content key, or with a URL key.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Records with one verdict.")
@click.option(
    "--since", metavar="T", help="Records fetched at T or later; a date, or a time such as 2026-03-02T08:00Z."
)
@click.option("--until", metavar="T", help="Records fetched before T.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The latest N of them [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print receipts, one a line.")
def log(
    store: str,
    *,
    run: int | None,
    source: str | None,
    url: str | None,
    key: str | None,
    verdict: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the records that a STORE has seen, in the order of judging, each named RUN:SEQ as `explain` takes it."""
    from seenbefore.audit.log import Asked, receipts, sighted
    from seenbefore.audit.times import instant
    from seenbefore.cli.terminal import say
    from seenbefore.stores import open_store

    asked = Asked(
        run=run,
        source=source,
        url=url,
        key=key,
        verdict=None if verdict is None else VERDICTS.index(verdict),
        since=None if since is None else instant(since),
        until=None if until is None else instant(until),
        limit=limit,
    )
    with open_store(store, read_only=True) as opened, opened.snapshot() as seen:
        found = 0
        for found, receipt in enumerate(receipts(seen, sighted(seen, asked)), 1):
            if as_json:
                click.echo(receipt, nl=False)
                continue
            if found == 1:
                say(_columns(_HEADS, "URL"))
            say(_line(json.loads(receipt)))
    if not found and not as_json:
        say("no record has all that", err=True)


def _line(receipt: Mapping[str, Any]) -> str:
    refers_to = receipt.get("refers_to")
    refused = receipt["verdict"] == "refused"
    what = f"{receipt['code']}, {receipt['input']}:{receipt['line']}" if refused else receipt["url"]
    return _columns(
        (
            f"{receipt['run']}:{receipt['seq']}",
            receipt["verdict"],
            "" if refers_to is None else f"{refers_to['run']}:{refers_to['seq']}",
            receipt.get("fetched_at") or "",
            receipt.get("source") or "",
        ),
        what or "",
    )


def _columns(cells: tuple[str, ...], last: str) -> str:
    return "  ".join([*(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)), last]).rstrip()
