"""Rulesets as files, texts and built-in ones, and what is said where there is none."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from seenbefore import Ruleset, RulesInvalid, UsageError, content_key
from seenbefore.rules import builtin_names, default_rules

TEXT = 'name = "t"\nversion = 2\nidentity = ["a"]\n'


def test_a_ruleset_reads_alike_from_text_and_file(tmp_path: Path) -> None:
    """Text and file give one fingerprint; a mark at the start of the file belongs to no setting."""
    path = tmp_path / "rules.toml"
    path.write_text("\ufeff" + TEXT, encoding="utf-8")
    loaded, text = Ruleset.load(path), Ruleset.from_toml(TEXT)
    assert (loaded.label, loaded.fingerprint) == (text.label, text.fingerprint) == ("t/2", loaded.fingerprint)
    assert (loaded.name, loaded.version, loaded.origin) == ("t", 2, str(path))
    assert Ruleset.find(str(path)).fingerprint == loaded.fingerprint


def test_built_in_rulesets_are_found_by_label() -> None:
    """Every built-in ruleset loads, carries the label that it is found by, and is listed."""
    assert "records/1" in builtin_names()
    for name in builtin_names():
        assert Ruleset.builtin(name).label == Ruleset.find(name).label == name


@pytest.mark.parametrize("name", ["record/1", "records/2", "recrods/1"])
def test_the_nearest_built_in_ruleset_is_suggested(name: str) -> None:
    """A label that is neither built in nor a file names the nearest built-in one."""
    for find in (Ruleset.builtin, Ruleset.find):
        with pytest.raises(UsageError, match="did you mean records/1") as caught:
            find(name)
        assert caught.value.exit_status == 2


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are usage errors with their path."""
    with pytest.raises(UsageError, match=r"gone\.toml") as caught:
        Ruleset.load(tmp_path / "gone.toml")
    assert caught.value.path == str(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    with pytest.raises(UsageError, match="not UTF-8 at byte 11"):
        Ruleset.load(tmp_path / "latin.toml")


def test_every_mistake_is_listed_with_its_file(tmp_path: Path) -> None:
    """A ruleset with mistakes names its file and all of them."""
    path = tmp_path / "rules.toml"
    path.write_text('name = "T!"\nversion = 0\nidentity = ["a"]\n[fields.a]\nknid = "text"\n', encoding="utf-8")
    with pytest.raises(RulesInvalid) as caught:
        Ruleset.load(path)
    assert len(caught.value.mistakes) >= 3
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)


def test_the_default_is_the_file_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """seenbefore.toml is used where it is there, else records/1."""
    monkeypatch.chdir(tmp_path)
    assert default_rules() == "records/1"
    Path("seenbefore.toml").write_text(TEXT, encoding="utf-8")
    assert default_rules() == "seenbefore.toml"


def test_rulesets_are_immutable_and_cross_processes() -> None:
    """Nothing of a ruleset can be set, and a pickled one has the same fingerprint."""
    rules = Ruleset.from_toml(TEXT)
    with pytest.raises(AttributeError):
        rules.name = "other"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(rules)).fingerprint == rules.fingerprint
    assert content_key(rules, {"a": "x"}) == rules.keys({"a": "X"}).content_key
    assert content_key(rules, {"b": "x"}) is None
