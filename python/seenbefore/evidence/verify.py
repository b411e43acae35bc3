"""Checks a bundle of seenbefore, `spec/bundle-1.md`, with Python 3.9 or later and its standard library.

    python3 -I data/verify.py [FOLDER] [--unpacked FOLDER] [--json]

Without FOLDER it checks the bundle that it lies in. Exit status: 0 passed, 1 failed, 2 could not run. Nothing is
followed out of the folder, nothing in it is run, and nothing is written. `--unpacked` names a folder with the unpacked
files of those that end in `.zst`, which Python 3.14 unpacks by itself.

It is an independent reading of `spec/`: keys/1, verdicts/1, receipt/1 and bundle/1, each rule in the order of the
specification and under its name. The tests hold the fast kernel against it, and a reader of `spec/` can hold it against
the text. A character whose properties this Python's Unicode does not hold as Unicode 17.0 does is never a failure, but
not checkable here. Neither `json`, `float`, `str.split`, `str.strip()` without an argument, nor any locale decides a
byte of a key.
"""

from __future__ import annotations

import base64
import bisect
import collections
import datetime as dt
import decimal
import hashlib
import html.entities
import itertools
import json
import math
import os
import re
import stat
import sys
import unicodedata
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

try:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore] # Python 3.14
except ImportError:
    zstd = None

UNICODE_VERSION = "17.0.0"
MAX_DEPTH = 128
MAX_DIGITS = 1000
MAX_LINE = 64 * 1024 * 1024


def _words(text: str) -> list[str]:
    return re.findall("[^ \n]+", text)


class Refused(Exception):
    """A line or value that must not be keyed. `code` is one of the closed set, `field` the member at fault or None."""

    def __init__(self, code: str, detail: str = "", field: str | None = None) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail, self.field = code, detail, field


class NotCheckable(Exception):
    """The answer needs what this Python does not have: UTS #46, or another version of Unicode."""


# Unicode 17.0.0 facts that Python does not carry, or carries in another version: UnicodeData, ArabicShaping, emoji-data


def _ranges(text: str) -> list[tuple[int, int]]:
    """Sorted pairs of code points, both ends included: how far behind the last pair it starts, how many more follow."""
    pairs, at = [], 0
    for gap, _, more in (item.partition("-") for item in text.split()):
        pairs.append((at + int(gap, 16), at + int(gap, 16) + int(more or "0", 16)))
        at = pairs[-1][1] + 1
    return pairs


def _within(char: str, table: list[tuple[int, int]]) -> bool:
    at = bisect.bisect(table, (ord(char), sys.maxunicode)) - 1
    return at >= 0 and ord(char) <= table[at][1]


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
JOINS_NEXT = _ranges("""
    620 5 1 1-4 4-C 1-6 1-1 23-1 8-F 12-25 1-1 9 1 1-1 28-2 2 12-2 5-3 1-8 1 1 1-1 1F-A 3-E 2-3 1 2-2 2-5 4A-20 56-4 2
    1-9 1 A 1-3 2 1D 2-4 1 10-9 5-1 2-5 1-E F3E 18-58 E-21 1 8F95-31 0 624D-4 8 5-3 0 0-4 1-2 A-3 91 1 3-2 1-1 1 2 1C-1
    151 0-20 1 19F-1 1-1 68-2 1-10 C-2 1C-3 2-B 2E 1-1 4 2-1 1-1 1 2 5 0 D934-43
""")
JOINS_BEFORE = _ranges("""
    620 1-3 0 0 0 0 0-4 0-3 0-C 1-6 0 0-1 23-1 1-2 1-2 0-F 0-11 0-25 0 0-1 0-8 0 0 0 0 0-1 0-1 1 18-1 A-2 2 10 1-2 0-4
    0-3 0 0-8 0 0 0 0 0 0-1 0 1D 0-A 0-2 0-E 0-1 0-3 0 0 0-1 0-2 0-1 0-5 4A-20 55 0-4 0-1 0 0 0-9 0 0 0-2 7 1-3 1 0 0-1
    5-12 3 2-4 0 0 10-9 0-2 1 0-1 0-1 0-5 0 0-E F3E 18-58 E-21 1 8F95-31 624E-4 0 1 1-1 3-4 0-3 1-4 0 0-2 0 2 6-3 0 90 0
    0 0-2 0-2 0 0-1 0 0 0-1 0 0 17-3 0-1 152-20 0 0 19E 0-1 1-1 68-2 0 0-10 C-2 0 1B-3 0-1 0-B 2E 1-1 0-2 1 0-1 0-1 0
    0-1 1 0-1 0 4 0 D935-43
""")
EXTENDED_PICTOGRAPHIC = _ranges("""
    A9 4 1F8D C D8 16 5A-5 F-1 16F-1 C A6 19-A 4-2 C7 E7-1 A 9 3A-3 1-4 9 2 2-1 2 4 2 1-1 2 3 3-1 8-2 5 1 5-B B-1 2 1-1
    1 12 2-1 12-5 1 1-1 3-1 5 2-1 4-1 B-1 5-1 2 5-1 1 1-1 14-1 5-5 1-3 2 4 2 2-5 1 2 1 1 6 3 6 A-1 F 2 4 1 4-2 1 B-1
    30-2 9 E E 174-1 1CF-2 13-1 33 4 4DA C 259 1 1BD6A 27-3 64-B F-1 F E-1 25-9 70-1 C-1 E 2-9 13-37 1B-E A 14 2-8 1-3
    9-16 6-BB 2-6F 2-1 1-2 2-52 2-2 1-3 5-FD 1-3E B-5 1-17 7-1 2-7 C 2-3 2 4-1 D-1 2 8-1 9 5-2 C-2 8-2 2 1 4 6 3 6-55
    30-45 5-7 2-10 3 1-5 2-C DA-25 C-3 38-7 A-5 28-7 1E-1 C-3 2-D 9-26 C-2E 1-9 1-B8 58-7 E-91 100-3FD
""")
# Joining_Type is T for all of Mn, Me and Cf but these, and for U+1E94B (UAX #44, DerivedJoiningType).
_NOT_TRANSPARENT = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\u1734\u180e\u200c\u200d\u2066\u2067\u2068\u2069"
    "\U000110bd\U000110cd\U0001171e"
)


def _transparent(char: str) -> bool:
    return char == "\U0001e94b" or (unicodedata.category(char) in ("Mn", "Me", "Cf") and char not in _NOT_TRANSPARENT)


def known(text: str) -> str:
    """Gives `text` back, or raises NotCheckable where this Python's Unicode and Unicode 17.0 differ on a character.

    Unicode promises (Character Encoding Stability Policies) that NFC and case folding of assigned characters never
    change; what another version has not assigned, or has assigned since, is another matter.
    """
    for char in text:
        if char > "\x7f" and (unicodedata.category(char) != "Cn") != _within(char, ASSIGNED):
            raise NotCheckable(f"U+{ord(char):04X} is not the same in Unicode {unicodedata.unidata_version} and 17.0")
    return text


# ── Reading a line: strict JSON (RFC 8259, RFC 7493), numbers as written ─────────────────────────────────────────────


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_BLANKS = re.compile(r"[ \t\n\r]*")
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Parsed:
    """One JSON text, left to right. Syntax and depth are raised at once; the two faults of meaning are noted."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.unpaired = self.repeated = False
        self.record: dict[str, Any] = {}
        self.spans: list[tuple[str, int, int]] = []  # (name, start, end) of each member of the outermost object

    def document(self) -> Any:
        self.blanks()
        value = self.value(0)
        self.blanks()
        if self.at < len(self.text):
            raise self.wrong("something follows the value")
        return value

    def wrong(self, what: str) -> Refused:
        return Refused("invalid-json", f"{what}, at character {self.at + 1}")

    def blanks(self) -> None:
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, char: str) -> bool:
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def value(self, depth: int) -> Any:
        char = self.peek()
        if char in ("{", "["):
            if depth == MAX_DEPTH:
                raise Refused("too-deep", f"more than {MAX_DEPTH} levels, at character {self.at + 1}")
            self.at += 1
            return self.object(depth + 1) if char == "{" else self.array(depth + 1)
        if char == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        number = _NUMBER.match(self.text, self.at)
        if not number:
            raise self.wrong("no value")
        self.at = number.end()
        return Number(number.group())

    def array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.blanks()
        if self.take("]"):
            return items
        while True:
            self.blanks()
            items.append(self.value(depth))
            self.blanks()
            if self.take("]"):
                return items
            if not self.take(","):
                raise self.wrong("no comma between two items")

    def object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.blanks()
        if self.take("}"):
            return members
        while True:
            self.blanks()
            start = self.at
            if self.peek() != '"':
                raise self.wrong("no member name")
            name = self.string()
            self.blanks()
            if not self.take(":"):
                raise self.wrong("no colon after a member name")
            self.blanks()
            value = self.value(depth)
            self.repeated = self.repeated or name in members
            members[name] = value
            if depth == 1:
                self.spans.append((name, start, self.at))
            self.blanks()
            if self.take("}"):
                return members
            if not self.take(","):
                raise self.wrong("no comma between two members")

    def string(self) -> str:
        self.at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            parts.append(plain.group())  # type: ignore[union-attr]
            self.at = plain.end()  # type: ignore[union-attr]
            if self.take('"'):
                return "".join(parts)
            if not self.take("\\"):
                raise self.wrong("a string without its end, or a control character in it")
            char = self.peek()
            if char == "u":
                parts.append(self.unicode_escape())
            elif char in _ESCAPES and char:
                self.at += 1
                parts.append(_ESCAPES[char])
            else:
                raise self.wrong("an unknown escape")

    def unicode_escape(self) -> str:
        """Reads from the `u` on; a high and a low surrogate side by side are one character."""
        unit = self.hex4()
        if 0xD800 <= unit <= 0xDBFF and self.text.startswith("\\u", self.at):
            back = self.at
            self.at += 1
            low = self.hex4()
            if 0xDC00 <= low <= 0xDFFF:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            self.at = back
        self.unpaired = self.unpaired or 0xD800 <= unit <= 0xDFFF
        return chr(unit)

    def hex4(self) -> int:
        digits = _HEX4.match(self.text, self.at + 1)
        if not digits:
            raise self.wrong("an escape without four hex digits")
        self.at += 5
        return int(digits.group(), 16)


def read_parts(line: bytes, limit: int = MAX_LINE) -> Parsed:
    """Reads one line as one record. The parser given back holds `record` and the spans of its members.

    Raises Refused with the first of: line-too-long, invalid-utf8, invalid-json or too-deep (whichever comes first from
    the left), not-an-object, unpaired-surrogate, repeated-member.
    """
    if len(line) > limit:
        raise Refused("line-too-long", f"{len(line)} bytes; the limit is {limit}")
    try:
        text = line.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Refused("invalid-utf8", f"at byte {error.start + 1}") from None
    parser = Parsed(text)
    record = parser.document()
    if not isinstance(record, dict):
        raise Refused("not-an-object")
    if parser.unpaired:
        raise Refused("unpaired-surrogate")
    if parser.repeated:
        raise Refused("repeated-member")
    parser.record = record
    return parser


def read_record(line: bytes, limit: int = MAX_LINE) -> dict[str, Any]:
    """One line's record: str, Number, bool, None, list and dict. Raises Refused as `read_parts` does."""
    return read_parts(line, limit).record


# ── Exact decimals ───────────────────────────────────────────────────────────────────────────────────────────────────


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
    if len(exponent_digits) > 18:
        raise Refused("number-too-long", "an exponent of more than 18 digits")
    exponent = int(exponent_sign + (exponent_digits or "0")) - len(fraction)
    stripped = digits.rstrip("0")
    return Exact("-" if sign == "-" else "", stripped, exponent + len(digits) - len(stripped))


def plain(value: Exact) -> str | None:
    """The value written out without exponent, or None where that takes more than 1,000 digit characters."""
    sign, digits, exponent = value
    point = len(digits) + exponent
    if max(len(digits), point, len(digits) - point + 1 if point <= 0 else 0) > MAX_DIGITS:
        return None
    if exponent >= 0:
        return sign + digits + "0" * exponent
    if point > 0:
        return sign + digits[:point] + "." + digits[point:]
    return sign + "0." + "0" * -point + digits


