"""Measure what each step of a run costs, and how cost follows the records: `python -m benches.costs`.

Usage: python -m benches.costs [--records N] [--rounds N] [--picture FILE]. Steps are told apart by leaving them out:
each row is what the same run costs more with that step than without it. Everything is processor time, the least of
some rounds, each in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benches import corpora
from benches.corpora import LISTINGS, WORDS

Work = Callable[[], object]


def processor_seconds(work: Work, rounds: int) -> float:
    """The least that `work` takes in a process of its own."""
    least = float("inf")
    for _ in range(rounds):
        pid = os.fork()
        if not pid:
            failed = 1
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                work()
                failed = 0
            os._exit(failed)
        _, status, used = os.wait4(pid, 0)
        if status:
            raise SystemExit("a measured run failed")
        least = min(least, used.ru_utime + used.ru_stime)
    return least


def dedup(*arguments: str | Path) -> None:
    """The command, in this process; raises where it fails."""
    from seenbefore.cli import main

    try:
        main(["dedup", *map(str, arguments), "--json"])
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"exit status {ended.code}") from ended


def read_only(path: Path) -> None:
    """Reading alone, with the digest of the input."""
    from seenbefore.reading import Reader, expand

    (source,) = expand([str(path)])
    for _ in Reader(source, max_line=64 << 20, max_bytes=None):
        pass


def keyed_only(path: Path, rules: Path, *, digests: bool) -> None:
    """Reading and keying, without verdicts."""
    import seenbefore
    from seenbefore.dedup.batches import Batches, Position, Settings
    from seenbefore.reading import expand

    settings = Settings(digests=digests)
    batches = Batches(seenbefore.Ruleset.load(rules), 1, expand([str(path)]), Position(), settings, lambda _: None, 0)
    for _ in batches:
        pass


def steps(path: Path, rules: Path, rounds: int) -> dict[str, float]:
    """Processor seconds of each step of the main job."""

    def stored(*more: str) -> None:
        with tempfile.TemporaryDirectory(prefix="seenbefore-costs-") as folder:
            out = more or ("--out", f"{folder}/out")
            dedup(path, "--rules", rules, "--store", Path(folder, "s.db"), *out)

    def least(work: Work) -> float:
        return processor_seconds(work, rounds)

    start = least(lambda: __import__("seenbefore.cli"))
    read = least(lambda: read_only(path))
    keyed = least(lambda: keyed_only(path, rules, digests=False))
    digested = least(lambda: keyed_only(path, rules, digests=True))
    judged = least(lambda: dedup(path, "--rules", rules, "--store", "memory:", "--no-output"))
    stored_only = least(lambda: stored("--no-output"))
    whole = least(stored)
    return {
        "start": start,
        "read, and the input's digest": read - start,
        "parse, normalise, content and URL keys": keyed - read,
        "verdicts": judged - keyed,
        "payload digests": digested - keyed,
        "receipts and kept rows, compressed, and the store": stored_only - judged - (digested - keyed),
        "output files": whole - stored_only,
    }


def records(count: int, words: int, repeated: float, foreign: float) -> Iterator[bytes]:
    """Listings whose text has so many words, a share of them repeats and a share not plain ASCII."""
    dice = random.Random(11)  # noqa: S311 - a corpus has to be the same each time
    plain = [word for word in WORDS if word.isascii()]
    kept: list[bytes] = []
    for at in range(count):
        if kept and dice.random() < repeated:
            yield dice.choice(kept)
            continue
        text = dice.choices(WORDS if dice.random() < foreign else plain, k=words)
        row = {
            "url": f"https://shop{at % 50}.example/p/{at:09d}",
            "source": f"shop{at % 50}",
            "title": " ".join(text[:8]) + f" {at:x}",
            "sku": f"SKU-{at:08d}",
            "brand": text[0],
            "price": f"{dice.randrange(100, 99999) / 100:.2f}",
            "currency": "EUR",
            "description": " ".join(text),
            "scraped_at": f"2026-03-02T{at % 24:02}:{at % 60:02}:00Z",
        }
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        if len(kept) < 100_000:
            kept.append(line)
        yield line


SHAPES: dict[str, tuple[tuple[float, dict[str, float]], ...]] = {
    "records": tuple((share, {"count": share}) for share in (0.25, 0.5, 1, 2)),
    "words a record": tuple((words, {"words": words}) for words in (10, 30, 100, 300)),
    "share of repeats": tuple((share, {"repeated": share}) for share in (0, 0.35, 0.7, 0.95)),
    "share not plain ASCII": tuple((share, {"foreign": share}) for share in (0, 0.33, 0.66, 1)),
}


def shapes(count: int, rules: Path, rounds: int, folder: Path) -> Iterator[str]:
    """Rows of a table: what varies, its value, MB, µs a record and MB a processor second, in memory and in SQLite."""
    start = processor_seconds(lambda: __import__("seenbefore.cli"), rounds)
    for what, variants in SHAPES.items():
        for value, changed in variants:
            shape = {"count": 1.0, "words": 30, "repeated": 0.35, "foreign": 0.33} | changed
            path = folder / "shape.ndjson"
            rows = int(count * shape["count"])
            with path.open("wb") as file:
                file.writelines(records(rows, int(shape["words"]), shape["repeated"], shape["foreign"]))
            size = path.stat().st_size / 1e6

            def counting(path: Path = path) -> None:
                dedup(path, "--rules", rules, "--store", "memory:", "--no-output")

            def whole(path: Path = path) -> None:
                with tempfile.TemporaryDirectory(prefix="seenbefore-costs-") as name:
                    dedup(path, "--rules", rules, "--store", Path(name, "s.db"), "--out", Path(name, "out"))

            cells = []
            for work in (counting, whole):
                seconds = processor_seconds(work, rounds) - start
                cells.append(f"{seconds / rows * 1e6:.1f} | {size / seconds:.0f}")
            yield f"| {what} | {rows if what == 'records' else value:,} | {size:.0f} | {' | '.join(cells)} |"


def picture(found: dict[str, float]) -> str:
    """The steps as bars, as SVG that reads in light and dark."""
    total, top, height = sum(found.values()), 34, 26
    bars = []
    for at, (name, seconds) in enumerate(found.items()):
        y, width = top + at * height, max(1.0, 380 * seconds / total)
        bars.append(
            f'<text x="330" y="{y + 14}" text-anchor="end">{name}</text>'
            f'<rect x="338" y="{y}" width="{width:.1f}" height="18" fill="#3b82c4"/>'
            f'<text x="{344 + width:.1f}" y="{y + 14}">{seconds / total:.0%}</text>'
        )
    style = "text{font:13px system-ui,sans-serif;fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}"
    tall = top + len(found) * height + 8
    title = "Processor time of the main job by step"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {tall}" role="img" aria-label="{title}">'
        f'<style>{style}</style><text x="338" y="20">{title}</text>{"".join(bars)}</svg>\n'
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure what each step costs, and how cost follows the records.")
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--picture", type=Path, help="where the steps are drawn, as SVG")
    options = parser.parse_args()
    listings = corpora.listings(1_000_000)
    with tempfile.TemporaryDirectory(prefix="seenbefore-costs-") as name:
        rules = Path(name, "rules.toml")
        rules.write_text(LISTINGS, encoding="utf-8")
        found = steps(listings.path, rules, options.rounds)
        total = sum(found.values())
        print("| step | processor s | share |\n|---|--:|--:|")
        for step, seconds in found.items():
            print(f"| {step} | {seconds:.2f} | {seconds / total:.0%} |")
        print(f"| all, {listings.records:,} listings | {total:.2f} | |\n", flush=True)
        if options.picture:
            options.picture.write_text(picture(found), encoding="utf-8")
        print("| varied | value | MB | keys and verdicts: µs a record | MB/s | main job: µs a record | MB/s |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for row in shapes(options.records, rules, options.rounds, Path(name)):
            print(row, flush=True)


if __name__ == "__main__":
    main()
