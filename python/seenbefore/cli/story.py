"""Explanations as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from seenbefore.audit.explain import Comparison, Explanation, FieldStory, Step, compare
from seenbefore.audit.times import utc_text
from seenbefore.audit.words import first_difference, visible
from seenbefore.cli.terminal import harmless, say
from seenbefore.rules import VERDICTS
from seenbefore.stores.rows import SightingRow

# Characters of a long text that are shown, and how many of them stand before what is to be seen in it.
_WIDTH, _LEAD = 160, 40
_HISTORY_SHOWN = 20
_COLOURS = {"new": "green", "changed": "yellow", "syndicated": "cyan", "refused": "red"}


def print_explanation(told: Explanation, history: Sequence[SightingRow] = (), record: bytes | None = None) -> None:
    """One record: verdict and table row, keys, steps, the earlier row; of a refused one the `record` as it came."""
    receipt = told.receipt or {}
    _verdict(told)
    _line("row", _row(told.receipt) if told.judged and told.receipt is not None else "none: no run judged it")
    for name, value in (
        ("record", f"from {told.whence}" if told.whence else None),
        ("as it came", None if told.refused is None or record is None else _short(_text(record))),
        ("ruleset", f"{told.ruleset}  {told.fingerprint}"),
        ("content key", told.content_key or "none"),
        ("URL key", told.url_key or "none"),
        ("payload", told.payload_digest or "none"),
        ("problems", ", ".join(told.problems) or None),
        ("source", receipt.get("source")),
        ("fetched at", receipt.get("fetched_at")),
        ("URL", told.url),
        ("as keyed", told.canonical_url),
    ):
        if value is not None:
            _line(name, value)
    _steps(told.url_steps)
    for note in told.notes:
        say(f"\nnote: {note}")
    _fields(told.fields)
    if told.previous is not None:
        _previous(told, told.previous)
    if told.earlier is not None and told.receipt is not None:
        _earlier(told, told.earlier, told.receipt)
    _history(history)


def _verdict(told: Explanation) -> None:
    if told.refused is not None:
        code, field, detail = told.refused
        _line("verdict", f"refused: {code}{f' in field {field}' if field else ''}", "red")
        _line("because", detail)
    elif told.receipt is not None and told.receipt["verdict"] == "refused":
        _line("verdict", f"refused: {told.receipt['code']}", "red")
    elif told.receipt is not None:
        would = "" if told.judged else " (as it would be judged now; nothing was recorded)"
        verdict = str(told.receipt["verdict"])
        _line("verdict", f"{verdict}, {told.receipt['action']}{would}", _COLOURS.get(verdict))
    if told.row is not None and told.refused is None:
        _line("because", told.row)


def print_comparison(both: Comparison) -> None:
    """Two records: the same or not, and what decides it."""
    click.secho("same content" if both.same_content else "different contents", bold=True)
    say(f"  {both.how}")
    if both.same_url is not None:
        say(f"  the URLs are {'one place' if both.same_url else 'two places'}")
    for name, told in (("one", both.one), ("other", both.other)):
        receipt = told.receipt
        row = _row(receipt) if told.judged and receipt is not None else told.whence or "given"
        say(f"\n{name}: {row}\n  {told.content_key or 'no content key'}")
    for first, second in both.stories:
        at = _parting(first, second)
        for name, story in (("one", first), ("other", second)):
            if story is not None:
                say(f"\n{name}:", nl=False)
                _fields((story,), at)


def _parting(one: FieldStory | None, other: FieldStory | None) -> int:
    """Where two forms part: what is to be seen of them. The beginning, where they don't."""
    forms = [story.form for story in (one, other) if story is not None and story.form is not None]
    return first_difference(*forms)[0] if len(set(forms)) == len((one, other)) else 0