def written_out(text: str) -> str:
    """The exact decimal text of a JSON number. Raises Refused number-too-long."""
    value = exact(text)
    out = None if value is None else plain(value)
    if out is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
    return out


def with_exponent(value: Exact) -> str:
    """`d[.ddd]e+N` or `e-N`: how a payload writes a number that is too long to be written out."""
    sign, digits, exponent = value
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{exponent + len(digits) - 1:+d}"


# ── Exact canonical JSON ─────────────────────────────────────────────────────────────────────────────────────────────


_SHORT = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def json_string(text: str) -> str:
    r"""RFC 8785 3.2.2.2: the seven short escapes, `\u00xx` for the other controls below U+0020, all else as it is."""
    out = [_SHORT.get(ord(c), c if c >= " " else f"\\u{ord(c):04x}") for c in text]
    return '"' + "".join(out) + '"'


def utf16_order(text: str) -> bytes:
    """Sort key: UTF-16 code units (RFC 8785 3.2.3), which is not code point order once a name leaves the BMP."""
    return text.encode("utf-16-be", "surrogatepass")


def _written(value: Any, long_numbers: bool) -> str:
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Number, Exact)):
        number = exact(value) if isinstance(value, Number) else value
        assert number is not None  # the reader let no other text through
        out = plain(number)
        if out is None and not long_numbers:
            raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
        return with_exponent(number) if out is None else out
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, list):
        return "[" + ",".join(_written(item, long_numbers) for item in value) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=utf16_order)
        return "{" + ",".join(json_string(n) + ":" + _written(value[n], long_numbers) for n in names) + "}"
    raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)


def canonical_json(value: Any, long_numbers: bool = False) -> bytes:
    """Exact canonical JSON of what the reader gives (and of int). `long_numbers` is the payload's form of number."""
    return _written(value, long_numbers).encode("utf-8")


# ── Text: rule text/1 ────────────────────────────────────────────────────────────────────────────────────────────────

SPACES = frozenset(
    [chr(c) for c in (*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))]
    + [chr(c) for c in (0x2028, 0x2029, 0x202F, 0x205F, 0x3000)]
)
INVISIBLES = frozenset(
    [chr(c) for c in (*range(0x09), *range(0x0E, 0x1C), 0x7F, 0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F)]
    + [chr(c) for c in (*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0E, 0xFE0F, 0xFEFF)]
    + [chr(c) for c in (*range(0x1D173, 0x1D17B), 0xE0001)]
)
TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    "\u2026": "...",
}
_FLAG_OR_TAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0020-\U000e007f]")
_JOINERS = re.compile("[\u200c\u200d]+")


def trimmed(text: str) -> str:
    """`text` without the characters of step `spaces` at both ends."""
    start, end = 0, len(text)
    while start < end and text[start] in SPACES:
        start += 1
    while end > start and text[end - 1] in SPACES:
        end -= 1
    return text[start:end]


def compose(text: str, compatibility: bool = False) -> str:
    return unicodedata.normalize("NFKC" if compatibility else "NFC", text)


def spaces(text: str) -> str:
    return "".join(" " if c in SPACES else c for c in text)


def invisibles(text: str) -> str:
    return "".join(c for c in text if c not in INVISIBLES)


def typography(text: str) -> str:
    return "".join(TYPOGRAPHY.get(c, c) for c in text)


def joiners(text: str) -> str:
    """Tags outside flags go; then each run of U+200C / U+200D becomes the one joiner that its place allows, or none.

    All runs are decided on the text as it stands after the tags are gone.
    """
    text = _FLAG_OR_TAG.sub(lambda m: m.group(1) or "", text)

    def one(run: Any) -> str:
        start, end = run.span()
        virama = _after_virama(text, start)
        if "\u200d" in run.group() and (virama or _emoji_pair(text, start, end)):
            return "\u200d"
        if "\u200c" in run.group() and (virama or _joining_pair(text, start, end)):
            return "\u200c"
        return ""

    return _JOINERS.sub(one, text)


def _after_virama(text: str, start: int) -> bool:
    """UAX #31 2.3 A2: a virama is among the marks (ccc other than 0) directly before the joiner."""
    at = start - 1
    while at >= 0 and unicodedata.combining(text[at]):
        if unicodedata.combining(text[at]) == 9:
            return True
        at -= 1
    return False


def _emoji_pair(text: str, start: int, end: int) -> bool:
    """UTS #51 ED-16: a pictograph, or a skin tone that ends one, then the joiner, then a pictograph."""
    if start == 0 or end == len(text) or not _within(text[end], EXTENDED_PICTOGRAPHIC):
        return False
    return _within(text[start - 1], EXTENDED_PICTOGRAPHIC) or "\U0001f3fb" <= text[start - 1] <= "\U0001f3ff"


def _joining_pair(text: str, start: int, end: int) -> bool:
    """RFC 5892 A.1, UAX #31 2.3 A1: (L or D) T* joiner T* (R or D)."""
    left, right = start - 1, end
    while left >= 0 and _transparent(text[left]):
        left -= 1
    while right < len(text) and _transparent(text[right]):
        right += 1
    if left < 0 or right == len(text):
        return False
    return _within(text[left], JOINS_NEXT) and _within(text[right], JOINS_BEFORE)


def casefold(text: str) -> str:
    """NFD, then full case folding without locale (Unicode D145): CaseFolding.txt statuses C and F.

    Python documents str.casefold as section 3.13 of the standard, and tests hold it against CaseFolding-17.0.0.txt.
    """
    return unicodedata.normalize("NFD", text).casefold()


def collapse(text: str) -> str:
    return re.sub(" +", " ", text).strip(" ")


def text_1(text: str, fold: bool = True, compatibility: bool = False) -> str:
    """The normal form of `text` under text/1: the steps, repeated until nothing changes."""
    known(text)
    while True:
        before = text
        text = compose(text, compatibility)
        text = joiners(typography(invisibles(spaces(text))))
        text = casefold(text) if fold else text
        text = collapse(compose(text, compatibility))
        if text == before:
            return text


# ── Codes: text/1, then separators ───────────────────────────────────────────────────────────────────────────────────


def _letter_or_digit(char: str) -> str:
    category = unicodedata.category(char) if char else ""
    return "letter" if category[:1] == "L" else "digit" if category == "Nd" else ""


def separators(text: str) -> str:
    """Runs of space, `-` and `_`: one `-` between two letters or two digits, or leading with a `-` before a digit."""

    def one(run: Any) -> str:
        after = text[run.end() : run.end() + 1]
        if after and unicodedata.category(after)[0] == "M":
            return str(run.group())
        at = run.start() - 1
        while at >= 0 and unicodedata.category(text[at])[0] == "M":
            at -= 1
        left, right = _letter_or_digit(text[at] if at >= 0 else ""), _letter_or_digit(after)
        if left and left == right:
            return "-"
        return "-" if run.start() == 0 and "-" in run.group() and right == "digit" else ""

    return re.sub("[ _-]+", one, text)


def punctuation(text: str) -> str:
    """The blunter form: no space and no character of General_Category P at all."""
    return "".join(c for c in text if c != " " and unicodedata.category(c)[0] != "P")


def code(text: str, blunt: bool = False) -> str:
    """The normal form of a code: (text/1, separators) repeated until nothing changes."""
    step = punctuation if blunt else separators
    while True:
        before = text
        text = step(text_1(text))
        if text == before:
            return text


# ── URLs: rule url/1, keys-1.md 8 and the WHATWG URL Standard 4.4, without a base ─────────────────────────────────────

MAX_BYTES = 64 * 1024
STRENGTHS = ("exact", "page", "site")


# The frozen list, spec/tables/tracking.json.
TRACKING_PREFIXES = ("utm_",)
TRACKING_NAMES = frozenset(
    _words(
        """
    __hsfp __hssc __hstc __s __twitter_impression _bhlid _branch_match_id _branch_referrer _bta_c _bta_tid _ga
    _gac _gl _hsenc _hsmi _ke _kx _openstat action_object_map action_ref_map action_type_map adobe_mc
    adobe_mc_ref adobe_mc_sdid at_campaign at_campaign_type at_link_id at_link_origin at_link_type at_medium
    at_ptr_name at_recipient_id at_recipient_list ceneo_spo cjevent ck_subscriber_id cm_mmc dclid dm_i echobox
    ef_id elqtrack elqtrackid epik et_rid fb_action_ids fb_action_types fb_ref fb_source fbclid gad_campaignid
    gad_source gbraid gclid gclsrc gdffi gdfms gdftrk guccounter guce_referrer guce_referrer_sig hsa_acc
    hsa_ad hsa_cam hsa_grp hsa_kw hsa_la hsa_mt hsa_net hsa_ol hsa_src hsa_tgt hsa_ver hsctatracking igsh
    igshid ir_adid ir_campaignid ir_partnerid irclickid irgwc matomo_campaign matomo_cid matomo_content
    matomo_group matomo_keyword matomo_medium matomo_placement matomo_source mc_cid mc_eid mc_tc mibextid
    mindbox-click-id mindbox-message-key mkt_tok mkwid ml_subscriber ml_subscriber_hash msclkid mtm_campaign
    mtm_cid mtm_content mtm_group mtm_keyword mtm_kwd mtm_medium mtm_placement mtm_source ns_campaign ns_fee
    ns_linkname ns_mchannel ns_source oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk oly_anon_id
    oly_enc_id omnisendcontactid piwik_campaign piwik_keyword piwik_kwd pk_campaign pk_cid pk_content pk_cpn
    pk_keyword pk_kwd pk_medium pk_source raneaid ranmid ransiteid rb_clickid redirect_log_mongo_id
    redirect_mongo_id s_cid s_kwcid sb_referer_host sccid sfmc_activityid sfmc_id sms_click sms_source sms_uph
    spjobid spmailingid spreportid spuserid srsltid tblci trk_contact trk_module trk_msg trk_sid ttclid twclid
    unicorn_click_id vero_conv vero_id wbraid wickedid wt_mc wt_zmc xtor yclid ymclid ysclid zanpid
    """
    )
)
SESSION_NAMES = ("jsessionid", "phpsessid")
INDEX_PAGES = ("index.html", "index.htm", "index.php", "default.aspx")


class UrlRefused(Exception):
    """A text without a URL key. `code` is url-relative, url-scheme, url-invalid or url-too-long."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Failure(Exception):
    """The URL parser returns failure."""


SPECIAL = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
C0_SET = frozenset(map(chr, [*range(0x20), 0x7F]))
FRAGMENT_SET = C0_SET | set(' "<>`')
QUERY_SET = C0_SET | set(' "#<>')
SPECIAL_QUERY_SET = QUERY_SET | {"'"}
PATH_SET = QUERY_SET | set("?^`{}")
FORBIDDEN_HOST = frozenset("\0\t\n\r #/:<>?@[\\]^|")
FORBIDDEN_DOMAIN = FORBIDDEN_HOST | C0_SET | {"%"}


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
        out = f"{self.scheme}://{self.host}" + ("" if self.port is None else f":{self.port}") + self.path
        out += "" if self.query is None else "?" + self.query
        return out + ("" if self.fragment is None else "#" + self.fragment)


def encoded(text: str, escaped: frozenset[str]) -> str:
    """UTF-8 percent-encode (1.3): every character of the set and every one beyond ASCII."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8")) if char in escaped or char > "~" else char
        for char in text
    )


def cleaned(text: str) -> str:
    """Without C0 controls and spaces around it and without tabs and line breaks inside (4.4, 1 to 3)."""
    return re.sub("[\t\n\r]", "", text.strip("".join(map(chr, range(0x21)))))


