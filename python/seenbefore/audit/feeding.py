"""Receipts and rows into the kernel's verifier, side by side, so that neither piles up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from seenbefore._kernel import Verifier
from seenbefore.audit.files import Piece, Unsound
from seenbefore.audit.report import Report

# Receipts that wait for their rows, and rows for receipts, before the other side is read on.
_WAITING = 20_000

Step = Callable[[int], None]


def feed(
    verifier: Verifier, receipts: Iterable[Piece], rows: Iterable[Piece] | None, report: Report, step: Step
) -> None:
    """Gives the verifier everything, and the report what it finds. `rows` is None where they aren't here.

    `step` hears of so many receipts.
    """
    receipt_pieces = _sound(receipts, "receipts", report)
    row_pieces = _sound(() if rows is None else rows, "rows", report)
    more_receipts = more_rows = True
    while more_receipts or more_rows:
        wanted, given = verifier.waiting
        if more_receipts and (wanted <= given or wanted < _WAITING or not more_rows):
            piece = next(receipt_pieces, None)
            if piece is None:
                more_receipts = False
            else:
                verifier.receipts(piece.data, piece.file, piece.line)
                step(piece.data.count(b"\n"))
        wanted, given = verifier.waiting
        if more_rows and (given < wanted or not more_receipts):
            piece = next(row_pieces, None)
            if piece is None:
                more_rows = False
            else:
                verifier.rows(piece.data, piece.file, piece.line)
        verifier.check(not more_receipts, not more_rows)
        report.take({}, verifier.findings())
    verifier.check(True, True)
    report.take(verifier.tallies(), verifier.findings())


def _sound(pieces: Iterable[Piece], check: str, report: Report) -> Iterator[Piece]:
    """The pieces, as far as their file can be read."""
    file = ""
    try:
        for piece in pieces:
            file = piece.file
            yield piece
    except Unsound as fault:
        report.problem(check, fault.file or file, fault.line + 1, fault.what, fault.expected, fault.found)
