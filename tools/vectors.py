"""Writes vector files in their one layout: ASCII, a vector a line, the hex of UTF-8 beside every text.

    python tools/vectors.py spec/vectors/text.json …
    python tools/vectors.py --release

Write a vector with `name`, `in`, `out` (or `refused`) and `why`, at the end of its file; this fills in `in_hex` and
`out_hex`. It decides no value: what is expected is written by hand, from the specification, before any program is
asked.

`--release` writes spec/vectors/RELEASED: for each file how many vectors are released, and the SHA-256 of what these
say. Released vectors stay as they are for ever, but for the words in `why`; it refuses to run where one has changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent.parent / "spec" / "vectors"
RELEASED = VECTORS / "RELEASED"


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
        if not vector["name"].startswith("n_" if {"refused", "code"} & set(vector) else "y_"):
            raise ValueError(f"{vector['name']}: y_ gives a value, n_ is refused")
    head = "".join(f" {json.dumps(name)}: {json.dumps(data[name])},\n" for name in ("about", "provenance"))
    lines = ",\n".join(f"  {json.dumps(with_hex(vector))}" for vector in data["vectors"])
    return f'{{\n{head} "vectors": [\n{lines}\n ]\n}}\n'


def digest(vectors: list[dict[str, Any]]) -> str:
    """The SHA-256 of all that vectors say but `why`, a line of JSON each, its members sorted."""
    stated = ({name: value for name, value in vector.items() if name != "why"} for vector in vectors)
    lines = "".join(json.dumps(vector, sort_keys=True) + "\n" for vector in stated)
    return hashlib.sha256(lines.encode("ascii")).hexdigest()


def released() -> dict[str, tuple[int, str]]:
    """How many vectors of each file are released, and the digest of these."""
    lines = RELEASED.read_text(encoding="ascii").splitlines() if RELEASED.exists() else []
    return {name: (int(count), found) for name, count, found in map(str.split, lines)}


def changed() -> list[str]:
    """The files of which a released vector was changed, moved or removed."""
    found = []
    for name, (count, stated) in released().items():
        path = VECTORS / name
        vectors = json.loads(path.read_bytes())["vectors"] if path.exists() else []
        if len(vectors) < count or digest(vectors[:count]) != stated:
            found.append(name)
    return found


def release() -> None:
    """Counts every vector that there is as released. Raises ValueError where a released one was changed."""
    if files := changed():
        raise ValueError(f"released vectors were changed in {', '.join(files)}; a new outcome needs a new rule")
    lines = []
    for path in sorted(VECTORS.glob("*.json")):
        vectors = json.loads(path.read_bytes())["vectors"]
        lines.append(f"{path.name} {len(vectors)} {digest(vectors)}\n")
    RELEASED.write_text("".join(lines), encoding="ascii", newline="\n")


def main(arguments: list[str]) -> None:
    """Rewrites each of the files in place, or releases all of them."""
    if arguments == ["--release"]:
        release()
        return
    for path in map(Path, arguments):
        path.write_text(layout(json.loads(path.read_text(encoding="utf-8"))), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