def scheme_of(text: str) -> tuple[str | None, str]:
    """The scheme in lower case and what follows its colon; None where a cleaned text starts with no scheme."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    return (found.group(1).lower(), text[found.end() :]) if found else (None, text)


def split_tail(rest: str) -> tuple[str, str | None, str | None]:
    """What stands before the query, the query, the fragment."""
    rest, sharp, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    return rest, query if mark else None, fragment if sharp else None


def parsed(text: str) -> Url | None:
    """The URL, or None for one that has no authority to speak of (`mailto:…`, `file:…`). Raises Failure."""
    scheme, rest = scheme_of(cleaned(text))
    if scheme is None:
        raise Failure
    body, query, fragment = split_tail(rest)
    special = scheme in SPECIAL
    slashes = "/\\" if special else "/"
    if scheme == "file":
        parse_file(body)
        return None
    if not special and not body.startswith("//"):
        return None
    body = body.lstrip(slashes) if special else body[2:]
    end = next((at for at, char in enumerate(body) if char in slashes), len(body))
    authority, path = body[:end], body[end:]
    user, at, address = authority.rpartition("@")
    host, port = split_port(address)
    if not host and (special or at or port is not None):
        raise Failure
    return Url(
        scheme,
        user not in ("", ":"),
        parse_host(host) if special else parse_opaque_host(host),
        parse_port(port, SPECIAL.get(scheme)),
        parse_path(path, special),
        None if query is None else encoded(query, SPECIAL_QUERY_SET if special else QUERY_SET),
        None if fragment is None else encoded(fragment, FRAGMENT_SET),
    )


def parse_file(body: str) -> None:
    """Only whether a file URL parses: its host, where it has one that is no drive letter."""
    if re.match(r"[/\\]{2}", body):
        host = re.split(r"[/\\]", body[2:], maxsplit=1)[0]
        if host and not re.fullmatch("[A-Za-z][:|]", host):
            parse_host(host)


def split_port(address: str) -> tuple[str, str | None]:
    """Host and port: the first colon that does not stand in brackets parts them."""
    inside = False
    for at, char in enumerate(address):
        if char == ":" and not inside:
            return address[:at], address[at + 1 :]
        inside = char == "[" or (inside and char != "]")
    return address, None


def parse_port(port: str | None, default: int | None) -> int | None:
    if not port:
        return None
    if not re.fullmatch("[0-9]+", port) or len(port.lstrip("0")) > 5 or int(port) > 0xFFFF:
        raise Failure
    return None if int(port) == default else int(port)


def parse_path(path: str, special: bool) -> str:
    """The path state: dot segments resolved, characters of the path set encoded."""
    if not path:
        return "/" if special else ""
    segments: list[str] = []
    given = re.split(r"[/\\]" if special else "/", path)[1:]
    for at, segment in enumerate(given):
        last = at == len(given) - 1
        dots = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if dots in (".", ".."):
            if dots == ".." and segments:
                segments.pop()
            if last:
                segments.append("")
        else:
            segments.append(encoded(segment, PATH_SET))
    return "".join("/" + segment for segment in segments)


def parse_opaque_host(host: str) -> str:
    if host.startswith("["):
        return parse_host(host)
    if any(char in FORBIDDEN_HOST for char in host):
        raise Failure
    return encoded(host, C0_SET)


def parse_host(host: str) -> str:
    """The host parser (3.5) for hosts in ASCII."""
    if host.startswith("["):
        if not host.endswith("]"):
            raise Failure
        return "[" + ipv6_text(parse_ipv6(host[1:-1])) + "]"
    domain = percent_decoded(host).decode("utf-8", "replace")
    if "\ufffd" in domain:
        raise Failure
    domain = lower(domain)
    if any(char > "\x7f" for char in domain) or any(label.startswith("xn--") for label in domain.split(".")):
        raise NotCheckable(f"host {host!r} needs UTS #46")
    if not domain or any(char in FORBIDDEN_DOMAIN for char in domain):
        raise Failure
    return ipv4_text(parse_ipv4(domain)) if ends_in_a_number(domain) else domain


def lower(text: str) -> str:
    """ASCII lower case."""
    return re.sub("[A-Z]+", lambda found: found.group().lower(), text)


def percent_decoded(text: str) -> bytes:
    """Percent-decoded bytes (1.3)."""
    return re.sub(
        b"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), text.encode("utf-8", "surrogatepass")
    )


def ends_in_a_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    return bool(re.fullmatch("[0-9]+|0[xX][0-9A-Fa-f]*", parts[-1]))


def parse_ipv4(domain: str) -> int:
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        raise Failure
    numbers = [ipv4_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 1 << 8 * (5 - len(numbers)):
        raise Failure
    return numbers[-1] + sum(number << 8 * (3 - at) for at, number in enumerate(numbers[:-1]))


def ipv4_number(part: str) -> int:
    """Decimal, octal after 0, hexadecimal after 0x; nothing after 0x is 0."""
    for form, base in (("0[xX]([0-9A-Fa-f]*)", 16), ("0([0-7]+)", 8), ("([1-9][0-9]*|0)", 10)):
        found = re.fullmatch(form, part)
        if found:
            digits = found.group(1).lstrip("0")
            return int(digits or "0", base) if len(digits) < 40 else 1 << 64  # too large either way
    raise Failure


def ipv4_text(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def parse_ipv6(text: str) -> list[int]:
    """Eight pieces of 16 bits (3.5, IPv6 parser)."""
    halves = text.split("::")
    if len(halves) > 2:
        raise Failure
    heads = [ipv6_pieces(half, last=at == len(halves) - 1) for at, half in enumerate(halves)]
    if len(halves) == 1:
        if len(heads[0]) != 8:
            raise Failure
        return heads[0]
    missing = 8 - len(heads[0]) - len(heads[1])
    if missing < 1:
        raise Failure
    return heads[0] + [0] * missing + heads[1]


def ipv6_pieces(half: str, last: bool) -> list[int]:
    if not half:
        return []
    parts = half.split(":")
    pieces: list[int] = []
    for at, part in enumerate(parts):
        if re.fullmatch("[0-9A-Fa-f]{1,4}", part):
            pieces.append(int(part, 16))
        elif last and at == len(parts) - 1 and re.fullmatch(r"(?:(?:0|[1-9][0-9]{0,2})(?:\.(?!\Z)|\Z)){4}", part):
            numbers = [int(number) for number in part.split(".")]
            if max(numbers) > 255:
                raise Failure
            pieces += [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
        else:
            raise Failure
    return pieces


def ipv6_text(pieces: Sequence[int]) -> str:
    """The IPv6 serializer: the first of the longest runs of at least two zeros is `::`."""
    best, length = -1, 1
    for at in range(8):
        run = 0
        while at + run < 8 and pieces[at + run] == 0:
            run += 1
        if run > length:
            best, length = at, run
    if best < 0:
        return ":".join(f"{piece:x}" for piece in pieces)
    head, tail = pieces[:best], pieces[best + length :]
    return ":".join(f"{piece:x}" for piece in head) + "::" + ":".join(f"{piece:x}" for piece in tail)


# The steps


def each(url: Url, change: Callable[[str], str]) -> Url:
    """Path, query and fragment changed alike."""
    query = None if url.query is None else change(url.query)
    fragment = None if url.fragment is None else change(url.fragment)
    return url._replace(path=change(url.path), query=query, fragment=fragment)


def stray_percent(url: Url) -> Url:
    return each(url, lambda text: re.sub("%(?![0-9A-Fa-f]{2})", "%25", text))


def percent_encoding(url: Url) -> Url:
    def spelt(found: re.Match[str]) -> str:
        char = chr(int(found.group(1), 16))
        return char if re.fullmatch("[A-Za-z0-9._~-]", char) else found.group().upper()

    return each(url, lambda text: re.sub("%([0-9A-Fa-f]{2})", spelt, text))


def name_of(piece: str) -> str:
    return piece.partition("=")[0]


def query(url: Url) -> Url:
    """Everything that `page` does with the query."""
    if url.query is None:
        return url
    pieces = [piece if "=" in piece else piece + "=" for piece in url.query.split("&") if piece]
    pieces = [piece.replace("+", "%20") for piece in pieces]
    pieces = [piece for piece in pieces if not dropped(name_of(piece))]
    pieces.sort(key=name_of)
    return url._replace(query="&".join(pieces) or None)


def dropped(name: str) -> bool:
    """Whether a parameter is a tracking mark or a session id."""
    plain = percent_decoded(name).lower().decode("latin-1")
    return plain in TRACKING_NAMES or plain in SESSION_NAMES or plain.startswith(TRACKING_PREFIXES)


def path_session(url: Url) -> Url:
    def is_session(parameter: str) -> bool:
        name, equals, _ = parameter.partition("=")
        return equals == "=" and percent_decoded(name).lower() == b"jsessionid"

    def without(segment: str) -> str:
        name, *parameters = segment.split(";")
        return ";".join([name] + [parameter for parameter in parameters if not is_session(parameter)])

    return url._replace(path="/".join(map(without, url.path.split("/"))))


def fragment(url: Url) -> Url:
    return url if url.fragment and url.fragment[0] in "!/" else url._replace(fragment=None)


def host_rules(url: Url, hosts: Sequence[dict[str, Any]]) -> Url:
    """The rules of the ruleset that are for this host, in order, until the path stays as it is."""
    rules = [rule for rule in hosts if is_for(rule, url.host)]
    while rules:
        before = url.path
        for rule in rules:
            url = host_rule(url, rule)
        if url.path == before:
            break
    return url


def is_for(rule: dict[str, Any], host: str) -> bool:
    own = parse_host(rule["match"])
    return host == own or (bool(rule.get("subdomains")) and host.endswith("." + own))


def host_rule(url: Url, rule: dict[str, Any]) -> Url:
    def listed(piece: str, names: Sequence[str]) -> bool:
        name = percent_decoded(name_of(piece).replace("+", " ")).lower()
        return any(name == each.encode("utf-8").lower() for each in names)

    if url.query:
        given = url.query.split("&")
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


def one_round(text: str, strength: str, hosts: Sequence[dict[str, Any]]) -> str:
    try:
        url = parsed(text)
    except Failure:
        raise UrlRefused("url-invalid") from None
    assert url is not None, "http and https URLs have a host"
    url = stray_percent(url)
    if strength != "exact":
        url = fragment(path_session(query(percent_encoding(url))))
    url = host_rules(url, hosts)
    return (site(url) if strength == "site" else url).text()


def canonical_url(text: str, strength: str = "page", hosts: Sequence[dict[str, Any]] = ()) -> str:
    """The canonical URL; `hosts` are the `[[url.host]]` tables of a ruleset. Raises UrlRefused and NotCheckable."""
    if strength not in STRENGTHS:
        raise ValueError(f"strength {strength!r} is none of {', '.join(STRENGTHS)}")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise UrlRefused("url-too-long")
    scheme = scheme_of(cleaned(text))[0]
    if scheme not in ("http", "https"):
        raise UrlRefused("url-relative" if scheme is None else "url-scheme")
    before, after = text, one_round(text, strength, hosts)
    while before != after:
        before, after = after, one_round(after, strength, hosts)
    if len(after) > MAX_BYTES:
        raise UrlRefused("url-too-long")
    return after


# Credentials, keys-1.md 8.3


def redact(text: str) -> str:
    """`text` without user and password, as receipts show it."""
    if "@" not in text:
        return text
    try:
        url = parsed(text)
    except Failure:
        return cut(text)
    if url is None or not url.host:  # `file:` among them, which has no credentials
        return cut(text)
    return url.text() if url.credentials else text


# The spaces, invisible characters and joiners of text/1: between slashes nobody sees them.
GAP = "\0-\x20\x7f\x85\xa0\xad\u034f\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe0e\ufe0f\ufeff"
GAP += "\U0001d173-\U0001d17a\U000e0001"


def is_address(authority: str) -> bool:
    """Whether this is a host, whatever it is made of, with or without a colon and a port."""
    bracketed = re.match(r"\[[^\]]*\]", authority)
    if authority.startswith("[") and not bracketed:
        return False
    end = bracketed.end() if bracketed else len(authority.partition(":")[0])
    port = re.sub(f"[{GAP}]", "", authority[end:])
    digits = port[1:].lstrip("0")
    return re.fullmatch("(?::[0-9]*)?", port) is not None and len(digits) <= 5 and int(digits or "0") <= 0xFFFF


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
        authority = re.match(r"[^/\\?#]*", rest)
        assert authority is not None
        kept, rest = authority.group().rpartition("@")[2], rest[authority.end() :]
        if "@" in rest and not is_address(kept):
            return out + rest.rpartition("@")[2]
        out += kept
        joined = re.fullmatch(f"[{GAP}]*", kept) is not None and rest[:1] in ("/", "\\")
        found = re.match(gaps, rest) if joined else re.search(run, rest)
    return out + rest


# ── Kinds: one value in, its canonical form out; None is absent ──────────────────────────────────────────────────────

Settings = dict[str, Any]


class Context:
    """What a kind may need beside its value. `problems` gathers the codes that go on the receipt."""

    def __init__(self, record: dict[str, Any] | None = None, url: Settings | None = None, star: bool = False) -> None:
        self.record = record or {}
        self.url = url or {}
        self.star = star
        self.problems: set[str] = set()


def characters(value: Any) -> str:
    """A string as it is, a JSON number as its exact decimal text; other types are refused."""
    if isinstance(value, Number):
        return written_out(value)
    if isinstance(value, str):
        return value
    raise Refused("wrong-type", "takes a string or a number")


_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def prose(value: Any, fold: bool, compatibility: bool, context: Context) -> str:
    """text/1, with the problem `entity-residue` for what looks like a character reference."""
    text = characters(value)
    if _ENTITY.search(text):
        context.problems.add("entity-residue")
    return text_1(text, fold, compatibility)


def kind_text(value: Any, settings: Settings, context: Context) -> Any:
    return prose(value, settings.get("casefold", True), settings.get("compatibility", False), context)


def kind_name(value: Any, settings: Settings, context: Context) -> Any:
    return prose(value, False, settings.get("compatibility", False), context)


def kind_id(value: Any, settings: Settings, context: Context) -> Any:
    return trimmed(compose(known(characters(value))))


def kind_code(value: Any, settings: Settings, context: Context) -> Any:
    return code(characters(value), settings.get("strip_punctuation", False))


def kind_decimal(value: Any, settings: Settings, context: Context) -> Any:
    number = exact(trimmed(value)) if isinstance(value, str) else None
    if number is None:
        raise Refused("bad-number", "not a decimal number") if isinstance(value, str) else Refused("wrong-type")
    if plain(number) is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
    return number


def kind_integer(value: Any, settings: Settings, context: Context) -> Any:
    number = kind_decimal(value, settings, context)
    if number.exponent < 0:
        raise Refused("wrong-type", "a fraction in an integer")
    return number


def kind_boolean(value: Any, settings: Settings, context: Context) -> Any:
    if value is True or value is False:
        return value
    words = {"true": True, "false": False}
    if isinstance(value, Number) or not isinstance(value, str) or trimmed(value) not in words:
        raise Refused("wrong-type", "takes true, false and their names")
    return words[trimmed(value)]


def kind_auto(value: Any, settings: Settings, context: Context) -> Any:
    if value is True or value is False:
        return value
    if isinstance(value, Number):
        return kind_decimal(value, settings, context)
    if isinstance(value, str):
        return prose(value, not context.star, False, context)
    if isinstance(value, list):
        return [canonical(item, None, context) for item in value]
    if isinstance(value, dict):
        return _members(value, {}, context)
    raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)


def kind_list(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, list):
        raise Refused("wrong-type", "takes a list")
    return [canonical(item, _of(settings), context) for item in value]


def kind_set(value: Any, settings: Settings, context: Context) -> Any:
    forms = [form for form in kind_list(value, settings, context) if form is not None]
    return [form for _, form in sorted({canonical_json(form): form for form in forms}.items())]


def kind_object(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, dict):
        raise Refused("wrong-type", "takes an object")
    return _members(value, settings.get("members", {}), context)


def _of(settings: Settings) -> Settings | None:
    of = settings.get("of")
    return {"kind": of} if isinstance(of, str) else of


def _members(value: dict[str, Any], declared: dict[str, Settings], context: Context) -> dict[str, Any]:
    """The present members in canonical form; of several that are refused, the first in canonical order counts."""
    forms = {name: canonical(value[name], declared.get(name), context) for name in sorted(value, key=utf16_order)}
    return {name: form for name, form in forms.items() if form is not None}


# Identifiers with a check digit, keys-1.md 6.1


def _identifier(value: Any, settings: Settings, context: Context, valid: Callable[[str], str | None]) -> str:
    if isinstance(value, Number):
        number = exact(value)
        if number is not None and number.exponent < 0:
            raise Refused("wrong-type", "a fraction in an identifier")
    text = characters(value)
    bare = re.sub("[ _-]", "", text_1(text)).replace("x", "X")
    form = valid(bare)
    if form is None:
        context.problems.add("bad-check-digit")
        return code(text)
    return form


def _weighted(digits: str, weights: Iterable[int]) -> int:
    return sum((10 if d == "X" else int(d)) * w for d, w in zip(digits, weights))


def _ean(digits: str) -> bool:
    """The check digit of ISBN-13 and GTIN: weights 1 and 3 in turn from the right."""
    return _weighted(digits[::-1], (1, 3) * 7) % 10 == 0


def kind_isbn(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> str | None:
        if re.fullmatch("[0-9]{9}[0-9X]", bare) and _weighted(bare, range(10, 0, -1)) % 11 == 0:
            body = "978" + bare[:9]
            return body + str(-_weighted(body, (1, 3) * 6) % 10)
        return bare if re.fullmatch("97(?:8[0-9]|9[1-9])[0-9]{9}", bare) and _ean(bare) else None

    return _identifier(value, settings, context, valid)


def kind_issn(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> str | None:
        good = re.fullmatch("[0-9]{7}[0-9X]", bare) and _weighted(bare, range(8, 0, -1)) % 11 == 0
        return bare if good else None

    return _identifier(value, settings, context, valid)


def kind_gtin(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> str | None:
        good = re.fullmatch("[0-9]{8}|[0-9]{12,14}", bare) and _ean(bare)
        return bare.rjust(14, "0") if good else None

    return _identifier(value, settings, context, valid)


# Money, keys-1.md 6.3; the tables are those of spec/tables/iso4217.json

MINOR_UNITS = {
    0: "BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
        "GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL LTL LVL MAD "
        "MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
        "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SKK SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT "
        "TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VEF VES WST XAD XCD XCG YER ZAR ZMK ZMW ZWG ZWL"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_SIGNS = """
    ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD SBD SGD SRD TTD TWD USD
    UYU XCD: $ ＄; USD: US$ U$S; AUD: A$ AU$; CAD NIO: C$; CAD: CA$; NZD: NZ$; HKD: HK$; SGD: S$; TWD: NT$; MXN: MX$;
    BRL: R$; EUR: €; EGP FKP GBP GIP LBP SDG SHP SSP SYP: £; CNY JPY: ¥ ￥; JPY: 円; CNY HKD TWD: 元; KPW KRW: ₩ 원;
    INR: ₹; INR LKR MUR NPR PKR SCR: ₨ Rs Rs.; RUB: ₽; BYN RUB: руб руб.; UAH: ₴ грн грн.; KZT: ₸; AZN: ₼; GEL: ₾;
    AMD: ֏; BGN: лв лв.; TRY: ₺ TL; ILS: ₪; VND: ₫ đ; PHP: ₱; THB: ฿; NGN: ₦; CRC: ₡; PYG: ₲; MNT: ₮; LAK: ₭; KHR:
    ៛; BDT: ৳; GHS: ₵; AFN: ؋; IRR OMR QAR SAR YER: ﷼; DKK ISK NOK SEK: kr kr.; PLN: zł; CZK: Kč; HUF: Ft; MDL RON:
    lei; CHF: Fr Fr. SFr.; ZAR: R; MYR: RM; IDR: Rp; PEN: S/
