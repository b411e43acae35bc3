"""Bundles of whatever there is: every ruleset and record of the vectors, all kinds of runs, facts from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.evidence.verifiers import VERIFIERS, places

from seenbefore import Deduplicator, Ruleset, Settings
from seenbefore.audit.verify import verify
from seenbefore.evidence.bundle import build
from seenbefore.stores import MemoryStore, open_store

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
RULES = 'name = "t"\nversion = 1\nidentity = ["t"]\n[record]\nurl = "u"\nfetched_at = "at"\nsource = "s"\n'


def vectors(name: str) -> list[Any]:
    """The vectors of a file."""
    items: list[Any] = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
    return items


def passes(store: MemoryStore, out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A bundle of the store passes both verifiers, which agree on all that both can check → what they say."""
    build(store, out)
    kernel, plain = (VERIFIERS[name](out) for name in ("kernel", "verify.py"))
    assert kernel["problems"] == []
    assert plain["problems"] == []
    for name, check in plain["checks"].items():
        other = kernel["checks"][name]
        looked_at = (one["passed"] + sum(one["not_checkable"].values()) for one in (check, other))
        assert len(set(looked_at)) == 1, name
    return kernel["checks"], plain["checks"]


@pytest.mark.parametrize("vector", [pytest.param(one, id=one["name"]) for one in vectors("receipts")])
def test_receipts_of_vectors(vector: dict[str, Any], tmp_path: Path) -> None:
    """What was judged under a vector's ruleset and options can be handed over and checked."""
    store = MemoryStore(blocks=True)
    rules = Ruleset.from_toml(vector["ruleset"])
    settings = Settings(**vector.get("options", {}))
    for number, item in enumerate(vector["inputs"]):
        path = tmp_path / f"{number}.ndjson"
        path.write_bytes(bytes.fromhex(item["in_hex"]))
        with Deduplicator(rules, store, settings=settings) as deduplicator:
            deduplicator.run([path], again=True)
    passes(store, tmp_path / "bundle")


def test_records_of_vectors(tmp_path: Path) -> None:
    """Every record of the vectors that is keyed, each under its own ruleset, in one bundle of many rulesets."""
    store = MemoryStore(blocks=True)
    count = 0
    for number, vector in enumerate(one for one in vectors("keys") if "out" in one):
        text = vector["ruleset"]
        name = Ruleset.from_toml(text).name
        rules = Ruleset.from_toml(text.replace(f'name = "{name}"', f'name = "v{number}"', 1))
        given = {key: value for key, value in vector.get("given", {}).items() if key in {"source", "fetched_at"}}
        path = tmp_path / f"{number}.ndjson"
        path.write_bytes(bytes.fromhex(vector["in_hex"]) + b"\n")
        with Deduplicator(rules, store, settings=Settings(**given, replace_seen=True)) as deduplicator:
            count += deduplicator.run([path], again=True).kept
    kernel, _ = passes(store, tmp_path / "bundle")
    assert kernel["rows"]["passed"] == count > 50


def test_records_of_a_program(tmp_path: Path) -> None:
    """Records without an input, and facts that the caller gave beside them, stand on the receipt and are counted so."""
    store = MemoryStore(blocks=True)
    with Deduplicator(Ruleset.from_toml(RULES), store) as deduplicator:
        deduplicator.judge({"t": "a"})
        deduplicator.judge({"t": "b", "u": "https://user:secret@e.example/", "s": 5, "at": "2026-03-02"})
        deduplicator.judge({"t": "c"}, url="https://e.example/c", source="shop", fetched_at="2026-03-02T08:00:00Z")
        deduplicator.judge({"t": "d", "u": "http://user@/x"}, fetched_at="yesterday")
        deduplicator.judge({"t": "e", "u": "https://münchen.example/"})
        deduplicator.judge({"t": None, "u": "https://e.example/f"})
        assert deduplicator.judge({"t": "g", "_seen": 1}).verdict == "refused"
    kernel, plain = passes(store, tmp_path / "bundle")
    assert kernel["keys"]["not_checkable"] == {"a fact that the caller gave: it stands on the receipt alone": 2}
    assert sum(plain["keys"]["not_checkable"].values()) == 3
    assert "secret" not in (tmp_path / "bundle" / "data" / "receipts.ndjson").read_text(encoding="utf-8")


def test_an_abandoned_run(tmp_path: Path) -> None:
    """A run that was closed unfinished is handed over with what it committed, outside of the chain."""
    store = MemoryStore(blocks=True)
    rules = Ruleset.from_toml(RULES)
    abandoned = Deduplicator(rules, store)
    abandoned.judge({"t": "a"})
    with store.transaction() as transaction:
        transaction.abandon_run(1, "")
        transaction.commit()
    with Deduplicator(rules, store) as deduplicator:
        deduplicator.judge({"t": "a"})
    passes(store, tmp_path / "bundle")
    runs = [json.loads(line) for line in (tmp_path / "bundle" / "data" / "runs.ndjson").read_bytes().splitlines()]
    assert [(run["state"], run["link"]) for run in runs] == [("abandoned", None), ("finished", 1)]


def test_a_store_without_rows(tmp_path: Path) -> None:
    """A store that keeps receipts only is checked as far as they go."""
    path = str(tmp_path / "seen.db")
    with open_store(path, keep="none") as store, Deduplicator(Ruleset.from_toml(RULES), store) as deduplicator:
        deduplicator.judge({"t": "a"})
    told = verify(path).members()
    assert (told["outcome"], told["checks"]["replay"]["passed"]) == ("passed", 1)
    assert told["checks"]["rows"]["outcome"] == "not checkable"


def test_lines_over_the_limit(tmp_path: Path) -> None:
    """A refused line in refused.bin is checked where it stands, and one other byte there is named."""
    (tmp_path / "day.ndjson").write_bytes(b'{"t":"' + b"x" * 100 + b'"}\n{"t":"y"}\n{"t":"' + b"z" * 90 + b'"}\n')
    rules = Ruleset.from_toml(RULES)
    with Deduplicator(rules, MemoryStore(), settings=Settings(max_line=50)) as deduplicator:
        deduplicator.run([tmp_path / "day.ndjson"], tmp_path / "out")
    assert verify(str(tmp_path / "out"), rules=rules).members()["checks"]["refused"]["passed"] == 2
    path = tmp_path / "out" / "refused.bin"
    path.write_bytes(path.read_bytes().replace(b"z", b"Z", 1))
    assert ("refused", "refused.ndjson", 2) in places(verify(str(tmp_path / "out"), rules=rules).members())
