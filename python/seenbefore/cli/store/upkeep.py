"""`seenbefore store init`, `copy` and `vacuum`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seenbefore.stores.rows import Keep

# Seconds that another writer is waited for; one that goes on for longer is a run.
_PATIENCE = 1.0


@click.command()
@click.argument("store", metavar="STORE")
@click.option(
    "--keep",
    type=click.Choice(["kept", "none"]),
    default="kept",
    show_default=True,
    help="What it keeps beside receipts: the rows of kept.ndjson, or none.",
)
def init(store: str, *, keep: Keep) -> None:
    """Make a new, empty STORE. `dedup` makes one by itself, and keeps rows; here that can be chosen."""
    from seenbefore.cli.terminal import say
    from seenbefore.stores import make_store

    made = make_store(store, keep=keep)
    say(f"{made} is made: it keeps {'rows beside receipts' if keep == 'kept' else 'receipts alone'}")


@click.command()
@click.argument("store", metavar="STORE")
@click.argument("target", metavar="FILE")
def copy(store: str, target: str) -> None:
    """Copy a STORE as it stands now to FILE, a store of its own. Others may write meanwhile."""
    from seenbefore.cli.terminal import say
    from seenbefore.cli.waiting import Bar
    from seenbefore.stores import open_store

    with open_store(store, create=False, read_only=True) as opened, Bar("copying"):
        size = opened.copy(target)
    say(f"{target}: {size:,} bytes")


@click.command()
@click.argument("store", metavar="STORE")
def vacuum(store: str) -> None:
    """Write a STORE anew without the room that nothing uses. It needs free room of twice its size for a while.

    Nothing that the store says changes. Refused while another process writes.
    """
    from seenbefore.cli.terminal import say
    from seenbefore.cli.waiting import Bar
    from seenbefore.stores import open_store

    with open_store(store, create=False, patience=_PATIENCE) as opened, Bar("writing anew"):
        before, after = opened.vacuum()
        location = opened.location
    say(f"{location}: {after:,} bytes, {max(before - after, 0):,} less than before")