"""
CURRENCIES = {currency: units for units, codes in MINOR_UNITS.items() for currency in codes.split(" ")}
SIGNS = {
    sign: re.findall("[A-Z]{3}", codes)
    for codes, _, signs in (entry.partition(":") for entry in _SIGNS.split(";"))
    for sign in re.findall("[^ \n]+", signs)
}
_GROUPS = " \u00a0\u2009\u202f'\u2019"


def currency_of(settings: Settings, context: Context) -> str:
    named = str(settings["currency"])
    if not re.fullmatch("[A-Z]{3}", named):
        member = context.record.get(named)
        named = trimmed(member) if isinstance(member, str) and not isinstance(member, Number) else ""
        named = re.sub("[a-z]", lambda m: m.group().upper(), named)
    if named not in CURRENCIES:
        raise Refused("unknown-currency", f"{named!r} is not in the table")
    return named


def kind_money(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, str):
        raise Refused("wrong-type", "takes a number or a string")
    currency = currency_of(settings, context)
    text = value if isinstance(value, Number) else _amount(trimmed(compose(known(value))), currency, settings)
    amount = exact(text)
    assert amount is not None  # the reader and _amount give no other text
    units = CURRENCIES[currency]
    minor = amount if amount.digits == "0" else amount._replace(exponent=amount.exponent + units)
    if minor.exponent < 0:
        raise Refused("excess-decimals", f"{currency} has {units} decimals")
    if plain(minor) is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits")
    return [currency, minor]


def _amount(text: str, currency: str, settings: Settings) -> str:
    """The decimal text of an amount given as [minus] [mark] [minus] number [mark]."""
    stretch = re.search("[0-9](?:.*[0-9])?", text, re.DOTALL)
    if not stretch or not re.fullmatch(f"[0-9.,{_GROUPS}]+", stretch.group()):
        raise Refused("bad-money", "no amount, or something in it")
    number, before = stretch.group(), text[: stretch.start()]
    minus, mark, late = re.fullmatch("([-\u2212]?)(.*?)([-\u2212]?)", before, re.DOTALL).groups()  # type: ignore[union-attr]
    if (minus and late) or (minus and mark and mark[0] in SPACES):
        raise Refused("bad-money", "a second minus, or a space after it")
    meanings = []
    for each in (trimmed(mark), trimmed(text[stretch.end() :])):
        code_like = re.fullmatch("[A-Za-z]{3}", each) and each.upper() in CURRENCIES
        if each and not code_like and each not in SIGNS:
            raise Refused("bad-money", f"{each!r} is no currency sign")
        meanings.append([each.upper()] if code_like else SIGNS.get(each, [currency]))
    if not all(currency in each for each in meanings):
        raise Refused("currency-conflict", f"the amount does not mean {currency}")
    sign = settings.get("decimal")
    if sign is None and re.search("[.,]", number):
        raise Refused("ambiguous-money", "no decimal sign is declared")
    groups = _GROUPS + {".": ",", ",": ".", None: ""}[sign]
    grouped = f"[1-9][0-9]{{0,2}}([{groups}])[0-9]{{3}}(?:\\2[0-9]{{3}})*"
    shape = re.fullmatch(f"({grouped}|[0-9]+)(?:[{sign or ''}]([0-9]+))?".replace("[]", "(?!)"), number)
    if not shape:
        raise Refused("ambiguous-money", "grouping is wrong")
    return (minus or late).replace("\u2212", "-") + re.sub("[^0-9]", "", shape.group(1)) + "." + (shape.group(3) or "")


# Times and dates, keys-1.md 6.4

_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))"
    r"(?:[Tt ]([0-9]{2})"
    r"(?:(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)|(?:([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]+))?)?))?"
    r"([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?|\x20?[A-Za-z]{1,5})?)?\Z"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MAIL = re.compile(
    r"(?:([A-Za-z]{3}),[ \t]*)?([0-9]{1,2})[ \t]+([A-Za-z]{3})[ \t]+([0-9]{4})[ \t]+"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[ \t]+([+-][0-9]{4}|[A-Za-z]{1,5})\Z"
)


class Instant(NamedTuple):
    """`seconds` since 1970-01-01T00:00:00 on the clock shown, the digits of the fraction, the zone as written."""

    seconds: int
    fraction: str
    zone: str | None
    bare: bool


def _day(year: int, month: int, day: int) -> int | None:
    """Days since 1970-01-01, or None for a date that does not exist."""
    try:
        return dt.date(year, month, day).toordinal() - dt.date(1970, 1, 1).toordinal()
    except ValueError:
        return None


def read_time(text: str) -> Instant | None:
    """A date time of either form or a bare date; None for anything else."""
    iso = _ISO.match(text)
    if iso:
        # each part stands in one of two groups: extended form, basic form
        year, m1, d1, m2, d2, hour, min1, sec1, part1, min2, sec2, part2, zone = iso.groups(default="")
        days = _day(int(year), int(m1 or m2), int(d1 or d2))
        clock = (hour, min1 or min2, sec1 or sec2)
        fraction, bare = part1 or part2, not hour
    else:
        mail = _MAIL.match(text)
        if not mail or mail.group(3).lower() not in _MONTHS:
            return None
        name, day, word, year, hour, minute, second, zone = mail.groups(default="")
        days = _day(int(year), _MONTHS.index(word.lower()) + 1, int(day))
        if days is None or (name and (name.lower() not in _DAYS or (days + 3) % 7 != _DAYS.index(name.lower()))):
            return None
        clock, fraction, bare = (hour, minute, second), "", False
        zone = {"gmt": "Z", "ut": "Z", "z": "?"}.get(zone.lower(), zone)
    hours, minutes, seconds = (int(part or "0") for part in clock)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    return Instant(days * 86400 + hours * 3600 + minutes * 60 + seconds, fraction.rstrip("0"), zone or None, bare)


def _offset(zone: str | None) -> int | str | None:
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
    ordinal = days + dt.date(1970, 1, 1).toordinal()
    if not 1 <= ordinal <= dt.date.max.toordinal():
        return None
    date = dt.date.fromordinal(ordinal)
    out = f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    return out + ("." + fraction if fraction else "") + "Z"


def kind_timestamp(value: Any, settings: Settings, context: Context) -> Any:
    epoch = settings.get("epoch")
    text = value if isinstance(value, str) else ""
    if not text or (isinstance(value, Number) and not epoch):
        raise Refused("wrong-type", "takes a string, and an integer where epoch is declared")
    text = trimmed(text)
    if isinstance(value, Number) or (epoch and re.fullmatch("[+-]?[0-9]+", text)):
        count = kind_integer(value, {}, context)
        ticks = int(plain(count) or "0") if len(plain(count) or "") < 30 else 10**30
        seconds, rest = divmod(ticks, 1000 if epoch == "ms" else 1)
        out = utc_text(seconds, f"{rest:03d}".rstrip("0"))
    else:
        instant = read_time(text)
        if instant is None or instant.bare:
            raise Refused("bad-timestamp", "not a date and time")
        offset = _offset(instant.zone or settings.get("assume_offset"))
        if offset == "unknown":
            raise Refused("no-zone", "no offset from UTC is given")
        out = utc_text(instant.seconds - offset, instant.fraction) if isinstance(offset, int) else None
    if out is None:
        raise Refused("bad-timestamp", "out of range")
    return out


def kind_date(value: Any, settings: Settings, context: Context) -> Any:
    if isinstance(value, Number) or not isinstance(value, str):
        raise Refused("wrong-type", "takes a string")
    date = re.fullmatch("([0-9]{4})(-?)([0-9]{2})\\2([0-9]{2})", trimmed(value))
    if not date or _day(int(date.group(1)), int(date.group(3)), int(date.group(4))) is None:
        raise Refused("bad-date", "not YYYY-MM-DD or YYYYMMDD, or no such day")
    return f"{date.group(1)}-{date.group(3)}-{date.group(4)}"


def read_fetched_at(text: str, assume_offset: str = "Z") -> int | None:
    """Microseconds since 1970 in UTC, read leniently; None for what cannot be read (keys-1.md 10)."""
    instant = read_time(trimmed(text))
    if instant is None:
        return None
    offset = _offset(instant.zone or assume_offset)
    if offset is None or (offset == "unknown" and (instant.zone or "")[:1] not in ("+", "-")):
        return None
    seconds = instant.seconds - (offset if isinstance(offset, int) else 0)
    if utc_text(seconds, "") is None:
        return None
    return seconds * 1000000 + int(instant.fraction[:6].ljust(6, "0"))


def fetched_at_text(micros: int) -> str:
    seconds, rest = divmod(micros, 1000000)
    return utc_text(seconds, f"{rest:06d}".rstrip("0")) or ""


# URLs, keys-1.md 8


def canonical_of(text: str, url: Settings) -> str:
    """The canonical URL at the ruleset's strength, with its host rules. Raises UrlRefused."""
    return canonical_url(text, url.get("strength", "page"), url.get("host", []))


