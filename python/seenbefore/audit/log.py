"""Which records were sighted, by the facts that people look for: the receipts of those that have them all."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import tee

from seenbefore.errors import StoreDamaged, UrlRefused, UsageError
from seenbefore.rules import Ruleset
from seenbefore.stores.base import SeenStore
from seenbefore.stores.rows import SightingRow


@dataclass(frozen=True, slots=True)
class Asked:
    """The facts asked for, None where any will do.

    `url` is any spelling that the store's rules take for the same place, `key` a content key or a URL key, `row` a run
    and an ordinal in it: those with the content of that row. `verdict` is an index, `action` what receipts say: keep,
    skip or refuse. `since` and `until` are microseconds, the former included, the latter not, and a record without a
    time is in no such range. `limit` asks for the latest so many.
    """

    run: int | None = None
    source: str | None = None
    url: str | None = None
    key: str | None = None
    row: tuple[int, int] | None = None
    verdict: int | None = None
    action: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class _Range:
    """Sightings from the id `first` to `last`, of one content or place where these are given."""

    first: int = 1
    last: int | None = None
    content: int | None = None
    place: int | None = None


def sighted(store: SeenStore, asked: Asked) -> Iterator[SightingRow]:
    """The sightings with all the facts, in the order of commits.

    Raises UsageError for a run or a key's ruleset that isn't there, UrlRefused for a URL without a canonical form.
    """
    ranges = _ranges(store, asked)
    rows: Iterator[SightingRow] = merge(*(_within(store, asked, one) for one in ranges), key=lambda row: row.id)
    if asked.action is not None:
        rows = _done(store, rows, asked.action)
    if asked.limit is None:
        return rows
    return iter(deque(rows, maxlen=asked.limit))


def receipts(store: SeenStore, rows: Iterable[SightingRow]) -> Iterator[bytes]:
    """The receipts of sightings, each a line with its LF. Raises StoreDamaged where one isn't there."""
    for row in rows:
        receipt = store.receipt(row.run, row.seq)
        if receipt is None:
            raise StoreDamaged(
                f"{store.location} is damaged: row {row.run}:{row.seq} has no receipt",
                path=store.location,
                hint="`seenbefore store check` names everything that doesn't fit together",
            )
        yield receipt


def _ranges(store: SeenStore, asked: Asked) -> list[_Range]:
    """Where in the order of commits there can be something: an empty list where nothing is known of what is asked."""
    if sum(one is not None for one in (asked.url, asked.key, asked.row)) > 1:
        raise UsageError("--url, --key and --row exclude each other", hint="drop all but one of them")
    whole = _Range() if asked.run is None else _of_run(store, asked.run)
    if asked.url is None and asked.key is None and asked.row is None:
        # The latest of all are the last ones.
        only = asked == Asked(limit=asked.limit) and asked.limit is not None
        return [_Range(first=max(1, store.last_sighting() - (asked.limit or 0) + 1))] if only else [whole]
    if asked.row is not None:
        found = _by_row(store, *asked.row)
    else:
        found = _by_url(store, asked.url) if asked.key is None else _by_key(store, asked.key)
    return [replace(one, first=max(one.first, whole.first), last=_least(one.last, whole.last)) for one in found]


def _of_run(store: SeenStore, run: int) -> _Range:
    known = store.run(run)
    if known is None:
        raise UsageError(
            f"{store.location} has no run {run}", found=str(run), hint="`seenbefore store info` lists them"
        )
    first, last = store.sighting(run, 1), store.sighting(run, known.counts.get("records", 0))
    return _Range(first=1 if first is None else first.id, last=None if last is None else last.id)


def _by_key(store: SeenStore, key: str) -> list[_Range]:
    if ":url:" in key:
        place = store.lookup_place(key)
        return [] if place is None else [_Range(place.first, place.latest, place=place.first)]
    content = store.lookup_content(key)
    return [] if content is None else [_Range(content.first, content=content.first)]


def _by_row(store: SeenStore, run: int, seq: int) -> list[_Range]:
    row = store.sighting(run, seq)
    if row is None or row.content is None:
        why = "is not there" if row is None else "has no content, as it is unkeyed or refused"
        raise UsageError(f"row {run}:{seq} {why}", found=f"{run}:{seq}", hint="rows are named RUN:SEQ, as `log` does")
    return [_Range(row.content, content=row.content)]


def _by_url(store: SeenStore, url: str | None) -> list[_Range]:
    """The places that the URL stands for under each ruleset of the store."""
    ranges, problems = [], []
    for row in store.rulesets():
        keys = Ruleset.from_toml(row.text, row.label).keys({}, url=url)
        problems += [code for code in keys.problems if code.startswith("url-")]
        place = None if keys.url_key is None else store.lookup_place(keys.url_key)
        if place is not None:
            ranges.append(_Range(place.first, place.latest, place=place.first))
    if problems and not ranges:
        raise UrlRefused(problems[0])
    return ranges


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _within(store: SeenStore, asked: Asked, place: _Range) -> Iterator[SightingRow]:
    rows = store.sightings(
        run=asked.run,
        source=asked.source,
        content=place.content,
        place=place.place,
        verdict=asked.verdict,
        after=place.first - 1,
    )
    for row in rows:
        if place.last is not None and row.id > place.last:
            return
        if _in_time(row.fetched_at, asked):
            yield row


def _done(store: SeenStore, rows: Iterator[SightingRow], action: str) -> Iterator[SightingRow]:
    """Those of which the receipt says that `action` was done."""
    mine, again = tee(rows)
    # Receipts are canonical, and a quote within a string is escaped: these bytes can be nothing but that member.
    member = f'"action":"{action}"'.encode()
    return (row for row, receipt in zip(mine, receipts(store, again), strict=True) if member in receipt)


def _in_time(fetched_at: int | None, asked: Asked) -> bool:
    if asked.since is None and asked.until is None:
        return True
    if fetched_at is None:
        return False
    return (asked.since is None or fetched_at >= asked.since) and (asked.until is None or fetched_at < asked.until)
