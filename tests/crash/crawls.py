"""The inputs that are read while the program is killed, in every shape, and the commands that read them.

All of it is made from numbers alone, so that it is the same in every run.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
RULES = """
name = "shop"
version = 1
identity = ["title", "price"]
[record]
url = "url"
fetched_at = "at"
source = "shop"
"""
MAX_LINE = 600
BATCHES = (1, 7, 1000, 200_000)
# Records of a crawl for each size of batch: a batch of one record costs as much as one of a thousand.
RECORDS = {1: 60, 7: 300, 1000: 3500, 200_000: 2500}
HISTORY = 9


@dataclass(frozen=True)
class Shape:
    """A way to give one crawl: the arguments that name it, what is fed to standard input, and more options."""

    name: str
    inputs: tuple[str, ...]
    stdin: str | None = None
    options: tuple[str, ...] = ()


SHAPES = (
    Shape("many", ("many",)),
    Shape("large", ("large.ndjson",)),
    Shape("gz", ("members.ndjson.gz",)),
    Shape("zst", ("frames.ndjson.zst",)),
    Shape("pipe", ("-",), "large.ndjson"),
    Shape("odd", ("odd.ndjson",)),
    Shape("table", ("table.csv.gz",), options=("--kept-format", "csv")),
    Shape("columns", ("array.json", "columns.parquet"), options=("--kept-format", "parquet"))
    if importlib.util.find_spec("pyarrow")
    else Shape("array", ("array.json",), options=("--kept-format", "csv")),
    Shape("mixed", ("members.ndjson.gz", "odd.ndjson", "-", "many"), "frames.ndjson.zst"),
)


def crawl(rng: random.Random, rows: int, *, odd: float = 0.01) -> Iterator[bytes]:
    """Lines of a crawl with repeats, restyled titles, moved URLs, and a share of broken and over-long lines."""
    titles = [f"Lamp {number}" for number in range(rows // 2)]
    for row in range(rows):
        dice, number = rng.random(), rng.randrange(len(titles))
        if dice < odd:
            yield rng.choice((b'{"title": "cut off', b"", b"[1]", b'{"title": "\xff"}', b'{"x": "%s"}' % (b"x" * 900)))
        else:
            title = titles[number] if dice < 0.7 else titles[number].upper() + "\u00a0"
            url = f"https://shop.example/{number if dice < 0.9 else row}?utm_source={row}"
            record = {"title": title, "price": str(rng.randrange(3)), "url": url, "row": row, "shop": f"s{row % 3}"}
            record["at"] = f"2026-03-0{rng.randrange(1, 9)}T00:00:00Z"
            yield json.dumps(record, ensure_ascii=False).encode()


def make(folder: Path, records: int) -> None:
    """Write the crawl of so many records in every shape."""
    folder.mkdir()
    (folder / "rules.toml").write_text(RULES)
    lines = list(crawl(random.Random(records), records))
    whole = b"\n".join(lines) + b"\n"
    (folder / "large.ndjson").write_bytes(whole)
    half = len(whole) // 2
    (folder / "members.ndjson.gz").write_bytes(gzip.compress(whole[:half]) + gzip.compress(whole[half:]))
    pack = zstandard.ZstdCompressor(level=1).compress
    (folder / "frames.ndjson.zst").write_bytes(pack(whole[:half]) + pack(whole[half:]))
    odd = b"\xef\xbb\xbf" + b"\r\n".join(crawl(random.Random(records + 1), records, odd=0.2))
    (folder / "odd.ndjson").write_bytes(odd)
    make_tables(folder, [json.loads(line) for line in lines if line.startswith(b'{"title": "L') and b"}" in line])
    (folder / "many").mkdir()
    for number in range(40):
        part = b"\n".join(lines[number::40])
        name = f"{number:02}.ndjson"
        if number % 2:
            (folder / "many" / name).write_bytes(part)
        else:
            (folder / "many" / f"{name}.gz").write_bytes(gzip.compress(part, mtime=0))
    for number in range(1, HISTORY + 1):
        (folder / f"day{number}.ndjson").write_bytes(b"\n".join(crawl(random.Random(number), 300)))


def make_tables(folder: Path, records: list[dict[str, Any]]) -> None:
    """The records as a table with some ragged rows, as one array, and where it can be had by columns in row groups."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(records[0])
    for number, record in enumerate(records):
        writer.writerow([*record.values(), "too much"] if number % 97 == 50 else record.values())
    (folder / "table.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    (folder / "array.json").write_text(json.dumps(records[::2]))
    if importlib.util.find_spec("pyarrow") is None:
        return
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(records[1::2]), folder / "columns.parquet", row_group_size=300)


def command(inputs: Sequence[str], batch: int, out: str = "out", *more: str) -> list[str]:
    """The one command that is given again and again, without the program's name."""
    options = ("--rules", "rules.toml", "--store", "seen.db", "--out", out, "--batch-size", str(batch))
    return ["dedup", *inputs, *options, "--max-line", str(MAX_LINE), *more]


def live_through(folder: Path) -> None:
    """Give the store of a folder a history of nine runs."""
    for number in range(1, HISTORY + 1):
        arguments = command([f"day{number}.ndjson"], 200, f"out{number}")
        done = subprocess.run([SEENBEFORE, *arguments], cwd=folder, capture_output=True, check=False)
        assert done.returncode in {0, 1}, done.stderr.decode()
        shutil.rmtree(folder / f"out{number}")