def _previous(told: Explanation, previous: Explanation) -> None:
    """What the URL showed before, and in which fields that was another content."""
    row = previous.receipt or {}
    click.secho(f"\nits URL showed before: {row['run']}:{row['seq']}", bold=True)
    if row.get("fetched_at") is not None:
        _line("fetched at", str(row["fetched_at"]))
    for note in previous.notes:
        say(f"note: {note}")
    if not (told.fields and previous.fields):
        return
    both = compare(previous, told)
    for before, now in both.stories:
        forms = [None if story is None else story.form for story in (before, now)]
        if forms[0] == forms[1]:
            continue
        at = _parting(before, now)
        story = now or before
        if story is not None:
            _head(story)
        for name, form in zip(("before", "now"), forms, strict=True):
            say(f"  {name:<6} {'absent' if form is None else _short(form, at)}")


def _earlier(told: Explanation, earlier: Explanation, receipt: Mapping[str, Any]) -> None:
    refers_to = receipt["refers_to"]
    click.secho(f"\nthe row it refers to: {refers_to['run']}:{refers_to['seq']}", bold=True)
    for name, value in (("URL", refers_to["url"]), ("fetched at", refers_to["fetched_at"])):
        if value is not None:
            _line(name, value)
    match = {"payload": "its payload is equal too", "content": "equal after normalisation only"}
    _line("match", match.get(str(receipt["matched_on"]), "none"))
    mine = {story.field: story.value for story in told.fields}
    for note in earlier.notes:
        say(f"note: {note}")
    spelled = tuple(story for story in earlier.fields if mine.get(story.field) != story.value)
    if told.fields and earlier.fields and not spelled:
        say("every identity field came in the same spelling there")
    _fields(spelled)


def _fields(stories: Sequence[FieldStory], at: int = 0) -> None:
    """Each field with its steps; of a long form the stretch around its character `at`."""
    for story in stories:
        if story.form is None:
            continue
        _head(story)
        say(f"  value  {_short(story.value or '')}")
        _steps(story.steps)
        say(f"  form   {_short(story.form, at)}")
    absent = [
        story.field if story.value is None else f"{story.field} ({_short(story.value)})"
        for story in stories
        if story.form is None
    ]
    if absent:
        say(f"\nabsent, so left out of the key: {', '.join(absent)}")


def _head(story: FieldStory) -> None:
    click.secho(f"\n{harmless(story.field)}", bold=True, nl=False)
    say(f" ({story.kind})")


def _steps(steps: Sequence[Step]) -> None:
    for step in steps:
        say(f"    {step.name}: {'; '.join(step.changes)}")
        at, _, _ = first_difference(step.before, step.after)
        say(f"      {_short(step.before, at)}\n      {_short(step.after, at)}")


def _history(history: Sequence[SightingRow]) -> None:
    if len(history) > 1:
        click.secho(f"\nsighted {len(history):,} times", bold=True)
        if len(history) > _HISTORY_SHOWN:
            say(f"  the last {_HISTORY_SHOWN} of them; `seenbefore log` lists all")
        for row in history[-_HISTORY_SHOWN:]:
            name, time = f"{row.run}:{row.seq}", utc_text(row.fetched_at) or ""
            say(f"  {name:<9}  {VERDICTS[row.verdict]:<10}  {time:<20}  {row.source}  {row.url or 'no URL'}")


def _row(receipt: Mapping[str, Any]) -> str:
    where = "" if receipt.get("input") is None else f", {receipt['input']} line {receipt['line']}"
    return f"{receipt['run']}:{receipt['seq']}{where}"


def _text(record: bytes) -> str:
    """A record as text; bytes that are no UTF-8 stand as their numbers."""
    return record.decode("utf-8", "backslashreplace")


def _line(name: str, value: str, colour: str | None = None) -> None:
    click.echo(f"{name:<12} {click.style(harmless(value), fg=colour) if colour else harmless(value)}")


def _short(text: str, at: int = 0) -> str:
    """A text with what can't be seen made visible; of a long one the stretch around its character `at`."""
    start = 0 if at < _WIDTH - _LEAD else at - _LEAD
    if len(text) <= _WIDTH:
        return visible(text)
    end = start + _WIDTH
    shown = f"{'…' if start else ''}{visible(text[start:end])}{'…' if end < len(text) else ''}"
    return f"{shown} ({len(text):,} characters)"
