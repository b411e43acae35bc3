"""Making a store: whole or not there, and what a killed maker left is cleared away."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from seenbefore.stores import SqliteStore
from seenbefore.stores.sqlite import making

DIE = """
import os, signal, sys
from seenbefore.stores.sqlite import making
from seenbefore.stores import SqliteStore
at = sys.argv[2]
before = getattr(making, at)
def die(*arguments):
    if at == "_remove":
        os.kill(os.getpid(), signal.SIGKILL)
    before(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(making, at, die)
SqliteStore(sys.argv[1])
"""


def drafts(folder: Path) -> set[str]:
    """The names of hidden files."""
    return {path.name for path in folder.iterdir() if path.name.startswith(".")}


def die(path: Path, at: str) -> None:
    """Make a store, and die behind one of the steps, before what is tidied up by the last of them."""
    done = subprocess.run([sys.executable, "-c", DIE, path, at], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("at", ["migrate", "_build"])
def test_a_draft_of_a_killed_process_is_cleared_away(tmp_path: Path, at: str) -> None:
    """Whoever makes the store next removes it; a draft that a living process holds stays."""
    path = tmp_path / "seen.db"
    die(path, at)
    assert not path.exists()
    assert drafts(tmp_path)
    held = tmp_path / ".seen.db.new-00000000"
    with making._held(held):
        SqliteStore(path).close()
        assert drafts(tmp_path) == {held.name}
    # The store is there now, and its drafts are nobody's any more.
    making.clear(path)
    assert drafts(tmp_path) == set()


def test_a_store_that_was_put_in_place_loses_its_other_name(tmp_path: Path) -> None:
    """A process that was killed just then left two names: opening the store for writing removes the draft's."""
    path = tmp_path / "seen.db"
    die(path, "_remove")
    assert path.stat().st_nlink == 2
    SqliteStore(path, read_only=True).close()
    assert len(drafts(tmp_path)) == 1
    SqliteStore(path).close()
    assert drafts(tmp_path) == set()
    assert path.stat().st_nlink == 1


def test_a_draft_that_was_taken_away_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may take a draft for one that was left, just before it is put in its place."""
    path, real, times = tmp_path / "seen.db", os.link, []

    def taken(draft: Path, place: Path) -> None:
        times.append(draft)
        if len(times) < 3:
            draft.unlink()
        real(draft, place)

    monkeypatch.setattr(os, "link", taken)
    SqliteStore(path).close()
    assert len(times) == 3
    assert drafts(tmp_path) == set()


def test_a_file_system_without_links_has_stores_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the draft can't be linked it is renamed; a store that came first stays."""

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "seen.db"
    SqliteStore(path).close()
    assert drafts(tmp_path) == set()
    before = path.read_bytes()
    making.create(path, str(path), "none")
    assert path.read_bytes() == before


def test_a_store_has_the_rights_that_sqlite_gives(tmp_path: Path) -> None:
    """Others may read it, as far as the umask allows."""
    umask = os.umask(0o022)
    try:
        SqliteStore(tmp_path / "seen.db").close()
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "seen.db").stat().st_mode) == 0o644
