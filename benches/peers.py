"""What a user would write or pick instead: each in a process of its own, on one file, counting distinct contents.

*Same rule* means: the text rule as far as that tool can say it, a canonical form, SHA-256, distinct keys counted.
*No rule* is a plain DISTINCT on the raw fields: fewer duplicates and no keys, a floor for what reading alone costs.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

Peer = Callable[[Path, Sequence[str]], tuple[int, float]]

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_GONE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
_SIGNS = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2026": "..."}
_TABLE = str.maketrans({**dict.fromkeys(_SPACES, " "), **dict.fromkeys(_GONE), **_SIGNS})


def _form(record: dict[str, object], fields: Sequence[str]) -> str:
    """The home-made canonical form of one record."""
    form: dict[str, object] = {}
    for field in fields:
        value = record.get(field)
        if isinstance(value, str):
            value = unicodedata.normalize("NFC", value).translate(_TABLE)
            value = re.sub(r"\s+", " ", value).strip().casefold()
            if field == "sku":
                value = re.sub(r"[^\w\s]", "", value)
        form[field] = value
    return json.dumps(form, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def twenty_lines(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """The usual home-made step: standard library, a set of digests (same rule)."""
    started, seen = time.perf_counter(), set()
    with path.open(encoding="utf-8") as file:
        for line in file:
            seen.add(hashlib.sha256(_form(json.loads(line), fields).encode()).hexdigest())
    return len(seen), time.perf_counter() - started


def twenty_lines_sqlite(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """The same with a unique index in SQLite and the record beside it, committed every 1,000 rows (same rule)."""
    started, new = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder, path.open(encoding="utf-8") as file:
        store = sqlite3.connect(Path(folder) / "seen.db")
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("CREATE TABLE record (content_hash TEXT UNIQUE, payload TEXT)")
        for count, line in enumerate(file, 1):
            key = hashlib.sha256(_form(json.loads(line), fields).encode()).hexdigest()
            new += store.execute("INSERT INTO record VALUES (?, ?) ON CONFLICT DO NOTHING", (key, line)).rowcount
            if count % 1_000 == 0:
                store.commit()
        store.commit()
        store.close()
    return new, time.perf_counter() - started


def tuned_python(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """About what pure Python can reach: orjson, a short cut for ASCII, raw digests (same rule)."""
    import orjson

    strip, sha, loads, dumps = re.compile(r"[^\w\s]").sub, hashlib.sha256, orjson.loads, orjson.dumps
    started, seen = time.perf_counter(), set()
    with path.open("rb") as file:
        for line in file:
            record, form = loads(line), {}
            for field in fields:
                value = record.get(field)
                if value.__class__ is str:
                    if not value.isascii():
                        value = unicodedata.normalize("NFC", value).translate(_TABLE)
                    value = " ".join(value.split()).casefold()
                form[field] = value
            if "sku" in form:
                form["sku"] = strip("", form["sku"])
            seen.add(sha(dumps(form, option=orjson.OPT_SORT_KEYS)).digest())
    return len(seen), time.perf_counter() - started


def polars_rule(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """Polars expressions and polars-hash, all cores (same rule)."""
    import polars as pl
    import polars_hash as plh

    started = time.perf_counter()
    old, new = [*_SPACES, *_GONE, *_SIGNS], [" "] * len(_SPACES) + [""] * len(_GONE) + list(_SIGNS.values())

    def normalised(field: str) -> pl.Expr:
        text = pl.col(field).str.normalize("NFC").str.replace_many(old, new).str.replace_all(r"\s+", " ")
        text = text.str.strip_chars().str.to_lowercase()
        return (text.str.replace_all(r"[^\w\s]", "") if field == "sku" else text).alias(field)

    frame = pl.scan_ndjson(path).select([normalised(field) for field in sorted(fields)])
    digest = plh.concat_str([pl.struct(pl.all()).struct.json_encode()]).chash.sha2_256()
    found: int = frame.select(digest.alias("key")).collect()["key"].n_unique()
    return found, time.perf_counter() - started


def polars_unique(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """Polars unique() on the raw fields (no rule)."""
    import polars as pl

    started = time.perf_counter()
    found: int = pl.scan_ndjson(path).select(fields).unique().select(pl.len()).collect().item()
    return found, time.perf_counter() - started


def duckdb_distinct(path: Path, fields: Sequence[str]) -> tuple[int, float]:
    """DuckDB SELECT DISTINCT on the raw fields, all cores (no rule)."""
    import duckdb

    started = time.perf_counter()
    columns = ", ".join(f"{field}: 'VARCHAR'" for field in fields)
    source = f"read_ndjson('{path}', columns={{{columns}}})"
    names = ", ".join(fields)
    row = duckdb.connect().execute(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {source})").fetchone()  # noqa: S608 - the names are those of this file
    return row[0] if row else 0, time.perf_counter() - started


PEERS: dict[str, Peer] = {
    "twenty lines": twenty_lines,
    "twenty lines + SQLite": twenty_lines_sqlite,
    "tuned Python": tuned_python,
    "Polars, same rule": polars_rule,
    "Polars unique()": polars_unique,
    "DuckDB DISTINCT": duckdb_distinct,
}
