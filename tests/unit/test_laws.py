"""Blocks of a store, line by line."""

from __future__ import annotations

from seenbefore.stores.laws import kept_line, line

RECEIPTS = b"".join(
    b'{"seq":%d,"url":"\\"action\\":\\"keep\\"","verdict":"x","action":"%s"}\n' % (seq, action)
    for seq, action in enumerate((b"keep", b"skip", b"keep", b"refuse", b"keep"), 1)
)
KEPT = b'{"a":\r1}\n{"b":\r\t2,\r"c":3}\n{"d":4}\n'


def test_a_carriage_return_ends_no_line() -> None:
    """CR is white space within a JSON text, and a kept row comes back with it."""
    assert line(KEPT, 1) == b'{"b":\r\t2,\r"c":3}\n'
    assert (line(KEPT, 3), line(KEPT, -1), line(b"", 0)) == (None, None, None)


def test_kept_rows_are_those_of_the_receipts_that_say_so() -> None:
    """A row is found by counting the receipts that say `keep` as their action, and not in a text."""
    found = [kept_line(RECEIPTS, KEPT, index) for index in range(6)]
    assert found == [b'{"a":\r1}\n', None, b'{"b":\r\t2,\r"c":3}\n', None, b'{"d":4}\n', None]
