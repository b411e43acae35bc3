"""`seenbefore bundle`: hand over kept rows with their evidence."""

from __future__ import annotations

import json
import re

import click

from seenbefore.cli.given import store_given
from seenbefore.errors import UsageError

_SIZE = re.compile(r"([0-9]+)\s*(|[kmgt]i?)b?", re.IGNORECASE)
_UNITS = ("", "k", "m", "g", "t")


@click.command()
@store_given
@click.option("--out", "-o", required=True, metavar="DIR", help="The bundle's folder, which must not be there yet.")
@click.option(
    "--runs", metavar="A..B", help="Runs by their numbers; A.. and ..B and A alone are understood too [default: all]"
)
@click.option("--zstd", is_flag=True, help="Compress rows, receipts and prior state.")
@click.option(
    "--split", metavar="SIZE", help="Most bytes of a part of rows and receipts, before compression, such as 1GB."
)
@click.option("--sign", metavar="KEYFILE", help="Sign the manifest with this Ed25519 private key.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def bundle(
    store: str, out: str, runs: str | None, zstd: bool, split: str | None, sign: str | None, as_json: bool
) -> None:
    """Make a folder of kept rows, receipts, rules and prior state of STORE, which anybody can check.

    The same runs give the same bytes each time. STORE is only read.
    """
    from seenbefore.cli.terminal import say
    from seenbefore.cli.waiting import Bar
    from seenbefore.evidence.bundle import build
    from seenbefore.evidence.signing import read_key
    from seenbefore.stores import open_store

    size = None if split is None else _bytes(split)
    signing = None if sign is None else read_key(sign)
    with Bar("records") as bar, open_store(store, read_only=True) as opened:
        made = build(
            opened,
            out,
            runs=runs,
            split=size,
            compressed=zstd,
            sign=signing,
            passed=lambda done, total: bar.at("records", done, total),
        )
    if as_json:
        members = {
            "bundle": out,
            "runs": list(made.runs),
            "receipts": made.receipts,
            "rows": made.rows,
            "prior": made.prior,
            "bytes": made.size,
            "manifest": f"sha256:{made.manifest}",
        }
        click.echo(json.dumps(members, ensure_ascii=False))
        return
    span = f"run {made.runs[0]}" if len(made.runs) == 1 else f"runs {made.runs[0]} to {made.runs[-1]}"
    say(f"{out}: {span}, {made.receipts:,} receipts, {made.rows:,} rows, {made.prior:,} lines of prior state")
    say(f"manifest sha256:{made.manifest}")
    say(f"check it with  seenbefore verify {out}  or  python3 -I {out}/data/verify.py")


def _bytes(text: str) -> int:
    """`1GB` and `1G` are 1,000,000,000, `1GiB` is 1,073,741,824. Raises UsageError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise UsageError(f"{text!r} is no size", expected="a number of bytes such as 1GB, 500MB, 64MiB", found=text)
    unit = found[2].lower()
    scale = 1024 if unit.endswith("i") else 1000
    return int(found[1]) * int(scale ** _UNITS.index(unit.removesuffix("i")))
