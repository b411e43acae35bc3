"""Rows of the small tables as the frozen values of seenbefore.stores.rows, and the statements that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seenbefore.errors import StoreDamaged
from seenbefore.stores.rows import InputRow, RulesetRow, RunRow, SightingRow

RULESETS = """
SELECT r.id, r.name, r.version, r.fingerprint, r.configuration, s.text, r.unicode_version, r.state
FROM ruleset AS r JOIN settings AS s ON s.ruleset = r.id AND s.configuration = r.configuration
"""
RUNS = """
SELECT run.id, r.name || '/' || r.version, run.configuration, run.out, run.state, run.started, run.ended,
    run.position, run.outputs, run.counts, run.link, run.chain
FROM run JOIN ruleset AS r ON r.id = run.ruleset
"""
INPUTS = "SELECT idx, name, size, sha256, records, facts FROM input"
SIGHTINGS = """
SELECT s.id, s.run, s.seq, source.name, s.content, s.place, s.fetched_at, s.verdict, s.url, s.payload
FROM sighting AS s JOIN source ON source.id = s.source
"""

# The entry of a key in the one bucket of each segment that may have it, without unpacking any.
_ENTRY = """
WITH entry (id) AS (
    SELECT CAST(substr(entries, instr(entries, :key) + 32, 12) AS INTEGER)
    FROM segment JOIN bucket ON bucket.id = (segment.id << 24) + ((:prefix * segment.buckets) >> 32)
    WHERE segment.kind = :kind AND segment.ruleset = :owner AND instr(entries, :key) % 44 = 1
)
"""
# What is known of a key, as ContentRow and PlaceRow have it behind the key.
ENTRIES = {
    "content": f"""{_ENTRY}
SELECT entry.id, ifnull(first_seen, fetched_at) FROM entry
LEFT JOIN content_seen AS seen ON seen.id = entry.id LEFT JOIN sighting ON sighting.id = entry.id
""",
    "place": f"""{_ENTRY}
SELECT entry.id, ifnull(latest, entry.id), ifnull(content, entry.id) FROM entry
LEFT JOIN place_now AS now ON now.id = entry.id
""",
}


def ruleset_row(row: tuple[Any, ...]) -> RulesetRow:
    """A row of RULESETS."""
    return RulesetRow(*row)


def run_row(row: tuple[Any, ...], location: str) -> RunRow:
    """A row of RUNS. Raises StoreDamaged."""
    members = [from_json(text, location) for text in row[7:10]]
    return RunRow(*row[:7], *members, *row[10:])


def input_row(row: tuple[Any, ...], location: str) -> InputRow:
    """A row of INPUTS. Raises StoreDamaged."""
    return InputRow(*row[:5], *[from_json(text, location) for text in row[5:]])


def sighting_row(row: tuple[Any, ...]) -> SightingRow:
    """A row of SIGHTINGS."""
    return SightingRow(*row)


def to_json(members: Mapping[str, Any]) -> str:
    """JSON text that gives the members back."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str, location: str) -> dict[str, Any]:
    """The members. Raises StoreDamaged where the text is no JSON object."""
    try:
        members = json.loads(text)
    except ValueError as error:
        raise StoreDamaged(f"{location} is damaged: {error} in {text[:60]!r}", path=location) from error
    if not isinstance(members, dict):
        raise StoreDamaged(f"{location} is damaged: {text[:60]!r} is no object", path=location)
    return members
