"""Files of a bundle as they are written: hashed on the way, cut at line ends, packed in frames of whole lines."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from seenbefore.evidence.bag import part_name

# spec/bundle-1.md section 2: fixed, so that the same compressor gives the same bytes again.
FRAME = 4 << 20
LEVEL = 9


@dataclass(frozen=True, slots=True)
class Written:
    """A file: its name below `data/`, its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


class Parts:
    """One of the growing files. `split` is the most bytes of a part, None for one whole file.

    What is written is whole lines, in pieces of any size. `close` gives the files; without it they are half written.
    """

    def __init__(self, folder: Path, stem: str, *, split: int | None, compressed: bool) -> None:
        self._folder, self._stem, self._split, self._compressed = folder, stem, split, compressed
        self._done: list[Written] = []
        self._part = 0
        self._open_next()

    def write(self, data: bytes) -> None:
        """Appends whole lines."""
        while self._split is not None and self._taken + len(data) > self._split:
            cut = data.rfind(b"\n", 0, max(0, self._split - self._taken)) + 1
            if cut == 0 and self._taken == 0:
                cut = data.find(b"\n") + 1  # a part holds one line at least
                if cut == len(data):
                    break
            self._take(data[:cut])
            data = data[cut:]
            self._close_part()
            self._open_next()
        self._take(data)

    def close(self) -> list[Written]:
        """Ends the last part → all of them, in their order."""
        self._close_part()
        return self._done

    def abort(self) -> None:
        """Lets go of the file that is open."""
        self._file.close()

    def _open_next(self) -> None:
        self._part += 1
        number = None if self._split is None else self._part
        self._name = part_name(self._stem, number, compressed=self._compressed)
        self._file: BinaryIO = (self._folder / self._name).open("xb")
        self._digest, self._size, self._taken = hashlib.sha256(), 0, 0
        self._frame = bytearray()
        self._packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True)

    def _close_part(self) -> None:
        if self._frame:
            self._put(self._packer.compress(bytes(self._frame)))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._done.append(Written(self._name, self._size, self._digest.hexdigest()))

    def _take(self, data: bytes) -> None:
        self._taken += len(data)
        if not self._compressed:
            self._put(data)
            return
        while data:
            end = data.find(b"\n", max(0, FRAME - len(self._frame) - 1)) + 1
            self._frame += data[: end or len(data)]
            if end == 0:
                break
            self._put(self._packer.compress(bytes(self._frame)))
            self._frame.clear()
            data = data[end:]

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._size += len(data)


def write_whole(folder: Path, name: str, data: bytes) -> Written:
    """Writes a small file, durably."""
    with (folder / name).open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return Written(name, len(data), hashlib.sha256(data).hexdigest())
