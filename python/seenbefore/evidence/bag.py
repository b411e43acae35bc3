"""The bag around a bundle (RFC 8493, spec/bundle-1.md section 2): which files there are, and the tag files' bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping

PAYLOAD = "data"
BAGIT, BAG_INFO, MANIFEST, TAG_MANIFEST = "bagit.txt", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt"
SIGNATURE = "signature.json"
README, PACKAGE, RULESETS, RUNS, CHECKER = "README.md", "datapackage.json", "ruleset.json", "runs.ndjson", "verify.py"
# The files that may be split and compressed.
PRIOR, RECEIPTS, ROWS = "prior", "receipts", "rows"
GROWING = (PRIOR, RECEIPTS, ROWS)
FORMAT = "bundle/1"

BAGIT_BYTES = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
_PART = re.compile(rf"({'|'.join(GROWING)})(?:-([0-9]{{5,}}))?\.ndjson(\.zst)?")


def part_of(name: str) -> tuple[str, int | None, bool] | None:
    """A file's name below `data/` → which of the three it is, its part from 1 (None: whole), whether compressed."""
    found = _PART.fullmatch(name)
    return None if found is None else (found[1], None if found[2] is None else int(found[2]), found[3] is not None)


def part_name(stem: str, part: int | None, *, compressed: bool) -> str:
    """The opposite of `part_of`."""
    return stem + ("" if part is None else f"-{part:05}") + ".ndjson" + (".zst" if compressed else "")


def bag_info(sizes: Mapping[str, int]) -> bytes:
    """`bag-info.txt` for payload files of these sizes."""
    return f"Bundle-Format: {FORMAT}\nPayload-Oxum: {sum(sizes.values())}.{len(sizes)}\n".encode()


def manifest(digests: Mapping[str, str]) -> bytes:
    """A manifest: path → SHA-256 in hex. Paths of a bundle are ASCII."""
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests)).encode()
