"""`store check`: a whole store has no faults, and each kind of damage is found and named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.damage import BROKEN, DAMAGE

from seenbefore import Deduplicator, Ruleset, Settings
from seenbefore.audit.check import check
from seenbefore.audit.check.totals import Totals
from seenbefore.stores import MemoryStore, SqliteStore
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import Fault

SAMPLE = Path(__file__).parent.parent.parent / "examples" / "sample"


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


@pytest.mark.parametrize(("script", "expected"), BROKEN.values(), ids=BROKEN)
def test_damage_is_found_and_named(
    damaged: Callable[[str], Path], script: str, expected: list[tuple[str, str, str, str, str]]
) -> None:
    """What doesn't fit together is told with its table, its row, what should be there and what is."""
    found = faults(damaged(script))
    for table, row, what, wanted, is_there in expected:
        assert any(
            fault.table == table
            and fault.row.startswith(row)
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
