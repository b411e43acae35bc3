"""Measures the main job on invented listings: keys and verdicts alone, then with a store and all outputs.

Usage: python benches/main_job.py [--records N]. The corpus is written once to benches/corpora (not committed). The same
corpus is judged a second time into the same store, where everything is a duplicate. The machine is shared with whatever
else runs, so compare only numbers from one run.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPORA = Path(__file__).parent / "corpora"
SEENBEFORE = Path(sys.executable).with_name("seenbefore")
RULES = """
name = "bench"
version = 1
identity = ["title", "brand", "sku", "price", "description"]
volatile = ["scraped_at", "crawl_id", "response_ms"]
record = { url = "url", fetched_at = "scraped_at" }
fields = { title = {}, brand = {}, description = {}, sku = { kind = "code" }, price = { kind = "decimal" } }
"""
WORDS = (
    *("oak", "lamp", "blue", "enamel", "rope", "coaster", "teapot"),
    *("Größe", "küche", "lámpara", "mimbre", "фонарь", "свеча", "急須", "ランプ", "फानूस", "فانوس", "ışık"),
)


def corpus(records: int) -> Path:
    """Write the listings if they aren't there: every tenth repeats an earlier one, every fifth is not plain ASCII."""
    path = CORPORA / f"listings-{records}.ndjson"
    if path.exists():
        return path
    CORPORA.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as file:
        for at in range(records):
            item = at - 7 if at % 10 == 9 else at
            pool = WORDS if item % 5 == 0 else WORDS[:7]
            words = [pool[(item * 7919 + place * place * 31) % len(pool)] for place in range(40)]
            title, description = " ".join(words[:6]), " ".join(words[6:])
            file.write(
                f'{{"url":"https://shop{item % 50}.example/p/{item}?utm_source=list{at % 9}","title":"{title} {item}",'
                f'"brand":"Brand {item % 300}","sku":"SK-{item}","price":{item % 9000}.{item % 90 + 10},'
                f'"description":"{description}","scraped_at":"2026-03-02T{at % 24:02}:{at % 60:02}:00Z",'
                f'"crawl_id":"c{at}","response_ms":{at % 700}}}\n'
            )
    unfinished.rename(path)
    return path


def timed(name: str, path: Path, records: int, *options: str | Path) -> None:
    """Run one job and print its rates; the time of the whole process counts."""
    started = time.perf_counter()
    done = subprocess.run([SEENBEFORE, "dedup", path, *options], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    megabytes = path.stat().st_size / 1e6
    print(f"{name:<44} {seconds:7.2f} s {records / seconds:10,.0f} records/s {megabytes / seconds:7.1f} MB/s")


def main() -> None:
    """Make the corpus and run the jobs."""
    parser = argparse.ArgumentParser(description="Measure the main job.")
    parser.add_argument("--records", type=int, default=200_000)
    records = parser.parse_args().records
    path = corpus(records)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"{records:,} records, {path.stat().st_size / 1e6:.0f} MB; {machine}")
    with tempfile.TemporaryDirectory(prefix="seenbefore-bench-") as name:
        folder = Path(name)
        rules = folder / "rules.toml"
        rules.write_text(RULES, encoding="utf-8")
        out = folder / "out-{run}"
        timed(
            "keys and verdicts, no store, no outputs",
            path,
            records,
            "--rules",
            rules,
            "--store",
            "memory:",
            "--no-output",
        )
        timed(
            "SQLite store, kept rows, receipts",
            path,
            records,
            "--rules",
            rules,
            "--store",
            folder / "s.db",
            "--out",
            out,
        )
        again = ("--again", "--store", folder / "s.db", "--out", out)
        timed("the same again: everything seen", path, records, "--rules", rules, *again)


if __name__ == "__main__":
    main()
