"""Files and streams as records: where they are, how they are compressed, what format they have, where each starts."""

from __future__ import annotations

from seenbefore.reading.ahead import Ahead
from seenbefore.reading.codecs import decompressed
from seenbefore.reading.events import End, Event, LongLine, LongPart, Mark, Piece, Rows
from seenbefore.reading.find import record_at
from seenbefore.reading.formats import FORMATS
from seenbefore.reading.inputs import expand, sha256_of
from seenbefore.reading.names import with_facts
from seenbefore.reading.reader import Form, Reader
from seenbefore.reading.tables import Dialect, delimiter_of, encoding_of

__all__ = [
    "FORMATS",
    "Ahead",
    "Dialect",
    "End",
    "Event",
    "Form",
    "LongLine",
    "LongPart",
    "Mark",
    "Piece",
    "Reader",
    "Rows",
    "decompressed",
    "delimiter_of",
    "encoding_of",
    "expand",
    "record_at",
    "sha256_of",
    "with_facts",
]
