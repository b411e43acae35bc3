"""Checks a bundle of seenbefore, `spec/bundle-1.md`, with Python 3.9 or later and its standard library.

    python3 -I data/verify.py [FOLDER] [--unpacked FOLDER] [--json]

Without FOLDER it checks the bundle that it lies in. Exit status: 0 passed, 1 failed, 2 could not run. Nothing is
followed out of the folder, nothing in it is run, and nothing is written. `--unpacked` names a folder with the unpacked
files of those that end in `.zst`, which Python 3.14 unpacks by itself.

It is an independent reading of `spec/`: keys/1, verdicts/1, receipt/1 and bundle/1, each rule in the order of the
specification and under its name. The tests hold the fast kernel against it, and a reader of `spec/` can hold it against
the text. A character whose properties this Python's Unicode does not hold as Unicode 17.0 does is never a failure, but
not checkable here. Neither `json`, `str.split`, `str.strip()` without an argument, nor any locale decides a byte of a
key, and `float` only where a ruleset rounds binary floats.
"""

from __future__ import annotations

import base64
import bisect
import collections
import datetime as dt
import hashlib
import html.entities
import json
import math
import os
import re
import stat
import sys
import unicodedata
from fractions import Fraction
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

try:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore] # Python 3.14
except ImportError:
    zstd = None

UNICODE_VERSION = "17.0.0"
OTHER_UNICODE = f"characters are not the same in this Python's Unicode {unicodedata.unidata_version} and in 17.0.0"
NO_UTS46 = "hosts beyond ASCII need UTS #46, which Python's library has not"
MAX_DEPTH, MAX_DIGITS, MAX_LINE, MAX_URL = 128, 1000, 64 * 1024 * 1024, 64 * 1024
Settings = dict[str, Any]


def _words(text: str) -> list[str]:
    return re.findall("[^ \n]+", text)


class Refused(Exception):
    """A line or value that must not be keyed. `code` is one of the closed set, `field` the member at fault or None."""

    def __init__(self, code: str, detail: str = "", field: str | None = None) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail, self.field = code, detail, field


def need(holds: object, code: str, detail: str = "", field: str | None = None) -> None:
    if not holds:
        raise Refused(code, detail, field)


class NotCheckable(Exception):
    """The answer needs what this Python does not have, which is what the message says."""


# ── Unicode 17.0.0 as Python does not carry it: UnicodeData, ArabicShaping, emoji-data ───────────────────────────────


def _ranges(text: str) -> list[tuple[int, int]]:
    """Sorted pairs of code points, both ends included: how far behind the last pair it starts, how many more follow."""
    pairs, at = [], 0
    for gap, _, more in (item.partition("-") for item in _words(text)):
        pairs.append((at + int(gap, 16), at + int(gap, 16) + int(more or "0", 16)))
        at = pairs[-1][1] + 1
    return pairs


def _within(char: str, *tables: list[tuple[int, int]]) -> bool:
    places = [(table, bisect.bisect(table, (ord(char), sys.maxunicode)) - 1) for table in tables]
    return any(at >= 0 and ord(char) <= table[at][1] for table, at in places)


ASSIGNED = _ranges("""
    0-377 2-5 4-6 1 1-13 1-18C 1-25 2-31 2-2 1-36 8-1A 4-5 B-10D 1-3B 2-64 E-3A 2-30 2-E 1-1B 2 1-A 5-21 5-EC 1-7 2-1
    2-15 1-6 1 3-3 2-8 2-1 2-3 8 4-1 1-4 2-18 2-2 1-5 4-1 2-15 1-6 1-1 1-1 1-1 2 1-4 4-1 2-2 3 7-3 1 7-10 A-2 1-8 1-2
    1-15 1-6 1-1 1-4 2-9 1-2 1-2 2 F-3 2-B 7-6 1-2 1-7 2-1 2-15 1-6 1-1 1-4 2-8 2-1 2-2 7-2 4-1 1-4 2-11 A-1 1-5 3-2 1-3
    3-1 1 1-1 3-1 3-2 3-B 4-4 3-2 1-3 2 6 E-14 5-C 1-2 1-16 1-F 2-8 1-2 1-3 7-1 1-2 1-1 2-3 2-9 7-15 1-2 1-16 1-9 1-4
    2-8 1-2 1-3 7-1 5-2 1-3 2-9 1-2 C-C 1-2 1-32 1-2 1-5 4-F 2-19 1-2 1-11 3-17 1-8 1 2-6 3 4-5 1 1-7 6-9 2-2 C-39 4-1C
    25-1 1 1-4 1-17 1 1-16 2-4 1 1-6 1-9 2-3 20-47 1-23 4-26 1-23 1-E 1-C 25-C5 1 5 2-178 1-3 2-6 1 1-3 2-28 1-3 2-20
    1-3 2-6 1 1-3 2-E 1-38 1-3 2-42 2-1F 3-19 6-55 2-5 2-29C 3-58 7-15 9-17 9-13 C-C 1-2 1-1 C-5D 2-9 6-9 6-19 6-58 7-2A
    5-45 A-1E 1-B 4-B 4 3-29 2-4 B-2B 4-19 6-A 3-3D 2-40 1-1C 2-A 6-9 6-D 2-2D 2-B 14-4C 1-A5 8-3B 3-E 3-3D 5-2A 2-A
    8-2A 5-215 2-5 2-25 2-5 2-7 1 1 1 1-1E 2-34 1-E 1-D 2-5 1-12 2-2 1-8 1-64 1-B 2-1A 1-C 3-21 E-20 F-8B 4-299 16-A
    15-713 2-17D 5-2C 1 5 2-37 7-1 E-17 9-6 1-6 1-6 1-6 1-6 1-6 1-6 1-6 1-7D 22-19 1-58 C-D5 1A-4F 1-55 2-66 5-2A 1-5D
    1-55 9-2F 1-726C 3-36 9-15B 14-B7 8-DC 14-3B 3-9 6-37 8-45 8-B 6-73 B-1D 3-4D 1-A 4-20 1-36 9-D 2-9 2-66 18-1B A-5
    2-5 2-5 9-6 1-6 1-3B 4-7D 2-9 6-2BA3 C-16 4-30 4-226D 2-69 26-6 C-4 5-19 1-4 1 1-1 1-1 1-289 20-29 6-32 1-12 1-3 4-4
    1-86 2 1-BD 3-5 2-5 2-5 2-2 3-6 1-6 A-4 2-B 1-19 1-12 1-1 1-E 2-D 22-7A 5-2 4-2C 3-57 1-C 3 2F-2D 82-1C 3-30 F-1B
    4-23 9-1D 5-2A 5-1D 1-24 4-D 2A-9D 2-9 6-23 4-23 4-27 8-33 B-B 1-E 1-6 1-1 1-A 1-E 1-6 1-1 3-33 C-136 9-15 A-7 18-5
    1-29 1-8 45-5 2 1-2B 1-1 3 2-16 1-47 8-8 30-12 1-1 5-20 3-1A 5-1A 26-37 4-13 2-31 1-1 5-7 1-2 1-1C 2-2 4-9 7-8 7-3F
    20-26 4-B 9-35 3-1C 2-1A 5-19 7-3 C-6 50-48 37-32 D-32 7-2D 8-9 6-25 3-1C 8-1 D0-1E 1-29 1-2 2-1 10-5 8-8 21-2D 8-29
    16-19 26-1B 14-16 9-4D 4-23 9-43 A 2-18 7-9 6-34 1-11 8-26 9-5F 1-13 B-11 1-2E 3E-6 1 1-3 1-E 1-A 6-3A 5-9 6-3 1-7
    2-1 2-15 1-6 1-1 1-4 1-9 2-1 2-2 2 6 5-6 2-6 3-4 B-9 1 2 1-25 1-9 1 2 1-3 1-9 1-1 8-1 1D-5B 1-4 1E-47 8-9 A6-35 2-25
    22-44 B-9 6-C 13-39 6-9 6-13 1C-1A 2-E 4-16 B9-3B 64-52 C-7 2 2-7 1-1 1-1D 1-1 2-B 9-9 46-7 2-2D 2-A 1B-47 8-52 D-48
    7-9 56-7 58-21 E-9 6-8 1-2C 1-D A-1C 3-1F 2-15 1-D 49-6 1-1 1-2B 3 1-1 1-8 8-9 6-5 1-1 1-24 1-1 1-5 7-9 6-2B 4-9
    F6-18 7-10 1-28 3-1C 55 F-31 D-39A 66-6E 1-4 B-C3 A4C-62 D-455 A-F9A 5-246 1AB9-39 6C6-238 7-1E 1-9 4-50 1-9 6-1D
    2-5 A-45 A-9 1-6 1-14 5-12 1B0-39 C6-5A 5-18 2-18 2C-4A 4-38 7-10 40-4 B-6 9-1CD5 29-1F 61-72 21FD-3 1-6 1-1 1-122 F
    1D-2 2 E-3 8-18B 904-6A 5-C 3-8 7-9 2-7 F5C-FC 3-1B3 6-16 F-10 F-2D 2-16 9-73 3C-F5 A-26 2-C1 15-45 7A-13 C-13 C-56
    9-18 87-54 1-46 1-1 2 2-1 2-3 1-B 1 1-6 1-40 1-3 2-7 1-6 1-1B 1-3 1-4 1 3-6 1-153 2-123 2-2BD F-4 1-E 450-1E 6-5
    D5-6 1-10 2-6 1-1 1-4 5-3D 21 70-2C 3-D 2-9 4-1 140-1E 11-39 5 1D0-29 D6-2A 4 C0-1E 1-15 8-1 E0-6 1-3 1-1 1-E 1-C4
    2-F 29-4B 4-9 4-1 311-43 4C-3C C2-3 1-1A 1-1 1 2 1-9 1-3 1 1 6 4 1 1 1-2 1-1 1 2 1 1 1 1 1-1 1 2-3 1-6 1-3 1-3 1 1-9
    1-10 5-2 1-4 1-10 34-1 10E-2B 4-63 C-E 2-E 1-E 1-24 A-AD 38-1C D-2B 4-8 7-1 E-5 9A-3D8 3-10 3-C 3-D9 6-B 4 F-B 4-37
    8-9 6-27 8-1D 2-B 4-1 E-8 27-157 8-D 2-C 3-A 3-38 1 4-F 2-B 4-9 7-92 1-66 405-A6DF 20-111D 2-168D 2-1D30 F-26D
    9A2-21D 5E2-134A 5-2129 ACB87 1E-5F 80-EF FE10-FFFD 2-FFFD
""")
# Joining_Type D, L and R.
DUAL_JOINING = _ranges("""
    620 5 1 1-4 4-C 1-6 1-1 23-1 8-F 12-25 1-1 9 1 1-1 28-2 2 12-2 5-3 1-8 1 1 1-1 1F-A 3-E 2-3 1 2-2 2-5 4A-20 56-4 2
    1-9 1 A 1-3 2 1D 2-4 1 10-9 5-1 2-5 1-E F3E 18-58 E-21 1 8F95-31 624E-4 E-3 1-4 1-2 A-3 91 1 3-2 1-1 1 2 1C-1 152-20
    1 19F-1 1-1 68-2 1-10 C-2 1C-3 2-B 2E 1-1 4 2-1 1-1 1 2 5 D935-43
""")
LEFT_JOINING = _ranges("A872 625A 9 228 2CA")
RIGHT_JOINING = _ranges("""
    622-3 1 1 5-3 15 28-2 1-2 10-11 26 2-8 1 1 2-1 1 18-1 20 4-4 4 9 1 1 2 1D B-2 F-1 4 1-1 3-1 C6 5-1 1 A 1-2 E 1-1
    5-12 B 1B-2 1 2-1 6 1020B 1 1-1 3-4 A 3 2 A 91 1-2 3 2 1-1 1 17-3 175 19F 70 20 1F-1 3E-2 2-1 2 4-1 5
""")
EXTENDED_PICTOGRAPHIC = _ranges("""
    A9 4 1F8D C D8 16 5A-5 F-1 16F-1 C A6 19-A 4-2 C7 E7-1 A 9 3A-3 1-4 9 2 2-1 2 4 2 1-1 2 3 3-1 8-2 5 1 5-B B-1 2 1-1
    1 12 2-1 12-5 1 1-1 3-1 5 2-1 4-1 B-1 5-1 2 5-1 1 1-1 14-1 5-5 1-3 2 4 2 2-5 1 2 1 1 6 3 6 A-1 F 2 4 1 4-2 1 B-1
    30-2 9 E E 174-1 1CF-2 13-1 33 4 4DA C 259 1 1BD6A 27-3 64-B F-1 F E-1 25-9 70-1 C-1 E 2-9 13-37 1B-E A 14 2-8 1-3
    9-16 6-BB 2-6F 2-1 1-2 2-52 2-2 1-3 5-FD 1-3E B-5 1-17 7-1 2-7 C 2-3 2 4-1 D-1 2 8-1 9 5-2 C-2 8-2 2 1 4 6 3 6-55
    30-45 5-7 2-10 3 1-5 2-C DA-25 C-3 38-7 A-5 28-7 1E-1 C-3 2-D 9-26 C-2E 1-9 1-B8 58-7 E-91 100-3FD
""")
# Joining_Type is T for all of Mn, Me and Cf but these, and for U+1E94B (UAX #44, DerivedJoiningType).
NOT_TRANSPARENT = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\u1734\u180e\u200c\u200d\u2066\u2067\u2068\u2069"
    "\U000110bd\U000110cd\U0001171e"
)


def known(text: str) -> str:
    """Gives `text` back, or raises NotCheckable where this Python's Unicode and Unicode 17.0 differ on a character.

    Unicode promises (Character Encoding Stability Policies) that NFC and case folding of assigned characters never
    change; what another version has not assigned, or has assigned since, is another matter.
    """
    for char in text:
        if char > "\x7f" and (unicodedata.category(char) != "Cn") != _within(char, ASSIGNED):
            raise NotCheckable(OTHER_UNICODE)
    return text


