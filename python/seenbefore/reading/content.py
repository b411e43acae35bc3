"""One input → the bytes behind its compression, read once, within the limit for what it may unpack to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from seenbefore.errors import InputTruncated, InputUnreadable
from seenbefore.reading import codecs
from seenbefore.reading.inputs import standard_input, unreadable

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from seenbefore.types import Input

BLOCK = 1 << 22
# Crawls shrink to a tenth or a fiftieth. A gzip file can unpack to 1,032 times its size, the others to far more: beyond
# this much, and so many times what was read, it is taken for a bomb unless a limit was named.
_BOMB_BYTES, _BOMB_TIMES = 1 << 30, 1000


class Content:
    """The decompressed bytes of one input, in blocks of any size.

    `max_bytes` bounds them; without it only what unpacks to more than 1 GiB and a thousand times its size is refused.
    `raw_read` is how many stored bytes were read so far, `compression` the name of the format, None where there is
    none; it is known once `head` was called.

    Iterating raises InputUnreadable and InputTruncated (compressed data that ends early, after all that it held).
    """

    def __init__(self, source: Input, max_bytes: int | None = None) -> None:
        self.source = source
        self.raw_read = 0
        self.compression: str | None = None
        self._max_bytes = max_bytes
        self._raw_digest: Hash | None = None
        self._first: bytes | None = None
        self._blocks = self._content()

    def head(self) -> bytes:
        """The first block, which is given out again when iterating; empty where the input is."""
        if self._first is None:
            self._first = next(self._blocks, b"")
        return self._first

    def __iter__(self) -> Iterator[bytes]:
        if self._first:
            yield self._first
        self._first = b""
        yield from self._blocks

    def stored(self, decompressed: bytes) -> tuple[bytes, int]:
        """SHA-256 and size of the input as stored, at its end. `decompressed` is the SHA-256 of what came out."""
        return (decompressed if self._raw_digest is None else self._raw_digest.digest()), self.raw_read

    def _content(self) -> Iterator[bytes]:
        raw = self._raw()
        head = gathered(raw, codecs.HEAD)
        other = codecs.foreign(head)
        if other is not None:
            raise InputUnreadable(
                f"{self.source.name} is {other}, not a file of records",
                path=self.source.name,
                expected="NDJSON, JSON, CSV, TSV, Parquet or Arrow, plain or as gz, zst, bz2 or xz",
                found=other,
                hint="unpack or convert it first",
            )
        self.compression = codecs.sniff(head)
        blocks = chain((head,), raw)
        if self.compression is None:
            yield from self._bounded(blocks)
            return
        self._raw_digest = hashlib.sha256()
        given = 0
        try:
            for block in self._bounded(codecs.decompressed(self._digested(blocks, self._raw_digest), self.compression)):
                given += len(block)
                yield block
        except codecs.Cut:
            raise InputTruncated(
                f"{self.source.name} is cut off: its {self.compression} data ends at byte {self.raw_read:,}, "
                f"{given:,} decompressed bytes in",
                path=self.source.name,
                expected=f"the rest of the {self.compression} data",
                found=f"end of input at byte {self.raw_read}, decompressed byte {given}",
                hint="fetch the file again and run the same command: it goes on behind the last whole record",
            ) from None
        except codecs.Damaged as error:
            raise InputUnreadable(
                f"{self.source.name} is damaged: {error} in the {self.compression} data before byte "
                f"{self.raw_read:,}, {given:,} decompressed bytes in",
                path=self.source.name,
                expected=f"{self.compression} data",
                found=f"{error}, before byte {self.raw_read}, after decompressed byte {given}",
                hint="fetch the file again and run the same command: it goes on behind the last whole record",
            ) from None

    def _bounded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        total = 0
        for block in blocks:
            total += len(block)
            if self._max_bytes is not None and total > self._max_bytes:
                raise InputUnreadable(
                    f"{self.source.name} unpacks to more than {self._max_bytes:,} bytes",
                    path=self.source.name,
                    expected=f"at most {self._max_bytes} decompressed bytes",
                    found=f"more, at byte {self.raw_read} of the input",
                    hint="raise --max-input if that is what it should hold",
                )
            if self._max_bytes is None and total > max(_BOMB_BYTES, _BOMB_TIMES * self.raw_read):
                raise InputUnreadable(
                    f"{self.source.name} unpacks to more than {_BOMB_TIMES:,} times its size: {total:,} bytes from the "
                    f"first {self.raw_read:,}",
                    path=self.source.name,
                    expected=f"at most {_BOMB_TIMES} times its size, beyond {_BOMB_BYTES} bytes",
                    found=f"{total} bytes, at byte {self.raw_read} of the input",
                    hint="name the most that it may unpack to with --max-input if that is what it should hold",
                )
            yield block

    def _digested(self, blocks: Iterator[bytes], digest: Hash) -> Iterator[bytes]:
        for block in blocks:
            digest.update(block)
            yield block

    def _raw(self) -> Iterator[bytes]:
        path = self.source.path
        try:
            with Path(path).open("rb", buffering=0) if path is not None else standard_input() as file:
                while block := file.read(BLOCK):
                    self.raw_read += len(block)
                    yield block
        except OSError as error:
            raise unreadable(self.source.name, error) from error


def gathered(blocks: Iterator[bytes], least: int) -> bytes:
    """The first blocks as one, at least `least` bytes where there are as many."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= least:
            break
    return head
