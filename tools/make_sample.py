"""Writes examples/sample: three days of crawls of two shops and two news channels, from the material in this folder.

Usage: python tools/make_sample.py [--check]. With --check nothing is written; exit status 1 says what differs.
No clock, no randomness: the same material gives the same bytes. The crawls are invented; every host ends in .example.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from sample_case import Case, Record, number
from sample_posts import FACTS, PLACES, SPELLINGS
from sample_shops import REFUSED, SHOPS

SAMPLE = Path(__file__).parent.parent / "examples" / "sample"
DAYS = {1: "2026-03-02", 2: "2026-03-03", 3: "2026-03-04"}
SOURCES = ("courier", "harbour", "lantern", "tidings")  # alphabetical, as a shell lists the files
CASES = [*SPELLINGS, *PLACES, *FACTS, *SHOPS, *REFUSED]
TABLE = re.compile("(?<=<!-- records -->\n).*(?=<!-- end -->)", re.DOTALL)


def everyday(day: int, source: str, material: dict[str, list[Record]]) -> list[Record]:
    """Give the unremarkable records of one crawl: pages that were there yesterday, a few new ones, a few edits."""
    if source == "tidings":
        pages = [news(index, item) for index, item in enumerate(material["article"])][3 * day - 3 : 3 * day + 9]
        flashes = [item for item in material["post"] if item.get("flash")]
        return pages + [flash(3 * day - 3 + index, item) for index, item in enumerate(flashes[3 * day - 3 : 3 * day])]
    if source == "courier":
        posts = [message(index, item) for index, item in enumerate(material["post"])]
        return posts[4 * day - 4 : 4 * day + 10]
    if source == "lantern":
        return [product(day, index, item) for index, item in enumerate(material["product"])]
    shared = [item for item in material["product"] if item.get("harbour")]
    return [stall(index, item) for index, item in enumerate(shared + material["harbour_product"])]


def news(index: int, item: Record) -> Record:
    """An article page; the tracking parameter is what the site's own front page links with."""
    url = f"https://tidings.example/2026/{item['language']}-{index}" + ("?utm_source=front" if index % 5 == 0 else "")
    return {"url": url, "source": "tidings", **{key: item[key] for key in ("language", "title", "author", "text")}}


def flash(index: int, item: Record) -> Record:
    """A short message that the news site repeats from the channel."""
    url = f"https://tidings.example/flash/{index}"
    return {"url": url, "source": "tidings", "language": item["language"], "text": item["text"]}


def message(index: int, item: Record) -> Record:
    """A post of the channel."""
    url = f"https://courier.example/post/{100 + index}"
    return {"url": url, "source": "courier", "language": item["language"], "text": item["text"]}


def product(day: int, index: int, item: Record) -> Record:
    """A product page of "lantern"; some prices rise on day 2, and half of those fall back on day 3."""
    price = item["price"]
    if (day == 2 and index % 6 == 5) or (day == 3 and index % 12 == 5):
        price = f"{int(price.split('.')[0]) + 1}.{price.split('.')[1]}"
    url = f"https://lantern-shop.example/p/{item['sku'].lower()}"
    return {"url": url, "source": "lantern", **goods(item, price)}


def stall(index: int, item: Record) -> Record:
    """A product page of "harbour", whose links carry the place in the list they were found in."""
    url = f"https://harbour-market.example/item?id={400 + index}&gclid=hm{index}"
    return {"url": url, "source": "harbour", **goods(item, item["price"])}


def goods(item: Record, price: str) -> Record:
    """Give the members that both shops show of one product."""
    shown = {key: item[key] for key in ("language", "title", "brand", "sku")}
    return {**shown, "price": number(price), "currency": "EUR", "attributes": {"colour": item["colour"]}}


