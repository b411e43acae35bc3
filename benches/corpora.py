"""The corpora: written once into benches/corpora, which is not committed.

Listings and articles are invented here. Where the folder with test data is at hand (SEENBEFORE_SHARED), its generators
make them from real texts instead, and the descriptions of a Debian release are a third one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "corpora"
LISTINGS = """
name = "listings"
version = 1
identity = ["title", "sku", "brand", "price", "currency", "description"]
volatile = ["scraped_at", "proxy_ip", "response_ms"]
record = { url = "url", source = "source", fetched_at = "scraped_at" }
fields = { sku = { kind = "code" } }
"""
DEBIAN = """
name = "descriptions"
version = 1
identity = ["title", "description"]
record = { url = "url" }
"""
WORDS = (
    *("oak", "lamp", "blue", "enamel", "rope", "coaster", "teapot", "harbour", "lantern", "slate", "hand-made", "jug"),
    *("Größe", "küche", "lámpara", "mimbre", "фонарь", "свеча", "急須", "ランプ", "फानूस", "فانوس", "ışık", "โคมไฟ"),
)
_PLAIN = 12  # the first words of the list are plain ASCII


@dataclass(frozen=True)
class Corpus:
    """A file of records, its ruleset as TOML, and the fields that the rule takes as identity."""

    name: str
    path: Path
    rules: str
    fields: tuple[str, ...]

    @property
    def records(self) -> int:
        """How many lines it has."""
        with self.path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))

    @property
    def megabytes(self) -> float:
        """Its size in millions of bytes."""
        return self.path.stat().st_size / 1e6


def listings(rows: int) -> Corpus:
    """Shop listings of some 450 bytes."""
    fields = ("title", "sku", "brand", "price", "currency", "description")
    return Corpus("listings", _made("listings", rows), LISTINGS, fields)


def articles(rows: int) -> Corpus:
    """The same with a long description: some 5 kB."""
    fields = ("title", "sku", "brand", "price", "currency", "description")
    return Corpus("articles", _made("articles", rows), LISTINGS, fields)


def debian() -> Corpus | None:
    """The package descriptions of a Debian release, in 20 languages; None where they can't be had."""
    script = _shared("data/scripts/corpus_debian.py")
    path = FOLDER / "debian.ndjson"
    if not path.exists():
        if script is None:
            return None
        done = subprocess.run([sys.executable, script], capture_output=True, check=False)
        if done.returncode:
            return None
        FOLDER.mkdir(exist_ok=True)
        path.with_suffix(".part").write_bytes(done.stdout)
        path.with_suffix(".part").rename(path)
    return Corpus("debian", path, DEBIAN, ("title", "description"))


def _shared(path: str) -> Path | None:
    root = os.environ.get("SEENBEFORE_SHARED")
    found = None if root is None else Path(root) / path
    return found if found is not None and found.is_file() else None


def _made(kind: str, rows: int) -> Path:
    generator = _shared("bench/make_corpus.py")
    path = FOLDER / f"{kind}-{rows}{'' if generator is None else '-real'}.ndjson"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    if generator is not None:
        command = [sys.executable, str(generator), "--rows", str(rows), "--kind", kind, "--out", str(part)]
        subprocess.run(command, check=True, capture_output=True)
    else:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(_lines(rows, words=600 if kind == "articles" else 30))
    part.rename(path)
    return path


def _lines(rows: int, *, words: int) -> Iterator[str]:
    """A third of the rows repeats an earlier one, and a third of the rest is not plain ASCII."""
    dice = random.Random(7)  # noqa: S311 - a corpus has to be the same each time
    kept: list[dict[str, object]] = []
    for at in range(rows):
        if kept and dice.random() < 1 / 3:
            row = dice.choice(kept)
        else:
            pool = WORDS if dice.random() < 1 / 3 else WORDS[:_PLAIN]
            text = [dice.choice(pool) for _ in range(words)]
            row = {
                "url": f"https://shop{at % 50}.example/p/{at:09d}",
                "source": f"shop{at % 50}",
                "title": f"{' '.join(text[:8])} {at:x}",
                "sku": f"SKU-{at:08d}",
                "brand": text[0],
                "price": f"{dice.randrange(100, 99999) / 100:.2f}",
                "currency": "EUR",
                "description": " ".join(text),
            }
            if len(kept) < 250_000:
                kept.append(row)
        fetched = {"scraped_at": f"2026-03-02T{at % 24:02}:{at % 60:02}:00Z", "response_ms": dice.randrange(30, 900)}
        yield json.dumps(row | fetched, ensure_ascii=False) + "\n"
