"""The way in and out of every command: whatever goes wrong becomes a message and an exit status, never a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import click

from seenbefore.cli import streams
from seenbefore.cli.terminal import harmless
from seenbefore.errors import Interrupted, OutputFailed, SeenbeforeError

# A fault of the program itself (sysexits.h), and what a shell shows for a reader that went away (128 + SIGPIPE).
SOFTWARE, BROKEN_PIPE = 70, 141


class Door(click.Group):
    """The top command.

    A program may call it with `standalone_mode=False` and gets exceptions then, as with any click command.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command and ends the process with its exit status."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        streams.settle()
        extra.setdefault("color", _coloured())
        _listen()
        as_json = "--json" in (sys.argv[1:] if args is None else args)
        try:
            status = super().main(args, prog_name or "seenbefore", complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except SeenbeforeError as error:
            _fail(error, as_json=as_json)
        except (KeyboardInterrupt, click.Abort):
            _fail(Interrupted(), as_json=as_json)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except streams.ReaderGone:
            sys.exit(BROKEN_PIPE)
        except MemoryError:
            _say("out of memory\n  → run the same command again with a smaller --batch-size: it goes on")
            sys.exit(SOFTWARE)
        except Exception as error:  # noqa: BLE001 - the last line of defence
            _broken(error)
        except BaseException as error:
            # A panic of the kernel derives from BaseException, as SystemExit does.
            if isinstance(error, SystemExit | GeneratorExit):
                raise
            _broken(error)
        sys.exit(status if isinstance(status, int) else 0)


def _coloured() -> bool | None:
    """False where https://no-color.org asks for none, None where the terminal decides: click itself asks no further."""
    return False if os.environ.get("NO_COLOR") else None


def _listen() -> None:
    """Makes signals that ask for an end an error with a name, but for those that nohup and others have us ignore."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stopped)


def _stopped(number: int, _: FrameType | None) -> NoReturn:
    raise Interrupted.by_signal(signal.Signals(number).name)


def _fail(error: SeenbeforeError, *, as_json: bool) -> NoReturn:
    lines = [error.message]
    lines += [f"  {name}: {value}" for name, value in (("expected", error.expected), ("found", error.found)) if value]
    if error.hint:
        lines.append(f"  → {error.hint}")
    _say("\n".join(lines))
    if as_json:
        members = {name: getattr(error, name) for name in ("code", "message", "hint", "path", "expected", "found")}
        with contextlib.suppress(OutputFailed, streams.ReaderGone):
            click.echo(json.dumps({"error": members}, ensure_ascii=False))
    sys.exit(error.exit_status)


def _broken(error: BaseException) -> NoReturn:
    if os.environ.get("SEENBEFORE_TRACEBACK"):
        traceback.print_exception(error)
    _say(
        f"a fault of seenbefore itself: {type(error).__name__}: {error}\n"
        "  → what was committed stays; please report this with the output under SEENBEFORE_TRACEBACK=1"
    )
    sys.exit(SOFTWARE)


def _say(message: str) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {harmless(message)}", err=True, color=_coloured())
