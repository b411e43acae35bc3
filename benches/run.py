"""Measure seenbefore beside its peers on the same files, alternately, in one run: `make bench`.

Usage: python -m benches.run [--listings N] [--articles N] [--rounds N] [--only NAME …]. Prints one table a corpus with
medians and ratios, and writes it with the machine's description to benches/results. The machine is shared with whatever
else runs, so only ratios of one run say anything.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benches import corpora
from benches.ours import OURS
from benches.peers import PEERS

RESULTS = Path(__file__).parent / "results"
# On how much of a corpus the slow ones are measured: their rate does not depend on it.
SLOW = {"twenty lines": 100_000, "twenty lines + SQLite": 200_000, "tuned Python": 300_000}
# What each goal compares: (ours, peer, corpus, at least so many times as fast).
GOALS = (
    ("seenbefore: keys and verdicts", "DuckDB DISTINCT", "listings", 1.0),
    ("seenbefore: keys and verdicts", "Polars, same rule", "listings", 6.0),
    ("seenbefore: keys and verdicts", "twenty lines", "listings", 60.0),
    ("seenbefore: keys and verdicts", "Polars, same rule", "articles", 7.0),
    ("seenbefore: main job, SQLite", "twenty lines + SQLite", "listings", 15.0),
    ("seenbefore: judge() one at a time", "tuned Python", "listings", 2.0),
)


def child(name: str, path: Path, rules: Path, fields: list[str]) -> None:
    """Run one of them in this process and print what it took."""
    found, seconds = OURS[name](path, rules) if name in OURS else PEERS[name](path, fields)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"found": found, "seconds": seconds, "peak_mb": peak / 1024}))


def measured(name: str, corpus: corpora.Corpus, path: Path, rules: Path) -> dict[str, Any]:
    """Run one of them in a process of its own."""
    command = [sys.executable, "-m", "benches.run", "--child", name, str(path), str(rules), *corpus.fields]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def head(corpus: corpora.Corpus, records: int, folder: Path) -> Path:
    """The first records of a corpus as a file."""
    path = folder / f"{corpus.name}-{records}.ndjson"
    if not path.exists():
        with corpus.path.open("rb") as file, path.open("wb") as out:
            out.writelines(line for _, line in zip(range(records), file, strict=False))
    return path


def compare(corpus: corpora.Corpus, rounds: int, only: list[str], folder: Path) -> list[dict[str, Any]]:
    """All of them in turn, `rounds` times → one row each, with medians."""
    rules = folder / f"{corpus.name}.toml"
    rules.write_text(corpus.rules, encoding="utf-8")
    total = corpus.records
    share = {name: min(total, limit if corpus.name != "articles" else limit // 10) for name, limit in SLOW.items()}
    names = [name for name in (*PEERS, *OURS) if not only or any(part in name for part in only)]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            path = head(corpus, share[name], folder) if share.get(name, total) < total else corpus.path
            runs[name].append({**measured(name, corpus, path, rules), "size": path.stat().st_size})
    rows = []
    for name, results in runs.items():
        failed = next((result["error"] for result in results if "error" in result), None)
        if failed is not None:
            rows.append({"corpus": corpus.name, "name": name, "error": failed})
            continue
        seconds = statistics.median(result["seconds"] for result in results)
        records = share.get(name, total)
        rows.append(
            {
                "corpus": corpus.name,
                "name": name,
                "seconds": round(seconds, 3),
                "records": records,
                "records_per_second": round(records / seconds),
                "mb_per_second": round(results[0]["size"] / seconds / 1e6, 1),
                "peak_mb": round(max(result["peak_mb"] for result in results)),
                "found": results[0]["found"],
                "spread": round(max(r["seconds"] for r in results) / min(r["seconds"] for r in results), 2),
            }
        )
    return rows


def start_up() -> float:
    """Seconds for `seenbefore --version`, the median of nine."""
    command = [str(Path(sys.executable).with_name("seenbefore")), "--version"]
    times = []
    for _ in range(9):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def machine() -> dict[str, str]:
    """What it ran on."""
    names = ("seenbefore", "duckdb", "polars", "polars-hash", "orjson")
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), cpu)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": f"{cpu}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GiB",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **versions,
    }


def table(rows: list[dict[str, Any]], floor: str) -> list[str]:
    """The rows as Markdown; the last column compares with `floor`."""
    rates = {row["name"]: row["records_per_second"] for row in rows if "error" not in row}
    most = max((row["records"] for row in rows if "error" not in row), default=0)
    lines = [f"| | records/s | MB/s | peak MB | distinct | × {floor} |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['name']} | failed: {row['error']} | | | | |")
            continue
        times = f"{row['records_per_second'] / rates[floor]:.2f}" if floor in rates else ""
        found = f"{row['found']:,}" if row["records"] == most else ""
        lines.append(
            f"| {row['name']} | {row['records_per_second']:,} | {row['mb_per_second']:,.0f} | {row['peak_mb']:,}"
            f" | {found} | {times} |"
        )
    return lines


def goals(rows: list[dict[str, Any]]) -> list[str]:
    """Each goal beside what was measured."""
    rates = {(row["corpus"], row["name"]): row["records_per_second"] for row in rows if "error" not in row}
    lines = ["| goal | wanted | measured |", "|---|--:|--:|"]
    for ours, peer, corpus, wanted in GOALS:
        if (corpus, ours) in rates and (corpus, peer) in rates:
            ratio = rates[corpus, ours] / rates[corpus, peer]
            lines.append(f"| {ours} ÷ {peer}, {corpus} | ≥ {wanted:g} × | {ratio:.2f} × |")
    by_name = {(row["corpus"], row["name"]): row for row in rows if "error" not in row}
    counted, articles = ("listings", "Polars, same rule"), ("articles", "seenbefore: keys and verdicts")
    if articles in by_name:
        lines.append(f"| {articles[1]}, articles | ≥ 400 MB/s | {by_name[articles]['mb_per_second']:,.0f} MB/s |")
    for ours in ("seenbefore: keys and verdicts", "seenbefore: main job, SQLite"):
        if counted in by_name and ("listings", ours) in by_name:
            peak, theirs = by_name["listings", ours]["peak_mb"], by_name[counted]["peak_mb"]
            lines.append(f"| {ours}, peak memory, listings | < {theirs:,} MB (Polars) | {peak:,} MB |")
    lines.append(f"| `seenbefore --version` | ≤ 150 ms | {start_up() * 1000:.0f} ms |")
    return lines


def main() -> None:
    """Make the corpora, run everybody, write the table."""
    parser = argparse.ArgumentParser(description="Measure seenbefore beside its peers.")
    parser.add_argument("--listings", type=int, default=1_000_000)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names, such as DuckDB verdicts")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the table is written")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, path, rules, *fields = options.child
        return child(name, Path(path), Path(rules), fields)
    described = machine()
    lines = [f"# {datetime.now(UTC):%Y-%m-%d}", "", *(f"- {name}: {value}" for name, value in described.items()), ""]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="seenbefore-bench-") as name:
        chosen = [corpora.listings(options.listings), corpora.articles(options.articles), corpora.debian()]
        for corpus in filter(None, chosen):
            found = compare(corpus, options.rounds, options.only, Path(name))
            rows += found
            title = f"## {corpus.name}: {corpus.records:,} records, {corpus.megabytes:,.0f} MB"
            part = [title, "", *table(found, "DuckDB DISTINCT"), ""]
            print("\n".join(part), flush=True)
            lines += part
    reached = goals(rows)
    lines += reached
    print("\n".join(reached))
    options.results.mkdir(exist_ok=True)
    stem = options.results / f"{datetime.now(UTC):%Y-%m-%d}"
    stem.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = json.dumps({"machine": described, "rows": rows}, indent=1)
    stem.with_suffix(".json").write_text(result + "\n", encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