# ── Reading a line: strict JSON (RFC 8259, RFC 7493), numbers as written ─────────────────────────────────────────────


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)


_BLANKS = re.compile(r"[ \t\n\r]*")
_LITERALS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PIECE = re.compile(r'([^"\\\x00-\x1f]+)|\\(?:(["\\/bfnrt])|u([0-9A-Fa-f]{4}))')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATE = re.compile("[\ud800-\udfff]")


class Parsed:
    """One JSON text, left to right. Syntax and depth are raised at once; the two faults of meaning are noted."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.unpaired = self.repeated = False
        self.record: dict[str, Any] = {}
        self.spans: list[tuple[str, int, int]] = []  # (name, start, end) of each member of the outermost object

    def document(self) -> Any:
        value = self.value(0)
        self.need(not self.next(), "nothing is expected")
        return value

    def need(self, holds: object, what: str) -> None:
        need(holds, "invalid-json", f"{what} at character {self.at + 1}")

    def next(self) -> str:
        """The next character that is no blank; nothing at the end."""
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.text[self.at : self.at + 1]

    def take(self, char: str) -> bool:
        found = self.next() == char
        self.at += found
        return found

    def value(self, depth: int) -> Any:
        char = self.next()
        if char == '"':
            return self.string()
        if char in ("{", "["):
            need(depth < MAX_DEPTH, "too-deep", f"more than {MAX_DEPTH} levels at character {self.at + 1}")
            self.at += 1
            return self.object(depth + 1) if char == "{" else [self.value(depth + 1) for _ in self.each("]")]
        word = _WORD.match(self.text, self.at)
        self.need(word, "a value is expected")
        assert word is not None
        self.at = word.end()
        return _LITERALS[word.group()] if word.group() in _LITERALS else Number(word.group())

    def each(self, end: str) -> Iterator[None]:
        """Comes back once for each item before the bracket that ends them."""
        more = not self.take(end)
        while more:
            yield
            more = not self.take(end)
            self.need(not more or self.take(","), "a comma is expected")

    def object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for _ in self.each("}"):
            self.need(self.next() == '"', "a member name is expected")
            start, name = self.at, self.string()
            self.need(self.take(":"), "a colon is expected")
            value = self.value(depth)
            self.repeated = self.repeated or name in members
            members[name] = value
            if depth == 1:
                self.spans.append((name, start, self.at))
        return members

    def string(self) -> str:
        """Reads from the opening quote on; a high and a low surrogate side by side are one character."""
        self.at += 1
        parts: list[str] = []
        for piece in iter(lambda: _PIECE.match(self.text, self.at), None):
            plain, short, unit = piece.groups()
            parts.append(plain or _ESCAPES.get(short) or chr(int(unit, 16)))
            self.at = piece.end()
        self.need(self.text[self.at : self.at + 1] == '"', "the end of the string, or what one may hold, is expected")
        self.at += 1
        text = "".join(parts)
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            self.unpaired = self.unpaired or _SURROGATE.search(text) is not None
        return text


def read_parts(line: bytes, limit: int = MAX_LINE) -> Parsed:
    """Reads one line as one record. The parser given back holds `record` and the spans of its members.

    Raises Refused with the first of: line-too-long, invalid-utf8, invalid-json or too-deep (whichever comes first from
    the left), not-an-object, unpaired-surrogate, repeated-member.
    """
    need(len(line) <= limit, "line-too-long", f"{len(line)} bytes; the limit is {limit}")
    try:
        parser = Parsed(line.decode("utf-8", "strict"))
    except UnicodeDecodeError as error:
        raise Refused("invalid-utf8", f"at byte {error.start + 1}") from None
    parser.record = parser.document()
    need(isinstance(parser.record, dict), "not-an-object")
    need(not parser.unpaired, "unpaired-surrogate")
    need(not parser.repeated, "repeated-member")
    return parser


def read_record(line: bytes, limit: int = MAX_LINE) -> dict[str, Any]:
    """One line's record: str, Number, bool, None, list and dict. Raises Refused as `read_parts` does."""
    return read_parts(line, limit).record


# ── Exact decimals and exact canonical JSON ──────────────────────────────────────────────────────────────────────────


class Exact(NamedTuple):
    """`digits` × 10^`exponent`, with neither leading nor trailing zero digits; zero is `0` × 10^0 without a sign."""

    sign: str
    digits: str
    exponent: int


_DECIMAL = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?)([0-9]+))?\Z")


def exact(text: str) -> Exact | None:
    """The exact value of `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?`, or None for any other text.

    Raises Refused number-too-long for an exponent of more than 18 digits, leading zeros aside, unless the value is 0.
    """
    match = _DECIMAL.match(text)
    if not match:
        return None
    sign, whole, part, bare, exponent_sign, exponent_digits = match.groups(default="")
    fraction, exponent_digits = part or bare, exponent_digits.lstrip("0")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return Exact("", "0", 0)
    need(len(exponent_digits) <= 18, "number-too-long", "an exponent of more than 18 digits")
    exponent = int(exponent_sign + (exponent_digits or "0")) - len(fraction)
    stripped = digits.rstrip("0")
    return Exact("-" if sign == "-" else "", stripped, exponent + len(digits) - len(stripped))


def plain(value: Exact | None) -> str:
    """The value written out without exponent. Raises Refused where that takes more than 1,000 digit characters."""
    if value is None:
        raise Refused("bad-number", "not a decimal number")
    sign, digits, exponent = value
    point = len(digits) + exponent
    written = max(len(digits), point, len(digits) - point + 1 if point <= 0 else 0)
    need(written <= MAX_DIGITS, "number-too-long", f"more than {MAX_DIGITS} digits when written out")
    if exponent >= 0:
        return sign + digits + "0" * exponent
    digits = digits.rjust(1 - exponent, "0")
    return f"{sign}{digits[:exponent]}.{digits[exponent:]}"


def payload_number(value: Exact) -> str:
    """How a payload writes a number: one that is too long to be written out as `d[.ddd]e+N` or `e-N`."""
    try:
        return plain(value)
    except Refused:
        sign, digits, exponent = value
        tail = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{exponent + len(digits) - 1:+d}"


_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def json_string(text: str) -> str:
    r"""RFC 8785 3.2.2.2: the seven short escapes, `\u00xx` for the other controls below U+0020, all else as it is."""

    def escaped(char: re.Match[str]) -> str:
        return _SHORT.get(char.group()) or f"\\u{ord(char.group()):04x}"

    return '"' + re.sub(r'[\x00-\x1f"\\]', escaped, text) + '"'


def utf16_order(text: str) -> bytes:
    """Sort key: UTF-16 code units (RFC 8785 3.2.3), which is not code point order once a name leaves the BMP."""
    return text.encode("utf-16-be", "surrogatepass")


def _written(value: Any, number: Callable[[Any], str] = plain, in_order: bool = True) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Number, Exact)):
        return number(exact(value) if isinstance(value, Number) else value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, list):
        return "[" + ",".join([_written(item, number, in_order) for item in value]) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=utf16_order) if in_order else value
        return (
            "{" + ",".join([f"{json_string(name)}:{_written(value[name], number, in_order)}" for name in names]) + "}"
        )
    raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)


def canonical_json(value: Any, long_numbers: bool = False) -> bytes:
    """Exact canonical JSON of what the reader gives (and of int). `long_numbers` is the payload's form of number."""
    return _written(value, payload_number if long_numbers else plain).encode("utf-8")


def ordered_json(members: Any) -> bytes:
    """The same, but with the members of all objects in the order given."""
    return _written(members, in_order=False).encode("utf-8")


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ── Text: rule text/1 ────────────────────────────────────────────────────────────────────────────────────────────────


def _characters(text: str) -> str:
    """The characters of ranges and single code points, in hex."""
    ends = [(part.partition("-")[0], part.rpartition("-")[2]) for part in _words(text)]
    return "".join(chr(code) for first, last in ends for code in range(int(first, 16), int(last, 16) + 1))


SPACES = _characters("9-D 1C-20 85 A0 1680 2000-200A 2028-2029 202F 205F 3000")
INVISIBLES = _characters("""
    0-8 E-1B 7F AD 34F 61C 180E 200B 200E-200F 202A-202E 2060-206F FE0E-FE0F FEFF 1D173-1D17A E0001
""")
QUOTES, DOUBLE_QUOTES, DASHES = _characters("2018-201B"), _characters("201C-201F"), _characters("2010-2015 2212")
TYPOGRAPHY = {QUOTES: "'", DOUBLE_QUOTES: '"', DASHES: "-", "\u2026": "..."}
REPLACED = {ord(char): by for chars, by in {SPACES: " ", INVISIBLES: "", **TYPOGRAPHY}.items() for char in chars}
_FLAG_OR_TAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0020-\U000e007f]")
_JOINERS = re.compile("[\u200c\u200d]+")


def trimmed(text: str) -> str:
    """`text` without the characters of step `spaces` at both ends."""
    return text.strip(SPACES)


def compose(text: str, compatibility: bool = False) -> str:
    return unicodedata.normalize("NFKC" if compatibility else "NFC", text)


def joiners(text: str) -> str:
    """Tags outside flags go; then each run of U+200C / U+200D becomes the one joiner that its place allows, or none.

    All runs are decided on the text as it stands after the tags are gone.
    """
    text = _FLAG_OR_TAG.sub(lambda found: found.group(1) or "", text)

    def one(run: re.Match[str]) -> str:
        virama = _after_virama(text, run.start())
        for joiner, fits in (("\u200d", _emoji_pair), ("\u200c", _joining_pair)):
            if joiner in run.group() and (virama or fits(text, *run.span())):
                return joiner
        return ""

    return _JOINERS.sub(one, text)


def _after_virama(text: str, at: int) -> bool:
    """UAX #31 2.3 A2: a virama is among the marks (ccc other than 0) directly before the joiner."""
    while at > 0 and unicodedata.combining(text[at - 1]):
        at -= 1
        if unicodedata.combining(text[at]) == 9:
            return True
    return False


def _emoji_pair(text: str, start: int, end: int) -> bool:
    """UTS #51 ED-16: a pictograph, or a skin tone that ends one, then the joiner, then a pictograph."""
    if start == 0 or end == len(text) or not _within(text[end], EXTENDED_PICTOGRAPHIC):
        return False
    return _within(text[start - 1], EXTENDED_PICTOGRAPHIC) or "\U0001f3fb" <= text[start - 1] <= "\U0001f3ff"


def _joining_pair(text: str, start: int, end: int) -> bool:
    """RFC 5892 A.1, UAX #31 2.3 A1: (L or D) T* joiner T* (R or D)."""

    def shows(char: str) -> bool:
        transparent = unicodedata.category(char) in ("Mn", "Me", "Cf") and char not in NOT_TRANSPARENT
        return not transparent and char != "\U0001e94b"

    left = next((text[at] for at in range(start - 1, -1, -1) if shows(text[at])), "\0")
    right = next((text[at] for at in range(end, len(text)) if shows(text[at])), "\0")
    return _within(left, DUAL_JOINING, LEFT_JOINING) and _within(right, DUAL_JOINING, RIGHT_JOINING)


def text_1(text: str, fold: bool = True, compatibility: bool = False) -> str:
    """The normal form of `text` under text/1: the steps, repeated until nothing changes.

    Case folding is that of Unicode D145, full and without locale, after NFD: Python documents str.casefold as that, and
    tests hold it against CaseFolding-17.0.0.txt.
    """
    known(text)
    while True:
        before = text
        text = joiners(compose(text, compatibility).translate(REPLACED))
        text = unicodedata.normalize("NFD", text).casefold() if fold else text
        text = re.sub(" +", " ", compose(text, compatibility)).strip(" ")
        if text == before:
            return text


# ── Codes: text/1, then separators ───────────────────────────────────────────────────────────────────────────────────


def separators(text: str) -> str:
    """Runs of space, `-` and `_`: one `-` between two letters or two digits, or leading with a `-` before a digit."""

    def kind(char: str) -> str:
        category = unicodedata.category(char) if char else ""
        return "digit" if category == "Nd" else {"L": "letter", "M": "mark"}.get(category[:1], "")

    def one(run: re.Match[str]) -> str:
        at, right = run.start(), kind(text[run.end() : run.end() + 1])
        while at > 0 and kind(text[at - 1]) == "mark":
            at -= 1
        left = kind(text[at - 1 : at])
        if right == "mark":
            return run.group()
        if run.start() == 0:
            return "-" if "-" in run.group() and right == "digit" else ""
        return "-" if left and left == right else ""

    return re.sub("[ _-]+", one, text)


def code(text: str, blunt: bool = False) -> str:
    """The normal form of a code: (text/1, separators) repeated until nothing changes.

    The blunt one has no separators, but no space and no character of General_Category P at all.
    """
    while True:
        before, text = text, text_1(text)
        if blunt:
            text = "".join(char for char in text if char != " " and unicodedata.category(char)[0] != "P")
        else:
            text = separators(text)
        if text == before:
            return text


# ── URLs: rule url/1, keys-1.md 8 and the WHATWG URL Standard 4.4, without a base ─────────────────────────────────────

