"""The hard case of SQLite stores (H61): two writers of the same keys, one of them killed, and ids like numbers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from tests.crash.crawls import SEENBEFORE

KEYS, BATCH = 500, 50
IDS = ["3970e14784", "15E2621", "008"]
RULES = 'name = "posts"\nversion = 1\nidentity = ["id"]\n[record]\nsource = "shop"\n'
COLUMNS = """
import json, sqlite3, sys
store = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
found = []
for (table,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
    for _, column, *_ in store.execute(f'PRAGMA table_info("{table}")').fetchall():
        for wanted in json.loads(sys.argv[2]):
            # Joined with nothing it is compared as a text, whatever type the column has.
            asked = f"SELECT typeof([{column}]) FROM [{table}] WHERE [{column}] || '' = ?"
            found += [[table, column, wanted, kind] for (kind,) in store.execute(asked, (wanted,)).fetchall()]
print(json.dumps(found))
"""


def feed(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """A writer that reads standard input."""
    command = [SEENBEFORE, "dedup", "-", "--rules", "rules.toml", "--store", "seen.db", "--out", out]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, "--batch-size", str(BATCH)], cwd=folder, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe
    )


def lines(numbers: range) -> list[bytes]:
    """A record for each number; the sources are the three ids, by turns."""
    records = ({"id": f"post {number}", "shop": IDS[number % 3]} for number in numbers)
    return [json.dumps(record).encode() + b"\n" for record in records]


def test_two_writers_of_the_same_keys(tmp_path: Path) -> None:
    """Up and down, fifty at a time, one killed in mid-batch and started again: each key is new once, none is lost."""
    (tmp_path / "rules.toml").write_text(RULES)
    up, down = lines(range(KEYS)), lines(range(KEYS - 1, -1, -1))
    first, second = feed(tmp_path, "up"), feed(tmp_path, "down")
    assert first.stdin is not None
    assert second.stdin is not None
    first.stdin.write(b"".join(up[:270]))
    first.stdin.flush()
    second.stdin.write(b"".join(down))
    second.stdin.flush()
    end = time.monotonic() + 60
    receipts = tmp_path / "up" / "receipts.ndjson"
    while not receipts.exists() or receipts.read_bytes().count(b"\n") < 250:
        assert time.monotonic() < end
        time.sleep(0.01)
    first.kill()
    first.communicate()
    _, said = second.communicate(timeout=60)
    assert (second.returncode, said) == (0, b"")
    again = feed(tmp_path, "up")
    _, said = again.communicate(b"".join(up), timeout=60)
    assert (again.returncode, b"goes on behind its record 2" in said) == (0, True), said
    new = []
    for out in ("up", "down"):
        receipts = [json.loads(line) for line in (tmp_path / out / "receipts.ndjson").read_bytes().splitlines()]
        kept = (tmp_path / out / "kept.ndjson").read_bytes().splitlines()
        assert len(receipts) == KEYS
        assert {one["source"] for one in receipts} == set(IDS)
        fresh = [one["content_key"] for one in receipts if one["verdict"] == "new"]
        assert [json.loads(line)["_seen"]["content_key"] for line in kept] == fresh
        new += fresh
    assert len(new) == len(set(new)) == KEYS
    asked = [sys.executable, "-c", COLUMNS, "seen.db", json.dumps(IDS)]
    columns = json.loads(subprocess.run(asked, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert {wanted for _, _, wanted, _ in columns} == set(IDS)
    assert {kind for *_, kind in columns} == {"text"}
