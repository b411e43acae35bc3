"""CSV and TSV: whole lines → the rows that end in them, in whatever encoding the table is."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from seenbefore._kernel import Records, Table
from seenbefore.errors import InputUnreadable, UsageError
from seenbefore.reading.content import Content
from seenbefore.reading.events import Event, LongLine, LongPart, Mark, Piece, Rows
from seenbefore.reading.lines import Lines, Signs

# Encodings with shifts from one alphabet to another: a byte of theirs says nothing by itself, so lines can't be found.
_SHIFTING = ("hz", "iso2022", "utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna")
_ASCII = "\n\r\t \",;|'0Az"
_MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written: the sign between cells (None: the format's own), and its encoding (None: UTF-8)."""

    delimiter: str | None = None
    encoding: str | None = None


def delimiter_of(text: str) -> str:
    r"""A delimiter as it was given: one sign of ASCII, or `tab` or `\t`. Raises UsageError."""
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n\0':
        raise UsageError(
            f"--delimiter takes one sign of ASCII, not {text!r}",
            found=text,
            hint="such as ';' or '|'; a tab is written tab",
        )
    return sign


def encoding_of(text: str) -> str:
    """The name of an encoding as Python knows it, one in which lines can be found. Raises UsageError."""
    try:
        found = codecs.lookup(text)
    except LookupError:
        raise UsageError(
            f"there is no encoding {text!r}", found=text, hint="names are Python's, such as cp1252 or utf-16"
        ) from None
    name = found.name
    plain = name in _MARKS or name in {"utf-16", "utf-32", "utf-8", "utf-8-sig"}
    if not plain and (name.startswith(_SHIFTING) or not _has_ascii(name)):
        raise UsageError(
            f"a table in {text} can't be cut into lines",
            found=text,
            hint=f"convert it first: iconv -f {text} -t UTF-8",
        )
    return name


class TableRows:
    """The rows of a table from its start, its long lines, and its end, once.

    `separator` is the format's own delimiter. Iterating raises InputUnreadable where the header names no columns.
    """

    def __init__(self, content: Content, dialect: Dialect, separator: str, max_line: int) -> None:
        self._content, self._max_line = content, max_line
        self._said = dialect.delimiter is not None
        self._delimiter = dialect.delimiter or separator
        encoding = _with_order(dialect.encoding, content)
        self._encoding = None if encoding in {"utf-8", "utf-8-sig"} else encoding
        self._signs = Signs() if self._encoding is None else _signs(self._encoding)
        # What rows that were not given out yet were cut out of.
        self._pieces: list[Piece] = []

    def __iter__(self) -> Iterator[Event]:
        table: Table | None = None
        try:
            for event in Lines(self._content, max_line=self._max_line, signs=self._signs):
                if table is None:
                    table = self._table(event.offset if isinstance(event, Piece) else 0)
                if isinstance(event, Piece):
                    yield from self._taken(table, self._fed(table, event))
                    continue
                # Nothing goes on behind a line that was too long to be held, or behind the end.
                yield from self._taken(table, self._finished(table, event))
                if isinstance(event, LongLine):
                    yield replace(event, line=table.lines + 1)
                    table.skip_line(event.after.offset)
                else:
                    yield event
        except ValueError as error:
            _refuse_header(self._content.source.name, *error.args)

    def _table(self, start: int) -> Table:
        signs = (None, None) if self._encoding is None else (self._signs.lf, self._signs.cr)
        return Table(self._delimiter, self._max_line, start, *signs)

    def _fed(self, table: Table, piece: Piece) -> Records:
        self._pieces.append(piece)
        named = bool(table.columns)
        if self._encoding is None:
            records = table.feed(piece.data)
        else:
            text, bad = _decoded(piece.data, self._encoding, self._signs)
            records = table.feed(text, piece.data, bad)
        if not named and not self._said:
            _refuse_one_column(self._content.source.name, table.columns, self._delimiter)
        return records

    def _finished(self, table: Table, event: Event) -> Records:
        records = table.finish()
        if isinstance(event, LongPart) and not table.columns:
            raise ValueError("row", f"its header is longer than {self._max_line:,} bytes")
        return records

    def _taken(self, table: Table, records: Records) -> Iterator[Rows]:
        if len(records):
            yield Rows(records, _Marks(tuple(self._pieces)))
        # A row may have begun in an earlier piece; behind it nobody asks for points any more.
        while self._pieces and self._pieces[0].offset + len(self._pieces[0].data) <= table.offset:
            del self._pieces[0]


