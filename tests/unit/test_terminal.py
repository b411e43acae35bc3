"""What records hold reaches a terminal as text, never as an instruction."""

from __future__ import annotations

import pytest

from seenbefore.cli.terminal import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nand سلام", "plain\ttext\nand سلام"),
        ("\x1b[2Jgone", "<U+001B>[2Jgone"),
        ("a\rb\x07\x7f\x9b", "a<U+000D>b<U+0007><U+007F><U+009B>"),
        ("evil\u202etxt.exe", "evil<U+202E>txt.exe"),
    ],
)
def test_harmless(text: str, shown: str) -> None:
    """Controls and marks that turn direction are written as code points, all other text stays."""
    assert harmless(text) == shown
