"""The store that a command looks into: its argument, or `--store` as `dedup` has it, or the one that `dedup` makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from seenbefore.errors import UsageError

DEFAULT_STORE = "seenbefore.db"


def which_store(given: str | None, named: str | None) -> str:
    """The store by its argument, its option, or as `dedup` makes it. Raises UsageError where two are named."""
    if given is not None and named is not None and given != named:
        raise UsageError(f"two stores are named: {given} and {named}", hint="name one")
    return given or named or DEFAULT_STORE


def store_given(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command its `store`, the first of its parameters. Raises UsageError where two are named."""

    @click.argument("store", metavar="[STORE]", required=False)
    @click.option(
        "--store", "-s", "named", metavar="URL", help=f"The same as STORE, as `dedup` has it [default: {DEFAULT_STORE}]"
    )
    @functools.wraps(command)
    def with_store(store: str | None, named: str | None, **options: Any) -> None:
        command(which_store(store, named), **options)

    return with_store