STRENGTHS = ("exact", "page", "site")
# The frozen list, spec/tables/tracking.json.
TRACKING_PREFIXES = ("utm_",)
TRACKING_NAMES = frozenset(
    _words("""
    __hsfp __hssc __hstc __s __twitter_impression _bhlid _branch_match_id _branch_referrer _bta_c _bta_tid _ga _gac _gl
    _hsenc _hsmi _ke _kx _openstat action_object_map action_ref_map action_type_map adobe_mc adobe_mc_ref adobe_mc_sdid
    at_campaign at_campaign_type at_link_id at_link_origin at_link_type at_medium at_ptr_name at_recipient_id
    at_recipient_list ceneo_spo cjevent ck_subscriber_id cm_mmc dclid dm_i echobox ef_id elqtrack elqtrackid epik et_rid
    fb_action_ids fb_action_types fb_ref fb_source fbclid gad_campaignid gad_source gbraid gclid gclsrc gdffi gdfms
    gdftrk guccounter guce_referrer guce_referrer_sig hsa_acc hsa_ad hsa_cam hsa_grp hsa_kw hsa_la hsa_mt hsa_net hsa_ol
    hsa_src hsa_tgt hsa_ver hsctatracking igsh igshid ir_adid ir_campaignid ir_partnerid irclickid irgwc matomo_campaign
    matomo_cid matomo_content matomo_group matomo_keyword matomo_medium matomo_placement matomo_source mc_cid mc_eid
    mc_tc mibextid mindbox-click-id mindbox-message-key mkt_tok mkwid ml_subscriber ml_subscriber_hash msclkid
    mtm_campaign mtm_cid mtm_content mtm_group mtm_keyword mtm_kwd mtm_medium mtm_placement mtm_source ns_campaign
    ns_fee ns_linkname ns_mchannel ns_source oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk oly_anon_id
    oly_enc_id omnisendcontactid piwik_campaign piwik_keyword piwik_kwd pk_campaign pk_cid pk_content pk_cpn pk_keyword
    pk_kwd pk_medium pk_source raneaid ranmid ransiteid rb_clickid redirect_log_mongo_id redirect_mongo_id s_cid s_kwcid
    sb_referer_host sccid sfmc_activityid sfmc_id sms_click sms_source sms_uph spjobid spmailingid spreportid spuserid
    srsltid tblci trk_contact trk_module trk_msg trk_sid ttclid twclid unicorn_click_id vero_conv vero_id wbraid
    wickedid wt_mc wt_zmc xtor yclid ymclid ysclid zanpid
    """)
)
SESSION_NAMES = ("jsessionid", "phpsessid")
INDEX_PAGES = ("index.html", "index.htm", "index.php", "default.aspx")
SPECIAL = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
C0_SET = frozenset(map(chr, [*range(0x20), 0x7F]))
FRAGMENT_SET = C0_SET | set(' "<>`')
QUERY_SET = C0_SET | set(' "#<>')
SPECIAL_QUERY_SET = QUERY_SET | {"'"}
PATH_SET = QUERY_SET | set("?^`{}")
FORBIDDEN_HOST = frozenset("\0\t\n\r #/:<>?@[\\]^|")
FORBIDDEN_DOMAIN = FORBIDDEN_HOST | C0_SET | {"%"}


class UrlRefused(Refused):
    """A text without a URL key. `code` is url-relative, url-scheme, url-invalid or url-too-long."""


def valid(holds: object) -> None:
    """Where something does not hold, the URL parser returns failure."""
    if not holds:
        raise UrlRefused("url-invalid")


class Url(NamedTuple):
    """A parsed URL. `path` is as serialised; query and fragment are None where their sign is missing."""

    scheme: str
    credentials: bool
    host: str
    port: int | None
    path: str
    query: str | None
    fragment: str | None

    def text(self) -> str:
        """The URL serializer (4.5), without user and password."""
        parts = (("://", self.host), (":", self.port), ("", self.path), ("?", self.query), ("#", self.fragment))
        return self.scheme + "".join(f"{sign}{part}" for sign, part in parts if part is not None)

    def each(self, change: Callable[[str], str]) -> Url:
        """Path, query and fragment changed alike."""
        query, fragment = (None if part is None else change(part) for part in (self.query, self.fragment))
        return self._replace(path=change(self.path), query=query, fragment=fragment)


def encoded(text: str, escaped: frozenset[str]) -> str:
    """UTF-8 percent-encode (1.3): every character of the set and every one beyond ASCII."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8")) if char in escaped or char > "~" else char
        for char in text
    )


def percent_decoded(text: str) -> bytes:
    """Percent-decoded bytes (1.3)."""
    data = text.encode("utf-8", "surrogatepass")
    return re.sub(b"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), data)


def lower(text: str) -> str:
    """ASCII lower case."""
    return re.sub("[A-Z]+", lambda found: found.group().lower(), text)


def scheme_of(text: str) -> tuple[str | None, str]:
    """The scheme in lower case and what follows its colon; None where there is none. Cleaned before (4.4, 1 to 3)."""
    text = re.sub("[\t\n\r]", "", text.strip("".join(map(chr, range(0x21)))))
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    return (found.group(1).lower(), text[found.end() :]) if found else (None, text)


def parsed(text: str) -> Url | None:
    """The URL, or None for one that has no authority to speak of (`mailto:…`, `file:…`). Raises UrlRefused."""
    scheme, rest = scheme_of(text)
    valid(scheme)
    rest, sharp, fragment = rest.partition("#")
    body, mark, query = rest.partition("?")
    special = scheme in SPECIAL
    if scheme == "file":
        # Only whether it parses: its host, where it has one that is no drive letter.
        host = re.split(r"[/\\]", body[2:], maxsplit=1)[0] if re.match(r"[/\\]{2}", body) else ""
        if host and not re.fullmatch("[A-Za-z][:|]", host):
            parse_host(host)
        return None
    if not special and not body.startswith("//"):
        return None
    body = body.lstrip("/\\") if special else body[2:]
    authority = re.match(r"[^/\\]*" if special else "[^/]*", body).group()  # type: ignore[union-attr]
    user, at, address = authority.rpartition("@")
    # The first colon that does not stand in brackets parts host and port.
    host, colon, port = re.fullmatch(r"((?:\[[^]]*(?:\]|\Z)|[^:[]+)*)(:?)(.*)", address, re.DOTALL).groups()  # type: ignore[union-attr]
    valid(host or not (special or at or colon))
    valid(not port or (re.fullmatch("0*[0-9]{1,5}", port) and int(port[-6:]) <= 0xFFFF))
    return Url(
        str(scheme),
        user not in ("", ":"),
        parse_host(host, special),
        int(port[-6:]) if port and int(port[-6:]) != SPECIAL.get(str(scheme)) else None,
        parse_path(body[len(authority) :], special),
        encoded(query, SPECIAL_QUERY_SET if special else QUERY_SET) if mark else None,
        encoded(fragment, FRAGMENT_SET) if sharp else None,
    )


def parse_path(path: str, special: bool) -> str:
    """The path state: dot segments resolved, characters of the path set encoded."""
    if not path:
        return "/" if special else ""
    segments: list[str] = []
    given = re.split(r"[/\\]" if special else "/", path)[1:]
    for at, segment in enumerate(given, 1):
        dots = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if dots not in (".", ".."):
            segments.append(encoded(segment, PATH_SET))
            continue
        if dots == ".." and segments:
            segments.pop()
        if at == len(given):
            segments.append("")
    return "".join("/" + segment for segment in segments)


def parse_host(host: str, special: bool = True) -> str:
    """The host parser (3.5) for hosts in ASCII."""
    if host.startswith("["):
        valid(host.endswith("]"))
        return f"[{ipv6_text(host[1:-1])}]"
    if not special:
        valid(not FORBIDDEN_HOST & set(host))
        return encoded(host, C0_SET)
    domain = lower(percent_decoded(host).decode("utf-8", "replace"))
    valid("\ufffd" not in domain)
    if any(char > "\x7f" for char in domain) or any(label.startswith("xn--") for label in domain.split(".")):
        raise NotCheckable(NO_UTS46)
    valid(domain and not FORBIDDEN_DOMAIN & set(domain))
    parts = domain[: -1 if domain.endswith(".") else None].split(".")
    return ipv4_text(parts) if re.fullmatch("[0-9]+|0[xX][0-9A-Fa-f]*", parts[-1]) else domain


def ipv4_text(parts: Sequence[str]) -> str:
    """An address of one to four numbers: decimal, octal after 0, hexadecimal after 0x; nothing after 0x is 0."""
    numbers = []
    for part in parts:
        found = re.fullmatch("0[xX]0*([0-9A-Fa-f]{0,9})|0+([0-7]{1,11})|([1-9][0-9]{0,9}|0)", part)
        valid(found)  # no number is too large as well, if it has many digits
        assert found is not None
        numbers.append(int(found.group(found.lastindex or 1) or "0", {1: 16, 2: 8, 3: 10}[found.lastindex or 1]))
    valid(len(numbers) <= 4 and max(numbers[:-1], default=0) <= 255 and numbers[-1] < 1 << 8 * (5 - len(numbers)))
    address = numbers[-1] + sum(number << 8 * (3 - at) for at, number in enumerate(numbers[:-1]))
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def ipv6_text(text: str) -> str:
    """Parser and serializer (3.5): eight pieces of 16 bits; an IPv4 address at the end is two of them.

    In the text `::` stands for one zero or more, in the result for the first of the longest runs of at least two.
    """
    dotted = re.fullmatch(r"(.*:)" + r"\.".join(["(0|[1-9][0-9]{0,2})"] * 4), text)
    if dotted:
        head, numbers = dotted.group(1), [int(number) for number in dotted.groups()[1:]]
        valid(max(numbers) <= 255)
        text = f"{head}{numbers[0] << 8 | numbers[1]:x}:{numbers[2] << 8 | numbers[3]:x}"
    head, gap, tail = text.partition("::")
    before, after = (half.split(":") if half else [] for half in (head, tail))
    missing = 8 - len(before) - len(after)
    valid((missing > 0) if gap else (missing == 0))
    valid(all(re.fullmatch("[0-9A-Fa-f]{1,4}", part) for part in before + after))
    text = ":".join(f"{int(part, 16):x}" for part in before + ["0"] * missing + after)
    runs = list(re.finditer("(?:^|:)0(?::0)+(?=:|$)", text))
    if not runs:
        return text
    run = max(runs, key=lambda run: run.end() - run.start())
    return text[: run.start()] + (":" if run.end() < len(text) else "::") + text[run.end() :]


# The steps


def name_of(piece: str) -> str:
    return piece.partition("=")[0]


def page(url: Url) -> Url:
    """Everything that `page` does: percent-encoding, the query, session ids in the path, the fragment."""

    def spelt(found: re.Match[str]) -> str:
        """Unreserved characters as such, hex digits in capitals."""
        char = chr(int(found.group(1), 16))
        return char if re.fullmatch("[A-Za-z0-9._~-]", char) else found.group().upper()

    def is_dropped(piece: str) -> bool:
        """Whether a parameter is a tracking mark or a session id."""
        plain = percent_decoded(name_of(piece)).lower().decode("latin-1")
        return plain in TRACKING_NAMES or plain in SESSION_NAMES or plain.startswith(TRACKING_PREFIXES)

    def without_session(segment: str) -> str:
        name, *parameters = segment.split(";")
        session = [one for one in parameters if "=" in one and percent_decoded(name_of(one)).lower() == b"jsessionid"]
        return ";".join([name, *(one for one in parameters if one not in session)])

    url = url.each(lambda part: re.sub("%([0-9A-Fa-f]{2})", spelt, part))
    pieces = [piece if "=" in piece else piece + "=" for piece in (url.query or "").split("&") if piece]
    pieces = [piece for piece in (piece.replace("+", "%20") for piece in pieces) if not is_dropped(piece)]
    return url._replace(
        path="/".join(map(without_session, url.path.split("/"))),
        query="&".join(sorted(pieces, key=name_of)) or None,
        fragment=url.fragment if url.fragment and url.fragment[0] in "!/" else None,
    )


def host_rules(url: Url, hosts: Sequence[Settings]) -> Url:
    """The rules of the ruleset that are for this host, in order, until the path stays as it is."""

    def is_for(rule: Settings) -> bool:
        own = parse_host(rule["match"])
        return url.host == own or (bool(rule.get("subdomains")) and url.host.endswith("." + own))

    def listed(piece: str, names: Sequence[str]) -> bool:
        name = percent_decoded(name_of(piece).replace("+", " ")).lower()
        return any(name == each.encode("utf-8").lower() for each in names)

    rules, before = [rule for rule in hosts if is_for(rule)], None
    while rules and url.path != before:
        before = url.path
        for rule in rules:
            given = url.query.split("&") if url.query else []
            kept = [piece for piece in given if "keep" not in rule or listed(piece, rule["keep"])]
            kept = [piece for piece in kept if not listed(piece, rule.get("drop", ()))]
            if kept != given:
                url = url._replace(query="&".join(kept) or None)
            for rewrite in rule.get("path", ()):
                while url.path.startswith(rewrite["from"]):
                    url = url._replace(path=rewrite["to"] + url.path[len(rewrite["from"]) :])
    return url


def site(url: Url) -> Url:
    """http, www, index pages, trailing slashes."""
    host = url.host
    while host.startswith("www.") and sum(label != "" for label in host[4:].split(".")) >= 2:
        host = host[4:]
    path = url.path.rstrip("/")
    while path.rpartition("/")[2] in INDEX_PAGES:
        path = path.rpartition("/")[0].rstrip("/")
    return url._replace(scheme="https", host=host, path=path or "/")


def canonical_url(text: str, strength: str = "page", hosts: Sequence[Settings] = ()) -> str:
    """The canonical URL; `hosts` are the `[[url.host]]` tables of a ruleset. Raises UrlRefused and NotCheckable."""
    scheme = scheme_of(text)[0]
    too_long = len(text.encode("utf-8", "surrogatepass")) > MAX_URL
    if too_long or scheme not in ("http", "https"):
        raise UrlRefused("url-too-long" if too_long else "url-relative" if scheme is None else "url-scheme")
    before = None
    while text != before:
        before = text
        url = parsed(text)
        assert url is not None, "http and https URLs have a host"
        url = url.each(lambda part: re.sub("%(?![0-9A-Fa-f]{2})", "%25", part))  # step `stray_percent`
        url = host_rules(url if strength == "exact" else page(url), hosts)
        text = (site(url) if strength == "site" else url).text()
    if len(text) > MAX_URL:
        raise UrlRefused("url-too-long")
    return text


# Credentials, keys-1.md 8.3

GAP = SPACES + INVISIBLES + "\u200c\u200d"  # between slashes nobody sees them


def redact(text: str) -> str:
    """`text` without user and password, as receipts show it."""
    if "@" not in text:
        return text
    try:
        url = parsed(text)
    except UrlRefused:
        url = None
    if url is None or not url.host:  # `file:` among them, which has no credentials
        return cut(text)
    return url.text() if url.credentials else text


def is_address(authority: str) -> bool:
    """Whether this is a host, whatever it is made of, with or without a colon and a port."""
    found = re.fullmatch(r"(?:\[[^\]]*\]|(?!\[)[^:]*)(.*)", authority, re.DOTALL)
    port = re.fullmatch("(?::0*([0-9]{0,5}))?", re.sub(f"[{GAP}]", "", found.group(1))) if found else None
    return port is not None and int(port.group(1) or "0") <= 0xFFFF


def cut(text: str) -> str:
    """A text in which the parser finds no host, without what looks like user and password between slashes and an @."""
    gaps = f"[/\\\\{GAP}]*"
    run = f"[/\\\\][{GAP}]*[/\\\\]{gaps}"
    first = re.match(f"[\0-\x20]*((?:[A-Za-z0-9+.-]|[\t\n\r])+):{gaps}", text)
    special = first is not None and lower(re.sub("[\t\n\r]", "", first.group(1))) in set(SPECIAL) - {"file"}
    out, rest = "", text
    found = first if special else re.search(run, rest)
    while found is not None:
        out, rest = out + rest[: found.end()], rest[found.end() :]
        authority = re.match(r"[^/\\?#]*", rest).group()  # type: ignore[union-attr]
        kept, rest = authority.rpartition("@")[2], rest[len(authority) :]
        if "@" in rest and not is_address(kept):
            return out + rest.rpartition("@")[2]
        out += kept
        joined = re.fullmatch(f"[{GAP}]*", kept) is not None and rest[:1] in ("/", "\\")
        found = re.match(gaps, rest) if joined else re.search(run, rest)
    return out + rest


# ── Kinds, keys-1.md 6: one value in, its canonical form out; None is absent ─────────────────────────────────────────


def characters(value: Any) -> str:
    """A string as it is, a JSON number as its exact decimal text; other types are refused."""
    need(isinstance(value, str), "wrong-type", "takes a string or a number")
    return plain(exact(value)) if isinstance(value, Number) else str(value)


# Identifiers with a check digit, keys-1.md 6.1: without separators, each gives its form, or None where it is not valid


def weighted(digits: str, weights: Iterable[int]) -> int:
    return sum((10 if digit == "X" else int(digit)) * weight for digit, weight in zip(digits, weights))


def ean_is_valid(digits: str) -> bool:
    """The check digit of ISBN-13 and GTIN: weights 1 and 3 in turn from the right."""
    return weighted(digits[::-1], (1, 3) * 7) % 10 == 0


def isbn(bare: str) -> str | None:
    if re.fullmatch("[0-9]{9}[0-9X]", bare) and weighted(bare, range(10, 0, -1)) % 11 == 0:
        body = "978" + bare[:9]
        return body + str(-weighted(body, (1, 3) * 6) % 10)
    return bare if re.fullmatch("97(?:8[0-9]|9[1-9])[0-9]{9}", bare) and ean_is_valid(bare) else None


def issn(bare: str) -> str | None:
    return bare if re.fullmatch("[0-9]{7}[0-9X]", bare) and weighted(bare, range(8, 0, -1)) % 11 == 0 else None


def gtin(bare: str) -> str | None:
    return bare.rjust(14, "0") if re.fullmatch("[0-9]{8}|[0-9]{12,14}", bare) and ean_is_valid(bare) else None


# Money, keys-1.md 6.3; the tables are those of spec/tables/iso4217.json

MINOR_UNITS = {
    0: "BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF
        CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL
        HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL LTL LVL MAD MDL MGA MKD MMK MNT MOP
        MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
        SDG SEK SGD SHP SKK SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS
        VED VEF VES WST XAD XCD XCG YER ZAR ZMK ZMW ZWG ZWL
    """,
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
CURRENCIES = {currency: units for units, codes in MINOR_UNITS.items() for currency in _words(codes)}
_SIGNS = """
    ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD SBD SGD SRD TTD TWD
    USD UYU XCD: $ ＄; USD: US$ U$S; AUD: A$ AU$; CAD NIO: C$; CAD: CA$; NZD: NZ$; HKD: HK$; SGD: S$; TWD: NT$;
    MXN: MX$; BRL: R$; EUR: €; EGP FKP GBP GIP LBP SDG SHP SSP SYP: £; CNY JPY: ¥ ￥; JPY: 円; CNY HKD TWD: 元; KPW
    KRW: ₩ 원; INR: ₹; INR LKR MUR NPR PKR SCR: ₨ Rs Rs.; RUB: ₽; BYN RUB: руб руб.; UAH: ₴ грн грн.; KZT: ₸; AZN:
    ₼; GEL: ₾; AMD: ֏; BGN: лв лв.; TRY: ₺ TL; ILS: ₪; VND: ₫ đ; PHP: ₱; THB: ฿; NGN: ₦; CRC: ₡; PYG: ₲; MNT: ₮;
    LAK: ₭; KHR: ៛; BDT: ৳; GHS: ₵; AFN: ؋; IRR OMR QAR SAR YER: ﷼; DKK ISK NOK SEK: kr kr.; PLN: zł; CZK: Kč;
    HUF: Ft; MDL RON: lei; CHF: Fr Fr. SFr.; ZAR: R; MYR: RM; IDR: Rp; PEN: S/
"""
SIGNS = {
    sign: re.findall("[A-Z]{3}", codes)
    for codes, _, signs in (entry.partition(":") for entry in _SIGNS.split(";"))
    for sign in _words(signs)
}
GROUPS = " \u00a0\u2009\u202f'\u2019"


