"""The output files: appended, cut back to what was committed, locked; and what is refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seenbefore.errors import InUse, OutputFailed, PermissionDenied
from seenbefore.outputs import KEPT, LOCK, LONG_LINES, RECEIPTS, REFUSED, SUMMARY, Outputs


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_are_appended_to_and_nothing_else_is_left(tmp_path: Path) -> None:
    """A closed run leaves its files alone: no lock, no draft, and refused.bin only where it is needed."""
    with Outputs(tmp_path / "new" / "out") as outputs:
        outputs.open({})
        assert (outputs.folder / LOCK).read_text() == f"{os.getpid()}\n"
        outputs.append([b"k1\n", b"k2\n"], [b"r\n"], [])
        outputs.sync()
        outputs.write_summary(b"{}\n")
        assert outputs.length(KEPT) == 6
    assert contents(tmp_path / "new" / "out") == {KEPT: b"k1\nk2\n", RECEIPTS: b"r\n", REFUSED: b"", SUMMARY: b"{}\n"}


def test_what_was_not_committed_is_cut_back(tmp_path: Path) -> None:
    """Opening again with committed lengths cuts each file, and a refused.bin of which nothing was committed goes."""
    with Outputs(tmp_path) as outputs:
        outputs.open({})
        outputs.append([b"kept\nhalf"], [b"receipt\nhal"], [b"refused\nha"])
        outputs.append_long(b"long line")
    with Outputs(tmp_path) as outputs:
        outputs.open({KEPT: 5, RECEIPTS: 8, REFUSED: 8})
        outputs.append([b"more\n"], [], [])
    assert contents(tmp_path) == {KEPT: b"kept\nmore\n", RECEIPTS: b"receipt\n", REFUSED: b"refused\n"}


def test_committed_long_lines_stay(tmp_path: Path) -> None:
    """The committed part of refused.bin stays."""
    with Outputs(tmp_path) as outputs:
        outputs.open({})
        outputs.append_long(b"first")
        outputs.append_long(b"second")
    with Outputs(tmp_path) as outputs:
        outputs.open({LONG_LINES: 5})
    assert contents(tmp_path)[LONG_LINES] == b"first"


@pytest.mark.parametrize("harm", ["shorter", "gone"])
def test_a_file_shorter_than_committed_is_an_error(tmp_path: Path, harm: str) -> None:
    """A file that lost bytes is named with both lengths, and no file is touched."""
    with Outputs(tmp_path) as outputs:
        outputs.open({})
        outputs.append([b"12345"], [b"12345"], [])
    if harm == "gone":
        (tmp_path / KEPT).unlink()
    else:
        (tmp_path / KEPT).write_bytes(b"123")
    before = contents(tmp_path)
    with (
        Outputs(tmp_path) as outputs,
        pytest.raises(OutputFailed, match="is shorter than") as caught,
    ):
        outputs.open({KEPT: 4, RECEIPTS: 4})
    assert (caught.value.exit_status, caught.value.path) == (6, str(tmp_path / KEPT))
    assert contents(tmp_path) == before


def test_a_folder_in_use_names_the_process(tmp_path: Path) -> None:
    """A second opener learns which process has the folder; once that has ended, however, the folder is free."""
    program = "import sys, time; from pathlib import Path; from seenbefore.outputs import Outputs\n"
    program += f"outputs = Outputs(Path({str(tmp_path)!r})); print('locked', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(InUse, match=f"in use by process {other.pid}") as caught:
            Outputs(tmp_path)
        assert caught.value.exit_status == 5
        other.kill()
        other.wait()
    Outputs(tmp_path).close()


def test_occupied_says_what_is_there(tmp_path: Path) -> None:
    """Files of a run that lie in the folder already are named."""
    (tmp_path / KEPT).write_bytes(b"somebody's")
    with Outputs(tmp_path) as outputs:
        assert outputs.occupied() == [KEPT]


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    """A path below a file is no folder, and one without permission says so."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputFailed, match="can't write"):
        Outputs(tmp_path / "file" / "out")
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(PermissionDenied):
            Outputs(tmp_path / "closed" / "out")
