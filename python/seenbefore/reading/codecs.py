"""Compression by content: gz (RFC 1952, all members), zst (RFC 8878, all frames), bz2 and xz (all streams).

Every step gives out a bounded number of bytes, so that a small file that unpacks to a huge one is met piece by piece.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

OUT = 1 << 22
# Four bytes of a zstd frame can say 128 KiB, and its decompressor gives out all of what it takes. Bites that grow only
# while little comes of them bound that to 2 MiB as a rule and to 64 MiB once.
_ZST_BITE_LEAST, _ZST_BITE_MOST = 64, 2048
# Windows of up to 2 GiB, as `zstd --long=31` makes them; the memory is only taken where a frame asks for it.
_ZST_WINDOW = 1 << 31

HEAD = 6
_MAGIC = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd", *(bytes((low,)) + b"\x2a\x4d\x18" for low in range(0x50, 0x60))),
    "bzip2": (b"BZh",),
    "xz": (b"\xfd7zXZ\x00",),
}
_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"SQLite": "an SQLite database",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}
DAMAGE = (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError, EOFError, ValueError)


class Cut(Exception):
    """The compressed data ends in the middle of a member, frame or stream."""


class Damaged(Exception):
    """The compressed data is not what its format allows; the text says why."""


@dataclass(frozen=True, slots=True)
class _Format:
    new: Callable[[], Any]
    step: Callable[[Any, bytes], Iterator[bytes]]


def sniff(head: bytes) -> str | None:
    """The name of the compression that `head` (the first six bytes) starts, None for plain bytes."""
    return next((name for name, starts in _MAGIC.items() if head.startswith(starts)), None)


def foreign(head: bytes) -> str | None:
    """What a file is that holds no records in a format that is read here, in words; None where it may."""
    return next((words for start, words in _OTHERS.items() if head.startswith(start)), None)


def decompressed(raw: Iterator[bytes], compression: str) -> Iterator[bytes]:
    """The content of all members, frames or streams in a row; zero bytes between and after them are padding.

    Raises Cut where the last one is incomplete, Damaged where the data is not of that format.
    """
    form = _FORMATS[compression]
    current: Any = None
    for block in raw:
        data = block
        while data:
            if current is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                current = form.new()
            try:
                yield from form.step(current, data)
            except DAMAGE as error:
                raise Damaged(str(error)) from error
            if not current.eof:
                break
            data, current = current.unused_data, None
    if current is not None:
        raise Cut


def _gzip_step(member: Any, data: bytes) -> Iterator[bytes]:
    while not member.eof:
        out = member.decompress(data, OUT)
        data = member.unconsumed_tail
        if out:
            yield out
        if not data and len(out) < OUT:
            return


def _buffered_step(stream: Any, data: bytes) -> Iterator[bytes]:
    while not stream.eof:
        out = stream.decompress(data, OUT)
        data = b""
        if out:
            yield out
        if stream.needs_input:
            return


def _zstd_step(frame: Any, data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        bite = frame.bite
        out = frame.decompress(data[start : start + bite])
        start += bite
        if out:
            yield out
        if frame.eof:
            frame.rest = data[start:]
            return
        frame.bite = _ZST_BITE_LEAST if len(out) >= OUT else min(bite * 2, _ZST_BITE_MOST)


class _Frame:
    """One zstd frame with the attributes that the other formats' decompressors have."""

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=_ZST_WINDOW).decompressobj()
        self.rest = b""
        self.bite = _ZST_BITE_LEAST

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data + self.rest

    def decompress(self, data: bytes) -> bytes:
        return self._inner.decompress(data)


_FORMATS = {
    "gzip": _Format(lambda: zlib.decompressobj(wbits=31), _gzip_step),
    "zstd": _Format(_Frame, _zstd_step),
    "bzip2": _Format(bz2.BZ2Decompressor, _buffered_step),
    "xz": _Format(lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ), _buffered_step),
}
