"""Makes crates/seenbefore-core/src/entities/table.rs: the named character references of the HTML Standard.

The names come from Python's html.entities.html5, which holds the table of the HTML Standard, section "Named character
references". That table is frozen by the standard ("this list is static and will not be expanded or changed").
"""

from __future__ import annotations

from html.entities import html5
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "crates" / "seenbefore-core" / "src" / "entities" / "table.rs"
HEAD = """//! Named character references (HTML Standard, section of that name): made by `tools/entities_table.py`.

/// Every name after `&`, most with their `;`, sorted by bytes, and what it stands for.
#[rustfmt::skip]
pub(super) static NAMES: &[(&str, &str)] = &[
"""


def table() -> str:
    """The table as Rust text."""
    rows = (f'    ("{name}", "{escaped(value)}"),\n' for name, value in sorted(html5.items()))
    return HEAD + "".join(rows) + "];\n"


def escaped(value: str) -> str:
    """Text as the inside of a Rust string, in ASCII."""
    return "".join(f"\\u{{{ord(char):x}}}" for char in value)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
