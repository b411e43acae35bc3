"""Writes vector files in their one layout: ASCII, a vector a line, the hex of UTF-8 beside every text.

    python tools/vectors.py spec/vectors/text.json …

Write a vector with `name`, `in`, `out` (or `refused`) and `why`; this fills in `in_hex` and `out_hex`. It decides no
value: what is expected is written by hand, from the specification, before any program is asked.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def with_hex(vector: dict[str, Any]) -> dict[str, Any]:
    """The same vector with the hex of each text right behind it, in steps too."""
    out: dict[str, Any] = {}
    for name, value in vector.items():
        if name in {"in_hex", "out_hex"} and isinstance(vector.get(name.removesuffix("_hex")), str):
            continue
        out[name] = [with_hex(step) for step in value] if name == "steps" else value
        if name in {"in", "out"} and isinstance(value, str):
            out[f"{name}_hex"] = value.encode("utf-8").hex()
    return out


def layout(data: dict[str, Any]) -> str:
    """The text of a vector file. Raises ValueError for a name that is used twice or fits neither y_ nor n_."""
    names = [vector["name"] for vector in data["vectors"]]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"names are used twice: {', '.join(sorted(repeated))}")
    for vector in data["vectors"]:
        if not vector["name"].startswith("n_" if "refused" in vector else "y_"):
            raise ValueError(f"{vector['name']}: y_ gives a value, n_ is refused")
    head = "".join(f" {json.dumps(name)}: {json.dumps(data[name])},\n" for name in ("about", "provenance"))
    lines = ",\n".join(f"  {json.dumps(with_hex(vector))}" for vector in data["vectors"])
    return f'{{\n{head} "vectors": [\n{lines}\n ]\n}}\n'


def main(paths: list[str]) -> None:
    """Rewrites each of the files in place."""
    for path in map(Path, paths):
        path.write_text(layout(json.loads(path.read_text(encoding="utf-8"))), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
