"""A store of the sample's three days, a run a day, and bundles of it, made once for all tests of this folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from seenbefore import Deduplicator, Ruleset
from seenbefore.evidence.bundle import build
from seenbefore.stores import open_store

SAMPLE = Path(__file__).parent.parent.parent / "examples" / "sample"
DAYS = ("2026-03-02", "2026-03-03", "2026-03-04")


def crawl(folder: Path) -> Path:
    """Judges the three days in three runs, each with its outputs in out/RUN → the store."""
    store = folder / "seen.db"
    with Deduplicator(Ruleset.load(SAMPLE / "rules.toml"), store) as deduplicator:
        for day in DAYS:
            deduplicator.run(sorted(str(path) for path in SAMPLE.glob(f"{day}_*")), folder / "out" / "{run}")
    return store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store; its outputs lie in out/1 to out/3 beside it. Tests only read it."""
    return crawl(tmp_path_factory.mktemp("crawl"))


@pytest.fixture(scope="session")
def whole(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of all three runs. Tests only read it."""
    return made(store, tmp_path_factory.mktemp("whole") / "bundle")


@pytest.fixture(scope="session")
def later(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the second and third run, with prior state. Tests only read it."""
    return made(store, tmp_path_factory.mktemp("later") / "bundle", runs="2..3")


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    """A copy of the whole bundle to be spoilt."""
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


def made(store: Path, out: Path, **options: object) -> Path:
    """A bundle of a store."""
    with open_store(str(store), read_only=True) as opened:
        build(opened, out, **options)  # type: ignore[arg-type] # by name
    return out
