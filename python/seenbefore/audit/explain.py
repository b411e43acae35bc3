"""Why: the keys of a record, the rule, the row of the table, the earlier row, and what each step changed in each field.

The steps come from the kernel's own list with a recorder; nothing is normalised here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seenbefore.audit.floats import float_fields
from seenbefore.audit.locate import Found
from seenbefore.audit.words import changes, first_difference, table_row
from seenbefore.audit.would_be import would_be
from seenbefore.errors import Refused
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
    it would say now (`judged` is False then); None without a store. `earlier` tells of the row that it refers to,
    `previous` of the one that its URL showed before, where that was another content.
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
    previous: Explanation | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Why two records have the same key or different ones.

    `field` is the first identity field, in canonical order, whose forms differ; None where the keys are equal. `how`
    says it in words; `stories` are both records' stories of the fields that came in different spellings. `met` has for
    each of these the step from which on the two are equal, None where no step makes them so.
    """

    same_content: bool
    same_url: bool | None
    field: str | None
    how: str
    one: Explanation
    other: Explanation
    stories: tuple[tuple[FieldStory | None, FieldStory | None], ...]
    met: tuple[str | None, ...] = ()


def explain(rules: Ruleset, record: Any, other: Any = None) -> Explanation | Comparison:
    """Explains one record (a mapping, or bytes of JSON), or why two of them have the same key or different ones."""
    one = of_record(rules, record)
    return one if other is None else compare(one, of_record(rules, other))


def of_found(
    found: Found, store: SeenStore | None, *, earlier: Found | None = None, previous: Found | None = None
) -> Explanation:
    """Explains a record that was looked up; `earlier` and `previous` are the rows that its receipt names so."""
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
        "previous": None if previous is None else of_found(previous, None),
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
    field = None if same or differing is None else _name(differing)
    met = tuple(_meeting(*pair) for pair in spelled)
    how = _how(one, other, differing)
    if same and any(met):
        from_where = [f"{_name(pair)} from {_steps(step)} on" for pair, step in zip(spelled, met, strict=True) if step]
        how += f": {', '.join(from_where)}"
    return Comparison(same, same_url, field, how, one, other, spelled, met)


def members(explanation: Explanation | Comparison) -> dict[str, Any]:
    """As plain members for JSON."""
    return asdict(explanation)


def _how(one: Explanation, other: Explanation, differing: tuple[FieldStory | None, FieldStory | None] | None) -> str:
    if one.refused or other.refused:
        return "one of them is refused, so it has no key"
    if one.content_key is None or other.content_key is None:
        return "one of them has no identity, and is never a duplicate of anything"
    if one.ruleset != other.ruleset:
        return f"they were keyed by different rules, {one.ruleset} and {other.ruleset}, whose keys are never compared"
    if differing is None:
        return "every identity field has the same canonical form"
    first, second = _form(differing[0]), _form(differing[1])
    name = _name(differing)
    if first is None or second is None:
        return f"{name} is absent in one of them"
    at, here, there = first_difference(first, second)
    start = (
        "the value is the same, but" if _value(differing[0]) == _value(differing[1]) else "no step makes them equal:"
    )
    return f"{name}: {start} the forms part at character {at + 1}, {here} in one and {there} in the other"


def _meeting(one: FieldStory | None, other: FieldStory | None) -> str | None:
    """The step from which on two values are equal; where they take different ones to get there, both."""
    if one is None or other is None or one.form is None or one.form != other.form:
        return None
    theirs = dict(reversed(_states(other)))
    for text, step in _states(one):
        if text in theirs:
            names = [name for name in dict.fromkeys((step, theirs[text])) if name]
            return " and ".join(names) or None
    return None


def _steps(names: str) -> str:
    return f"the step{'s' if ' and ' in names else ''} {names}"


def _states(story: FieldStory) -> list[tuple[str, str]]:
    """What a value was, step by step, each with the step that made it; the first by none."""
    if not story.steps:
        form = json.loads(story.form or '""')
        return [(form if isinstance(form, str) else str(story.form), "")]
    return [(story.steps[0].before, ""), *((step.after, step.name) for step in story.steps)]


def _name(pair: tuple[FieldStory | None, FieldStory | None]) -> str:
    return next(story.field for story in pair if story is not None)


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
