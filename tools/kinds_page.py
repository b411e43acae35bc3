"""Makes docs/reference/kinds.md from the doc comments of the kinds, so that a kind is described in one place.

    python tools/kinds_page.py           # writes the page
    python tools/kinds_page.py --check   # exit status 1 where the page is not what would be written

The order is that of `KINDS` in crates/seenbefore-core/src/kinds/mod.rs. A kind's file begins with its name and what it
is for (``//! Kind `isbn`: …``), and its struct has a doc comment with the four headings of SECTIONS.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KINDS = ROOT / "crates" / "seenbefore-core" / "src" / "kinds"
PAGE = ROOT / "docs" / "reference" / "kinds.md"
SECTIONS = ("Takes", "Canonical form", "Absent", "Refuses")
WIDTH = 120
ROW = re.compile(r'^    \("(\w+)", (?:(\w+)::)?(\w+)::from_settings\),$', re.MULTILINE)
INTRO = """\
# Kinds

<!-- Made by tools/kinds_page.py from crates/seenbefore-core/src/kinds; edit the doc comments there. -->

`[fields.NAME]` with `kind = "…"` says how the values of an identity field are read. A field without a table is
`auto`, a table without `kind` is `text`. [Rulesets](rulesets.md) lists all settings, [spec/](../../spec/) defines
every byte.

Null, a missing member and a blank string are absent under every kind. An absent value is left out of the key. A
number that takes more than 1,000 digits to write out is `number-too-long` under every kind that takes numbers.

Every field may say `float = { places = N }`, N from 0 to 30: a binary float of a program or of a columnar file is
then rounded to N decimal places, on its exact binary value and half to even, and counts as that decimal number.
Without it such a value is refused with `float`. The setting holds for all that stands in the field, unless a
table within says otherwise. JSON has no binary floats: 9.90 is decimal text.
"""


class Kind(NamedTuple):
    """A kind's name, what it is for, and the text of each of SECTIONS."""

    name: str
    about: str
    sections: dict[str, str]


def kinds() -> list[Kind]:
    """Every kind in the order of the registry. Raises ValueError where a doc comment lacks a part."""
    rows = ROW.findall((KINDS / "mod.rs").read_text(encoding="utf-8"))
    if not rows:
        raise ValueError("no rows of KINDS were found in mod.rs")
    return [read(name, KINDS / f"{module or name}.rs", struct) for name, module, struct in rows]


def read(name: str, path: Path, struct: str) -> Kind:
    """The kind that `path` holds. Raises ValueError where its doc comment lacks a part."""
    text = path.read_text(encoding="utf-8")
    about = re.match(rf"//! Kind `{name}`: (.+)\n", text)
    comment = re.search(rf"((?:^///.*\n)+)(?:#\[.*\]\n)*pub struct {struct}\b", text, re.MULTILINE)
    if not about or not comment:
        raise ValueError(f"{path}: needs a first line about kind `{name}`, and a doc comment on {struct}")
    sections: dict[str, str] = {}
    for part in re.split(r"^/// # ", comment.group(1), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        sections[title] = " ".join(re.sub(r"^///", "", body, flags=re.MULTILINE).split())
    if tuple(sections) != SECTIONS or not all(sections.values()):
        raise ValueError(f"{path}: the doc comment of {struct} has the headings {', '.join(SECTIONS)}, in this order")
    return Kind(name, about.group(1), sections)


def page() -> str:
    """The whole page."""
    parts = [" ".join(part.split()) for part in INTRO.split("\n\n")]
    for kind in kinds():
        parts += [f"## `{kind.name}`", kind.about[0].upper() + kind.about[1:]]
        parts += [f"**{title}.** {kind.sections[title]}" for title in SECTIONS]
    return "\n".join(wrapped(part) for part in parts)


def wrapped(text: str) -> str:
    """One paragraph, its code kept on one line."""
    glued = re.sub("`[^`]*`", lambda code: code.group().replace(" ", "\0"), text)
    return textwrap.fill(glued, WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ") + "\n"


def main() -> int:
    """Writes or checks the page; gives the exit status."""
    made = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is not what tools/kinds_page.py writes; run it")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
