"""Real crawls into a store in PostgreSQL and into a file of SQLite: the same files, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus.test_recrawl import CRAWLS, recrawl, rules
from tests.servers import postgres_server

from seenbefore import Deduplicator, Settings
from seenbefore.audit.verify import verify

__all__ = ["recrawl"]
pytestmark = pytest.mark.shared
RULES = {name: ruleset for name, (_, ruleset, _) in CRAWLS.items()}
RULES["jobs_newgrad"] = rules("jobs", "company_name", "title", "id")


@pytest.mark.parametrize("name", RULES)
def test_two_stores_one_truth(recrawl: Path, tmp_path: Path, name: str) -> None:
    """Receipts, kept and refused rows are those of SQLite, and what the store holds is verified from its rows."""
    url, inputs = postgres_server().schema(), sorted((recrawl / name).glob("*.ndjson.gz"))
    assert inputs
    for store, out in ((str(tmp_path / "seen.db"), "sqlite"), (url, "postgres")):
        with Deduplicator(RULES[name], store, settings=Settings(batch_size=5000)) as dedup:
            dedup.run(inputs, tmp_path / out)
    for file in ("receipts.ndjson", "kept.ndjson", "refused.ndjson"):
        assert (tmp_path / "sqlite" / file).read_bytes() == (tmp_path / "postgres" / file).read_bytes()
    assert not verify(url).failed
