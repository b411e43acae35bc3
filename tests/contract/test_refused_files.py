"""What is no whole store in SQLite is refused, named for what it is, and left byte for byte as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.contract.builder import Item, begin, crawl, dump, environment, record, register, run_whole

from seenbefore.errors import (
    DiskFull,
    OutputFailed,
    PermissionDenied,
    SeenbeforeError,
    StoreDamaged,
    StoreForeign,
    StoreNewer,
    StoreUnsupported,
    UsageError,
)
from seenbefore.stores import SqliteStore, open_store
from seenbefore.stores.schema import MIGRATIONS, PAGE_SIZE, Migration


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with something in it, closed: one file, everything in it."""
    path = tmp_path / "folder" / "seen.db"
    path.parent.mkdir()
    with SqliteStore(path) as store:
        register(store)
        run_whole(store, crawl(3000), batch=1500)
    (path.parent / "seen.db-writer").unlink()
    assert [one.name for one in path.parent.iterdir()] == ["seen.db"]
    return path


def state(folder: Path) -> dict[str, str]:
    """Every file of a folder with its digest."""
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.iterdir() if one.is_file()}


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE content (key BLOB PRIMARY KEY)")
        other.commit()


def foreign_with_log(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE content (key BLOB PRIMARY KEY)")
    other.commit()
    other.close()


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def without_schema(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA user_version = 0")


def without_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute("DROP TABLE place_now")


def without_sightings(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute("DELETE FROM sighting WHERE id > 2000")
        store.commit()


def cut(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        os.truncate(path, int(path.stat().st_size * share))

    damage.__name__ = f"cut_{share}"
    return damage


def written(text: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(text)

    damage.__name__ = f"text_of_{len(text)}"
    return damage


def overwritten(first: int, size: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(first)
            file.write(b"\xff" * size)

    damage.__name__ = f"overwritten_{first}"
    return damage


def root_of(table: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as store:
            page = store.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        overwritten((page - 1) * PAGE_SIZE, PAGE_SIZE)(path)

    damage.__name__ = f"root_of_{table}"
    return damage


REFUSED: list[tuple[Callable[[Path], None], type[SeenbeforeError]]] = [
    (written(b""), StoreDamaged),
    (written(b"x"), StoreForeign),
    (written(b'{"url":"http://e.example/"}\n' * 1000), StoreForeign),
    (foreign, StoreForeign),
    (foreign_with_log, StoreForeign),
    (newer, StoreNewer),
    (without_schema, StoreDamaged),
    (without_table, StoreDamaged),
    (without_sightings, StoreDamaged),
    (cut(0.9), StoreDamaged),
    (cut(0.5), StoreDamaged),
    (cut(0.01), StoreDamaged),
    (overwritten(0, 40), StoreForeign),
    (overwritten(100, 400), StoreDamaged),
    (root_of("ruleset"), StoreDamaged),
    (root_of("block"), StoreDamaged),
    (root_of("sighting"), StoreDamaged),
    (root_of("bucket"), StoreDamaged),
]


@pytest.mark.parametrize("read_only", [False, True], ids=["to_write", "to_read"])
@pytest.mark.parametrize(("damage", "error"), REFUSED, ids=[damage.__name__ for damage, _ in REFUSED])
def test_refused_and_left_as_it_is(
    path: Path, damage: Callable[[Path], None], error: type[SeenbeforeError], *, read_only: bool
) -> None:
    """A damaged, foreign or newer file is refused by name, saying what next, and is not written to."""
    damage(path)
    before = state(path.parent)
    with pytest.raises(error) as caught:
        open_store(str(path), read_only=read_only)
    assert type(caught.value) is error
    assert caught.value.path == str(path)
    assert str(path) in caught.value.message
    assert caught.value.hint
    after = state(path.parent)
    assert after["seen.db"] == before["seen.db"]
    # A store of ours was looked into: SQLite's own files may have appeared, with nothing in them.
    assert set(after) - set(before) <= {"seen.db-shm", "seen.db-wal"}
    if error in {StoreForeign, StoreNewer}:
        assert after == before


def test_a_folder_is_no_store(path: Path) -> None:
    """A folder, or another thing that is no file, is refused."""
    with pytest.raises(StoreForeign):
        open_store(str(path.parent))
    with pytest.raises(StoreForeign):
        open_store("/dev/null")


@pytest.mark.parametrize("way", [{"read_only": True}, {"create": False}], ids=["read_only", "no_create"])
def test_a_missing_store_is_not_made_to_read(tmp_path: Path, way: dict[str, bool]) -> None:
    """Where nothing may be made, a store that isn't there is an error, and no file appears."""
    with pytest.raises(UsageError, match="there is no store"):
        open_store(str(tmp_path / "seen.db"), **way)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """A store in a folder that isn't there is not made, and the folder isn't either."""
    with pytest.raises(UsageError, match="folder"):
        open_store(str(tmp_path / "no" / "seen.db"))
    assert list(tmp_path.iterdir()) == []


def test_reading_writes_nothing(path: Path) -> None:
    """Opening a store to read and reading everything leaves the file as it is, and writing is an error."""
    before = state(path.parent)
    with open_store(str(path), read_only=True) as store:
        assert store.info().sightings == 3000
        assert len(b"".join(store.receipts(1)).splitlines()) == 3000
        register(store)
        with pytest.raises(UsageError):
            store.transaction()
        with pytest.raises(UsageError):
            register(store, "products/4", "sha256:bb")
    after = state(path.parent)
    assert after["seen.db"] == before["seen.db"]
    assert set(after) <= {"seen.db", "seen.db-shm", "seen.db-wal"}


def test_damage_that_shows_later_is_named(path: Path) -> None:
    """A page that is found damaged while reading or writing is StoreDamaged too, with the path and what next."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        for place in range(24 * PAGE_SIZE, size - PAGE_SIZE, 2 * PAGE_SIZE):
            file.seek(place)
            file.write(b"\x07" * PAGE_SIZE)

    def use() -> None:
        with open_store(str(path)) as store:
            dump(store)
            register(store)
            run_whole(store, crawl(3000, 1), "/two")

    with pytest.raises(StoreDamaged) as caught:
        use()
    assert caught.value.path == str(path)
    assert caught.value.hint


def test_a_block_that_cannot_be_unpacked_is_damage(path: Path) -> None:
    """Receipts that were changed behind the store's back are not given out."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE block SET receipts = x'00112233' WHERE first_seq = 1")
        other.commit()
    with open_store(str(path), read_only=True) as store, pytest.raises(StoreDamaged):
        store.receipt(1, 1)


def test_a_full_disk_loses_nothing(path: Path) -> None:
    """When no page can be added the batch fails as a whole, by name; the store goes on when there is room again."""
    with SqliteStore(path) as store:
        register(store)
        run = begin(store, "/two")
        before = dump(store)
        assert store._writer is not None
        connection = store._writer.connection
        pages = connection.execute("PRAGMA page_count")[0][0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(DiskFull) as caught, store.transaction() as transaction:
            record(transaction, run, crawl(3000, 1))
        assert caught.value.exit_status == 6
        assert dump(store) == before
        connection.execute("PRAGMA max_page_count = 1000000")
        with store.transaction() as transaction:
            record(transaction, run, crawl(3000, 1))
            transaction.commit()


READ_AND_WRITE = """
import sys
from seenbefore.errors import PermissionDenied
from seenbefore.stores import open_store
with open_store(sys.argv[1], read_only=True) as store:
    print(store.info().sightings, len(b"".join(store.receipts(1)).splitlines()))
for path in sys.argv[1:]:
    try:
        open_store(path)
    except PermissionDenied as error:
        print(error.path)
"""


def test_a_store_in_a_folder_that_may_not_be_written(path: Path) -> None:
    """It can be read, leaving nothing behind; writing to it, or making one there, is a question of permission."""
    before = state(path.parent)
    other = path.with_name("other.db")
    command = [sys.executable, "-c", READ_AND_WRITE, str(path), str(other)]
    if os.geteuid() == 0:
        # Root without its capabilities is bound by the mode of files like everybody else.
        drop = shutil.which("setpriv")
        if drop is None:
            pytest.skip("nothing is forbidden to root, and there is no setpriv to give up its rights")
        command = [drop, "--inh-caps=-all", "--bounding-set=-all", *command]
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(), timeout=60)
    finally:
        path.parent.chmod(0o755)
    assert (done.stderr, done.stdout.splitlines()) == ("", ["3000 3000", str(path), str(other)])
    assert state(path.parent) == before


def test_an_older_store_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new migration is applied and recorded when a store is opened to write; reading alone doesn't do it."""
    with open_store(str(path)) as store:
        before = dump(store)
    migration = Migration("3-test", "CREATE TABLE newer (a INTEGER) STRICT; -- one; more\nCREATE INDEX l ON newer (a);")
    for module in ("schema", "sqlite.file", "sqlite.store"):
        monkeypatch.setattr(f"seenbefore.stores.{module}.MIGRATIONS", (*MIGRATIONS, migration))
    with pytest.raises(StoreUnsupported):
        open_store(str(path), read_only=True)
    for _ in range(2):
        with open_store(str(path)) as store:
            assert store.info().migrations == ("1-first", "2-histories", "3-test")
            assert dump(store) == before
    monkeypatch.undo()
    with pytest.raises(StoreNewer):
        open_store(str(path))


def test_a_migration_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration is applied as a whole or not at all."""
    migration = Migration("3-test", "CREATE TABLE newer (a INTEGER) STRICT; CREATE TABLE run (id INTEGER);")
    before = state(path.parent)["seen.db"]
    for module in ("schema", "sqlite.file", "sqlite.store"):
        monkeypatch.setattr(f"seenbefore.stores.{module}.MIGRATIONS", (*MIGRATIONS, migration))
    with pytest.raises(StoreDamaged):
        open_store(str(path))
    assert state(path.parent)["seen.db"] == before


def test_keep_is_settled_when_a_store_is_made(tmp_path: Path) -> None:
    """A store that keeps no rows has receipts only, and says so when it is asked to keep them."""
    path = tmp_path / "seen.db"
    with SqliteStore(path, keep="none") as store:
        register(store)
        run = run_whole(store, [Item("a"), Item("b")])
        assert store.info().keep == "none"
        assert store.receipt(run, 1)
        assert store.kept(run, 1) is None
        assert list(store.kept_rows(run)) == []
    with SqliteStore(path) as store:
        assert store.keep == "none"
    with pytest.raises(UsageError, match="keep"):
        SqliteStore(path, keep="kept")


def test_output_failed_is_the_family() -> None:
    """Whoever catches OutputFailed catches a full disk and a missing permission."""
    assert issubclass(DiskFull, OutputFailed)
    assert issubclass(PermissionDenied, OutputFailed)