def stamped(record: Record, day: int, position: int) -> Record:
    """Add what a crawler adds and what changes from crawl to crawl: time, crawl id, and a counter or a duration."""
    facts: Record = {key: record[key] for key in ("url", "source") if key in record}
    rest = {key: value for key, value in record.items() if key not in facts}
    when = f"{DAYS[day]}T07:{position // 60:02}:{position % 60:02}Z"
    counter = (
        {"response_ms": 80 + position * 37 % 400} if "price" in record else {"views": 12 + day * 90 + position * 53}
    )
    return {**facts, "fetched_at": when, **rest, **counter, "crawl_id": f"c{day}"}


def line_bytes(line: Record | bytes, day: int, position: int) -> bytes:
    """Give the bytes of one line without its end."""
    if isinstance(line, bytes):
        return line
    text = json.dumps(stamped(line, day, position), ensure_ascii=False, separators=(", ", ": "))
    return re.sub('"@number:([^"]*)@"', r"\1", text).encode()


def crawl(day: int, source: str, material: dict[str, list[Record]]) -> tuple[str, bytes, list[tuple[int, Case]]]:
    """Give one crawl file: its name, its bytes, and the line number of each telling record in it."""
    cases = [case for case in CASES if (case.day, case.source) == (day, source)]
    lines = [line_bytes(record, day, at) for at, record in enumerate(everyday(day, source, material))]
    if (day, source) == (1, "courier"):
        lines += [b"", b" \t"]  # blank lines don't count as records
    table = [(len(lines) + at + 1, case) for at, case in enumerate(cases)]
    lines += [line_bytes(case.line, day, len(lines) + at) for at, case in enumerate(cases)]
    name = f"{DAYS[day]}_{source}.ndjson"
    if (day, source) == (2, "lantern"):  # as a Windows program writes it
        return name, b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n", table
    if (day, source) == (2, "harbour"):
        return f"{name}.gz", gzip.compress(b"\n".join(lines) + b"\n", mtime=0), table
    return name, b"\n".join(lines) + (b"" if (day, source) == (3, "courier") else b"\n"), table


def sample() -> tuple[dict[str, bytes], str]:
    """Give all crawl files by name, and the table of telling records for the README."""
    material: Any = tomllib.loads(Path(__file__).with_name("sample_material.toml").read_text(encoding="utf-8"))
    files, rows = {}, ["| line | verdict | shows |", "|---|---|---|"]
    for day in DAYS:
        for source in SOURCES:
            name, data, table = crawl(day, source, material)
            files[name] = data
            rows += [f"| `{name}:{at}` | {case.verdict} | {case.shows} |" for at, case in table]
    return files, "\n".join(rows) + "\n"


def plain(name: str, data: bytes) -> bytes:
    """Give a file's bytes as compared by --check: decompressed, since gzip libraries differ in how they pack."""
    return gzip.decompress(data) if name.endswith(".gz") else data


def main() -> int:
    """Write the folder, or compare it."""
    parser = argparse.ArgumentParser(description="Write or check examples/sample.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the folder differs")
    check = parser.parse_args().check
    files, table = sample()
    readme = SAMPLE / "README.md"
    wanted = TABLE.sub(lambda _: table, readme.read_text(encoding="utf-8"))
    present = {path.name: path.read_bytes() for path in SAMPLE.glob("*.ndjson*")}
    differing = [
        name
        for name in files.keys() | present.keys()
        if plain(name, files.get(name, b"")) != plain(name, present.get(name, b""))
    ]
    if wanted != readme.read_text(encoding="utf-8"):
        differing.append(readme.name)
    if check:
        print(
            "\n".join(f"differs: {name}" for name in sorted(differing)) or "examples/sample is as the script writes it"
        )
        return 1 if differing else 0
    for name in differing:
        if name in files:
            (SAMPLE / name).write_bytes(files[name])
        elif name in present:
            (SAMPLE / name).unlink()
    readme.write_text(wanted, encoding="utf-8")
    print(f"{len(files)} files, {sum(plain(n, d).count(10) for n, d in files.items())} lines in {SAMPLE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
