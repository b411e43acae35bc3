"""A store in PostgreSQL beside what bounds it from both sides, on one server and the same rows.

    python -m benches.postgres URL [RECORDS]

URL names a database that may be written to; three schemas are made there and dropped. It prints, for the same new
records: the seconds of `seenbefore dedup`, of a bare COPY of the rows that it wrote into the same tables with the same
indexes, and of one INSERT a row by psycopg (of a part of the rows, as it is slow); and the two ratios of the goals. The
first takes in all that the others leave out: reading, keys, verdicts, and the output files.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from seenbefore import Deduplicator
from seenbefore.stores import make_store

RULES = """
name = "bench"
version = 1
identity = ["title", "sku", "text"]
[record]
url = "url"
fetched_at = "fetched_at"
source = "source"
"""
TABLES = ("content", "place", "sighting", "block")
# One INSERT a row is timed over so many of the records.
PART = 10_000


def crawl(path: Path, records: int) -> None:
    """New records, each with a content and a URL of its own."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(records):
            row = {
                "title": f"Storm lantern no {number}",
                "sku": f"LN-{number}",
                "text": "A lantern that burns in any wind. " * 8,
                "url": f"https://shop.example/p/{number}",
                "source": "shop",
                "fetched_at": "2026-03-02T07:00:00Z",
            }
            file.write(json.dumps(row) + "\n")


def seconds(since: float) -> float:
    """Passed since."""
    return time.perf_counter() - since


def main(url: str, records: int) -> None:
    """Measure, and print."""
    schemas = [f"bench_{kind}" for kind in ("seenbefore", "copy", "insert")]
    stores = [f"{url}{'&' if '?' in url else '?'}schema={schema}" for schema in schemas]
    with psycopg.connect(url, autocommit=True) as connection, tempfile.TemporaryDirectory() as folder:
        drop(connection, schemas)
        crawl(Path(folder, "crawl.ndjson"), records)
        Path(folder, "rules.toml").write_text(RULES, encoding="utf-8")
        with Deduplicator(Path(folder, "rules.toml"), stores[0]) as dedup:
            since = time.perf_counter()
            dedup.run(Path(folder, "crawl.ndjson"), Path(folder, "out"))
            ours = seconds(since)
        for store in stores[1:]:
            make_store(store, keep="kept")
        rows = {table: dump(connection, schemas[0], table) for table in TABLES}
        copied = sum(copy(connection, schemas[1], table, data) for table, data in rows.items())
        inserted = insert(connection, schemas) * records / PART
        drop(connection, schemas)
    print(f"{records:,} new records: dedup {ours:.1f} s, bare COPY {copied:.1f} s, one INSERT a row {inserted:.1f} s")
    print(f"of a bare COPY: {copied / ours:.2f} (goal 0.5); times one-row inserts: {inserted / ours:.1f} (goal 5)")


def drop(connection: psycopg.Connection[Any], schemas: list[str]) -> None:
    """Remove what a run of this made."""
    for schema in schemas:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def dump(connection: psycopg.Connection[Any], schema: str, table: str) -> bytes:
    """The rows of a table as COPY gives them."""
    statement = sql.SQL("COPY {} TO STDOUT (FORMAT BINARY)").format(sql.Identifier(schema, table))
    with connection.cursor() as cursor, cursor.copy(statement) as copied:
        return b"".join(bytes(part) for part in copied)


def copy(connection: psycopg.Connection[Any], schema: str, table: str, data: bytes) -> float:
    """Seconds of one COPY into a table with its indexes."""
    since = time.perf_counter()
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(schema, table))
    with connection.cursor() as cursor, cursor.copy(statement) as copying:
        copying.write(data)
    return seconds(since)


def insert(connection: psycopg.Connection[Any], schemas: list[str]) -> float:
    """Seconds of PART records, a row of each table and an INSERT a row, in one transaction."""
    since, spent = 0.0, 0.0
    for table in TABLES[:3]:
        source, target = (sql.Identifier(schema, table) for schema in (schemas[0], schemas[2]))
        rows = connection.execute(sql.SQL("SELECT * FROM {} LIMIT {}").format(source, sql.Literal(PART))).fetchall()
        marks = sql.SQL(", ").join(sql.Placeholder() * len(rows[0]))
        statement = sql.SQL("INSERT INTO {} VALUES ({})").format(target, marks)
        since = time.perf_counter()
        with connection.transaction():
            for row in rows:
                connection.execute(statement, row)
        spent += seconds(since)
    return spent


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200_000)
