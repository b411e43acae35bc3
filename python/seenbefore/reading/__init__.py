"""Files and streams as whole lines of bytes: where they are, how they are compressed, where each line starts."""

from __future__ import annotations

from seenbefore.reading.ahead import Ahead
from seenbefore.reading.codecs import decompressed
from seenbefore.reading.inputs import expand, sha256_of
from seenbefore.reading.lines import End, LongLine, LongPart, Mark, Piece, Reader

__all__ = ["Ahead", "End", "LongLine", "LongPart", "Mark", "Piece", "Reader", "decompressed", "expand", "sha256_of"]
