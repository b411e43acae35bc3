"""Tables for people."""

from __future__ import annotations

from seenbefore.cli.terminal import harmless


def print_table(heads: list[str], rows: list[list[str]], *, left: int = 1) -> None:
    """A table: on a terminal with rules and colours, in a pipe as plain columns. The first `left` columns hold text."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, header_style="bold")
    for index, head in enumerate(heads):
        table.add_column(
            head, justify="left" if index < left else "right", no_wrap=True, overflow="fold" if index else "ellipsis"
        )
    for row in rows:
        table.add_row(*(harmless(cell) for cell in row))
    if not console.is_terminal:
        console.width = 200
    console.print(table, markup=False, highlight=False)
