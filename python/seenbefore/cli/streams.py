"""The three standard streams, in whatever state a shell or a supervisor left them."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from seenbefore.errors import OutputFailed


class ReaderGone(Exception):
    """Whoever read our output has what they wanted. No OSError: click would end the process for one, with status 1."""


class _Out(io.FileIO):
    """Standard output: a write that fails is ReaderGone or an error with a name."""

    def write(self, data: Any) -> Any:
        """Writes some of the bytes → how many."""
        try:
            return super().write(data)
        except BrokenPipeError as error:
            _drop(self.fileno())
            raise ReaderGone from error
        except OSError as error:
            _drop(self.fileno())
            raise OutputFailed.from_os("standard output", error) from error


class _Err(io.FileIO):
    """Standard error: where nobody can read a message any more, because a terminal went away, the work goes on."""

    def write(self, data: Any) -> Any:
        """Writes some of the bytes → how many."""
        try:
            return super().write(data)
        except OSError:
            _drop(self.fileno())
            return len(data)


def settle() -> None:
    """Fills the places of closed streams, and takes the sting out of those that fail.

    Without it the next file that is opened, a store for instance, would get the number of a closed stream, and be read
    as the input or printed into.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is the one that is missing. Reading from it fails, as from a closed one.
            os.open(os.devnull, os.O_WRONLY)
    # Whoever calls the command within a process of theirs may have streams of their own, which are left alone.
    if sys.stdout is sys.__stdout__:
        sys.stdout = _wrapped(_Out(1, "w", closefd=False), sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _wrapped(_Err(2, "w", closefd=False), sys.stderr)


def _drop(descriptor: int) -> None:
    """Sends what is still to be written there to nowhere, so that the end of the process doesn't fail with it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _wrapped(raw: io.FileIO, before: Any) -> TextIO:
    """A text stream on `raw` that behaves as the one before it, which is None where that was closed."""
    if before is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace")
    before.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=before.encoding, errors=before.errors, line_buffering=before.line_buffering
    )