def kind_url(value: Any, settings: Settings, context: Context) -> Any:
    if isinstance(value, Number) or not isinstance(value, str):
        raise Refused("wrong-type", "takes a string")
    while True:
        try:
            return canonical_of(value, context.url)
        except UrlRefused as refusal:
            context.problems.add(refusal.code)
        form = text_1(redact(value), False)
        if form == value:
            return form
        value = form


Kind = Callable[[Any, Settings, Context], Any]
KINDS: dict[str, Kind] = {
    "text": kind_text,
    "name": kind_name,
    "id": kind_id,
    "code": kind_code,
    "isbn": kind_isbn,
    "issn": kind_issn,
    "gtin": kind_gtin,
    "integer": kind_integer,
    "decimal": kind_decimal,
    "money": kind_money,
    "timestamp": kind_timestamp,
    "date": kind_date,
    "boolean": kind_boolean,
    "url": kind_url,
    "list": kind_list,
    "set": kind_set,
    "object": kind_object,
    "auto": kind_auto,
}


def canonical(value: Any, settings: Settings | None, context: Context) -> Any:
    """The canonical form of a value under a field's settings, or None where it is absent. Raises Refused.

    None as settings: `auto`; settings without a kind: `text`. Null and blank strings are absent under every kind.
    """
    if value is None or (isinstance(value, str) and not trimmed(value)):
        return None
    form = KINDS["auto" if settings is None else settings.get("kind", "text")](value, settings or {}, context)
    if form == "" or form == {} or (isinstance(form, list) and all(item is None for item in form)):
        return None
    return form


def from_binary(value: Any, settings: Settings | None, places: int | None = None) -> Any:
    """A value whose numbers spell binary floats, each as the decimal that its field rounds it to (keys-1.md 6)."""
    settings = settings or {}
    places = settings.get("float", {}).get("places", places)
    if isinstance(value, Number) and places is not None and math.isfinite(float(value)):
        exact_value = decimal.Decimal(float(value))
        rounded = exact_value.quantize(decimal.Decimal(1).scaleb(-places), context=decimal.Context(prec=1200))
        return Number(format(rounded, "f"))
    if isinstance(value, list):
        return [from_binary(item, _of(settings), places) for item in value]
    if isinstance(value, dict):
        members = settings.get("members", {})
        return {name: from_binary(item, members.get(name), places) for name, item in value.items()}
    return value


# ── Character references, keys-1.md 6.6 ──────────────────────────────────────────────────────────────────────────────


# What numeric references to 0x80-0x9F mean: the characters of windows-1252, where it has one.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}


def decoded(text: str, attribute: bool) -> str:
    """Every character reference of the HTML Standard once, by the rule for text or for an attribute's value."""

    def one(match: Any) -> str:
        decimal, hexadecimal, name = match.group("decimal"), match.group("hex"), match.group("name")
        if name is None:
            digits = (decimal or hexadecimal).lstrip("0")
            code = 0x110000 if len(digits) > 7 else int(digits or "0", 10 if decimal else 16)
            if _C1.get(code):
                return _C1[code]
            return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
        known = next((name[:end] for end in range(len(name), 0, -1) if name[:end] in html.entities.html5), None)
        rest = match.string[match.start("name") + len(known or "") :]
        if known is None or (attribute and known[-1] != ";" and re.match("[=A-Za-z0-9]", rest)):
            return str(match.group())
        return str(html.entities.html5[known]) + str(name[len(known) :])

    pattern = "&(?:#(?P<decimal>[0-9]+);?|#[xX](?P<hex>[0-9A-Fa-f]+);?|(?P<name>[A-Za-z0-9]{1,32};?))"
    return re.sub(pattern, one, text)


def decoded_value(value: Any, attribute: bool) -> Any:
    """A value with every string in it decoded; member names stay."""
    if isinstance(value, str) and not isinstance(value, Number):
        return decoded(value, attribute)
    if isinstance(value, list):
        return [decoded_value(item, attribute) for item in value]
    if isinstance(value, dict):
        return {name: decoded_value(member, attribute) for name, member in value.items()}
    return value


# ── Rulesets, keys-1.md 7 ────────────────────────────────────────────────────────────────────────────────────────────


_DEFAULTS = {"kind": "text", "casefold": True, "compatibility": False, "strip_punctuation": False}


