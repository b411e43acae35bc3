"""`seenbefore completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL.

    \b
    bash: seenbefore completion bash > ~/.local/share/bash-completion/completions/seenbefore
    zsh:  seenbefore completion zsh > a folder of $fpath, as _seenbefore
    fish: seenbefore completion fish > ~/.config/fish/completions/seenbefore.fish
    """  # noqa: D301 - click's mark for lines that stay as they are
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - click has all three
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(context.find_root().command, {}, "seenbefore", "_SEENBEFORE_COMPLETE").source())
