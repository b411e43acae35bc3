"""Which URL opens which store."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.builder import register

from seenbefore.errors import StoreUnsupported, UsageError
from seenbefore.stores import MemoryStore, SqliteStore, open_store
from seenbefore.stores.schema import APPLICATION_ID


def test_a_path_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, with or without `sqlite:`, relative or not, is a store in SQLite, whatever signs are in it."""
    monkeypatch.chdir(tmp_path)
    urls = ["a.db", "sqlite:b.db", f"sqlite:{tmp_path}/c.db", "SQLite:d.db", "50%?x=1#e.db", "ünï code.db", "odd:f.db"]
    for url in urls:
        with open_store(url) as store:
            assert isinstance(store, SqliteStore)
            register(store)
    made = {one.name for one in tmp_path.iterdir() if not one.name.endswith("-writer")}
    assert made == {"a.db", "b.db", "c.db", "d.db", "50%?x=1#e.db", "ünï code.db", "odd:f.db"}


def test_a_link_leads_to_the_store(tmp_path: Path) -> None:
    """A store is made where a symbolic link leads, and not in the link's place."""
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "there.db")
    open_store(str(link)).close()
    assert link.is_symlink()
    assert (tmp_path / "there.db").exists()


def test_memory_is_new_each_time() -> None:
    """`memory:` is an empty store, which holds no receipts."""
    with open_store("memory:") as one, open_store("memory:") as other:
        assert isinstance(one, MemoryStore)
        register(one)
        assert other.rulesets() == []
        with pytest.raises(StoreUnsupported):
            one.receipts(1)
        with pytest.raises(StoreUnsupported):
            one.receipt(1, 1)


@pytest.mark.parametrize("url", ["", "sqlite:", ":memory:", "redis://host:1/", "mysql://someone:secret@host/db"])
def test_other_urls_name_no_store(url: str) -> None:
    """A URL of another kind, and an empty path, are mistakes, and no file is made of them."""
    with pytest.raises(UsageError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


def test_the_file_says_whose_it_is(tmp_path: Path) -> None:
    """The application id is where everybody can read it, from the first moment; the page size is what was measured."""
    path = tmp_path / "seen.db"
    open_store(str(path)).close()
    header = path.read_bytes()[:100]
    assert header[:16] == b"SQLite format 3\0"
    assert int.from_bytes(header[68:72]) == APPLICATION_ID == int.from_bytes(b"seen")
    assert int.from_bytes(header[60:64]) == 2
