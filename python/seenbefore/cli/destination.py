"""Where a command's result goes: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from seenbefore.errors import OutputFailed, UsageError
from seenbefore.outputs import sync_folder


@contextlib.contextmanager
def opened(out: str | None, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to: standard output where `out` is None or `-`.

    A file of that name gets there by renaming, when the block has ended well. One that is there already is replaced
    with `force` only. Raises UsageError, OutputFailed, PermissionDenied, DiskFull.
    """
    if out is None or out == "-":
        with _said("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(out))
    _refuse(path, out, force=force)
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    with _said(out):
        try:
            with draft.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def _refuse(path: Path, out: str, *, force: bool) -> None:
    """Raises UsageError for what is not to be written over."""
    if path.exists():
        if not path.is_file():
            raise UsageError(f"{out} is no ordinary file", path=out, hint="name a file, or leave --out away")
        if not force:
            raise UsageError(f"{out} is there already", path=out, hint="choose another name, or add --force")
    elif not path.parent.is_dir():
        raise UsageError(f"the folder of {out} isn't there", path=out, hint="make it first, or correct the path")


@contextlib.contextmanager
def _said(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed.from_os(name, error) from error
