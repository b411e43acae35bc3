"""`store check`: a whole store has no faults, and each kind of damage is found and named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seenbefore import Deduplicator, Ruleset, Settings
from seenbefore.audit.check import check
from seenbefore.audit.check.totals import Totals
from seenbefore.stores import MemoryStore, SqliteStore
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import Fault

SAMPLE = Path(__file__).parent.parent.parent / "examples" / "sample"
# Damage is done by another process, with another SQLite than the package's, while nobody has the store open.
DAMAGE = """
import sqlite3, sys, zstandard
store = sqlite3.connect(sys.argv[1], isolation_level=None)
def sql(*statements):
    for statement in statements:
        store.execute(statement)
def edit(column, change, where="run = 1 AND first_seq = 1"):
    (packed,) = store.execute(f"SELECT {column} FROM block WHERE {where}").fetchone()
    data = zstandard.ZstdCompressor().compress(change(zstandard.ZstdDecompressor().decompress(packed)))
    assert store.execute(f"UPDATE block SET {column} = ? WHERE {where}", (data,)).rowcount == 1
exec(sys.argv[2])
store.close()
"""


def judge(store: SeenStore | str, folder: Path) -> None:
    """Two finished runs over the sample, in small batches, and one of a program."""
    rules = Ruleset.load(SAMPLE / "rules.toml")
    with Deduplicator(rules, store, settings=Settings(batch_size=40)) as deduplicator:
        for day in ("2026-03-02", "2026-03-03"):
            deduplicator.run(sorted(SAMPLE.glob(f"{day}_*")), out=folder / day)
        with deduplicator.batch() as batch:
            for sku in ("LN-7", "ln 7", "LN-8"):
                batch.judge({"title": "Lamp oil", "sku": sku, "url": f"https://e.example/{sku[-1]}"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that is whole."""
    folder = tmp_path_factory.mktemp("whole")
    judge(str(folder / "seen.db"), folder)
    return folder / "seen.db"


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Gives a copy of that store with something done to it."""

    def damage(script: str) -> Path:
        shutil.copy(whole, tmp_path / "seen.db")
        subprocess.run([sys.executable, "-c", DAMAGE, tmp_path / "seen.db", script], check=True)
        return tmp_path / "seen.db"

    return damage


def faults(path: Path, *, quick: bool = False) -> list[Fault]:
    """All faults of a store."""
    with SqliteStore(path, read_only=True) as store:
        return [fault for part in check(store, Totals(), quick=quick) for fault in part.faults]


@pytest.mark.parametrize("quick", [False, True])
def test_a_whole_store_has_no_faults(whole: Path, tmp_path: Path, *, quick: bool) -> None:
    """Finished runs, unfinished ones and those of a program leave nothing to find, in a file and in memory."""
    assert faults(whole, quick=quick) == []
    store = MemoryStore(blocks=True)
    judge(store, tmp_path)
    totals = Totals()
    assert [fault for part in check(store, totals, quick=quick) for fault in part.faults] == []
    assert totals.sightings == 206


# What is done to which table, and the first faults that are told of it: table, row, words of what is wrong, both sides.
BROKEN = {
    "a sighting is gone": (
        'sql("DELETE FROM sighting WHERE id = 7")',
        [("sighting", "7", "is not there", "a sighting of row 1:7", "none")],
    ),
    "its verdict is another": (
        'sql("UPDATE sighting SET verdict = 3 WHERE id = 7")',
        [
            ("sighting", "7", "has another verdict than its receipt, row 1:7", "new", "duplicate"),
            ("run", "1", "counts other sightings with the verdict new", "84", "85"),
        ],
    ),
    "its verdict is none": (
        'sql("UPDATE sighting SET verdict = 9 WHERE id = 7")',
        [("sighting", "7", "has another verdict than its receipt", "new", "9")],
    ),
    "its time is another": (
        'sql("UPDATE sighting SET fetched_at = 5000000 WHERE id = 7")',
        [
            ("sighting", "7", "has another fetched_at", "2026-03-02T07:00:06Z", "1970-01-01T00:00:05Z"),
        ],
    ),
    "its content was seen earlier": (
        'sql("INSERT INTO content_seen VALUES (7, 5000000)")',
        [("content", "", "has another first_seen", "2026-03-02T07:00:06Z", "1970-01-01T00:00:05Z")],
    ),
    "its row is another": (
        'sql("UPDATE sighting SET seq = 9 WHERE id = 7")',
        [("sighting", "7", "is another row's", "row 1:7", "row 1:9")],
    ),
    "its URL is another": (
        """sql("UPDATE sighting SET url = 'x' WHERE id = 7")""",
        [("sighting", "7", "has another url", "https://courier.example/post/106", "x")],
    ),
    "its payload is another": (
        'sql("UPDATE sighting SET payload = zeroblob(32) WHERE id = 7")',
        [("sighting", "7", "has another payload_digest", "sha256:", "sha256:0000")],
    ),
    "its source is not there": (
        'sql("UPDATE sighting SET source = 99 WHERE id = 7")',
        [("sighting", "7", "has a source that is not there", "source 99", "none")],
    ),
    "its content is another": (
        'sql("UPDATE sighting SET content = 8 WHERE id = 107")',
        [
            (
                "sighting",
                "107",
                "has another content than its receipt, row 2:3",
                "content 7, sample/1:sha256:",
                "content 8",
            )
        ],
    ),
    "its place is another": (
        'sql("UPDATE sighting SET place = 8 WHERE id = 107")',
        [
            ("place", "", "has another latest sighting than there is", "sighting 7 of", "sighting 107 of"),
            ("sighting", "107", "has another place than its receipt", "place 7, sample/1:url:sha256:", "place 8"),
        ],
    ),
    "it has no content": (
        'sql("UPDATE sighting SET content = NULL, place = NULL WHERE id = 107")',
        [
            ("sighting", "107", "has another content", "one", "none"),
            ("sighting", "107", "has another place", "one", "none"),
        ],
    ),
    "a block is gone": (
        'sql("DELETE FROM block WHERE run = 1 AND first_seq = 41")',
        [
            ("block", "1:81", "doesn't follow the block before it", "first sighting 41", "first sighting 81"),
            ("block", "1:81", "doesn't follow the block of its run", "first seq 41", "first seq 81"),
            ("sighting", "41", "is in no block, so it has no receipt", "a receipt", "none"),
        ],
    ),
    "a block is shorter": (
        'sql("UPDATE block SET records = 39 WHERE run = 1 AND first_seq = 41")',
        [
            ("block", "1:41", "holds another number of receipts", "39 receipts", "40 receipts"),
            ("run", "1", "has other records in its counts", "103", "104"),
            ("run", "1", "has other records in its position", "103", "104"),
        ],
    ),
    "receipts are cut off": (
        'sql("UPDATE block SET receipts = substr(receipts, 1, 50) WHERE run = 1 AND first_seq = 41")',
        [("block", "1:41", "can't be unpacked", "receipts and kept rows", "seen.db is damaged")],
    ),
    "a receipt is no receipt": (
        """edit("receipts", lambda data: b"[]" + data[data.index(b"\\n"):])""",
        [("block", "1:1", "has a receipt that can't be read", "a receipt", "[]")],
    ),
    "a receipt is another row's": (
        """edit("receipts", lambda data: data.replace(b'"seq":2,', b'"seq":3,', 1))""",
        [
            ("block", "1:2", "has the receipt of another row", "row 1:2", "row 1:3"),
            ("run", "1", "chain digest", "", ""),
        ],
    ),
    "a receipt was changed": (
        """edit("receipts", lambda data: data.replace(b'"line":1,', b'"line":2,', 1))""",
        [("run", "1", "has receipts that don't give its chain digest", "sha256:", "sha256:")],
    ),
    "a kept row is gone": (
        """edit("kept", lambda data: data[data.index(b"\\n") + 1 :])""",
        [
            ("block", "1:1", "holds another number of kept rows than its receipts say", "38 rows", "37 rows"),
            ("run", "1", "says another length of kept.ndjson", "", "56021 bytes"),
        ],
    ),
    "kept rows change places": (
        """edit("kept", lambda data: b"\\n".join([*data.split(b"\\n")[1::-1], *data.split(b"\\n")[2:]]))""",
        [
            ("block", "1:1", "has a kept row that is not its receipt's", '"sha256":', '"sha256":'),
            ("block", "1:2", "", "", ""),
        ],
    ),
    "kept rows are gone": (
        'sql("UPDATE block SET kept = NULL WHERE run = 1 AND first_seq = 41")',
        [("block", "1:41", "doesn't hold what the store keeps", "kept rows", "no kept rows")],
    ),
    "a run is gone": (
        'sql("DELETE FROM run WHERE id = 2")',
        [
            ("block", "", "names a row of run that is not there", "", ""),
            ("input", "", "names a row of run that is not there", "", ""),
            ("block", "2:1", "is of a run that is not there", "run 2", "none"),
            ("run", "3", "is another link of the chain than its place", "link 2", "link 3"),
        ],
    ),
    "a run has no chain": (
        'sql("UPDATE run SET chain = NULL, link = NULL WHERE id = 3")',
        [("run", "3", "doesn't stand in the chain as its state says", "a link and a chain digest", "link None")],
    ),
    "a run is not finished": (
        """sql("UPDATE run SET state = 'unfinished' WHERE id = 2")""",
        [("run", "2", "doesn't stand in the chain as its state says", "none: it is not finished", "link 2")],
    ),
    "a run counts otherwise": (
        """sql("UPDATE run SET counts = json_set(counts, '$.kept', 5, '$.verdicts.new', 9) WHERE id = 1")""",
        [("run", "1", "verdict new than there are", "85", "9"), ("run", "1", "counts other kept rows", "", "5")],
    ),
    "an output is longer": (
        """sql("UPDATE run SET outputs = json_set(outputs, '$.\\"receipts.ndjson\\"', 5) WHERE id = 1")""",
        [("run", "1", "says another length of receipts.ndjson", "bytes", "5 bytes")],
    ),
    "an input is gone": (
        'sql("DELETE FROM input WHERE run = 2 AND idx = 1")',
        [
            ("input", "2", "are not counted from 0 without gaps", "3 inputs", "0, 2, 3"),
            ("run", "2", "counts other records than its inputs had", "84", "99"),
        ],
    ),
}


@pytest.mark.parametrize(("script", "expected"), BROKEN.values(), ids=BROKEN)
def test_damage_is_found_and_named(
    damaged: Callable[[str], Path], script: str, expected: list[tuple[str, str, str, str, str]]
) -> None:
    """What doesn't fit together is told with its table, its row, what should be there and what is."""
    found = faults(damaged(script))
    for table, row, what, wanted, is_there in expected:
        assert any(
            fault.table == table
            and row in {"", fault.row}
            and what in fault.what
            and wanted in fault.expected
            and is_there in fault.found
            for fault in found
        ), found