@dataclass(frozen=True, slots=True)
class _Marks:
    """The points of the pieces that some rows were cut out of."""

    pieces: tuple[Piece, ...]

    def __call__(self, offset: int) -> Mark:
        piece = next(one for one in self.pieces if one.offset <= offset <= one.offset + len(one.data))
        return piece.mark(offset - piece.offset)


def _has_ascii(name: str) -> bool:
    try:
        return _ASCII.encode(name) == _ASCII.encode("ascii")
    except (UnicodeError, LookupError):
        return False


def _with_order(encoding: str | None, content: Content) -> str | None:
    """The encoding with its order of bytes, which the byte-order mark of UTF-16 and UTF-32 tells."""
    if encoding not in {"utf-16", "utf-32"}:
        return encoding
    head = content.head()
    for name, mark in _MARKS.items():
        if name.startswith(encoding) and head.startswith(mark):
            return name
    if not head:
        return f"{encoding}-le"
    raise InputUnreadable(
        f"{content.source.name} has no byte-order mark, so that {encoding} doesn't say which byte comes first",
        path=content.source.name,
        hint=f"name it: --encoding {encoding}-le or --encoding {encoding}-be",
    )


def _signs(encoding: str) -> Signs:
    return Signs("\n".encode(encoding), "\r".encode(encoding), _MARKS.get(encoding, b""))


def _decoded(data: bytes, encoding: str, signs: Signs) -> tuple[bytes, list[int]]:
    """Whole lines as UTF-8, and which of them, from 0, can't be decoded."""
    try:
        return data.decode(encoding).encode(), []
    except UnicodeError:
        pass
    text, bad = [], []
    for number, line in enumerate(_lines(data, signs.lf)):
        try:
            text.append(line.decode(encoding).encode())
        except UnicodeError:
            content = line.removesuffix(signs.lf)
            text.append(content.decode(encoding, "replace").replace("\n", "\ufffd").encode())
            if len(content) < len(line):
                text.append(b"\n")
            bad.append(number)
    return b"".join(text), bad


def _lines(data: bytes, lf: bytes) -> Iterator[bytes]:
    start = at = 0
    while at >= 0:
        at = data.find(lf, at)
        if at < 0:
            break
        if at % len(lf):
            at += 1
            continue
        at += len(lf)
        yield data[start:at]
        start = at
    if start < len(data):
        yield data[start:]


def _refuse_one_column(name: str, columns: list[str], given: str) -> None:
    """Refuses a table whose header would be one column only because the delimiter is another."""
    others = [sign for sign in _DELIMITERS if sign != given and any(sign in column for column in columns)]
    if len(columns) == 1 and others:
        raise InputUnreadable(
            f"{name} has one column, {columns[0]!r}, if its cells are separated by {given!r}",
            path=name,
            found=columns[0],
            hint=f"name the delimiter: --delimiter {'tab' if others[0] == chr(9) else repr(others[0])}, "
            f"or --delimiter {'tab' if given == chr(9) else repr(given)} if it is one column",
        )


def _refuse_header(name: str, what: str, message: str) -> NoReturn:
    hints = {
        "encoding": "name its encoding, such as --encoding cp1252",
        "row": "check its format: --format says what it is",
        "unnamed": "give every column a name in the first row",
        "repeated": "give every column a name of its own in the first row",
    }
    raise InputUnreadable(f"{name} can't be read as a table: {message}", path=name, hint=hints[what])
