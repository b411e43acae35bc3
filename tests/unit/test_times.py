"""Times of fetching as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seenbefore import Ruleset
from seenbefore.audit.times import instant, utc_text
from seenbefore.errors import UsageError

RULES = Ruleset.builtin("records/1")
# Years 0001 to 9999, which is what the kernel reads.
EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999


@given(st.integers(EARLIEST, LATEST) | st.sampled_from((EARLIEST, LATEST, 0, -1, 1, 10**6, 1_500_000)))
def test_times_are_written_as_receipts_write_them(micros: int) -> None:
    """The text of an instant is the kernel's own spelling of it, and is read back as that instant."""
    text = utc_text(micros)
    assert RULES.keys({}, fetched_at=text).fetched_at == text
    assert instant(text) == micros


def test_no_time_stays_none() -> None:
    """Where there is no time there is no text."""
    assert utc_text(None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        ("2026-03-02T08:00", "2026-03-02T08:00:00Z"),
        ("2026-03-02 08:00:00.25+02:00", "2026-03-02T06:00:00.25Z"),
    ],
)
def test_times_that_people_type(text: str, expected: str) -> None:
    """A date is its midnight, and what has no zone is in UTC."""
    assert utc_text(instant(text)) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "08:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """Anything else is a mistake of usage that names the text."""
    with pytest.raises(UsageError, match="is no time"):
        instant(text)