QUICK = (
    "a sighting is gone",
    "a block is gone",
    "a block is shorter",
    "a run is gone",
    "a run is not finished",
    "an input is gone",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_look_finds_what_doesnt_add_up(damaged: Callable[[str], Path], name: str) -> None:
    """Without reading receipts or sorting, what is missing is noticed all the same."""
    assert faults(damaged(BROKEN[name][0]), quick=True)


KEYS = {
    "a content is gone": lambda tables: tables.contents.pop(first(tables.contents, 7)),
    "a place is gone": lambda tables: tables.places.pop(first(tables.places, 7)),
    "a content has no sighting": lambda tables: tables.contents.update({(1, bytes(32)): (900, None)}),
    "a place has no sighting": lambda tables: tables.places.update({(1, bytes(32)): (900, 900, 900)}),
    "a first_seen is later": lambda tables: tables.contents.update({first(tables.contents, 7): (7, 10**17)}),
    "a latest sighting is earlier": lambda tables: tables.places.update({first(tables.places, 7): (7, 7, 7)}),
    "a key is another": lambda tables: tables.contents.update(
        {(1, bytes(32)): tables.contents.pop(first(tables.contents, 7))}
    ),
}
TOLD = {
    "a content is gone": ("sighting", "107", "belongs to a content that has no key", "a key of content 7", "none"),
    "a place is gone": ("sighting", "107", "belongs to a place that has no key", "a key of place 7", "none"),
    "a content has no sighting": ("content", f"sample/1:sha256:{'0' * 64}", "has no sighting", "sighting 900", "none"),
    "a place has no sighting": ("place", f"sample/1:url:sha256:{'0' * 64}", "has no sighting", "sighting 900", "none"),
    "a first_seen is later": (
        "content",
        "",
        "has another first_seen than its sightings say",
        "2026-03-02T07:00:06Z",
        "5138-11-16T09:46:40Z",
    ),
    "a latest sighting is earlier": (
        "place",
        "",
        "has another latest sighting than there is",
        "sighting 107 of content 7",
        "sighting 7 of content 7",
    ),
    "a key is another": (
        "sighting",
        "107",
        "has another content than its receipt, row 2:3",
        "content of no id",
        "content 7",
    ),
}


def first(table: dict[tuple[int, bytes], tuple[int, ...]], wanted: int) -> tuple[int, bytes]:
    """The key of the row with that id."""
    return next(key for key, row in table.items() if row[0] == wanted)


@pytest.mark.parametrize("name", KEYS)
def test_keys_that_dont_fit_their_sightings(tmp_path: Path, name: str) -> None:
    """Keys without sightings, sightings without keys, and what keys say of their sightings wrongly."""
    store = MemoryStore(blocks=True)
    judge(store, tmp_path)
    KEYS[name](store._state.tables)
    found = [fault for part in check(store, Totals()) for fault in part.faults]
    table, row, *words = TOLD[name]
    assert any(
        fault.table == table
        and row in {"", fault.row}
        and words == [fault.what, fault.expected.partition(",")[0], fault.found]
        for fault in found
    ), found


def test_a_damaged_page_is_told_and_the_rest_is_read(damaged: Callable[[str], Path]) -> None:
    """Where the file itself is damaged SQLite says so, and the check goes on as far as it can."""
    path = damaged(
        """store.executemany("INSERT INTO source (name) VALUES (?)", ((f"shop {n}",) for n in range(9000)))"""
    )
    data, page = bytearray(path.read_bytes()), 8192
    at = next(at for at in range(0, len(data), page) if b"shop 4500" in data[at : at + page])
    data[at : at + 100] = b"\xff" * 100
    path.write_bytes(data)
    found = faults(path)
    assert any(fault.table == "file" for fault in found), found
