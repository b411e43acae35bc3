"""Every character that both know, in a handful of frames: kernel and independent reading give the same forms."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest

from seenbefore import _kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import naive

# Alone; between letters; before and after marks and joiners; beside an emoji; doubled.
FRAMES = ["{}", "a{}b", "{}\u0301", "e{}\u0323", "\u0645{}\u200c\u0631", "\U0001f468\u200d{}", "{0}{0}"]
CHUNK = 2_000


def known() -> list[str]:
    """Every scalar value that this Python's Unicode assigns and the reference can check; private use is left out."""
    found = []
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) in {"Cn", "Cs", "Co"}:
            continue
        try:
            naive.known(char)
        except naive.NotCheckable:
            continue
        found.append(char)
    return found


KNOWN = known()


@pytest.mark.parametrize("frame", FRAMES, ids=[frame.encode("ascii", "backslashreplace").decode() for frame in FRAMES])
@pytest.mark.parametrize("kind", ["text", "name", "code"])
def test_same_form(kind: str, frame: str) -> None:
    """No character is formed otherwise by the one than by the other."""
    forms = {"text": naive.text_1, "name": lambda text: naive.text_1(text, fold=False), "code": naive.code}
    assert len(KNOWN) > 140_000
    for start in range(0, len(KNOWN), CHUNK):
        # Parted by a sign that joins nothing and stays as it is under every kind.
        texts = [frame.format(char) for char in KNOWN[start : start + CHUNK]]
        joined = "\u00a7".join(texts)
        if _kernel.normalise(joined, kind=kind) != forms[kind](joined):
            apart = [text for text in texts if (_kernel.normalise(text, kind=kind) or "") != forms[kind](text)]
            pytest.fail(f"{kind}: {[ascii(text) for text in apart]}")
