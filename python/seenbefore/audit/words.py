"""What can't be seen, made visible; and the rows of the verdict table in words."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

# Characters of a stretch that are quoted, and beyond how many a comparison may take short cuts.
_QUOTED, _LONG = 40, 2000
# Changes listed for one step; a text of a thousand spaces needs no thousand lines.
SHOWN = 6
# Unicode categories of what leaves no ink, or sits on its neighbour.
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs", "Mn", "Me", "Mc"}


def table_row(receipt: Mapping[str, Any]) -> str:
    """The row of the verdict table that a receipt's verdict comes from, as a sentence."""
    verdict, placed = receipt["verdict"], receipt.get("url_key") is not None
    if verdict == "changed":
        if receipt["seen_before"]:
            return (
                "the content was seen before, but its URL showed something else last: "
                "a revert, or content known from elsewhere"
            )
        return "the content was never seen, and its URL showed something else before: a new version of that page"
    return {
        "new": "the content was never seen, " + ("and neither was its URL" if placed else "and no URL is given"),
        "syndicated": "the content was seen before, but not at this URL: the same content at a new place",
        "duplicate": "the content was seen before, "
        + ("and its URL shows this very content already" if placed else "and no URL is given that could make it new"),
        "unkeyed": "the record has no identity at all, or lacks a required field: never a duplicate of anything",
        "refused": "the line can't be read, or holds a value that must not be hashed: set aside as it is",
    }[str(verdict)]


def code_points(text: str) -> str:
    """`U+00A0` for each character, at most SHOWN of them."""
    names = [f"U+{ord(char):04X}" for char in text[:SHOWN]]
    return " ".join(names) + (" …" if len(text) > SHOWN else "")


def visible(text: str) -> str:
    """Text with what leaves no ink written as its code point."""
    return "".join(f"⟨U+{ord(char):04X}⟩" if _unseen(char) else char for char in text)


def changes(before: str, after: str) -> list[str]:
    """What became what, in order, each kind of change once with its count: `U+00A0 → U+0020 (2 times)`."""
    counts: dict[str, int] = {}
    for old, new in _changed(before, after):
        name = f"{_named(old)} → {_named(new)}"
        counts[name] = counts.get(name, 0) + 1
    listed = [name if count == 1 else f"{name} ({count} times)" for name, count in counts.items()]
    return listed if len(listed) <= SHOWN else [*listed[:SHOWN], f"… and {len(listed) - SHOWN} more kinds of change"]


def first_difference(one: str, other: str) -> tuple[int, str, str]:
    """Where two texts part: the character's index from 0, and what each has there, in words."""
    at = next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return at, _named(one[at : at + 1]) or "its end", _named(other[at : at + 1]) or "its end"


def _changed(before: str, after: str) -> Iterator[tuple[str, str]]:
    if len(before) == len(after):
        # Most steps replace character by character; comparing in place is exact then, and fast.
        yield from ((old, new) for old, new in zip(before, after, strict=True) if old != new)
        return
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) > _LONG)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            yield before[start:end], after[new_start:new_end]


def _named(text: str) -> str:
    """A stretch of text for people: its code points, and itself where it can be seen."""
    if not text:
        return "nothing"
    if len(text) > SHOWN:
        return f'"{visible(text[:_QUOTED])}{"…" if len(text) > _QUOTED else ""}"'
    seen = "".join(text.split())
    return code_points(text) if not seen or any(map(_unseen, text)) else f'"{text}" {code_points(text)}'


def _unseen(char: str) -> bool:
    return char != " " and unicodedata.category(char) in _UNSEEN
