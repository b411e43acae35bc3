"""What is released never changes: vectors of a released rule may be joined by others, and that is all."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def tool() -> ModuleType:
    """The script tools/vectors.py, which writes RELEASED and compares with it."""
    spec = importlib.util.spec_from_file_location("vectors_tool", ROOT / "tools" / "vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_released_vectors_stay(tool: ModuleType) -> None:
    """No vector that was released has been changed, moved or removed."""
    assert tool.changed() == []


def test_every_file_is_released(tool: ModuleType) -> None:
    """Every file of vectors has its line in RELEASED, with a good part of its vectors."""
    files = {path.name: len(json.loads(path.read_bytes())["vectors"]) for path in tool.VECTORS.glob("*.json")}
    assert set(tool.released()) == set(files)
    assert sum(count for count, _ in tool.released().values()) > 2_000


def test_changelog_says_so() -> None:
    """The changelog's first section names the released rules."""
    keys = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("## Keys")[2].partition("\n## ")[0]
    assert all(re.search(f"`{rule}`[^.]*released", keys) for rule in ("keys/1", "verdicts/1", "receipt/1"))


@pytest.mark.parametrize("change", ["value", "order", "removed", "file", "words", "appended"])
def test_what_counts_as_a_change(tool: ModuleType, tmp_path: Path, change: str) -> None:
    """Another outcome, another order, fewer vectors or files are found; other words and more vectors are not."""
    for path in tool.VECTORS.iterdir():
        shutil.copy(path, tmp_path)
    tool.VECTORS, tool.RELEASED = tmp_path, tmp_path / "RELEASED"
    path = tmp_path / "date.json"
    data = json.loads(path.read_bytes())
    vectors = data["vectors"]
    if change == "value":
        vectors[-1]["refused"] = "bad-number"
    elif change == "order":
        vectors.reverse()
    elif change == "removed":
        del vectors[0]
    elif change == "words":
        vectors[0]["why"] = "said otherwise"
    elif change == "appended":
        vectors.append({**vectors[0], "name": "y_another"})
    path.write_text(json.dumps(data))
    if change == "file":
        path.unlink()
    harmless = change in {"words", "appended"}
    assert tool.changed() == ([] if harmless else ["date.json"])
    if change == "appended":
        tool.release()
        assert tool.released()["date.json"][0] == len(vectors)
    elif not harmless:
        with pytest.raises(ValueError, match=r"date\.json"):
            tool.release()
