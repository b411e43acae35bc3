"""What a run leaves behind, and comparing it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.crash.tables import Tables, difference, tables


@dataclass
class State:
    """Exit status, output files, the store's tables, and the names of everything in the folder."""

    status: int
    files: dict[str, bytes]
    tables: Tables
    names: set[str]
    seconds: float = 0.0

    @classmethod
    def of(cls, folder: Path, status: int) -> State:
        """What lies in the folder now."""
        files = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        names = {path.name for path in folder.iterdir()}
        return cls(status, files, tables(folder / "seen.db"), names)


def same(found: State, expected: State, told: str, *, but: tuple[str, ...] = ()) -> None:
    """Fails where anything differs but the tables named, saying what differs and how to get there again."""
    assert found.status == expected.status, told
    assert found.names == expected.names, told
    assert found.files.keys() == expected.files.keys(), told
    for name, content in expected.files.items():
        assert found.files[name] == content, f"{name} differs; {told}"
    one, other = ({name: rows for name, rows in state.tables.items() if name not in but} for state in (found, expected))
    assert one == other, f"{difference(one, other)}; {told}"
