"""`seenbefore store`: what a store is and holds, whether it is whole, and its upkeep."""

from __future__ import annotations

import click

from seenbefore.cli.store.check import check
from seenbefore.cli.store.info import info
from seenbefore.cli.store.upkeep import copy, init, vacuum

__all__ = ["store"]


@click.group()
def store() -> None:
    """Look at stores, check them, copy them."""


for _command in (check, copy, info, init, vacuum):
    store.add_command(_command)