def amount_text(text: str, currency: str, settings: Settings) -> str:
    """The decimal text of an amount given as [minus] [mark] [minus] number [mark]."""
    stretch = re.search("[0-9](?:.*[0-9])?", text, re.DOTALL)
    if not stretch or not re.fullmatch(f"[0-9.,{GROUPS}]+", stretch.group()):
        raise Refused("bad-money", "no amount, or something in it")
    number, before = stretch.group(), text[: stretch.start()]
    minus, mark, late = re.fullmatch("([-\u2212]?)(.*?)([-\u2212]?)", before, re.DOTALL).groups()  # type: ignore[union-attr]
    need(not (minus and (late or mark[:1] in set(SPACES))), "bad-money", "a second minus, or a space after it")
    meanings = []
    for each in (trimmed(mark), trimmed(text[stretch.end() :])):
        code_like = re.fullmatch("[A-Za-z]{3}", each) and each.upper() in CURRENCIES
        need(not each or code_like or each in SIGNS, "bad-money", f"{each!r} is no currency sign")
        meanings.append([each.upper()] if code_like else SIGNS.get(each, [currency]))
    need(all(currency in each for each in meanings), "currency-conflict", f"the amount does not mean {currency}")
    sign = settings.get("decimal")
    need(sign is not None or not re.search("[.,]", number), "ambiguous-money", "no decimal sign is declared")
    groups = GROUPS + {".": ",", ",": ".", None: ""}[sign]
    grouped = f"[1-9][0-9]{{0,2}}([{groups}])[0-9]{{3}}(?:\\2[0-9]{{3}})*"
    shape = re.fullmatch(f"({grouped}|[0-9]+)(?:[{sign or ''}]([0-9]+))?".replace("[]", "(?!)"), number)
    if not shape:
        raise Refused("ambiguous-money", "grouping is wrong")
    return (minus or late).replace("\u2212", "-") + re.sub("[^0-9]", "", shape.group(1)) + "." + (shape.group(3) or "")


# Times and dates, keys-1.md 6.4 and 10

