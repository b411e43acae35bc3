"""A disk that is too small or may not be written: the end has a name, nothing is lost, and the same command goes on."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.crawls import RULES, SEENBEFORE, crawl
from tests.crash.drawn import AGAIN, EVERY_CALL, SEED
from tests.crash.states import State, same

ROOM = "64m"


class Disk:
    """A file system in memory, of any size, at one place."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def mount(self, size: int | str) -> str:
        """Mount it, empty → what was said against it."""
        self.place.mkdir(exist_ok=True)
        return self._call("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.place)

    def change(self, *options: str) -> None:
        """Mount it otherwise; what is on it stays."""
        assert not self._call("mount", "-o", ",".join(("remount", *options)), self.place)

    def unmount(self) -> None:
        """Take it away, with all that is on it."""
        assert not self._call("umount", self.place)

    @staticmethod
    def _call(*command: str | Path) -> str:
        if shutil.which(command[0]) is None:
            return f"there is no {command[0]}"
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr.strip() or ("" if done.returncode == 0 else f"status {done.returncode}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path / "disk")
    reason = disk.mount(ROOM)
    if reason:
        pytest.skip(f"a small disk can't be mounted here: {reason}")
    yield disk
    if os.path.ismount(disk.place):
        disk.unmount()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rules.toml").write_text(RULES)
    (folder / "day.ndjson").write_bytes(b"\n".join(crawl(random.Random(3), 900, odd=0.05)))
    return folder


def run(folder: Path, store: str, out: str, *more: str) -> tuple[int, str]:
    """Judge the day → exit status and what was said."""
    options = ("--store", store, "--out", out, "--rules", "rules.toml", "--batch-size", "200", "--max-line", "600")
    done = subprocess.run(
        [SEENBEFORE, "dedup", "day.ndjson", *options, *more],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("where", ["out", "store", "both"])
def test_a_small_disk_loses_nothing(disk: Disk, folder: Path, where: str) -> None:
    """In whatever size the disk is full, the run says so in 6; once there is room the same command ends as always."""
    store = f"{disk.place}/seen.db" if where != "out" else "seen.db"
    out = f"{disk.place}/out" if where != "store" else "out"

    def state(status: int) -> State:
        for name in ("seen.db", "seen.db-writer", "out"):
            if (disk.place / name).exists():
                shutil.move(disk.place / name, folder / name)
        return State.of(folder, status)

    def clear() -> None:
        for path in folder.glob("seen.db*"):
            path.unlink()
        shutil.rmtree(folder / "out", ignore_errors=True)

    whole_status, _ = run(folder, store, out)
    used = sum(path.stat().st_blocks for path in disk.place.rglob("*") if path.is_file()) * 512
    whole, full = state(whole_status), 0
    assert whole_status == 1
    sizes = 40 if EVERY_CALL else 3
    for step in range(sizes):
        # Whole pages; 0 would mean no limit. The log of a store needs room beside it.
        size = max(1, (used * 2 * step // sizes + random.Random(SEED + step).randrange(used // sizes)) >> 12) << 12
        disk.unmount()
        clear()
        assert not disk.mount(size)
        status, said = run(folder, store, out)
        told = f"{size} bytes for {where}; {AGAIN}; {said}"
        if status != 1:
            assert status == 6, told
            assert "error: can't" in said, told
            assert "run the same command again: it goes on" in said, told
            full += 1
        disk.change(f"size={ROOM}")
        status, said = run(folder, store, out)
        same(state(status), whole, f"{told}; {said}")
    assert full


def test_a_read_only_disk_is_named(disk: Disk, folder: Path) -> None:
    """Outputs, and a store, where nothing may be written end in 6 and leave all as it was; then the command goes on."""
    store, out = f"{disk.place}/seen.db", f"{disk.place}/out"
    disk.change("ro")
    for pair in ((store, "out"), ("seen.db", out)):
        status, said = run(folder, *pair)
        assert (status, "error: can't" in said, "check who may write there" in said) == (6, True, True), said
    disk.change("rw")
    assert run(folder, store, "out") == (1, "")
    before = {path: path.read_bytes() for path in disk.place.iterdir() if path.is_file()}
    disk.change("ro")
    status, said = run(folder, store, "other", "--again")
    assert (status, "error: can't" in said) == (6, True), said
    info = subprocess.run([SEENBEFORE, "store", "info", store], cwd=folder, capture_output=True, check=False)
    assert (info.returncode, b"finished" in info.stdout) == (0, True)
    assert {path: path.read_bytes() for path in disk.place.iterdir() if path.is_file()} == before
    disk.change("rw")
    assert run(folder, store, "other", "--again") == (1, "")
