"""What was named on the command line → the inputs of a run, in order."""

from __future__ import annotations

import glob
import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from seenbefore.errors import InputUnreadable, UsageError
from seenbefore.reading.formats import ENDINGS, ending
from seenbefore.types import Input

# Files that tell an output folder of a run.
_OUTPUTS = {"kept.ndjson", "receipts.ndjson"}
_BLOCK = 1 << 20
_SHOWN = 3


def expand(arguments: Iterable[str], told: Callable[[str], None] | None = None) -> list[Input]:
    """Paths, directories, globs and `-` → inputs in the order given; directories and globs in name order.

    A path that exists wins over its reading as a glob. A directory gives the files in and under it whose names end as
    those of records do, output folders and hidden ones left out; `told` gets a sentence on what else was left out. A
    file that is named itself may be called anything. A name that is given twice is read twice.

    Raises UsageError where nothing was given, a glob or directory holds nothing, or `-` stands twice; InputUnreadable
    where a path does not exist or can't be read.
    """
    inputs: list[Input] = []
    for argument in arguments:
        inputs.extend(_expand(argument, told or _nobody))
    if not inputs:
        raise UsageError("no input given", hint="name files, directories, globs, or - for standard input")
    if sum(one.path is None for one in inputs) > 1:
        raise UsageError("standard input (-) is named twice", hint="it can be read once only")
    return inputs


def sha256_of(path: str | None, progress: Callable[[int], None] | None = None) -> bytes:
    """SHA-256 of a file's bytes as stored, of standard input where `path` is None.

    `progress` is told the bytes of each block. Raises InputUnreadable.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb", buffering=0) if path is not None else standard_input() as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                if progress is not None:
                    progress(len(block))
    except OSError as error:
        raise unreadable(path or "-", error) from error
    return digest.digest()


def standard_input() -> io.FileIO:
    """Standard input as bytes; closing it leaves descriptor 0 open, which is not ours."""
    return io.FileIO(0, "rb", closefd=False)


def printable(path: str) -> str:
    r"""A path as text that every JSON writer takes: bytes that were not UTF-8 are written `\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unreadable(path: str, error: OSError) -> InputUnreadable:
    """The named error for a file that the system would not let us read."""
    reason = error.strerror or str(error)
    return InputUnreadable(
        f"can't read {printable(path)}: {reason}", path=printable(path), hint="check the path and who may read it"
    )


def _nobody(_: str) -> None:
    """Whom nobody asked to tell."""


def _expand(argument: str, told: Callable[[str], None]) -> Iterator[Input]:
    if argument == "-":
        yield Input(name="-", path=None, size=None)
        return
    if not argument:
        raise UsageError("an input has an empty name", hint="name files, directories, globs, or - for standard input")
    if os.path.lexists(argument):
        if Path(argument).is_dir():
            yield from _directory(argument, told)
        else:
            yield _file(argument)
        return
    if not glob.has_magic(argument):
        raise unreadable(argument, FileNotFoundError(2, os.strerror(2)))
    # Not Path.glob: it drops `./` and takes no absolute pattern, and an input's name is what was given.
    names = glob.glob(argument, recursive=True)  # noqa: PTH207 - see above
    found = sorted(name for name in names if not Path(name).is_dir())
    if not found:
        raise InputUnreadable(
            f"no file matches {printable(argument)}", path=printable(argument), hint="check the pattern and the folder"
        )
    yield from map(_file, found)


def _directory(folder: str, told: Callable[[str], None]) -> Iterator[Input]:
    found: list[str] = []
    others: list[str] = []

    def stop(error: OSError) -> None:
        raise unreadable(error.filename or folder, error)

    for place, folders, files in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if set(files) >= _OUTPUTS:
            continue  # what an earlier run wrote is no crawl; who wants it judged names the file
        for name in files:
            if not name.startswith("."):
                # The name stays as it was given, `./` and all.
                (others if ending(name) is None else found).append(os.path.join(place, name))  # noqa: PTH118
    if not found:
        raise InputUnreadable(
            f"no file of records in {printable(folder)} ({len(others)} other files)",
            path=printable(folder),
            expected=f"names ending in {', '.join(ENDINGS)}, compressed or not",
            hint="name the files themselves, or give a glob in quotes",
        )
    if others:
        shown = ", ".join(printable(name) for name in sorted(others)[:_SHOWN])
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        told(f"left out, because their names don't end as those of records do: {shown}{more}")
    yield from map(_file, sorted(found))


def _file(path: str) -> Input:
    try:
        facts = Path(path).stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise unreadable(path, error) from error
    return Input(name=printable(path), path=path, size=facts.st_size if stat.S_ISREG(facts.st_mode) else None)
