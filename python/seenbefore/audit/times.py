"""Times of fetching as text, as receipts write them, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import overload

from seenbefore.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@overload
def utc_text(micros: int) -> str: ...
@overload
def utc_text(micros: None) -> None: ...
@overload
def utc_text(micros: int | None) -> str | None: ...
def utc_text(micros: int | None) -> str | None:
    """Microseconds since 1970 → `2026-03-02T07:00:19Z`, with a fraction where it has one; None stays None."""
    return None if micros is None else _written(micros)


# A merged row writes one time several times over, and records lie close together in time.
@lru_cache(maxsize=1 << 12)
def _written(micros: int) -> str:
    day, rest = divmod(micros, 86_400_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds, fraction = divmod(rest, 1_000_000)
    text = f"{_date(day)}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    return f"{text}.{fraction:06}".rstrip("0") + "Z" if fraction else f"{text}Z"


@lru_cache(maxsize=1 << 10)
def _date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).date().isoformat()


def instant(text: str) -> int:
    """RFC 3339, or a date, which is its midnight; UTC where no zone is given → microseconds. Raises UsageError."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", expected="a time such as 2026-03-02T08:00:00Z, or a date", found=text
        ) from error
    return ((read if read.tzinfo else read.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
