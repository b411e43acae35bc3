"""What an input's name says about its records: `{source}_{fetched_at}.ndjson.gz` (spec/inputs-1.md §6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from seenbefore.errors import UsageError
from seenbefore.types import Input

_NAMES = ("source", "fetched_at")
_TIME = (
    r"(?P<year>[0-9]{4})(?P<apart>[-_.]?)(?P<month>[0-9]{2})(?P=apart)(?P<day>[0-9]{2})"
    r"(?:[Tt _-](?P<hour>[0-9]{2})(?P<between>[-_.:]?)(?P<minute>[0-9]{2})(?:(?P=between)(?P<second>[0-9]{2}))?"
    r"(?P<zone>Z|z|[+-][0-9]{2}[:-]?[0-9]{2})?)?"
)
_FORMS = "2026-01-31, 20260131, 20260131T101500Z, 2026-01-31T10-15-00Z"


class NamePattern:
    """A pattern for the end of names. Raises UsageError for one that can match nothing or says nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._expression, self.names = _compiled(text)
        self._parts = text.count("/") + 1

    def facts(self, name: str) -> dict[str, str]:
        """`source`, and `fetched_at` in RFC 3339, as far as the pattern has them. Raises UsageError."""
        tail = "/".join(name.split("/")[-self._parts :])
        match = self._expression.fullmatch(tail)
        time = match and _instant(match)
        if match is None or ("fetched_at" in self.names and time is None):
            raise UsageError(
                f"{name} does not match --from-name {self.text!r}",
                path=name,
                expected=self.text,
                found=tail,
                hint="the pattern is for the end of every input's name; {} stands for what says nothing, "
                f"{{fetched_at}} for a time such as {_FORMS}",
            )
        facts = {"source": match["source"]} if "source" in self.names else {}
        return facts | ({"fetched_at": time} if time else {})


def with_facts(inputs: Iterable[Input], pattern: str | None) -> list[Input]:
    """The inputs with what their names say. Raises UsageError where one does not match."""
    if pattern is None:
        return list(inputs)
    names = NamePattern(pattern)
    return [replace(one, facts=names.facts(one.name)) for one in inputs]


def _compiled(text: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    expression, found = [], []
    for at, piece in enumerate(re.split(r"\{([^{}]*)\}", text)):
        if at % 2 == 0:
            expression.append(re.escape(piece))
        elif piece in {"", "_"}:
            expression.append("[^/]+?")
        elif piece in _NAMES and piece not in found:
            found.append(piece)
            expression.append("(?P<source>[^/]+?)" if piece == "source" else _TIME)
        else:
            again = "stands twice" if piece in found else "is unknown"
            raise UsageError(
                f"{{{piece}}} {again} in --from-name {text!r}",
                found=piece,
                hint="it takes {source} and {fetched_at}, each once, and {} for what says nothing",
            )
    if not found:
        raise UsageError(
            f"--from-name {text!r} says nothing",
            found=text,
            hint="put {source} or {fetched_at} where the name has them, as in '{source}_{fetched_at}.ndjson.gz'",
        )
    return re.compile("".join(expression), re.DOTALL), tuple(found)


def _instant(match: re.Match[str]) -> str | None:
    """A time as file names have it → RFC 3339; a date is its midnight, and without a zone it is UTC."""
    found = match.groupdict()
    if found.get("year") is None:
        return None
    zone = found["zone"] or "Z"
    zone = "Z" if zone in {"Z", "z"} else f"{zone[:3]}:{zone[-2:]}"
    clock = ":".join(found[part] or "00" for part in ("hour", "minute", "second"))
    time = f"{found['year']}-{found['month']}-{found['day']}T{clock}{zone}"
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return None
    return time