_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))"
    r"(?:[Tt ]([0-9]{2})"
    r"(?:(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)|(?:([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]+))?)?))?"
    r"([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?|\x20?[A-Za-z]{1,5})?)?\Z"
)
_MAIL = re.compile(
    r"(?:([A-Za-z]{3}),[ \t]*)?([0-9]{1,2})[ \t]+([A-Za-z]{3})[ \t]+([0-9]{4})[ \t]+"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[ \t]+([+-][0-9]{4}|[A-Za-z]{1,5})\Z"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EPOCH = dt.date(1970, 1, 1).toordinal()


class Instant(NamedTuple):
    """`seconds` since 1970-01-01T00:00:00 on the clock shown, the digits of the fraction, the zone as written."""

    seconds: int
    fraction: str
    zone: str | None
    bare: bool


def days_since_1970(year: str, month: str | int, day: str) -> int | None:
    """None for a date that does not exist."""
    try:
        return dt.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None


def read_time(text: str) -> Instant | None:
    """A date time of either form or a bare date; None for anything else."""
    iso, mail = _ISO.match(text), _MAIL.match(text)
    if iso:
        # each part stands in one of two groups: extended form, basic form
        year, m1, d1, m2, d2, hour, min1, sec1, part1, min2, sec2, part2, zone = iso.groups(default="")
        days = days_since_1970(year, m1 or m2, d1 or d2)
        clock, fraction, bare = (hour, min1 or min2, sec1 or sec2), part1 or part2, not hour
    elif mail and mail.group(3).lower() in _MONTHS:
        name, day, word, year, hour, minute, second, zone = mail.groups(default="")
        days = days_since_1970(year, _MONTHS.index(word.lower()) + 1, day)
        if name and (days is None or name.lower() != _DAYS[(days + 3) % 7]):
            return None
        clock, fraction, bare = (hour, minute, second), "", False
        zone = {"gmt": "Z", "ut": "Z", "z": "?"}.get(zone.lower(), zone)
    else:
        return None
    hours, minutes, seconds = (int(part or "0") for part in clock)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    return Instant(days * 86400 + hours * 3600 + minutes * 60 + seconds, fraction.rstrip("0"), zone or None, bare)


def offset_of(zone: str | None) -> int | str | None:
    """Seconds east of UTC; "unknown" for -00:00 and zones by letters; None where the offset is impossible."""
    if zone in ("Z", "z"):
        return 0
    digits = re.fullmatch("([+-])([0-9]{2}):?([0-9]{2})?", zone or "")
    if not digits:
        return "unknown"
    sign, hours, minutes = digits.groups(default="00")
    if int(hours) > 23 or int(minutes) > 59:
        return None
    seconds = int(hours) * 3600 + int(minutes) * 60
    return "unknown" if sign == "-" and seconds == 0 else seconds if sign == "+" else -seconds


def utc_text(seconds: int, fraction: str) -> str | None:
    """`YYYY-MM-DDThh:mm:ss[.f]Z`, or None outside the years 0001 to 9999."""
    days, clock = divmod(seconds, 86400)
    if not 1 <= days + _EPOCH <= dt.date.max.toordinal():
        return None
    date = dt.date.fromordinal(days + _EPOCH)
    out = f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    return out + ("." + fraction if fraction else "") + "Z"


def read_fetched_at(text: str | None, assume_offset: str = "Z") -> int | None:
    """Microseconds since 1970 in UTC, read leniently; None for none and for what cannot be read (keys-1.md 10)."""
    instant = read_time(trimmed(text or ""))
    if instant is None:
        return None
    offset = offset_of(instant.zone or assume_offset)
    if offset is None or (offset == "unknown" and (instant.zone or "")[:1] not in ("+", "-")):
        return None
    seconds = instant.seconds - (offset if isinstance(offset, int) else 0)
    return None if utc_text(seconds, "") is None else seconds * 1000000 + int(instant.fraction[:6].ljust(6, "0"))


def fetched_at_text(micros: int | None) -> str | None:
    seconds, rest = divmod(micros or 0, 1000000)
    return None if micros is None else utc_text(seconds, f"{rest:06d}".rstrip("0"))


# The kinds themselves

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")


class Context:
    """The kinds, and what they may need beside a value. `problems` gathers the codes that go on the receipt."""

    def __init__(self, record: dict[str, Any] | None = None, url: Settings | None = None, star: bool = False) -> None:
        self.record, self.url, self.star = record or {}, url or {}, star
        self.problems: set[str] = set()

    def canonical(self, value: Any, settings: Settings | None) -> Any:
        """The canonical form of a value under a field's settings, or None where it is absent. Raises Refused.

        None as settings: `auto`; settings without a kind: `text`. Null and blank strings are absent under every kind.
        """
        if value is None or (isinstance(value, str) and not trimmed(value)):
            return None
        kind = "auto" if settings is None else settings.get("kind", "text")
        form = getattr(self, "kind_" + kind)(value, settings or {})
        return None if form in ("", {}) or (isinstance(form, list) and all(item is None for item in form)) else form

    def prose(self, value: Any, fold: bool, settings: Settings) -> str:
        """text/1, with the problem `entity-residue` for what looks like a character reference."""
        text = characters(value)
        if _ENTITY.search(text):
            self.problems.add("entity-residue")
        return text_1(text, fold, settings.get("compatibility", False))

    def kind_text(self, value: Any, settings: Settings) -> Any:
        return self.prose(value, settings.get("casefold", True), settings)

    def kind_name(self, value: Any, settings: Settings) -> Any:
        return self.prose(value, False, settings)

    def kind_id(self, value: Any, settings: Settings) -> Any:
        return trimmed(compose(known(characters(value))))

    def kind_code(self, value: Any, settings: Settings) -> Any:
        return code(characters(value), settings.get("strip_punctuation", False))

    def identifier(self, value: Any, valid: Callable[[str], str | None]) -> str:
        number = exact(value) if isinstance(value, Number) else None
        need(number is None or number.exponent >= 0, "wrong-type", "a fraction in an identifier")
        text = characters(value)
        form = valid(re.sub("[ _-]", "", text_1(text)).replace("x", "X"))
        if form is None:
            self.problems.add("bad-check-digit")
        return code(text) if form is None else form

    def kind_isbn(self, value: Any, settings: Settings) -> Any:
        return self.identifier(value, isbn)

    def kind_issn(self, value: Any, settings: Settings) -> Any:
        return self.identifier(value, issn)

    def kind_gtin(self, value: Any, settings: Settings) -> Any:
        return self.identifier(value, gtin)

    def kind_decimal(self, value: Any, settings: Settings) -> Any:
        need(isinstance(value, str), "wrong-type", "takes a number or a string")
        number = exact(trimmed(value))
        plain(number)
        return number

    def kind_integer(self, value: Any, settings: Settings) -> Any:
        number = self.kind_decimal(value, settings)
        need(number.exponent >= 0, "wrong-type", "a fraction in an integer")
        return number

    def kind_money(self, value: Any, settings: Settings) -> Any:
        need(isinstance(value, str), "wrong-type", "takes a number or a string")
        currency = str(settings["currency"])
        if not re.fullmatch("[A-Z]{3}", currency):
            member: Any = self.record.get(currency)
            currency = re.sub("[a-z]", lambda found: found.group().upper(), trimmed(member) if is_text(member) else "")
        need(currency in CURRENCIES, "unknown-currency", f"{currency!r} is not in the table")
        text = value if isinstance(value, Number) else amount_text(trimmed(compose(known(value))), currency, settings)
        amount, units = exact(text), CURRENCIES[currency]
        assert amount is not None  # the reader and amount_text give no other text
        minor = amount if amount.digits == "0" else amount._replace(exponent=amount.exponent + units)
        need(minor.exponent >= 0, "excess-decimals", f"{currency} has {units} decimals")
        plain(minor)
        return [currency, minor]

    def kind_timestamp(self, value: Any, settings: Settings) -> Any:
        epoch, types = settings.get("epoch"), "takes a string, and an integer where epoch is declared"
        need(is_text(value) or (isinstance(value, Number) and epoch), "wrong-type", types)
        text = trimmed(value)
        if isinstance(value, Number) or (epoch and re.fullmatch("[+-]?[0-9]+", text)):
            count = plain(self.kind_integer(value, {}))
            seconds, rest = divmod(int(count) if len(count) < 30 else 10**30, 1000 if epoch == "ms" else 1)
            out = utc_text(seconds, f"{rest:03d}".rstrip("0"))
        else:
            instant = read_time(text)
            if instant is None or instant.bare:
                raise Refused("bad-timestamp", "not a date and time")
            offset = offset_of(instant.zone or settings.get("assume_offset"))
            need(offset != "unknown", "no-zone", "no offset from UTC is given")
            out = utc_text(instant.seconds - offset, instant.fraction) if isinstance(offset, int) else None
        need(out is not None, "bad-timestamp", "out of range")
        return out

    def kind_date(self, value: Any, settings: Settings) -> Any:
        need(is_text(value), "wrong-type", "takes a string")
        date = re.fullmatch("([0-9]{4})(-?)([0-9]{2})\\2([0-9]{2})", trimmed(value))
        if not date or days_since_1970(*date.group(1, 3, 4)) is None:
            raise Refused("bad-date", "not YYYY-MM-DD or YYYYMMDD, or no such day")
        return "-".join(date.group(1, 3, 4))

    def kind_boolean(self, value: Any, settings: Settings) -> Any:
        words = {"true": True, "false": False}
        word = trimmed(value) if is_text(value) else ""
        need(isinstance(value, bool) or word in words, "wrong-type", "takes true, false and their names")
        return words.get(word, value)

    def kind_url(self, value: Any, settings: Settings) -> Any:
        need(is_text(value), "wrong-type", "takes a string")
        while True:
            try:
                return canonical_of(value, self.url)
            except UrlRefused as refusal:
                self.problems.add(refusal.code)
            before, value = value, text_1(redact(value), False)
            if value == before:
                return value

    def kind_list(self, value: Any, settings: Settings) -> Any:
        need(isinstance(value, list), "wrong-type", "takes a list")
        return [self.canonical(item, item_settings(settings)) for item in value]

    def kind_set(self, value: Any, settings: Settings) -> Any:
        forms = [form for form in self.kind_list(value, settings) if form is not None]
        return [form for _, form in sorted({canonical_json(form): form for form in forms}.items())]

    def kind_object(self, value: Any, settings: Settings) -> Any:
        """The present members in canonical form; of several that are refused, the first in canonical order counts."""
        need(isinstance(value, dict), "wrong-type", "takes an object")
        declared = settings.get("members", {})
        forms = {name: self.canonical(value[name], declared.get(name)) for name in sorted(value, key=utf16_order)}
        return {name: form for name, form in forms.items() if form is not None}

    def kind_auto(self, value: Any, settings: Settings) -> Any:
        kinds = ((bool, "boolean"), (Number, "decimal"), (str, "name" if self.star else "text"), (list, "list"))
        kind = next((kind for one, kind in (*kinds, (dict, "object")) if isinstance(value, one)), None)
        if kind is None:
            raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)
        return getattr(self, "kind_" + kind)(value, {})


def canonical_of(text: str, url: Settings) -> str:
    """The canonical URL at the ruleset's strength, with its host rules. Raises UrlRefused."""
    return canonical_url(text, url.get("strength", "page"), url.get("host", []))


def item_settings(settings: Settings | None) -> Settings | None:
    of = (settings or {}).get("of")
    return {"kind": of} if isinstance(of, str) else of


def as_binary(value: Any, settings: Settings | None, places: int | None = None) -> Any:
    """A value whose numbers spell binary floats, each as the decimal that its field rounds it to (keys-1.md 6)."""
    places = (settings or {}).get("float", {}).get("places", places)
    if isinstance(value, Number) and places is not None and math.isfinite(float(value)):
        return Number(f"{round(Fraction(float(value)) * 10**places)}e-{places}")
    if isinstance(value, list):
        return [as_binary(item, item_settings(settings), places) for item in value]
    if isinstance(value, dict):
        members = (settings or {}).get("members", {})
        return {name: as_binary(member, members.get(name), places) for name, member in value.items()}
    return value


# Character references, keys-1.md 6.6

# What numeric references to 0x80-0x9F mean: the characters of windows-1252, where it has one.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_REFERENCE = re.compile("&(?:#([0-9]+);?|#[xX]([0-9A-Fa-f]+);?|([A-Za-z0-9]{1,32};?))")


