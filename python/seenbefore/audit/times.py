"""Times of fetching as text, as receipts write them, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

from seenbefore.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@overload
def utc_text(micros: int) -> str: ...
@overload
def utc_text(micros: int | None) -> str | None: ...
def utc_text(micros: int | None) -> str | None:
    """Microseconds since 1970 → `2026-03-02T07:00:19Z`, with a fraction where it has one; None stays None."""
    if micros is None:
        return None
    text = (_EPOCH + timedelta(microseconds=micros)).isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0') if '.' in text else text}Z"


def instant(text: str) -> int:
    """RFC 3339, or a date, which is its midnight; UTC where no zone is given → microseconds. Raises UsageError."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", expected="a time such as 2026-03-02T08:00:00Z, or a date", found=text
        ) from error
    return ((read if read.tzinfo else read.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
