"""Why: the keys of a record, the rule, the row of the table, the earlier row, and what each step changed in each field.

The steps come from the kernel's own list with a recorder; nothing is normalised here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seenbefore._kernel import Batch
from seenbefore.audit.floats import float_fields
from seenbefore.audit.locate import Found
from seenbefore.audit.words import changes, first_difference, table_row
from seenbefore.errors import Refused, SeenbeforeError
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore


@dataclass(frozen=True, slots=True)
class Step:
    """One step that changed a value: before, after, and what became what, with code points."""

    name: str
    before: str
    after: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldStory:
    """How one identity field came to its canonical form. `value` and `form` are JSON, None where absent."""

    field: str
    kind: str
    value: str | None
    form: str | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a record has its keys and its verdict.

    `row` is the row of the verdict table in words. `receipt` is what a run said, or, where none judged the record, what
    it would say now (`judged` is False then); None without a store. `earlier` tells of the row that it refers to.
    """

    ruleset: str
    fingerprint: str
    whence: str
    content_key: str | None = None
    url_key: str | None = None
    payload_digest: str | None = None
    url: str | None = None
    canonical_url: str | None = None
    problems: tuple[str, ...] = ()
    refused: tuple[str, str | None, str] | None = None
    judged: bool = False
    receipt: Mapping[str, Any] | None = None
    row: str | None = None
    fields: tuple[FieldStory, ...] = ()
    url_steps: tuple[Step, ...] = ()
    earlier: Explanation | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Why two records have the same key or different ones.

    `field` is the first identity field, in canonical order, whose forms differ; None where the keys are equal. `how`
    says it in words; `stories` are both records' stories of the fields that came in different spellings.
    """

    same_content: bool
    same_url: bool | None
    field: str | None
    how: str
    one: Explanation
    other: Explanation
    stories: tuple[tuple[FieldStory | None, FieldStory | None], ...]


def explain(rules: Ruleset, record: Any, other: Any = None) -> Explanation | Comparison:
    """Explains one record (a mapping, or bytes of JSON), or why two of them have the same key or different ones."""
    one = of_record(rules, record)
    return one if other is None else compare(one, of_record(rules, other))


def of_found(found: Found, store: SeenStore | None, *, earlier: Found | None = None) -> Explanation:
    """Explains a record that was looked up; `earlier` is the row that its receipt refers to."""
    receipt, notes = found.receipt, []
    if receipt is None and store is not None and found.record is not None:
        receipt = would_be(found.rules, found.record, store)
    if found.record is None:
        base = _without_record(found.rules, receipt or {})
        notes.append(
            "the record itself is not at hand, so its steps can't be shown: a skipped row leaves no payload, "
            "and its input was not found as it was"
        )
    else:
        floats = float_fields(found.rules, found.record, (receipt or {}).get("content_key"))
        base = of_record(found.rules, found.record, floats)
        if floats:
            notes.append(
                f"the numbers in {', '.join(floats)} came as binary floats: by no other reading is this its key"
            )
    members = {name: getattr(base, name) for name in Explanation.__dataclass_fields__}
    members |= {
        "whence": found.whence,
        "receipt": receipt,
        "judged": found.receipt is not None,
        "row": None if receipt is None else table_row(receipt),
        "earlier": None if earlier is None else of_found(earlier, None),
        "notes": tuple(notes),
    }
    return Explanation(**members)


def of_record(rules: Ruleset, record: Any, floats: Sequence[str] = ()) -> Explanation:
    """The keys and steps of a record by itself. The numbers in the fields `floats` spell binary floats."""
    try:
        keys, traced = rules.kernel.keys(record, floats=floats), rules.kernel.trace(record, floats)
    except Refused as refusal:
        return Explanation(
            rules.label, rules.fingerprint, "", refused=(refusal.code, refusal.field, refusal.detail), row=_REFUSED
        )
    url_steps: tuple[Step, ...] = ()
    if keys.url_key is not None and keys.url is not None:
        url_steps = tuple(_step(*step) for step in rules.kernel.trace_url(keys.url))
    return Explanation(
        rules.label,
        rules.fingerprint,
        "",
        content_key=keys.content_key,
        url_key=keys.url_key,
        payload_digest=keys.payload_digest,
        url=keys.url,
        canonical_url=keys.canonical_url,
        problems=tuple(keys.problems),
        fields=tuple(_story(field) for field in traced),
        url_steps=url_steps,
    )


_REFUSED = table_row({"verdict": "refused"})


def would_be(rules: Ruleset, record: bytes, store: SeenStore) -> Mapping[str, Any] | None:
    """The receipt that a record would get now, None where it would be refused. Nothing is claimed or written."""
    batch = Batch(
        rules.kernel,
        0,
        0,
        max_records=1,
        max_bytes=1 << 62,
        max_line=1 << 62,
        source=None,
        fetched_at=None,
        replace_seen=True,
        digests=True,
    )
    try:
        batch.push(record)
    except Refused:
        return None
    batch.key()
    contents, places, earlier = [], [], []
    try:
        keys = rules.keys(record)
        content = store.lookup_content(keys.content_key) if keys.content_key else None
        place = store.lookup_place(keys.url_key) if keys.url_key else None
    except SeenbeforeError:
        return None  # the store doesn't know this ruleset, so it says nothing
    if content is not None:
        contents.append((0, content.first, content.first_seen))
    if place is not None:
        places.append((0, place.first, place.latest, place.latest_content))
    for one in batch.judge(1 << 62, contents, places):
        row = next(iter(store.sightings(after=one - 1)))
        earlier.append((row.id, row.run, row.seq, row.url, row.fetched_at, row.payload))
    judged = batch.render(earlier, [0] * len(batch.sources()))
    receipt: dict[str, Any] = json.loads(next(judged.blocks)[2])
    return {name: value for name, value in receipt.items() if name not in {"run", "seq", "input", "line"}}


def compare(one: Explanation, other: Explanation) -> Comparison:
    """Says why two records have the same content key or different ones."""
    theirs = {story.field: story for story in other.fields}
    mine = {story.field: story for story in one.fields}
    names = [*mine, *(name for name in theirs if name not in mine)]
    pairs = [(mine.get(name), theirs.get(name)) for name in sorted(names)]
    spelled = tuple(pair for pair in pairs if _value(pair[0]) != _value(pair[1]))
    differing = next((pair for pair in pairs if _form(pair[0]) != _form(pair[1])), None)
    same_url = None if one.url_key is None or other.url_key is None else one.url_key == other.url_key
    same = one.content_key is not None and one.content_key == other.content_key
    field = None if same or differing is None else next(story.field for story in differing if story is not None)
    return Comparison(same, same_url, field, _how(one, other, differing), one, other, spelled)


def members(explanation: Explanation | Comparison) -> dict[str, Any]:
    """As plain members for JSON."""
    return asdict(explanation)


def _how(one: Explanation, other: Explanation, differing: tuple[FieldStory | None, FieldStory | None] | None) -> str:
    if one.refused or other.refused:
        return "one of them is refused, so it has no key"
    if one.content_key is None or other.content_key is None:
        return "one of them has no identity, and is never a duplicate of anything"
    if differing is None:
        return "every identity field has the same canonical form"
    first, second = _form(differing[0]), _form(differing[1])
    name = next(story.field for story in differing if story is not None)
    if first is None or second is None:
        return f"{name} is absent in one of them"
    at, here, there = first_difference(first, second)
    start = (
        "the value is the same, but" if _value(differing[0]) == _value(differing[1]) else "no step makes them equal:"
    )
    return f"{name}: {start} the forms part at character {at + 1}, {here} in one and {there} in the other"


def _story(traced: Mapping[str, Any]) -> FieldStory:
    steps = tuple(_step(*step) for step in traced["steps"] if step[1] != step[2])
    return FieldStory(traced["field"], traced["kind"], traced["value"], traced["form"], steps)


def _step(name: str, before: str, after: str) -> Step:
    return Step(name, before, after, tuple(changes(before, after)))


def _value(story: FieldStory | None) -> str | None:
    return None if story is None else story.value


def _form(story: FieldStory | None) -> str | None:
    return None if story is None else story.form


def _without_record(rules: Ruleset, receipt: Mapping[str, Any]) -> Explanation:
    return Explanation(
        rules.label,
        rules.fingerprint,
        "",
        content_key=receipt.get("content_key"),
        url_key=receipt.get("url_key"),
        payload_digest=receipt.get("payload_digest"),
        url=receipt.get("url"),
        problems=tuple(receipt.get("problems", ())),
    )