def decoded(value: Any, attribute: bool) -> Any:
    """A value with every character reference of the HTML Standard decoded once, by the rule for text or attributes."""

    def one(match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if name is None:
            digits = (decimal or hexadecimal).lstrip("0")
            code = 0x110000 if len(digits) > 7 else int(digits or "0", 10 if decimal else 16)
            valid = 0 < code <= 0x10FFFF and not 0xD800 <= code < 0xE000
            return _C1.get(code) or (chr(code) if valid else "\ufffd")
        known = next((name[:end] for end in range(len(name), 0, -1) if name[:end] in html.entities.html5), "")
        end = match.start(3) + len(known)
        if not known or (attribute and known[-1] != ";" and re.match("[=A-Za-z0-9]", match.string[end : end + 1])):
            return match.group()
        return html.entities.html5[known] + name[len(known) :]

    if isinstance(value, list):
        return [decoded(item, attribute) for item in value]
    if isinstance(value, dict):
        return {name: decoded(member, attribute) for name, member in value.items()}
    return _REFERENCE.sub(one, value) if is_text(value) else value


# ── Rulesets, keys-1.md 7 ────────────────────────────────────────────────────────────────────────────────────────────

_DEFAULTS = {"kind": "text", "casefold": True, "compatibility": False, "strip_punctuation": False}


def _tables(settings: Settings) -> Settings:
    """A field's settings without those at their default, and `of` as a table: what a fingerprint covers."""
    out = {key: value for key, value in settings.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    if item_settings(settings) is not None:
        out["of"] = _tables(item_settings(settings) or {})
    if "members" in out:
        out["members"] = {name: _tables(table) for name, table in out["members"].items()}
    return {key: value for key, value in out.items() if (key, value) not in (("of", {"kind": "auto"}), ("members", {}))}


class Ruleset:
    """A ruleset as `tomllib` (or a JSON reader) gives it. Mistakes in it are the kernel's business, not this file's."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.label = f"{table['name']}/{table['version']}"
        self.identity: list[str] | str | None = table.get("identity")
        self.require: list[str] = table.get("require", [])
        self.volatile: list[str] = table.get("volatile", [])
        self.payload: str | None = table.get("payload")
        self.base64 = table.get("payload_encoding") == "base64"
        self.fields: dict[str, Settings] = table.get("fields", {})
        self.url: Settings = table.get("url", {})
        self.actions: dict[str, str] = table.get("actions", {})
        self.record: dict[str, str] = table.get("record", {})
        self.decodes = [name for name, at in table.get("boundary", {}).items() if at.get("entities") == "decode"]
        facts = [self.record[name] for name in ("url", "fetched_at", "source") if name in self.record]
        self.left_out = {*self.volatile, *facts, "_seen"}

    def fingerprint(self) -> str:
        """`sha256:…` over what can change a key."""
        identity = self.identity if self.identity == "*" else sorted(self.identity or [], key=utf16_order)
        covered: dict[str, Any] = {
            "identity": identity,
            "require": sorted(self.require, key=utf16_order),
            "volatile": sorted(self.volatile, key=utf16_order),
            "payload": self.payload,
            "payload_encoding": "base64" if self.base64 else None,
            "fields": {name: _tables(table) for name, table in self.fields.items()},
            "url": {key: value for key, value in self.url.items() if (key, value) != ("strength", "page")},
            "boundary": {name: {"entities": "decode"} for name in self.decodes},
        }
        if identity == "*" or (not identity and not self.payload):
            covered["record"] = {key: value for key, value in self.record.items() if key != "assume_offset"}
        kept = {key: value for key, value in covered.items() if value not in ({}, [], None)}
        return sha256(canonical_json({"keys": self.table.get("keys", "keys/1"), **kept}))


# ── Keys of a record, keys-1.md 1, 7, 8 and 9 ────────────────────────────────────────────────────────────────────────


class Keys(NamedTuple):
    """The labelled keys of a record (None where there is none), its facts, and the problem codes, sorted."""

    content_key: str | None
    url_key: str | None
    payload_digest: str | None
    problems: list[str]
    url: str | None
    canonical_url: str | None
    source: str | None
    fetched_at: int | None


def identity_of(rules: Ruleset, record: dict[str, Any], context: Context) -> dict[str, Any]:
    """The present identity fields in canonical form. Raises Refused with the field's name."""
    names = [name for name in record if name not in rules.left_out] if rules.identity == "*" else rules.identity
    forms: dict[str, Any] = {}
    for name in sorted(names or [], key=utf16_order):
        value, settings = record.get(name), rules.fields.get(name)
        if name in rules.decodes:
            value = decoded(value, attribute=(settings or {}).get("kind") == "url")
        try:
            forms[name] = context.canonical(value, settings)
        except Refused as refusal:
            raise Refused(refusal.code, refusal.detail, name) from None
    return {name: form for name, form in forms.items() if form is not None}


def readings(rules: Ruleset, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The record itself; then with any choice of fields read as spellings of binary floats (bundle-1.md 7).

    Only fields that say how floats are rounded are in question; all or none of them where they are more than eight.
    """
    yield record
    names = rules.fields if rules.identity == "*" else rules.identity or ()
    values = {name: as_binary(record[name], rules.fields.get(name)) for name in names if name in record}
    binary = [name for name, value in values.items() if value != record[name]]
    for mask in range(1, 1 << len(binary)) if len(binary) <= 8 else [-1]:
        yield {**record, **{name: values[name] for at, name in enumerate(binary) if mask >> at & 1}}


def payload_of(rules: Ruleset, record: dict[str, Any]) -> bytes | None:
    """The payload's bytes, or None where the ruleset names a member and the record has none."""
    if rules.payload is None:
        covered = {name: value for name, value in record.items() if name not in rules.left_out}
        return canonical_json(covered, long_numbers=True)
    text = record.get(rules.payload)
    if text is None or (text == "" and isinstance(text, str)):
        return None
    need(is_text(text), "wrong-type", "a payload is a string", rules.payload)
    if not rules.base64:
        return bytes(text.encode("utf-8"))
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        data = b""
    # Padding, alphabet and unused bits are as RFC 4648 section 4 wants them.
    need(base64.b64encode(data).decode("ascii") == text, "bad-base64", "", rules.payload)
    return data


def keys_of(
    rules: Ruleset,
    record: dict[str, Any],
    url: str | None = None,
    source: str | None = None,
    fetched_at: str | None = None,
    input_name: str | None = None,
    reading: dict[str, Any] | None = None,
) -> Keys:
    """All keys and facts of a record; `url`, `source` and `fetched_at` stand in where it has none of its own.

    `reading` is one of `readings`, and stands in for the record where its identity is read.
    """
    context = Context(record, rules.url, rules.identity == "*")
    forms = identity_of(rules, record if reading is None else reading, context)
    payload = payload_of(rules, record)
    digest = None if payload is None else sha256(payload)
    content: str | None = None
    if not rules.identity:
        content = None if rules.payload is None and payload == b"{}" else digest
    elif forms and all(name in forms for name in rules.require):
        content = sha256(canonical_json(forms))
    if content is None and rules.actions.get("unkeyed") == "refuse":
        raise Refused("no-identity")

    address, shown, place, host = fact(rules, record, "url", url), None, None, ""
    if is_text(address):
        shown = redact(address)
        try:
            place = canonical_of(address, rules.url)
            authority = re.split("[/?#]", canonical_url(address, "exact").partition("://")[2], maxsplit=1)[0]
            host = re.sub(":[0-9]*$", "", authority)
        except UrlRefused as refusal:
            context.problems.add(refusal.code)
    elif address is not None:
        context.problems.add("url-invalid")

    when, micros = fact(rules, record, "fetched_at", fetched_at), None
    if when is not None:
        micros = read_fetched_at(when, rules.record.get("assume_offset", "Z")) if is_text(when) else None
        if micros is None:
            context.problems.add("bad-fetched-at")

    try:
        own = characters(record.get(rules.record["source"])) if "source" in rules.record else ""
    except Refused:  # a fact that cannot be written out is none: facts refuse no record
        own = ""

    return Keys(
        content and f"{rules.label}:{content}",
        None if place is None else url_key(rules, place),
        digest,
        sorted(context.problems),
        shown,
        place,
        trimmed(own) or trimmed(source or "") or host or (input_name or "").rpartition("/")[2] or None,
        micros,
    )


def url_key(rules: Ruleset, canonical: str) -> str:
    return f"{rules.label}:url:{sha256(canonical.encode('utf-8'))}"


def fact(rules: Ruleset, record: dict[str, Any], name: str, given: str | None) -> Any:
    """The record's own value of a fact, else the one given; blank is none."""
    member = rules.record.get(name)
    own = record.get(member) if member is not None else None
    if own is not None and not (isinstance(own, str) and not trimmed(own)):
        return decoded(own, attribute=True) if member in rules.decodes else own
    return given if given and trimmed(given) else None


# ── Verdicts and receipts, verdicts-1.md and receipt-1.md ────────────────────────────────────────────────────────────


def verdict(content_seen: bool, url_given: bool, url_seen: bool, same_content: bool) -> str:
    """The verdict table for a record that has a content key. `same_content`: it is the URL's latest."""
    if not url_given or not url_seen:
        return "new" if not content_seen else "syndicated" if url_given else "duplicate"
    return "duplicate" if same_content else "changed"


def action(rules: Ruleset, word: str, seen_before: bool) -> str:
    """What is done with a record of that verdict."""
    wanted = "skip" if word == "duplicate" else rules.actions.get(word, "keep")
    return "skip" if wanted == "skip" and seen_before else "keep"


REFUSALS = _words("""
    invalid-utf8 invalid-json unpaired-surrogate repeated-member too-deep not-an-object line-too-long ragged-row
    invalid-csv invalid-encoding seen-member float number-too-long bad-number wrong-type bad-money ambiguous-money
    excess-decimals unknown-currency currency-conflict no-zone bad-timestamp bad-date bad-base64 no-identity
""")
PROBLEMS = _words("bad-check-digit bad-fetched-at entity-residue url-invalid url-relative url-scheme url-too-long")


class Fault(Exception):
    """A line that is not what it must be: the member at fault, what must stand there, what does."""


def _members(text: str) -> dict[str, str]:
    return dict(re.findall("([a-z0-9_]+):([^ \n]+)", text))


# The members of the lines of ordered JSON, in their order, each with its form: one of those below, or the words that it
# may be. One with a question mark may be null.
RECEIPT = _members("""
    run:run seq:ordinal input:text? line:line source:text? url:text? url_key:url-key? fetched_at:time?
    payload_digest:digest? content_key:key? verdict:new|changed|syndicated|duplicate|unkeyed action:keep|skip
    seen_before:flag matched_on:payload|content? refers_to:sighting? previous:sighting? problems:problems
""")
REFUSED = _members("""
    run:run seq:ordinal input:text? line:ordinal verdict:refused action:refuse code:code sha256:digest
""")
PRIOR = _members("""
    run:ordinal seq:ordinal url:text? url_key:url-key? fetched_at:time? payload_digest:digest? content_key:key
    first:flag first_seen:time? latest:flag
""")
RUN = _members("""
    run:ordinal ruleset:text configuration:text state:finished|abandoned records:count receipts_sha256:digest
    link:ordinal? previous:digest? chain:digest? inputs:list
""")
SIGHTING = _members("run:ordinal seq:ordinal url:text? fetched_at:time?")
Forms = dict[str, tuple[str, Callable[[Any], bool]]]  # what it must be, in words, and the test


def in_order(words: list[str], given: list[Any]) -> list[str]:
    return [word for word in words if word in given]


def matching(form: str, number: bool = False) -> Callable[[Any], bool]:
    """A test of text, or of a number as it is written."""
    return lambda value: (isinstance(value, Number) if number else is_text(value)) and bool(re.fullmatch(form, value))


FORMS: Forms = {
    "ordinal": ("a whole number from 1", matching("[1-9][0-9]{0,18}", number=True)),
    "count": ("a whole number", matching("0|[1-9][0-9]{0,18}", number=True)),
    "text": ("text", is_text),
    "time": ("a time in UTC", lambda value: is_text(value) and fetched_at_text(read_fetched_at(value)) == value),
    "digest": ("sha256:<64 hex digits>", matching("sha256:[0-9a-f]{64}")),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "code": (", ".join(REFUSALS), lambda value: is_text(value) and value in REFUSALS),
    "problems": ("known codes, sorted", lambda value: isinstance(value, list) and value == in_order(PROBLEMS, value)),
    "sighting": ("a sighting", lambda value: isinstance(value, dict) and fault_in(value, SIGHTING, FORMS) is None),
}


def fault_in(members: dict[str, Any], wanted: dict[str, str], forms: Forms) -> Fault | None:
    """The first member that has not its place or its form."""
    names = [*members, "no further member"]
    for at, (name, form) in enumerate(wanted.items()):
        kind, value = form.rstrip("?"), members.get(name)
        words, test = forms.get(kind) or (kind.replace("|", ", "), matching(kind))
        if names[min(at, len(members))] != name:
            return Fault(name, f"the member {name}", names[min(at, len(members))])
        if not test(value) and not (value is None and kind != form):
            return Fault(name, words, value)
    return Fault("line", "no further member", names[len(wanted)]) if len(members) > len(wanted) else None


def formed(line: bytes, wanted: Callable[[dict[str, Any]], tuple[dict[str, str], str, Forms]]) -> dict[str, Any]:
    """The members of a line of ordered JSON, if they have their order, form and spelling. Raises Fault.

    `wanted` gives, for the members as they are, those that must be there, the label of their keys, and further forms.
    """
    try:
        members = read_record(line, LONGEST)
        names, label, forms = wanted(members)
        keys = {"key": label, "url-key": label + ":url"}
        for form, start in keys.items():
            forms[form] = (start + ":sha256:<64 hex digits>", matching(re.escape(start) + ":sha256:[0-9a-f]{64}"))
        fault = fault_in(members, names, {**FORMS, **forms})
        written = ordered_json(members) if fault is None else b""
    except Refused as refusal:
        raise Fault("line", "one JSON object, with numbers as they are", str(refusal)) from None
    if fault is not None:
        raise fault
    if written != line:
        at = next((at for at, (a, b) in enumerate(zip(written, line)) if a != b), min(len(written), len(line)))
        around = slice(max(0, at - 20), at + 40)
        raise Fault("spelling", written[around].decode("utf-8", "replace"), line[around].decode("utf-8", "replace"))
    return members


def read_receipt(line: bytes, runs: dict[str, Run]) -> dict[str, Any]:
    """A receipt, strictly as receipt-1.md section 1 has it. Raises Fault."""

    def is_run(value: Any) -> bool:
        return isinstance(value, Number) and value in runs

    def wanted(members: dict[str, Any]) -> tuple[dict[str, str], str, Forms]:
        run = members.get("run")
        numbered = FORMS["ordinal"] if members.get("input") is not None else ("null", lambda value: value is None)
        names = REFUSED if members.get("verdict") == "refused" else RECEIPT
        forms = {"run": ("a run of those named", is_run), "line": numbered}
        return names, runs[run].rules.label if is_run(run) else "", forms  # type: ignore[index]

    return formed(line, wanted)


def read_prior(line: bytes) -> dict[str, Any]:
    """A line of prior state, strictly as bundle-1.md section 4 has it. Raises Fault."""
    members = formed(line, lambda members: (PRIOR, str(members.get("content_key")).partition(":")[0], {}))
    if not members["first"] and (members["first_seen"] is not None or not members["latest"]):
        raise Fault("first", "a first or a latest sighting, and first_seen with a first one only", "neither")
    if members["latest"] and members["url_key"] is None:
        raise Fault("url_key", "a key, because it is the latest of its URL", None)
    return members


class Remembered(NamedTuple):
    """The first sighting of a content, or the latest at a URL: as shown, its payload digest, its content key."""

    shown: dict[str, Any]
    payload_digest: str | None
    content_key: str


class Replay:
    """The verdict table over receipts in their order, from prior state on (verdicts-1.md)."""

    def __init__(self) -> None:
        self.first: dict[str, Remembered] = {}
        self.first_seen: dict[str, int | None] = {}
        self.latest: dict[str, Remembered] = {}

    def remember(self, prior: dict[str, Any]) -> bool:
        """Takes a line of prior state. False where another line said so already."""
        this, key, url_key = self.seen(prior), prior["content_key"], prior["url_key"]
        alone = not (prior["first"] and key in self.first) and not (prior["latest"] and url_key in self.latest)
        if prior["first"]:
            self.first[key], self.first_seen[key] = this, read_fetched_at(prior["first_seen"])
        if prior["latest"]:
            self.latest[url_key] = this
        return alone

    @staticmethod
    def seen(line: dict[str, Any]) -> Remembered:
        shown = {name: line[name] for name in ("run", "seq", "url", "fetched_at")}
        return Remembered(shown, line["payload_digest"], line["content_key"])

    def step(self, rules: Ruleset, stated: dict[str, Any]) -> dict[str, Any]:
        """What the table gives for a receipt; then its sighting is remembered."""
        key, url_key, digest = stated["content_key"], stated["url_key"], stated["payload_digest"]
        if key is None:
            done = "refuse" if rules.actions.get("unkeyed") == "refuse" else "keep"
            nothing = {"seen_before": False, "matched_on": None, "refers_to": None, "previous": None}
            return {"verdict": "unkeyed", "action": done, **nothing}
        this, first, latest = self.seen(stated), self.first.get(key), self.latest.get(url_key or "")
        same = latest is not None and latest.content_key == key
        word = verdict(first is not None, url_key is not None, latest is not None, same)
        self.first.setdefault(key, this)
        times = [time for time in (self.first_seen.get(key), read_fetched_at(stated["fetched_at"])) if time is not None]
        self.first_seen[key] = min(times) if times else None
        if url_key is not None:
            self.latest[url_key] = this
        return {
            "verdict": word,
            "action": action(rules, word, first is not None),
            "seen_before": first is not None,
            "matched_on": first and ("payload" if digest is not None and first.payload_digest == digest else "content"),
            "refers_to": first and first.shown,
            "previous": latest.shown if latest is not None and word == "changed" else None,
        }


# ── What was found ───────────────────────────────────────────────────────────────────────────────────────────────────

CHECKS = _words("layout manifest tag-manifest signature package rulesets runs prior receipts urls replay rows keys")
SHOWN, LISTED = 20, 1000  # problems of one check that are listed for people and by --json; all are counted
LONGEST = 256 * 1024 * 1024  # bytes of the longest line that is read
SMALL = 64 * 1024 * 1024  # most bytes of a file that is read as a whole
AHEAD = 64  # how far on a row or a receipt is looked for that has no partner in its place
NOT_SHIPPED = "records that were not kept are not here, so their keys can't be recomputed"
GIVEN = "a fact that the caller gave: it stands on the receipt alone"
CUT_URL = "a URL without a key is shown without credentials, and may have been another"
NO_ZSTD = "this Python has no Zstandard: unpack the files elsewhere and name that folder with --unpacked"
NO_ED25519 = "Python's library has no Ed25519; `seenbefore verify` checks it: by the key "
WORDS = {"content_key": "content key", "payload_digest": "payload digest", "url": "URL", "url_key": "URL key"}
Wrong = list[tuple[str, Any, Any]]  # what, expected, found


class Unusable(Exception):
    """There is no bundle to be checked."""


def short(value: Any) -> str:
    """What a report shows of a value: its text, or its JSON, and of a long one the beginning."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else text[:300] + " …"


def harmless(value: Any) -> str:
    """Text for a terminal: what acts on one is written as its code point, and long text is cut."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in short(value))


def differing(facts: dict[str, Any], stated: dict[str, Any]) -> Wrong:
    return [
        (name, fact, stated.get(name)) for name, fact in facts.items() if name not in stated or stated[name] != fact
    ]


class Report:
    """All problems, and for each check how many things passed, failed, or could not be checked here and why."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.failed: dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.unchecked: dict[str, dict[str, int]] = {check: {} for check in CHECKS}
        self.problems: list[dict[str, Any]] = []

    def problem(self, check: str, file: str, line: int | None, what: str, expected: Any, found: Any) -> None:
        self.failed[check] += 1
        if self.failed[check] <= LISTED:
            facts = {"check": check, "file": file, "line": line, "what": short(what)}
            self.problems.append({**facts, "expected": short(expected), "found": short(found)})

    def settle(self, check: str, file: str, line: int | None, of: str, wrong: Wrong) -> None:
        """One thing was checked: all that is wrong with it, or that it passed."""
        for what, expected, found in wrong:
            self.problem(check, file, line, f"{what} of {of}", expected, found)
        self.passed[check] += not wrong

    def cannot(self, check: str, reason: str) -> None:
        self.unchecked[check][reason] = self.unchecked[check].get(reason, 0) + 1

    def outcome(self, check: str) -> str:
        found = ((self.failed, "failed"), (self.passed, "passed"), (self.unchecked, "not checkable"))
        return next((word for counts, word in found if counts[check]), "nothing to check")

    def members(self, folder: str) -> dict[str, Any]:
        checks = {
            check: {
                "outcome": self.outcome(check),
                "passed": self.passed[check],
                "failed": self.failed[check],
                "not_checkable": self.unchecked[check],
            }
            for check in CHECKS
        }
        outcome = "failed" if any(self.failed.values()) else "passed"
        return {"kind": "bundle", "path": folder, "outcome": outcome, "checks": checks, "problems": self.problems}

    def text(self, folder: str) -> Iterator[str]:
        for check in CHECKS:
            line = f"{self.outcome(check):16} {check:13} {self.passed[check]:>9,} passed"
            yield line + (f", {self.failed[check]:,} failed" if self.failed[check] else "")
            for reason, count in self.unchecked[check].items():
                yield f"{'':16} {'':13} {count:>9,} not checkable here: {harmless(reason)}"
        shown = dict.fromkeys(CHECKS, 0)
        for one in self.problems:
            shown[one["check"]] += 1
            if shown[one["check"]] <= SHOWN:
                place = harmless(one["file"]) + ("" if one["line"] is None else f", line {one['line']}")
                yield f"\n{place}: {harmless(one['what'])} ({one['check']})"
                yield f"  expected {harmless(one['expected'])}"
                yield f"  found    {harmless(one['found'])}"
        for check in CHECKS:
            if self.failed[check] > SHOWN:
                yield f"\nand {self.failed[check] - SHOWN:,} more of {check}; --json lists up to {LISTED:,} of each"
        yield f"\n{'FAILED' if any(self.failed.values()) else 'passed'}: {harmless(folder)}"


# ── The bag, bundle-1.md section 2 ───────────────────────────────────────────────────────────────────────────────────

FORMAT = "bundle/1"
PART = re.compile(r"data/(prior|receipts|rows)(?:-([0-9]{5,}))?\.ndjson(\.zst)?")
WHOLE = ["data/" + name for name in ("README.md", "datapackage.json", "ruleset.json", "runs.ndjson", "verify.py")]
TAGS = ("bag-info.txt", "bagit.txt", "manifest-sha256.txt")
BAGIT = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"


def opened(path: str) -> Any:
    """A regular file, opened for reading: never a link, a pipe or a device, whatever was there a moment ago."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unusable(f"{path} is no regular file any more")
    return os.fdopen(handle, "rb")


class Bag:
    """The files of a bundle: path within the folder → size and SHA-256. Only what section 2 names is ever opened."""

    def __init__(self, folder: str, report: Report) -> None:
        self.folder, self.report = folder, report
        names = set(self._walk())
        if "bagit.txt" not in names:
            raise Unusable(f"{folder} is no bundle: it has no bagit.txt")
        self.parts = {stem: self._parts(stem, names) for stem in ("prior", "receipts", "rows")}
        wanted = {*TAGS, "tagmanifest-sha256.txt", *WHOLE, *(name for parts in self.parts.values() for name in parts)}
        for name in sorted(wanted - names):
            report.problem("layout", name, None, "file", "a file", "none")
        for name in sorted(names - wanted - {"signature.json"}):
            report.problem("layout", name, None, "file", "none of that name", "a file")
        self.names = names & (wanted | {"signature.json"})
        report.passed["layout"] += len(self.names)
        self.files = {name: self._digest(name) for name in sorted(self.names)}

    def _walk(self) -> Iterator[str]:
        """Regular files; links, devices, hard links and folders that do not belong are problems."""
        kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "a file with other names"))
        for place in ("", "data/"):
            try:
                entries = sorted(os.scandir(os.path.join(self.folder, place)), key=lambda entry: entry.name)
            except OSError as error:
                raise Unusable(f"{os.path.join(self.folder, place)}: {error.strerror}") from None
            for entry in entries:
                name, mode = place + entry.name, entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISREG(mode) and os.lstat(os.path.join(self.folder, name)).st_nlink == 1:
                    yield name
                elif name != "data" or not stat.S_ISDIR(mode):
                    found = next((word for test, word in kinds if test(mode)), "a device or pipe")
                    self.report.problem("layout", name, None, "file", "a regular file, once", found)

    def _parts(self, stem: str, names: set[str]) -> list[str]:
        """The parts of a growing file in their order: one without number, or all from 1; all compressed, or none."""
        matches = [match for match in map(PART.fullmatch, names) if match and match.group(1) == stem]
        found = sorted((int(match.group(2) or 0), match.group(3) or "", match.group()) for match in matches)
        ending = found[0][1] if found else ""
        numbers = [0] if found and found[0][0] == 0 else list(range(1, len(found) + 1))
        spelt = [f"data/{stem}{f'-{number:05}' if number else ''}.ndjson{ending}" for number in numbers]
        parts = [name for _, _, name in found]
        if parts != spelt or not parts:
            self.report.problem("layout", f"data/{stem}.ndjson", None, "parts", "one file, or all parts from 1", parts)
        return parts

    def _digest(self, name: str) -> tuple[int, str]:
        digest, size = hashlib.sha256(), 0
        with opened(os.path.join(self.folder, name)) as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                digest.update(piece)
                size += len(piece)
        return size, digest.hexdigest()

    def whole(self, name: str) -> bytes:
        """A small file, nothing if there is none; a larger one is cut, and differs from what is expected of it."""
        if name not in self.names:
            return b""
        with opened(os.path.join(self.folder, name)) as file:
            return bytes(file.read(SMALL))

    def check_tags(self) -> None:
        """The manifests and tag files have exactly the bytes that the files as they are call for."""
        payload = sorted(name for name in self.names if name.startswith("data/"))
        total = sum(self.files[name][0] for name in payload)
        info = f"Bundle-Format: {FORMAT}\nPayload-Oxum: {total}.{len(payload)}\n".encode()
        self._compare("manifest", "manifest-sha256.txt", self._manifest(payload), "  ")
        self._compare("tag-manifest", "bagit.txt", BAGIT, ": ")
        self._compare("tag-manifest", "bag-info.txt", info, ": ")
        tags = sorted(self.names & {*TAGS, "signature.json"})
        self._compare("tag-manifest", "tagmanifest-sha256.txt", self._manifest(tags), "  ")

    def _manifest(self, names: list[str]) -> bytes:
        return "".join(f"{self.files[name][1]}  {name}\n" for name in names).encode()

    def _compare(self, check: str, name: str, expected: bytes, sign: str) -> None:
        """Line by line, so that what was changed is named: in a manifest a file by its path, else a label."""
        found, failed = self.whole(name), self.report.failed[check]
        if name not in self.names or found == expected:
            self.report.passed[check] += expected.count(b"\n") if name in self.names else 0
            return

        def by_subject(text: str) -> dict[str, tuple[int, str]]:
            lines = enumerate(text.removesuffix("\n").split("\n") if text else [], 1)
            return {line.partition(sign)[2 if sign == "  " else 0]: (number, line) for number, line in lines}

        given, wanted = by_subject(found.decode("utf-8", "backslashreplace")), by_subject(expected.decode())
        for subject, (_, line) in wanted.items():
            number, other = given.pop(subject, (None, ""))
            if line == other:
                self.report.passed[check] += 1
            elif number is None:
                self.report.problem(check, name, None, f"the line for {subject}", line, "no such line")
            elif sign == "  ":
                stated = f"{other.partition(sign)[0]} ({name}, line {number})"
                self.report.problem(check, subject, None, "SHA-256", stated, line.partition(sign)[0])
            else:
                self.report.problem(check, name, number, subject, line, other)
        for number, line in given.values():
            self.report.problem(check, name, number, "line", "none such", line)
        if self.report.failed[check] == failed:
            form = "lines sorted by path, each once, each with an LF"
            self.report.problem(check, name, None, "bytes", form, "others")

    def lines(self, stem: str, unpacked: str | None) -> Iterator[tuple[str, int, bytes]]:
        """The lines of the parts of a file: part, number in it, bytes without LF. Unsound parts are problems."""
        for name in self.parts[stem]:
            with self._plain(name, unpacked) as file:
                number = 0
                try:
                    for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                        if line.endswith(b"\n"):
                            yield name, number, line[:-1]
                            continue
                        fault = ("end of the file", "LF", line[-20:].decode("utf-8", "replace"))
                        if len(line) > LONGEST:
                            fault = ("length", f"at most {LONGEST:,} bytes", "more")
                        self.report.problem(stem, name, number, *fault)
                        break
                except (OSError, EOFError, ValueError) as error:
                    self.report.problem(stem, name, number + 1, "compressed data", "whole frames", str(error))

    def _plain(self, name: str, unpacked: str | None) -> Any:
        if name.endswith(".zst") and unpacked is not None:
            return opened(os.path.join(unpacked, os.path.basename(name)[:-4]))
        file = opened(os.path.join(self.folder, name))
        return zstd.open(file, "rb") if name.endswith(".zst") else file


# ── Checking a bundle, bundle-1.md section 7 ─────────────────────────────────────────────────────────────────────────


def small_object(data: bytes) -> tuple[dict[str, Any], bool]:
    """A JSON object, an empty one for anything else, and whether it is a line of canonical JSON."""
    members: dict[str, Any] = {}
    try:
        members = read_record(data[:-1] if data.endswith(b"\n") else data, SMALL)
        return members, canonical_json(members) + b"\n" == data
    except Refused:
        return members, False


def plain_value(value: Any) -> Any:
    """A value as a TOML reader would have given it: numbers as int."""
    if isinstance(value, Number):
        return int(value) if re.fullmatch("-?[0-9]{1,18}", value) else value
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    return {name: plain_value(item) for name, item in value.items()} if isinstance(value, dict) else value


class Row:
    """A kept row: where it stands, its bytes, and what is read from them, once."""

    def __init__(self, file: str, line: int, data: bytes) -> None:
        self.file, self.line, self.data = file, line, data
        self.parsed: Parsed | None = None
        self.fault = ""
        self.record: dict[str, Any] = {}
        self.digests: dict[str, str | None] = {}
        try:
            self.parsed = read_parts(data, LONGEST)
            self.record = {name: value for name, value in self.parsed.record.items() if name != "_seen"}
        except Refused as refusal:
            self.fault = str(refusal)

    def digest(self, rules: Ruleset) -> str | None:
        """The payload digest; None also where the ruleset refuses the payload."""
        if rules.label not in self.digests:
            try:
                payload = payload_of(rules, self.record)
            except Refused:
                payload = None
            self.digests[rules.label] = None if payload is None else sha256(payload)
        return self.digests[rules.label]


class Expected(NamedTuple):
    """A receipt that asks for a row, and the first_seen of its content after it."""

    rules: Ruleset
    stated: dict[str, Any]
    first_seen: int | None
    file: str
    line: int

    def name(self) -> str:
        return f"{self.stated['run']}:{self.stated['seq']}"

    def seen(self) -> dict[str, Any]:
        stated = self.stated
        first_seen = None if stated["content_key"] is None else fetched_at_text(self.first_seen)
        names = ("content_key", "verdict", "seen_before")
        facts = {"sha256": stated["payload_digest"], **{name: stated[name] for name in names}}
        return {**facts, "first_seen": first_seen, "refers_to": stated["refers_to"]}


class Run:
    """A run that the bundle names on a line of `runs.ndjson`, and what is counted of its receipts."""

    def __init__(self, rules: Ruleset, line: int, stated: dict[str, Any]) -> None:
        self.rules, self.line, self.stated = rules, line, stated
        self.count, self.seq, self.digest = 0, 0, hashlib.sha256()

    def take(self, receipt: bytes) -> None:
        self.count, self.seq = self.count + 1, self.seq + 1
        self.digest.update(receipt + b"\n")


class Checker:
    """Everything about one bundle."""

    def __init__(self, folder: str, unpacked: str | None) -> None:
        self.report = Report()
        self.problem, self.settle = self.report.problem, self.report.settle
        self.bag, self.unpacked = Bag(folder, self.report), unpacked
        self.runs: dict[str, Run] = {}
        self.replay = Replay()
        self.expected: collections.deque[Expected] = collections.deque()
        self.rows: collections.deque[Row] = collections.deque()
        self.missing: collections.deque[Expected] = collections.deque(maxlen=AHEAD)
        self.before: Row | None = None

    def check(self) -> Report:
        self.bag.check_tags()
        self.signature()
        self.package()
        self.read_runs(self.read_rulesets())
        if any(name.endswith(".zst") for name in self.bag.names) and zstd is None and self.unpacked is None:
            for check in ("prior", "receipts", "urls", "replay", "rows", "keys"):
                self.report.cannot(check, NO_ZSTD)
            return self.report
        self.prior()
        rows = self.bag.lines("rows", self.unpacked)
        for file, number, line in self.bag.lines("receipts", self.unpacked):
            self.receipt(file, number, line)
            while len(self.expected) > 2 * AHEAD and self.next_row(rows):
                if len(self.rows) > AHEAD:
                    self.pair()
        while self.next_row(rows):
            while len(self.rows) > AHEAD and self.expected:
                self.pair()
        while self.expected and self.rows:
            self.pair()
        for expected in self.expected:
            self.absent(expected)
        for row in self.rows:
            self.surplus(row)
        self.compare_runs()
        return self.report

    def signature(self) -> None:
        if "signature.json" not in self.bag.names:
            return
        members, good = small_object(self.bag.whole("signature.json"))
        hexes = {"public_key": "[0-9a-f]{64}", "signature": "[0-9a-f]{128}"}
        forms = {"algorithm": "ed25519", "signs": r"manifest-sha256\.txt", **hexes}
        if good and {*members} == {*forms} and all(matching(form)(members[name]) for name, form in forms.items()):
            self.report.cannot("signature", NO_ED25519 + members["public_key"])
        else:
            self.problem("signature", "signature.json", 1, "form", "as bundle-1.md section 6 has it", members)

    def package(self) -> None:
        name, names = "data/datapackage.json", ["prior", "receipts", "rows", "ruleset", "runs"]
        if name not in self.bag.names:
            return
        given = small_object(self.bag.whole(name))[0].get("resources")
        resources = given if isinstance(given, list) and all(isinstance(one, dict) for one in given) else []
        found = [one.get("name") for one in resources]
        if found != names:
            self.problem("package", name, 1, "resources", ", ".join(names), found)
            return
        for one in resources:
            own = [file for file in WHOLE if file.partition(".")[0] == "data/" + one["name"]]
            files = self.bag.parts.get(one["name"]) or own
            if set(files) <= self.bag.names:
                paths, size = [file[5:] for file in files], sum(self.bag.files[file][0] for file in files)
                digest = "sha256:" + self.bag.files[files[0]][1] if len(files) == 1 else None
                facts = {"path": paths[0] if len(files) == 1 else paths, "bytes": str(size), "hash": digest}
                stated = {"hash": None, **one}
                self.settle("package", name, 1, one["name"], differing(facts, stated))

    def read_rulesets(self) -> dict[tuple[Any, Any], Ruleset]:
        name, rulesets = "data/ruleset.json", {}
        data = self.bag.whole(name)
        document, good = small_object(data)
        entries = document.get("rulesets") if isinstance(document.get("rulesets"), list) else None
        if name in self.bag.names and not (good and document.get("format") == FORMAT and entries is not None):
            found = data[:100].decode("utf-8", "replace")
            self.problem("rulesets", name, 1, "form", f"canonical JSON of format {FORMAT}", found)
        for at, entry in enumerate(entries or [], 1):
            wanted = ["configuration", "fingerprint", "label", "settings", "unicode"]
            if not isinstance(entry, dict) or sorted(entry) != wanted or not isinstance(entry["settings"], dict):
                self.problem("rulesets", name, 1, f"ruleset {at}", ", ".join(wanted), entry)
            elif entry["unicode"] != UNICODE_VERSION:
                self.report.cannot("rulesets", f"keys of Unicode {entry['unicode']}: this checks {UNICODE_VERSION}")
            else:
                try:
                    rules = Ruleset(plain_value(entry["settings"]))
                    facts = {"label": rules.label, "fingerprint": rules.fingerprint()}
                except (KeyError, AttributeError, TypeError, ValueError, Refused) as error:
                    found = f"{type(error).__name__}: {error}"
                    self.problem("rulesets", name, 1, f"settings of {entry['label']}", "a ruleset", found)
                    continue
                self.settle("rulesets", name, 1, rules.label, differing(facts, entry))
                rulesets[str(entry["label"]), str(entry["configuration"])] = rules
        return rulesets

    def read_runs(self, rulesets: dict[tuple[Any, Any], Ruleset]) -> None:
        file, last_run = "data/runs.ndjson", 0
        for number, line in enumerate(self.bag.whole(file).split(b"\n")[:-1], 1):
            try:
                run = formed(line, lambda _: (RUN, "", {}))
            except Fault as fault:
                self.problem("runs", file, number, *fault.args)
                continue
            name, finished = run["run"], run["state"] == "finished"
            rules = rulesets.get((run["ruleset"], run["configuration"]))
            linked = {"link": finished, "chain": finished, "previous": finished and run["link"] != "1"}
            if any((run[member] is not None) != there for member, there in linked.items()):
                wanted = "link, chain and previous of a finished run"
                self.problem("runs", file, number, "chain", wanted, run["state"])
            elif int(name) <= last_run:
                self.problem("runs", file, number, "order", "runs by their numbers", name)
            elif rules is None:
                self.problem("runs", file, number, f"ruleset of run {name}", "one that is there", run["ruleset"])
            else:
                self.runs[name], last_run = Run(rules, number, run), int(name)

    def prior(self) -> None:
        last: dict[str, int] = {}
        for file, number, line in self.bag.lines("prior", self.unpacked):
            try:
                prior = read_prior(line)
            except Fault as fault:
                self.problem("prior", file, number, *fault.args)
                continue
            run, seq = prior["run"], int(prior["seq"])
            faults: Wrong = []
            if seq <= last.get(run, 0):
                faults.append(("order", f"one behind {run}:{last[run]}", f"{run}:{seq}"))
            if run in self.runs:
                faults.append(("run", "an earlier run", "a run whose receipts are here"))
            if not self.replay.remember(prior):
                faults.append(("sighting", "one first and one latest for each key", "another one"))
            self.settle("prior", file, number, f"{run}:{seq}", faults)
            last[run] = seq

    def receipt(self, file: str, number: int, line: bytes) -> None:
        try:
            stated = read_receipt(line, self.runs)
        except Fault as fault:
            self.problem("receipts", file, number, *fault.args)
            start = re.match(rb'\{"run":([0-9]+),', line)
            if start and start.group(1).decode() in self.runs:
                self.runs[start.group(1).decode()].take(line)
            return
        self.report.passed["receipts"] += 1
        run, name = self.runs[stated["run"]], f"{stated['run']}:{stated['seq']}"
        run.take(line)
        wrong = [] if str(run.seq) == stated["seq"] else [("seq", f"{stated['run']}:{run.seq}", name)]
        self.settle("runs", file, number, f"run {stated['run']}", wrong)
        run.seq = int(stated["seq"])
        if stated["verdict"] != "refused":
            self.url(run.rules, stated, file, number)
            self.settle("replay", file, number, name, differing(self.replay.step(run.rules, stated), stated))
        if stated["action"] == "keep":
            first_seen = self.replay.first_seen.get(stated["content_key"] or "")
            self.expected.append(Expected(run.rules, stated, first_seen, file, number))
        else:
            self.report.cannot("keys", NOT_SHIPPED)

    def url(self, rules: Ruleset, stated: dict[str, Any], file: str, number: int) -> None:
        """The URL key of a receipt is that of its URL."""
        key, stated_key = None, stated["url_key"]
        if stated["url"] is None and stated_key is None:
            return
        try:
            key = None if stated["url"] is None else url_key(rules, canonical_of(stated["url"], rules.url))
        except NotCheckable as reason:
            self.report.cannot("urls", str(reason))
            return
        except UrlRefused:
            pass
        if key != stated_key and stated_key is None and any(code.startswith("url-") for code in stated["problems"]):
            self.report.cannot("urls", CUT_URL)
        else:
            wrong = [] if key == stated_key else [("URL key", key, stated_key)]
            self.settle("urls", file, number, f"{stated['run']}:{stated['seq']}", wrong)

    # Rows

    def next_row(self, rows: Iterator[tuple[str, int, bytes]]) -> bool:
        row = next(rows, None)
        if row is not None:
            self.rows.append(Row(*row))
        return row is not None

    def pair(self) -> None:
        """Checks the next row against the next receipt that asks for one; looks further on where they are no pair."""
        expected, row = self.expected[0], self.rows[0]
        for distance in range(0 if self.is_of(expected, row) else AHEAD):
            if distance + 1 < len(self.expected) and self.is_of(self.expected[distance + 1], row):
                for _ in range(distance + 1):
                    self.absent(self.expected.popleft())
                return
            if distance + 1 < len(self.rows) and self.is_of(expected, self.rows[distance + 1]):
                for _ in range(distance + 1):
                    self.surplus(self.rows.popleft())
                return
        self.expected.popleft()
        self.before = self.rows.popleft()
        if row.parsed is None:
            self.problem("rows", row.file, row.line, f"row of {expected.name()}", "one JSON object", row.fault)
            return
        self.settle("rows", row.file, row.line, expected.name(), seen_problems(expected, row.parsed))
        wrong, reason = key_problems(expected, row)
        if reason is not None and not wrong:
            self.report.cannot("keys", reason)
        # What was given beside a record can't be recomputed; its digests and keys were.
        if wrong or reason in (None, GIVEN):
            self.settle("keys", row.file, row.line, expected.name(), wrong)

    def is_of(self, expected: Expected, row: Row) -> bool:
        """Whether a row is that of a receipt at all: it has the same `_seen`, or the same payload."""
        if row.parsed is None:
            return False
        digest = expected.stated["payload_digest"]
        same_payload = digest is not None and row.digest(expected.rules) == digest
        return same_payload or not seen_problems(expected, row.parsed)

    def absent(self, expected: Expected) -> None:
        wanted = "a row in its place, because the receipt says keep"
        self.problem("rows", expected.file, expected.line, f"row of {expected.name()}", wanted, "none")
        self.missing.append(expected)

    def surplus(self, row: Row) -> None:
        owner = next((one for one in self.missing if self.is_of(one, row)), None)
        again = self.before is not None and self.before.data == row.data
        found = "the row before, once more" if again else "a row that no receipt asks for"
        found = found if owner is None else f"the row of {owner.name()}, out of its place"
        self.problem("rows", row.file, row.line, "row", "none here", found)
        self.before = row

    def compare_runs(self) -> None:
        """Counts, digests and chain of each run are those of its receipts."""
        chains = {run.stated["link"]: run.stated["chain"] for run in self.runs.values()}
        for name, run in self.runs.items():
            digest, stated = run.digest.digest(), run.stated
            facts: dict[str, Any] = {"records": str(run.count), "receipts_sha256": "sha256:" + digest.hex()}
            if stated["link"] is not None:
                previous = bytes(32) if stated["previous"] is None else bytes.fromhex(stated["previous"][7:])
                facts["chain"] = sha256(previous + digest)
                facts["previous"] = chains.get(Number(int(stated["link"]) - 1), stated["previous"])
            self.settle("runs", "data/runs.ndjson", run.line, f"run {name}", differing(facts, stated))


def seen_problems(expected: Expected, parsed: Parsed) -> Wrong:
    """What is wrong with `_seen` of a row, which is its last member, spelt in one way only."""
    name, start, _ = parsed.spans[-1] if parsed.spans else ("", 0, 0)
    if name != "_seen":
        return [("_seen", "the last member", "no _seen at the end")]
    wanted, before = expected.seen(), parsed.text[:start]
    tail = '"_seen":' + ordered_json(wanted).decode("utf-8") + "}"
    parted = before.rstrip(" \t\r\n").endswith("{") if len(parsed.spans) == 1 else before.endswith(",")
    if parted and parsed.text.startswith("{") and parsed.text[start:] == tail:
        return []
    given = parsed.record["_seen"] if isinstance(parsed.record["_seen"], dict) else {}
    wrong = [(f"{name} in _seen", fact, found) for name, fact, found in differing(wanted, given)]
    return wrong or [("spelling of _seen", "," + tail, parsed.text[max(0, start - 1) :])]


def key_problems(expected: Expected, row: Row) -> tuple[Wrong, str | None]:
    """What differs between the keys and facts of a receipt and of its row, and why something can't be said.

    The reading of its numbers that gives the content key counts; if none does, that of exact decimals, the first.
    """
    tried = []
    for reading in readings(expected.rules, row.record):
        wrong, reason = key_problems_in(reading, expected, row)
        if not {"content key", "row"} & {what for what, _, _ in wrong}:
            return wrong, reason
        tried.append((wrong, reason))
    return tried[0]


def key_problems_in(reading: dict[str, Any], expected: Expected, row: Row) -> tuple[Wrong, str | None]:
    """The same in one reading of its numbers; facts that the row doesn't say are believed."""
    stated = expected.stated
    unreadable = "?" if "bad-fetched-at" in stated["problems"] else None
    given = {"url": stated["url"], "source": stated["source"], "fetched_at": stated["fetched_at"] or unreadable}
    wrong: Wrong = []
    try:
        for facts, reason in (({}, None), (given, GIVEN)):
            keys = keys_of(expected.rules, row.record, **facts, input_name=stated["input"], reading=reading)._asdict()
            keys["fetched_at"] = fetched_at_text(keys["fetched_at"])
            del keys["canonical_url"]
            wrong = [(WORDS.get(name, name), value, found) for name, value, found in differing(keys, stated)]
            if not wrong:
                return [], reason
    except NotCheckable as missing:
        digest = row.digest(expected.rules)
        wrong = [("payload digest", digest, stated["payload_digest"])] if digest != stated["payload_digest"] else []
        return wrong, str(missing)
    except Refused as refusal:
        return [("row", "a record that is judged", str(refusal))], None
    return wrong, None


USAGE = "usage: python3 -I verify.py [FOLDER] [--unpacked FOLDER] [--json]"


def main(arguments: list[str]) -> int:
    """Checks the bundle that is named, or the one that this file lies in → the exit status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # text streams of every Python
    rest, as_json, unpacked = [argument for argument in arguments if argument != "--json"], "--json" in arguments, None
    if "--unpacked" in rest[:-1]:
        at = rest.index("--unpacked")
        unpacked, rest = rest[at + 1], rest[:at] + rest[at + 2 :]
    if len(rest) > 1 or any(argument.startswith("-") for argument in rest):
        print(USAGE, file=sys.stderr)
        return 2
    folder = rest[0] if rest else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        report = Checker(folder, unpacked).check()
    except Unusable as error:
        print(f"error: {harmless(str(error))}", file=sys.stderr)
        return 2
    print(json.dumps(report.members(folder)) if as_json else "\n".join(report.text(folder)))
    return 1 if any(report.failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
