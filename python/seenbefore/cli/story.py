"""Explanations as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from seenbefore.audit.explain import Comparison, Explanation, FieldStory, Step
from seenbefore.audit.words import visible
from seenbefore.cli.terminal import harmless, say
from seenbefore.stores.rows import SightingRow

_WIDTH = 160
_HISTORY_SHOWN = 20


def print_explanation(told: Explanation, history: Sequence[SightingRow] = ()) -> None:
    """One record: verdict and table row, keys, steps, the earlier row."""
    _verdict(told)
    _line("row", _row(told.receipt) if told.judged and told.receipt is not None else "none: no run judged it")
    for name, value in (
        ("record", f"from {told.whence}" if told.whence else None),
        ("ruleset", f"{told.ruleset}  {told.fingerprint}"),
        ("content key", told.content_key or "none"),
        ("URL key", told.url_key or "none"),
        ("payload", told.payload_digest or "none"),
        ("problems", ", ".join(told.problems) or None),
        ("URL", told.url),
        ("as keyed", told.canonical_url),
    ):
        if value is not None:
            _line(name, value)
    _steps(told.url_steps)
    for note in told.notes:
        say(f"\nnote: {note}")
    _fields(told.fields)
    if told.earlier is not None and told.receipt is not None:
        _earlier(told, told.earlier, told.receipt)
    _history(history)


def _verdict(told: Explanation) -> None:
    if told.refused is not None:
        code, field, detail = told.refused
        _line("verdict", f"refused: {code}{f' in field {field}' if field else ''}")
        _line("because", detail)
    elif told.receipt is not None and told.receipt["verdict"] == "refused":
        _line("verdict", f"refused: {told.receipt['code']}")
    elif told.receipt is not None:
        would = "" if told.judged else " (as it would be judged now; nothing was recorded)"
        _line("verdict", f"{told.receipt['verdict']}, {told.receipt['action']}{would}")
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
        for name, story in (("one", first), ("other", second)):
            if story is not None:
                say(f"\n{name}:", nl=False)
                _fields((story,))


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


def _fields(stories: Sequence[FieldStory]) -> None:
    for story in stories:
        if story.form is None:
            continue
        click.secho(f"\n{harmless(story.field)}", bold=True, nl=False)
        say(f" ({story.kind})")
        say(f"  value  {_short(story.value or '')}")
        _steps(story.steps)
        say(f"  form   {_short(story.form)}")
    absent = [
        story.field if story.value is None else f"{story.field} ({_short(story.value)})"
        for story in stories
        if story.form is None
    ]
    if absent:
        say(f"\nabsent, so left out of the key: {', '.join(absent)}")


def _steps(steps: Sequence[Step]) -> None:
    for step in steps:
        say(f"    {step.name}: {'; '.join(step.changes)}")
        say(f"      {_short(step.before)}\n      {_short(step.after)}")


def _history(history: Sequence[SightingRow]) -> None:
    if len(history) > 1:
        click.secho(f"\nsighted {len(history):,} times", bold=True)
        for row in history[-_HISTORY_SHOWN:]:
            say(f"  {row.run}:{row.seq}  {row.source}  {row.url or 'no URL'}")


def _row(receipt: Mapping[str, Any]) -> str:
    where = "" if receipt.get("input") is None else f", {receipt['input']} line {receipt['line']}"
    return f"{receipt['run']}:{receipt['seq']}{where}"


def _line(name: str, value: str) -> None:
    say(f"{name:<12} {value}")


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _WIDTH else f"{shown[:_WIDTH]}… ({len(text):,} characters)"
