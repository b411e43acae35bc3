"""The two layouts of JSON in a bundle (spec/bundle-1.md): members as they come, and members sorted."""

from __future__ import annotations

import json
from typing import Any


def ordered(members: Any) -> bytes:
    """Ordered JSON with its LF: no white space, members as they stand. Numbers are integers."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def canonical(value: Any) -> bytes:
    """Exact canonical JSON with an LF, of a value without fractions."""
    return ordered(_sorted(value))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value, key=_utf16)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _utf16(name: str) -> bytes:
    # RFC 8785 3.2.3 sorts by UTF-16 code units, which is not the order of code points beyond the BMP.
    return name.encode("utf-16-be")
