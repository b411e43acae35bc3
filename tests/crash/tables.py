"""Everything that a store holds, in a form that can be compared: a process of its own reads it, when nobody writes.

    python -m tests.crash.tables PATH

Every table is read as SQLite's own schema names it, whatever the layout, and given as its number of rows and a digest
of each. The columns that hold a time of the clock are the only ones that are left out.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

# Table and column: when a migration was applied, when a run began and ended.
CLOCK = {("migration", "applied"), ("run", "started"), ("run", "ended")}
Tables = dict[str, list[str]]


def tables(path: Path) -> Tables:
    """The digests of all rows of all tables of the store, in their order; SQLite must find nothing wrong with it."""
    asked = [sys.executable, "-m", "tests.crash.tables", str(path)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found: Tables = json.loads(done.stdout)
    return found


def difference(found: Tables, expected: Tables) -> str:
    """What differs between two stores, in a sentence for each table; empty where nothing does."""
    told = []
    for name in sorted({*found, *expected}):
        one, other = found.get(name, []), expected.get(name, [])
        if one != other:
            at = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
            first = "" if at is None else f", the first that differs is number {at}"
            told.append(f"{name}: {len(one)} rows instead of {len(other)}{first}")
    return "; ".join(told)


def read(path: str) -> Tables:
    """The same, read here."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    found: Tables = {}
    for (name,) in connection.execute(names).fetchall():
        rows = connection.execute(f'SELECT * FROM "{name}"')
        columns = [at for at, (column, *_) in enumerate(rows.description) if (name, column) not in CLOCK]
        found[name] = [hashlib.sha256(repr([row[at] for at in columns]).encode()).hexdigest()[:16] for row in rows]
    faults = [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    faults += [repr(row) for row in connection.execute("PRAGMA foreign_key_check")]
    if faults:
        sys.exit(f"{path} is not whole: {faults}")
    connection.close()
    return found


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout)