def _tables(settings: Settings) -> Settings:
    """A field's settings without those at their default, and `of` as a table: what a fingerprint covers."""
    out = {key: value for key, value in settings.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    of = _of(settings)
    if of is not None:
        out["of"] = _tables(of)
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
        self.facts = [self.record[name] for name in ("url", "fetched_at", "source") if name in self.record]

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


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ── Keys of a record, keys-1.md 1, 7, 8 and 9 ────────────────────────────────────────────────────────────────────────


Floats = Sequence[str]  # names of identity fields


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


def identity_of(rules: Ruleset, record: dict[str, Any], context: Context, floats: Floats = ()) -> dict[str, Any]:
    """The present identity fields in canonical form. Raises Refused with the field's name."""
    names = rules.identity
    if names == "*":
        names = [name for name in record if name not in (*rules.volatile, *rules.facts, "_seen")]
    forms: dict[str, Any] = {}
    for name in sorted(names or [], key=utf16_order):
        value = record.get(name)
        if name in rules.decodes:
            value = decoded_value(value, attribute=rules.fields.get(name, {}).get("kind") == "url")
        if name in floats:
            value = from_binary(value, rules.fields.get(name))
        try:
            form = canonical(value, rules.fields.get(name), context)
        except Refused as refusal:
            raise Refused(refusal.code, refusal.detail, name) from None
        if form is not None:
            forms[name] = form
    return forms


def float_reading(rules: Ruleset, record: dict[str, Any], content_key: str | None) -> Floats:
    """The fields whose numbers must have been binary floats to give that key: a record's text doesn't say so.

    Only fields that say how floats are rounded are in question; all or none of them where they are more than eight.
    """

    def number_in(value: Any) -> bool:
        parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        return isinstance(value, Number) or any(map(number_in, parts))

    covered = rules.fields if rules.identity == "*" else [name for name in rules.identity or [] if name in rules.fields]
    names = [name for name in covered if "float" in str(rules.fields[name]) and number_in(record.get(name))]
    if not names:
        return ()
    sizes = range(len(names), 0, -1) if len(names) <= 8 else [len(names)]
    for floats in [(), *(chosen for size in sizes for chosen in itertools.combinations(sorted(names), size))]:
        try:
            forms = identity_of(rules, record, Context(record, rules.url, rules.identity == "*"), floats)
        except Refused:
            continue
        if content_key == f"{rules.label}:{sha256(canonical_json(forms))}":
            return floats
    return ()


def payload_of(rules: Ruleset, record: dict[str, Any]) -> bytes | None:
    """The payload's bytes, or None where the ruleset names a member and the record has none."""
    if rules.payload is None:
        left_out = (*rules.volatile, *rules.facts, "_seen")
        return canonical_json({name: record[name] for name in record if name not in left_out}, long_numbers=True)
    text = record.get(rules.payload)
    if text is None or (text == "" and isinstance(text, str)):
        return None
    if isinstance(text, Number) or not isinstance(text, str):
        raise Refused("wrong-type", "a payload is a string", rules.payload)
    if not rules.base64:
        return text.encode("utf-8")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        data = b""
    if base64.b64encode(data).decode("ascii") != text:  # padding, alphabet and unused bits are as RFC 4648 wants them
        raise Refused("bad-base64", "not base64 of RFC 4648 section 4", rules.payload)
    return data


def host_of(canonical_exact: str) -> str:
    authority = re.split("[/?#]", canonical_exact.partition("://")[2], maxsplit=1)[0]
    return re.sub(":[0-9]*$", "", authority)


def keys_of(
    rules: Ruleset,
    record: dict[str, Any],
    url: str | None = None,
    source: str | None = None,
    fetched_at: str | None = None,
    input_name: str | None = None,
    floats: Floats = (),
) -> Keys:
    """All keys and facts of a record; `url`, `source` and `fetched_at` stand in where it has none of its own.

    Numbers in the fields `floats` spell binary floats.
    """
    context = Context(record, rules.url, rules.identity == "*")
    forms = identity_of(rules, record, context, floats)
    payload = payload_of(rules, record)
    digest = None if payload is None else sha256(payload)
    content: str | None = None
    if not rules.identity:
        content = None if rules.payload is None and payload == b"{}" else digest
    elif forms and all(name in forms for name in rules.require):
        content = sha256(canonical_json(forms))
    if content is None and rules.actions.get("unkeyed") == "refuse":
        raise Refused("no-identity")

    address = _fact(rules, record, "url", url)
    shown: str | None = None
    place: str | None = None
    host = ""
    if isinstance(address, str) and not isinstance(address, Number):
        shown = redact(address)
        try:
            place = canonical_of(address, rules.url)
            host = host_of(canonical_url(address, "exact"))
        except UrlRefused as refusal:
            context.problems.add(refusal.code)
    elif address is not None:
        context.problems.add("url-invalid")

    when = _fact(rules, record, "fetched_at", fetched_at)
    micros: int | None = None
    if when is not None:
        readable = isinstance(when, str) and not isinstance(when, Number)
        micros = read_fetched_at(when, rules.record.get("assume_offset", "Z")) if readable else None
        if micros is None:
            context.problems.add("bad-fetched-at")

    return Keys(
        content and f"{rules.label}:{content}",
        place and f"{rules.label}:url:{sha256(place.encode('utf-8'))}",
        digest,
        sorted(context.problems),
        shown,
        place,
        _source(rules, record, source) or host or (input_name or "").rpartition("/")[2] or None,
        micros,
    )


def _fact(rules: Ruleset, record: dict[str, Any], name: str, given: str | None) -> Any:
    """The record's own value of a fact, else the one given; blank is none."""
    member = rules.record.get(name)
    for own, value in ((True, record.get(member) if member is not None else None), (False, given)):
        if value is not None and not (isinstance(value, str) and not trimmed(value)):
            return decoded_value(value, attribute=True) if own and member in rules.decodes else value
    return None


def _source(rules: Ruleset, record: dict[str, Any], given: str | None) -> str | None:
    value = record.get(rules.record["source"]) if "source" in rules.record else None
    if isinstance(value, Number):
        try:
            value = written_out(value)
        except Refused:  # a fact that cannot be written out is none: facts refuse no record
            value = None
    return (trimmed(value) if isinstance(value, str) else "") or trimmed(given or "") or None


# ── Verdicts and receipts, verdicts-1.md and receipt-1.md ────────────────────────────────────────────────────────────


def ordered_json(members: dict[str, Any]) -> bytes:
    """Exact canonical JSON, but with the members of the outermost and of nested objects in the order given."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(json_string(name) + ":" + written(value[name]) for name in value) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(written, value)) + "]"
        return _written(value, long_numbers=False)

    return written(members).encode("utf-8")


def verdict(content_seen: bool, url_given: bool, url_seen: bool, same_content: bool) -> str:
    """The verdict table for a record that has a content key. `same_content`: it is the URL's latest."""
    if not url_given or not url_seen:
        return "new" if not content_seen else "syndicated" if url_given else "duplicate"
    return "duplicate" if same_content else "changed"


def action(rules: Ruleset, word: str, seen_before: bool) -> str:
    """What is done with a record of that verdict."""
    wanted = "skip" if word == "duplicate" else rules.actions.get(word, "keep")
    return "skip" if wanted == "skip" and seen_before else "keep"


REFUSALS = _words(
    "invalid-utf8 invalid-json unpaired-surrogate repeated-member too-deep not-an-object line-too-long ragged-row "
    "invalid-csv invalid-encoding seen-member float number-too-long bad-number wrong-type bad-money ambiguous-money "
    "excess-decimals unknown-currency currency-conflict no-zone bad-timestamp bad-date bad-base64 no-identity"
)
PROBLEMS = _words("bad-check-digit bad-fetched-at entity-residue url-invalid url-relative url-scheme url-too-long")


class Fault(Exception):
    """A line that is not what it must be: the member at fault, what must stand there, what does."""

    def __init__(self, member: str, expected: Any, found: Any) -> None:
        super().__init__(member)
        self.member, self.expected, self.found = member, expected, found


def ordinal(value: Any) -> bool:
    return isinstance(value, Number) and re.fullmatch("[1-9][0-9]{0,18}", value) is not None


def textual(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not isinstance(value, Number))


def time_text(value: Any) -> bool:
    micros = read_fetched_at(value) if value is not None and textual(value) else None
    return value is None or (micros is not None and fetched_at_text(micros) == value)


def digest_text(value: Any) -> bool:
    return value is None or (textual(value) and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None)


def key_text(value: Any, label: str, infix: str) -> bool:
    return value is None or (
        textual(value) and value.startswith(label + infix + ":") and digest_text(value[len(label + infix) + 1 :])
    )


def sighting(value: Any) -> bool:
    forms = (("run", ordinal), ("seq", ordinal), ("url", textual), ("fetched_at", time_text))
    return value is None or (
        isinstance(value, dict)
        and list(value) == [name for name, _ in forms]
        and all(form(value[name]) for name, form in forms)
    )


Form = tuple[str, str, Callable[[Any], bool]]


def one_of(*words: Any) -> Callable[[Any], bool]:
    return lambda value: (
        not isinstance(value, Number)
        and any(value is word or (value == word and isinstance(value, str)) for word in words)
    )


def object_of(line: bytes) -> dict[str, Any]:
    """A line of JSON. Raises Fault."""
    try:
        return read_record(line, LONGEST)
    except Refused as refusal:
        raise Fault("line", "one JSON object", str(refusal)) from None


def typed(members: dict[str, Any], forms: Sequence[Form]) -> None:
    """Passes where the first members are those of `forms`, in that order. Raises Fault."""
    for at, (name, expected, form) in enumerate(forms):
        found = list(members)[at : at + 1]
        if found != [name]:
            raise Fault(name, f"the member {name}", f"the member {found[0]}" if found else "no further member")
        if not form(members[name]):
            raise Fault(name, expected, members[name])


def formed(members: dict[str, Any], forms: Sequence[Form], line: bytes) -> dict[str, Any]:
    """`members`, if they are exactly those of `forms` in that order and spelling. Raises Fault."""
    typed(members, forms)
    if len(members) > len(forms):
        raise Fault("line", "no further member", f"the member {list(members)[len(forms)]}")
    try:
        written = ordered_json(members)
    except Refused as refusal:
        raise Fault("spelling", "numbers as they are", str(refusal)) from None
    if written != line:
        at = next((at for at, (a, b) in enumerate(zip(written, line)) if a != b), min(len(written), len(line)))
        around = slice(max(0, at - 20), at + 40)
        raise Fault("spelling", written[around].decode("utf-8", "replace"), line[around].decode("utf-8", "replace"))
    return members


def read_receipt(line: bytes, runs: dict[str, Ruleset]) -> dict[str, Any]:
    """A receipt, strictly as receipt-1.md section 1 has it. Raises Fault."""
    members = object_of(line)
    name: list[Form] = [("run", "a whole number from 1", ordinal), ("seq", "a whole number from 1", ordinal)]
    typed(members, name)
    if members["run"] not in runs:
        raise Fault("run", "a run of those named", members["run"])
    label = runs[members["run"]].label
    name.append(("input", "text or null", textual))
    if members.get("verdict") == "refused":
        return formed(
            members,
            [
                *name,
                ("line", "a whole number from 1", ordinal),
                ("verdict", "refused", one_of("refused")),
                ("action", "refuse", one_of("refuse")),
                ("code", ", ".join(REFUSALS), one_of(*REFUSALS)),
                ("sha256", "a digest", lambda value: value is not None and digest_text(value)),
            ],
            line,
        )

    def problems(value: Any) -> bool:
        return isinstance(value, list) and value == [code for code in PROBLEMS if code in value]

    no_input = members.get("input") is None
    return formed(
        members,
        [
            *name,
            ("line", "a whole number from 1", one_of(None) if no_input else ordinal),
            ("source", "text or null", textual),
            ("url", "text or null", textual),
            ("url_key", f"{label}:url:sha256:<64 hex digits>", lambda value: key_text(value, label, ":url")),
            ("fetched_at", "a time in UTC", time_text),
            ("payload_digest", "sha256:<64 hex digits>", digest_text),
            ("content_key", f"{label}:sha256:<64 hex digits>", lambda value: key_text(value, label, "")),
            ("verdict", "a verdict", one_of("new", "changed", "syndicated", "duplicate", "unkeyed")),
            ("action", "keep, skip", one_of("keep", "skip")),
            ("seen_before", "true or false", one_of(True, False)),
            ("matched_on", "payload, content", one_of("payload", "content", None)),
            ("refers_to", "a sighting", sighting),
            ("previous", "a sighting", sighting),
            ("problems", "known codes, sorted", problems),
        ],
        line,
    )


def read_prior(line: bytes) -> dict[str, Any]:
    """A line of prior state, strictly as bundle-1.md section 4 has it. Raises Fault."""
    members = object_of(line)
    key = members.get("content_key")
    label = key.partition(":")[0] if textual(key) and key else ""
    formed(
        members,
        [
            ("run", "a whole number from 1", ordinal),
            ("seq", "a whole number from 1", ordinal),
            ("url", "text or null", textual),
            ("url_key", f"{label}:url:sha256:<64 hex digits>", lambda value: key_text(value, label, ":url")),
            ("fetched_at", "a time in UTC", time_text),
            ("payload_digest", "sha256:<64 hex digits>", digest_text),
            (
                "content_key",
                "<label>:sha256:<64 hex digits>",
                lambda value: value is not None and key_text(value, label, ""),
            ),
            ("first", "true or false", one_of(True, False)),
            ("first_seen", "a time in UTC", time_text),
            ("latest", "true or false", one_of(True, False)),
        ],
        line,
    )
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
        this, alone = self.seen(prior), True
        if prior["first"]:
            alone = this.content_key not in self.first
            self.first[this.content_key] = this
            self.first_seen[this.content_key] = micros_of(prior["first_seen"])
        if prior["latest"]:
            alone = alone and prior["url_key"] not in self.latest
            self.latest[prior["url_key"]] = this
        return alone

    @staticmethod
    def seen(line: dict[str, Any]) -> Remembered:
        shown = {name: line[name] for name in ("run", "seq", "url", "fetched_at")}
        return Remembered(shown, line["payload_digest"], line["content_key"])

    def step(self, rules: Ruleset, stated: dict[str, Any]) -> dict[str, Any]:
        """What the table gives for a receipt; then its sighting is remembered."""
        key, url_key = stated["content_key"], stated["url_key"]
        if key is None:
            done = "refuse" if rules.actions.get("unkeyed") == "refuse" else "keep"
            nothing = {"seen_before": False, "matched_on": None, "refers_to": None, "previous": None}
            return {"verdict": "unkeyed", "action": done, **nothing}
        first, latest = self.first.get(key), self.latest.get(url_key or "")
        same = latest is not None and latest.content_key == key
        word = verdict(first is not None, url_key is not None, latest is not None, same)
        equal = (
            first is not None and first.payload_digest is not None and first.payload_digest == stated["payload_digest"]
        )
        this = self.seen(stated)
        self.first.setdefault(key, this)
        times = [time for time in (self.first_seen.get(key), micros_of(stated["fetched_at"])) if time is not None]
        self.first_seen[key] = min(times) if times else None
        if url_key is not None:
            self.latest[url_key] = this
        return {
            "verdict": word,
            "action": action(rules, word, first is not None),
            "seen_before": first is not None,
            "matched_on": None if first is None else "payload" if equal else "content",
            "refers_to": first and first.shown,
            "previous": latest.shown if latest is not None and word == "changed" else None,
        }


def micros_of(time: str | None) -> int | None:
    return None if time is None else read_fetched_at(time)


# ── What was found ───────────────────────────────────────────────────────────────────────────────────────────────────

CHECKS = _words("layout manifest tag-manifest signature package rulesets runs prior receipts urls replay rows keys")
SHOWN = 20  # problems of one check that are listed for people; all are counted, and --json lists more
LISTED = 1000
LONGEST = 256 * 1024 * 1024  # bytes of the longest line that is read
SMALL = 64 * 1024 * 1024  # most bytes of a file that is read as a whole
AHEAD = 64  # how far on a row or a receipt is looked for that has no partner in its place
NOT_SHIPPED = "records that were not kept are not here, so their keys can't be recomputed"
GIVEN = "a fact that the caller gave: it stands on the receipt alone"
CUT_URL = "a URL without a key is shown without credentials, and may have been another"


class Unusable(Exception):
    """There is no bundle to be checked."""


def short(value: Any) -> str:
    """What a report shows of a value: its text, or its JSON, and of a long one the beginning."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else text[:300] + " …"


def harmless(value: Any) -> str:
    """Text for a terminal: what acts on one is written as its code point, and long text is cut."""
    text = short(value)
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


class Report:
    """All problems, and for each check how many things passed, failed, or could not be checked here and why."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.failed: dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.unchecked: dict[str, dict[str, int]] = {check: {} for check in CHECKS}
        self.problems: list[dict[str, Any]] = []

    def good(self, check: str, count: int = 1) -> None:
        self.passed[check] += count

    def problem(self, check: str, file: str, line: int | None, what: str, expected: Any, found: Any) -> None:
        self.failed[check] += 1
        if self.failed[check] <= LISTED:
            facts = {"check": check, "file": file, "line": line, "what": short(what)}
            self.problems.append({**facts, "expected": short(expected), "found": short(found)})

    def cannot(self, check: str, reason: str, count: int = 1) -> None:
        self.unchecked[check][reason] = self.unchecked[check].get(reason, 0) + count

    def outcome(self, check: str) -> str:
        if self.failed[check]:
            return "failed"
        if self.passed[check]:
            return "passed"
        return "not checkable" if self.unchecked[check] else "nothing to check"

    def members(self, folder: str) -> dict[str, Any]:
        return {
            "kind": "bundle",
            "path": folder,
            "outcome": "failed" if any(self.failed.values()) else "passed",
            "checks": {
                check: {
                    "outcome": self.outcome(check),
                    "passed": self.passed[check],
                    "failed": self.failed[check],
                    "not_checkable": self.unchecked[check],
                }
                for check in CHECKS
            },
            "problems": self.problems,
        }

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
        report.good("layout", len(self.names))
        self.files = {name: self._digest(name) for name in sorted(self.names)}

    def _walk(self) -> Iterator[str]:
        """Regular files; links, devices, hard links and folders that do not belong are problems."""
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
                    kinds = (
                        (stat.S_ISLNK, "a link"),
                        (stat.S_ISDIR, "a folder"),
                        (stat.S_ISREG, "a file with other names"),
                    )
                    found = next((word for test, word in kinds if test(mode)), "a device or pipe")
                    self.report.problem("layout", name, None, "file", "a regular file, once", found)

    def _parts(self, stem: str, names: set[str]) -> list[str]:
        """The parts of a growing file in their order: one without number, or all from 1; all compressed, or none."""
        found = [
            (int(match.group(2) or 0), match.group(3) or "", name)
            for name in names
            for match in [PART.fullmatch(name)]
            if match and match.group(1) == stem
        ]
        found.sort()
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
        """A small file; a larger one is cut, and then differs from what is expected of it."""
        with opened(os.path.join(self.folder, name)) as file:
            data: bytes = file.read(SMALL)
        return data

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
        if name not in self.names:
            return
        found, failed = self.whole(name), self.report.failed[check]
        if found == expected:
            self.report.good(check, expected.count(b"\n"))
            return

        def subject(line: str) -> str:
            return line.partition(sign)[2 if sign == "  " else 0]

        given = found.decode("utf-8", "backslashreplace").split("\n")
        given = given[:-1] if given[-1] == "" else given
        numbers = {line: number for number, line in enumerate(given, 1)}
        others = {subject(line): line for line in given}
        wanted = expected.decode().splitlines()
        for line in wanted:
            other = others.get(subject(line))
            if line in numbers:
                self.report.good(check)
            elif other is None:
                self.report.problem(check, name, None, f"the line for {subject(line)}", line, "no such line")
            elif sign == "  ":
                stated = f"{other.partition(sign)[0]} ({name}, line {numbers[other]})"
                self.report.problem(check, subject(line), None, "SHA-256", stated, line.partition(sign)[0])
            else:
                self.report.problem(check, name, numbers[other], subject(line), line, other)
        subjects = set(map(subject, wanted))
        for line in given:
            if subject(line) not in subjects:
                self.report.problem(check, name, numbers[line], "line", "none such", line)
        if self.report.failed[check] == failed:
            self.report.problem(
                check, name, None, "bytes", "lines sorted by path, each once, each with an LF", "others"
            )

    def lines(self, stem: str, check: str, unpacked: str | None) -> Iterator[tuple[str, int, bytes]]:
        """The lines of the parts of a file: part, number in it, bytes without LF. Unsound parts are problems."""
        for name in self.parts[stem]:
            if name not in self.names:
                continue
            with self._plain(name, unpacked) as file:
                number = 0
                try:
                    for line in iter(lambda: file.readline(LONGEST + 1), b""):
                        number += 1
                        if not line.endswith(b"\n"):
                            too_long = len(line) > LONGEST
                            what, wanted = (
                                ("length", f"at most {LONGEST:,} bytes") if too_long else ("end of the file", "LF")
                            )
                            self.report.problem(
                                check,
                                name,
                                number,
                                what,
                                wanted,
                                "more" if too_long else line[-20:].decode("utf-8", "replace"),
                            )
                            break
                        yield name, number, line[:-1]
                except (OSError, EOFError, ValueError) as error:
                    self.report.problem(check, name, number + 1, "compressed data", "whole frames", str(error))

    def compressed(self) -> bool:
        return any(name.endswith(".zst") for parts in self.parts.values() for name in parts)

    def _plain(self, name: str, unpacked: str | None) -> Any:
        if not name.endswith(".zst"):
            return opened(os.path.join(self.folder, name))
        if unpacked is not None:
            return opened(os.path.join(unpacked, os.path.basename(name)[:-4]))
        return zstd.open(opened(os.path.join(self.folder, name)), "rb")


# ── Checking a bundle, bundle-1.md section 7 ─────────────────────────────────────────────────────────────────────────


def small_object(data: bytes) -> dict[str, Any]:
    """A small JSON object; an empty one for anything else, which then lacks what is looked for."""
    try:
        return read_record(data[:-1] if data.endswith(b"\n") else data, SMALL)
    except Refused:
        return {}


def reason_of(reason: NotCheckable) -> str:
    """Why something can't be checked, without which character or host it was."""
    if "UTS #46" in str(reason):
        return "hosts beyond ASCII need UTS #46, which Python's library has not"
    return (
        f"characters are not the same in this Python's Unicode {unicodedata.unidata_version} and in {UNICODE_VERSION}"
    )


def canonical_line(value: Any) -> bytes:
    """Exact canonical JSON and LF; nothing for a value that has no such form."""
    try:
        return canonical_json(value) + b"\n"
    except Refused:
        return b""


def plain_value(value: Any) -> Any:
    """A value as a TOML reader would have given it: numbers as int."""
    if isinstance(value, Number):
        return int(value) if re.fullmatch("-?[0-9]{1,18}", value) else value
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    return {name: plain_value(item) for name, item in value.items()} if isinstance(value, dict) else value


Wrong = list[tuple[str, Any, Any]]  # what, expected, found


class Row:
    """A kept row: where it stands, its bytes, and what is read from them, once."""

    def __init__(self, file: str, line: int, data: bytes) -> None:
        self.file, self.line, self.data = file, line, data
        self.parsed: Parsed | None = None
        self.fault = ""
        self.digests: dict[str, str | None] = {}
        try:
            self.parsed = read_parts(data, LONGEST)
        except Refused as refusal:
            self.fault = str(refusal)

    def record(self) -> dict[str, Any]:
        record = {} if self.parsed is None else self.parsed.record
        return {member: value for member, value in record.items() if member != "_seen"}

    def digest(self, rules: Ruleset) -> str | None:
        """The payload digest; None also where the ruleset refuses the payload."""
        if rules.label not in self.digests:
            try:
                payload = payload_of(rules, self.record())
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
        stated, when = self.stated, self.first_seen
        return {
            "sha256": stated["payload_digest"],
            "content_key": stated["content_key"],
            "verdict": stated["verdict"],
            "seen_before": stated["seen_before"],
            "first_seen": None if when is None or stated["content_key"] is None else fetched_at_text(when),
            "refers_to": stated["refers_to"],
        }


class Checker:
    """Everything about one bundle."""

    def __init__(self, folder: str, unpacked: str | None) -> None:
        self.report = Report()
        self.bag = Bag(folder, self.report)
        self.unpacked = unpacked
        self.runs: dict[str, Ruleset] = {}
        self.stated_runs: dict[str, tuple[int, dict[str, Any]]] = {}
        self.counts: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.digests: dict[str, Any] = {}
        self.replay = Replay()
        self.expected: collections.deque[Expected] = collections.deque()
        self.rows: collections.deque[Row] = collections.deque()
        self.missing: collections.deque[Expected] = collections.deque(maxlen=AHEAD)
        self.before: Row | None = None
        self.keyed: dict[tuple[str, str], Any] = {}

    def check(self) -> Report:
        self.bag.check_tags()
        self.signature()
        self.package()
        self.rulesets_and_runs()
        if self.bag.compressed() and zstd is None and self.unpacked is None:
            reason = "this Python has no Zstandard: unpack the files elsewhere and name that folder with --unpacked"
            for check in ("prior", "receipts", "urls", "replay", "rows", "keys"):
                self.report.cannot(check, reason)
            return self.report
        self.prior()
        rows = self.bag.lines("rows", "rows", self.unpacked)
        for file, number, line in self.bag.lines("receipts", "receipts", self.unpacked):
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
        members = small_object(self.bag.whole("signature.json"))
        facts = {"algorithm": "ed25519", "signs": "manifest-sha256.txt"}
        hexes = {"public_key": "[0-9a-f]{64}", "signature": "[0-9a-f]{128}"}
        good = set(members) == {*facts, *hexes} and all(members[name] == value for name, value in facts.items())
        good = good and all(
            textual(members[name]) and re.fullmatch(form, members[name] or "") for name, form in hexes.items()
        )
        if good and canonical_line(members) == self.bag.whole("signature.json"):
            reason = (
                f"Python's library has no Ed25519; `seenbefore verify` checks it: by the key {members['public_key']}"
            )
            self.report.cannot("signature", reason)
        else:
            self.report.problem("signature", "signature.json", 1, "form", "as bundle-1.md section 6 has it", members)

    def package(self) -> None:
        name, names = "data/datapackage.json", ["prior", "receipts", "rows", "ruleset", "runs"]
        if name not in self.bag.names:
            return
        given = small_object(self.bag.whole(name)).get("resources")
        resources = given if isinstance(given, list) and all(isinstance(one, dict) for one in given) else []
        if [one.get("name") for one in resources] != names:
            self.report.problem(
                "package", name, 1, "resources", ", ".join(names), [one.get("name") for one in resources]
            )
            return
        for one in resources:
            files = self.bag.parts.get(one["name"]) or [
                file for file in WHOLE if file.partition(".")[0] == "data/" + one["name"]
            ]
            if not set(files) <= self.bag.names:
                continue
            paths = [file[5:] for file in files]
            digest = "sha256:" + self.bag.files[files[0]][1] if len(files) == 1 else None
            size = str(sum(self.bag.files[file][0] for file in files))
            facts = {"path": paths[0] if len(files) == 1 else paths, "bytes": size, "hash": digest}
            wrong = [fact for fact in facts if one.get(fact) != facts[fact]]
            for fact in wrong:
                self.report.problem("package", name, 1, f"{fact} of {one['name']}", facts[fact], one.get(fact))
            self.report.good("package", not wrong)

    def rulesets_and_runs(self) -> None:
        rulesets: dict[tuple[Any, Any], Ruleset] = {}
        name = "data/ruleset.json"
        if name in self.bag.names:
            data = self.bag.whole(name)
            document = small_object(data)
            entries = document.get("rulesets")
            if document.get("format") != FORMAT or not isinstance(entries, list) or canonical_line(document) != data:
                self.report.problem(
                    "rulesets",
                    name,
                    1,
                    "form",
                    f"canonical JSON of format {FORMAT}",
                    data[:100].decode("utf-8", "replace"),
                )
            for at, entry in enumerate(entries if isinstance(entries, list) else [], 1):
                wanted = ["configuration", "fingerprint", "label", "settings", "unicode"]
                if not isinstance(entry, dict) or sorted(entry) != wanted or not isinstance(entry["settings"], dict):
                    self.report.problem("rulesets", name, 1, f"ruleset {at}", ", ".join(wanted), entry)
                elif entry["unicode"] != UNICODE_VERSION:
                    self.report.cannot("rulesets", f"keys of Unicode {entry['unicode']}: this checks {UNICODE_VERSION}")
                else:
                    rules = self.ruleset(name, entry)
                    if rules is not None:
                        rulesets[str(entry["label"]), str(entry["configuration"])] = rules
        forms: list[Form] = [
            ("run", "a whole number from 1", ordinal),
            ("ruleset", "text", lambda value: textual(value) and value is not None),
            ("configuration", "text", lambda value: textual(value) and value is not None),
            ("state", "finished, abandoned", one_of("finished", "abandoned")),
            ("records", "a whole number", lambda value: ordinal(value) or value == "0"),
            ("receipts_sha256", "a digest", lambda value: value is not None and digest_text(value)),
            ("link", "a whole number from 1, or null", lambda value: value is None or ordinal(value)),
            ("previous", "a digest or null", digest_text),
            ("chain", "a digest or null", digest_text),
            ("inputs", "a list", lambda value: isinstance(value, list)),
        ]
        name, last_run = "data/runs.ndjson", 0
        for number, line in enumerate(self.bag.whole(name).split(b"\n")[:-1] if name in self.bag.names else [], 1):
            try:
                run = formed(object_of(line), forms, line)
            except Fault as fault:
                self.report.problem("runs", name, number, fault.member, fault.expected, fault.found)
                continue
            rules = rulesets.get((run["ruleset"], run["configuration"]))
            finished = run["state"] == "finished"
            if (
                (run["link"] is None) is finished
                or (run["chain"] is None) is finished
                or (run["previous"] is None) is (finished and run["link"] != "1")
            ):
                self.report.problem(
                    "runs", name, number, "chain", "link, chain and previous of a finished run", run["state"]
                )
            elif int(run["run"]) <= last_run:
                self.report.problem("runs", name, number, "order", "runs by their numbers", run["run"])
            elif rules is None:
                self.report.problem(
                    "runs", name, number, f"ruleset of run {run['run']}", "one that is there", run["ruleset"]
                )
            else:
                self.runs[run["run"]], self.stated_runs[run["run"]] = rules, (number, run)
                self.counts[run["run"]] = self.last[run["run"]] = 0
                self.digests[run["run"]], last_run = hashlib.sha256(), int(run["run"])

    def ruleset(self, file: str, entry: dict[str, Any]) -> Ruleset | None:
        settings = plain_value(entry["settings"])
        try:
            rules = Ruleset(settings)
            facts = {"label": rules.label, "fingerprint": rules.fingerprint()}
        except (KeyError, AttributeError, TypeError, ValueError, Refused) as error:
            self.report.problem(
                "rulesets", file, 1, f"settings of {entry['label']}", "a ruleset", f"{type(error).__name__}: {error}"
            )
            return None
        wrong = [fact for fact in facts if entry[fact] != facts[fact]]
        for fact in wrong:
            self.report.problem("rulesets", file, 1, f"{fact} of {rules.label}", facts[fact], entry[fact])
        self.report.good("rulesets", not wrong)
        return rules

    def prior(self) -> None:
        last: dict[str, int] = {}
        for file, number, line in self.bag.lines("prior", "prior", self.unpacked):
            try:
                prior = read_prior(line)
            except Fault as fault:
                self.report.problem("prior", file, number, fault.member, fault.expected, fault.found)
                continue
            run, seq = prior["run"], int(prior["seq"])
            faults = (
                [("order", f"one behind {run}:{last.get(run, 0)}", f"{run}:{seq}")] if seq <= last.get(run, 0) else []
            )
            faults += [("run", "an earlier run", "a run whose receipts are here")] if run in self.runs else []
            faults += (
                []
                if self.replay.remember(prior)
                else [("sighting", "one first and one latest for each key", "another one")]
            )
            for what, expected, found in faults:
                self.report.problem("prior", file, number, f"{what} of {run}:{seq}", expected, found)
            last[run] = seq
            self.report.good("prior", not faults)

    def receipt(self, file: str, number: int, line: bytes) -> None:
        try:
            stated = read_receipt(line, self.runs)
        except Fault as fault:
            self.report.problem("receipts", file, number, fault.member, fault.expected, fault.found)
            run = re.match(rb'\{"run":([0-9]+),', line)
            if run and run.group(1).decode() in self.runs:
                self.count(run.group(1).decode(), line)
            return
        self.report.good("receipts")
        run, name = stated["run"], f"{stated['run']}:{stated['seq']}"
        self.count(run, line)
        if self.last[run] == int(stated["seq"]):
            self.report.good("runs")
        else:
            self.report.problem("runs", file, number, f"seq of run {run}", f"{run}:{self.last[run]}", name)
            self.last[run] = int(stated["seq"])
        if stated["verdict"] == "refused":
            self.report.cannot("keys", NOT_SHIPPED)
            return
        rules = self.runs[run]
        self.url(rules, stated, file, number)
        given = self.replay.step(rules, stated)
        wrong = [member for member in given if stated[member] != given[member]]
        for member in wrong:
            self.report.problem("replay", file, number, f"{member} of {name}", given[member], stated[member])
        self.report.good("replay", not wrong)
        if stated["action"] == "keep":
            self.expected.append(
                Expected(rules, stated, self.replay.first_seen.get(stated["content_key"] or ""), file, number)
            )
        else:
            self.report.cannot("keys", NOT_SHIPPED)

    def count(self, run: str, line: bytes) -> None:
        self.counts[run] += 1
        self.last[run] += 1
        self.digests[run].update(line + b"\n")

    def url(self, rules: Ruleset, stated: dict[str, Any], file: str, number: int) -> None:
        """The URL key of a receipt is that of its URL."""
        url, stated_key = stated["url"], stated["url_key"]
        if url is None and stated_key is None:
            return
        try:
            key = None if url is None else self.url_key(rules, url)
        except NotCheckable as reason:
            self.report.cannot("urls", reason_of(reason))
            return
        if key == stated_key:
            self.report.good("urls")
        elif stated_key is None and any(code.startswith("url-") for code in stated["problems"]):
            self.report.cannot("urls", CUT_URL)
        else:
            self.report.problem("urls", file, number, f"URL key of {stated['run']}:{stated['seq']}", key, stated_key)

    def url_key(self, rules: Ruleset, url: str) -> str | None:
        if len(self.keyed) > 100_000:
            self.keyed.clear()
        if (rules.label, url) not in self.keyed:
            try:
                canonical_form = canonical_of(url, rules.url).encode("utf-8")
                self.keyed[rules.label, url] = f"{rules.label}:url:{sha256(canonical_form)}"
            except UrlRefused:
                self.keyed[rules.label, url] = None
        found: str | None = self.keyed[rules.label, url]
        return found

    # Rows

    def next_row(self, rows: Iterator[tuple[str, int, bytes]]) -> bool:
        row = next(rows, None)
        if row is not None:
            self.rows.append(Row(*row))
        return row is not None

    def pair(self) -> None:
        """Checks the next row against the next receipt that asks for one; looks further on where they are no pair."""
        expected, row = self.expected[0], self.rows[0]
        if not self.is_of(expected, row):
            for distance in range(1, AHEAD + 1):
                if distance < len(self.expected) and self.is_of(self.expected[distance], row):
                    for _ in range(distance):
                        self.absent(self.expected.popleft())
                    return
                if distance < len(self.rows) and self.is_of(expected, self.rows[distance]):
                    for _ in range(distance):
                        self.surplus(self.rows.popleft())
                    return
        self.expected.popleft()
        self.before = self.rows.popleft()
        if row.parsed is None:
            self.report.problem("rows", row.file, row.line, f"row of {expected.name()}", "one JSON object", row.fault)
            return
        seen = self.seen_problems(expected, row.parsed)
        keys, reason = self.key_problems(expected, row)
        for check, problems in (("rows", seen), ("keys", keys)):
            for what, wanted, found in problems:
                self.report.problem(check, row.file, row.line, f"{what} of {expected.name()}", wanted, found)
        self.report.good("rows", not seen)
        if reason is not None and not keys:
            self.report.cannot("keys", reason)
        # What was given beside a record can't be recomputed; its digests and keys were.
        self.report.good("keys", not keys and reason in (None, GIVEN))

    def is_of(self, expected: Expected, row: Row) -> bool:
        """Whether a row is that of a receipt at all: it has the same `_seen`, or the same payload."""
        if row.parsed is None:
            return False
        digest = expected.stated["payload_digest"]
        return not self.seen_problems(expected, row.parsed) or (
            digest is not None and row.digest(expected.rules) == digest
        )

    def absent(self, expected: Expected) -> None:
        wanted = "a row in its place, because the receipt says keep"
        self.report.problem("rows", expected.file, expected.line, f"row of {expected.name()}", wanted, "none")
        self.missing.append(expected)

    def surplus(self, row: Row) -> None:
        owner = next((one for one in self.missing if self.is_of(one, row)), None)
        found = "a row that no receipt asks for"
        if owner is not None:
            found = f"the row of {owner.name()}, out of its place"
        elif self.before is not None and self.before.data == row.data:
            found = "the row before, once more"
        self.report.problem("rows", row.file, row.line, "row", "none here", found)
        self.before = row

    def seen_problems(self, expected: Expected, parsed: Parsed) -> Wrong:
        name, start, _ = parsed.spans[-1] if parsed.spans else ("", 0, 0)
        if name != "_seen":
            return [("_seen", "the last member", "no _seen at the end")]
        wanted, before = expected.seen(), parsed.text[:start]
        tail = '"_seen":' + ordered_json(wanted).decode("utf-8") + "}"
        parted = before.rstrip(" \t\r\n").endswith("{") if len(parsed.spans) == 1 else before.endswith(",")
        if parted and parsed.text.startswith("{") and parsed.text[start:] == tail:
            return []
        given = parsed.record["_seen"] if isinstance(parsed.record["_seen"], dict) else {}
        wrong = [
            (f"{member} in _seen", wanted[member], given.get(member, "no such member"))
            for member in wanted
            if member not in given or given[member] != wanted[member]
        ]
        return wrong or [("spelling of _seen", "," + tail, parsed.text[max(0, start - 1) :])]

    def key_problems(self, expected: Expected, row: Row) -> tuple[Wrong, str | None]:
        """What differs between the keys and facts of a receipt and of its row; what the row doesn't say is believed."""
        rules, stated, record = expected.rules, expected.stated, row.record()

        def differences(keys: Keys) -> Wrong:
            when = None if keys.fetched_at is None else fetched_at_text(keys.fetched_at)
            pairs = (
                ("payload digest", keys.payload_digest, "payload_digest"),
                ("content key", keys.content_key, "content_key"),
                ("URL", keys.url, "url"),
                ("URL key", keys.url_key, "url_key"),
                ("source", keys.source, "source"),
                ("fetched_at", when, "fetched_at"),
                ("problems", keys.problems, "problems"),
            )
            return [(what, value, stated[member]) for what, value, member in pairs if value != stated[member]]

        try:
            floats = float_reading(rules, record, stated["content_key"])
            wrong = differences(keys_of(rules, record, None, None, None, stated["input"], floats))
            if not wrong:
                return wrong, None
            unreadable = "?" if "bad-fetched-at" in stated["problems"] else None
            when = stated["fetched_at"] or unreadable
            wrong = differences(keys_of(rules, record, stated["url"], stated["source"], when, stated["input"], floats))
        except NotCheckable as reason:
            digest, given = row.digest(rules), stated["payload_digest"]
            wrong = [] if digest == given else [("payload digest", digest, given)]
            return wrong, reason_of(reason)
        except Refused as refusal:
            return [("row", "a record that is judged", str(refusal))], None
        return wrong, None if wrong else GIVEN

    def compare_runs(self) -> None:
        """Counts, digests and chain of each run are those of its receipts."""
        chains = {run["link"]: run["chain"] for _, run in self.stated_runs.values() if run["link"] is not None}
        for name, (line, run) in self.stated_runs.items():
            digest = self.digests[name].digest()
            facts: dict[str, Any] = {"records": str(self.counts[name]), "receipts_sha256": "sha256:" + digest.hex()}
            if run["link"] is not None:
                previous = bytes(32) if run["previous"] is None else bytes.fromhex(run["previous"][7:])
                facts["chain"] = sha256(previous + digest)
                facts["previous"] = chains.get(Number(int(run["link"]) - 1), run["previous"])
            wrong = [fact for fact in facts if run[fact] != facts[fact]]
            for fact in wrong:
                self.report.problem("runs", "data/runs.ndjson", line, f"{fact} of run {name}", facts[fact], run[fact])
            self.report.good("runs", not wrong)


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
