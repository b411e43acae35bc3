"""Bundles as others check them: the Library of Congress's bagit, and frictionless."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.evidence.conftest import made


@pytest.fixture(params=["whole", "later", "parts", "packed"])
def bundle(request: pytest.FixtureRequest, store: Path, tmp_path: Path) -> Path:
    """Each form of a bundle."""
    options = {"parts": {"split": 20_000}, "packed": {"compressed": True, "split": 20_000}}
    if request.param in options:
        return made(store, tmp_path / "bundle", **options[request.param])
    return Path(request.getfixturevalue(request.param))


def test_bagit_takes_it(bundle: Path) -> None:
    """The bagit package finds a complete and valid bag."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a package that is older than this Python
        import bagit
    bagit.Bag(str(bundle)).validate()


def test_bagit_finds_a_changed_byte(copied: Path) -> None:
    """The bagit package finds that a row was changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        import bagit
    change(copied / "data" / "rows.ndjson")
    assert not bagit.Bag(str(copied)).is_valid()


def frictionless(bundle: Path) -> subprocess.CompletedProcess[str]:
    """The validator as people call it."""
    return subprocess.run(
        [sys.executable, "-m", "frictionless", "validate", "datapackage.json"],
        cwd=bundle / "data",
        capture_output=True,
        text=True,
        check=False,
    )


def test_frictionless_takes_it(bundle: Path) -> None:
    """The frictionless package finds a valid data package, sizes and digests included."""
    done = frictionless(bundle)
    assert done.returncode == 0, done.stdout + done.stderr


def test_frictionless_finds_a_changed_byte(copied: Path) -> None:
    """The frictionless package finds that a row was changed."""
    change(copied / "data" / "rows.ndjson")
    assert frictionless(copied).returncode == 1


def change(path: Path) -> None:
    """One other letter, the same length."""
    path.write_bytes(path.read_bytes().replace(b"noon", b"moon", 1))
