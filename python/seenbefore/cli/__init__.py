"""The command line: one file a command. It parses and prints, and decides nothing."""

from __future__ import annotations

import click

from seenbefore.cli.bundle import bundle
from seenbefore.cli.completion import completion
from seenbefore.cli.dedup import dedup
from seenbefore.cli.door import Door
from seenbefore.cli.explain import explain
from seenbefore.cli.log import log
from seenbefore.cli.merged import merged
from seenbefore.cli.rules import rules
from seenbefore.cli.store import store
from seenbefore.cli.verify import verify
from seenbefore.rules import UNICODE_VERSION, VERSION

__all__ = ["main"]


@click.group(cls=Door, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(VERSION, prog_name="seenbefore", message=f"%(prog)s %(version)s (Unicode {UNICODE_VERSION})")
def main() -> None:
    """Decide for every scraped record whether it has been seen before, and prove it.

    Exit status: 0 all well, 1 findings (something was refused), 2 usage, 3 input, 4 store, 5 in use, 6 disk or
    permission, 130 interrupted.
    """


for _command in (bundle, completion, dedup, explain, log, merged, rules, store, verify):
    main.add_command(_command)
