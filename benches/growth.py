"""Measure how the main job slows down as its store grows: `python -m benches.growth`.

Usage: python -m benches.growth [--contents N] [--records N] [--store FILE] [--rounds N]. Fills a store with that many
contents, then judges fresh records, and records that it holds already: some hundred thousand in a row, and as many from
all over it. Each is judged into an empty store too, and it prints processor seconds and ratios. A store given by name
that is there already is used as it is, and kept.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

RULES = (
    'name = "grown"\nversion = 1\nidentity = ["title", "sku", "price"]\nrecord = { url = "url", source = "source" }\n'
)
# Records are told apart by their number, and are never the same in two places.
FRESH = 10**12
_PIECE = 20_000


def lines(first: int, records: int, step: int = 1) -> Iterator[bytes]:
    """Records of some 450 bytes, in pieces; `step` apart, so that those of an old crawl come from all over it."""
    pad = "A lamp of blue enamel with an oak foot, made by hand in small numbers, to be hung by a window. " * 3
    for start in range(0, records, _PIECE):
        numbers = range(first + start * step, first + min(start + _PIECE, records) * step, step)
        yield "".join(
            f'{{"url":"https://shop{n % 50}.example/p/{n:012d}","source":"shop{n % 50}","title":"Lamp {n:x}",'
            f'"sku":"SKU-{n:012d}","price":"{n % 9973}.{n % 100:02d}","description":"{pad}"}}\n'
            for n in numbers
        ).encode()


def written(path: Path, pieces: Iterator[bytes]) -> Path:
    """The pieces as a file."""
    with path.open("wb") as file:
        file.writelines(pieces)
    return path


def judged(source: Path, rules: Path, store: Path, out: Path) -> dict[str, float]:
    """The main job in a process of its own → processor seconds, seconds, peak MB, bytes that it added to the store."""
    before = store.stat().st_size if store.exists() else 0
    started = time.perf_counter()
    pid = os.fork()
    if not pid:
        from seenbefore.cli import main

        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(["dedup", str(source), "--rules", str(rules), "--store", str(store), "--out", str(out), "--json"])
        os._exit(0 if (out / "summary.json").exists() else 1)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"the run into {store} failed")
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "seconds": time.perf_counter() - started,
        "peak_mb": used.ru_maxrss / 1024,
        "store_mb": (store.stat().st_size - before) / 1e6,
    }


def filled(store: Path, rules: Path, contents: int, folder: Path) -> None:
    """Fills a store in runs of two million records, so that no file of all records is needed."""
    part = min(contents, 2_000_000)
    for start in range(0, contents, part):
        source = written(folder / f"fill-{start}.ndjson", lines(start, min(part, contents - start)))
        found = judged(source, rules, store, folder / f"fill-{start}")
        print(
            f"{start + part:>12,} contents: {found['cpu'] / part * 1e6:.1f} µs of processor time a record", flush=True
        )
        source.unlink()
        for path in (folder / f"fill-{start}").iterdir():
            path.unlink()


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description="Measure how the main job slows down as its store grows.")
    parser.add_argument("--contents", type=int, default=20_000_000)
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", type=Path, help="a store to fill, or one that was filled so before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seenbefore-growth-", dir=options.store and options.store.parent) as name:
        folder = Path(name)
        rules = folder / "rules.toml"
        rules.write_text(RULES, encoding="utf-8")
        store: Path = options.store or folder / "grown.db"
        if not store.exists():
            filled(store, rules, options.contents, folder)
        rows: dict[str, list[dict[str, float]]] = {}
        # A number that no former call used: what is fresh must be fresh.
        base = FRESH + time.time_ns() // 1_000_000 * 1_000_000
        step = max(1, options.contents // options.records)
        for at in range(options.rounds):
            crawls = {
                "fresh": lines(base + at * options.records, options.records),
                "again, as they came": lines(at * options.records, options.records),
                "again, from all over": lines(at, options.records, step),
            }
            for what, pieces in crawls.items():
                source = written(folder / f"{what}.ndjson", pieces)
                for where, into in (("empty", folder / f"{at}-{what}.db"), ("grown", store)):
                    found = judged(source, rules, into, folder / f"{at}-{what}-{where}")
                    rows.setdefault(f"{what}, {where} store", []).append(found)
        print(f"{options.records:,} records, least of {options.rounds}; peak of this process and its children:")
        least = {what: min(found["cpu"] for found in all_found) for what, all_found in rows.items()}
        for what, all_found in rows.items():
            seconds, peak = min(one["seconds"] for one in all_found), max(one["peak_mb"] for one in all_found)
            print(f"  {what}: {least[what]:.2f} processor s, {seconds:.2f} s, {peak:.0f} MB")
        for what in crawls:
            ratio = least[f"{what}, grown store"] / least[f"{what}, empty store"]
            print(f"  {what}: {ratio:.2f} × the processor time into an empty store (goal: 1.5)")
        print(json.dumps({"contents": options.contents, "rows": rows, "self": resource.getrusage(0).ru_maxrss}))


if __name__ == "__main__":
    main()
