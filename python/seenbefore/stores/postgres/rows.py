"""Rows of the small tables as the frozen values of seenbefore.stores.rows, texts, and the statements that read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from seenbefore.errors import StoreDamaged
from seenbefore.stores.rows import Digest, InputRow, RulesetRow, RunRow, SightingRow

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

# A sighting's facts by its id: the batch that holds the id, and the place in it.
EARLIER = """
SELECT wanted.id, s.run, s.seq, s.url, s.fetched_at, s.payload
FROM unnest(%s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT id, first_sighting, records FROM batch
    WHERE first_sighting <= wanted.id ORDER BY first_sighting DESC LIMIT 1
) AS b
JOIN sighting AS s ON s.id = (b.id << 24) + wanted.id - b.first_sighting
WHERE wanted.id < b.first_sighting + b.records
ORDER BY wanted.id
"""

# What is known of a key, as ContentRow and PlaceRow have it behind the key.
ENTRIES = {
    "content": "SELECT first, first_seen FROM contents WHERE ruleset = %s AND key = %s",
    "place": "SELECT first, latest, latest_content FROM places WHERE ruleset = %s AND key = %s",
}


def stored(text: str) -> str:
    """A text as a column holds it, which can't hold U+0000: see .schema."""
    if "\0" in text or "\x1a" in text:
        return text.replace("\x1a", "\x1a1").replace("\0", "\x1a0")
    return text


def shown(text: str) -> str:
    """The opposite of `stored`."""
    if "\x1a" in text:
        return text.replace("\x1a0", "\0").replace("\x1a1", "\x1a")
    return text


def shown_or_none(text: str | None) -> str | None:
    """As `shown`, where there may be none."""
    return None if text is None else shown(text)


def name_digest(name: str) -> Digest:
    """What a source is found by."""
    return hashlib.sha256(name.encode()).digest()


def ruleset_row(row: tuple[Any, ...]) -> RulesetRow:
    """A row of RULESETS."""
    one, name, version, fingerprint, configuration, text, unicode_version, state = row
    return RulesetRow(one, name, version, fingerprint, configuration, shown(text), unicode_version, state)


def run_row(row: tuple[Any, ...], location: str) -> RunRow:
    """A row of RUNS. Raises StoreDamaged."""
    members = [from_json(text, location) for text in row[7:10]]
    return RunRow(row[0], row[1], row[2], shown(row[3]), *row[4:7], *members, *row[10:])


def input_row(row: tuple[Any, ...], location: str) -> InputRow:
    """A row of INPUTS. Raises StoreDamaged."""
    index, name, size, sha256, records, facts = row
    return InputRow(index, shown(name), size, sha256, records, from_json(facts, location))


def sighting_row(row: tuple[Any, ...]) -> SightingRow:
    """A row of the view `sightings`."""
    number, run, seq, source, content, place, fetched_at, verdict, url, payload = row
    texts = shown(source), shown_or_none(url)
    return SightingRow(number, run, seq, texts[0], content, place, fetched_at, verdict, texts[1], payload)


def to_json(members: Mapping[str, Any]) -> str:
    """JSON text that gives the members back. Control characters are escaped in it, U+0000 too."""
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
