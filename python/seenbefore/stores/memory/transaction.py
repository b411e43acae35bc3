"""A transaction of the store in memory: writes go beside its tables, and into them with `commit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from seenbefore.errors import StoreDamaged, UsageError
from seenbefore.stores.base import JudgedBatch
from seenbefore.stores.laws import (
    NOTHING_CLAIMED,
    Claimed,
    chain_digest,
    cut,
    free_ordinal,
    known_run,
    still_unfinished,
)
from seenbefore.stores.memory.tables import LOCATION, State, Tables
from seenbefore.stores.rows import (
    Digest,
    EarlierSighting,
    InputRow,
    KnownContent,
    KnownPlace,
    Progress,
    RulesetRow,
    RunRow,
)


class MemoryTransaction:
    """A transaction of a MemoryStore: writes go beside the tables, and into them with `commit`."""

    def __init__(self, state: State, ruleset: RulesetRow | None) -> None:
        self._state = state
        self._given = ruleset
        self._open: Tables | None = None
        self._claimed = NOTHING_CLAIMED

    def __enter__(self) -> Self:
        self._open = self._state.begin()
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._end()

    @property
    def _tables(self) -> Tables:
        if self._open is None:
            raise UsageError("the transaction has ended", hint="begin another one")
        return self._open

    @property
    def _ruleset(self) -> RulesetRow:
        if self._given is None:
            raise UsageError("the store was given no ruleset", hint="call its `ruleset` first")
        return self._given

    @property
    def next_sighting(self) -> int:
        """The id that the next sighting gets."""
        return self._tables.next_sighting

    def free_run(self, wanted: int | None = None) -> int:
        """The ordinal that a new run gets."""
        return free_ordinal(wanted, set(self._tables.runs))

    def begin_run(self, out: str, configuration: str, started: str, *, run: int | None = None) -> int:
        """Begin a run: see Transaction."""
        ordinal = self.free_run(run)
        self._tables.runs[ordinal] = RunRow(ordinal, self._ruleset.label, configuration, out, "unfinished", started)
        return ordinal

    def unfinished_run(self, out: str) -> RunRow | None:
        """The unfinished run with that output directory."""
        runs = self._tables.runs.values()
        return next((run for run in runs if run.out == out and run.state == "unfinished"), None)

    def standing(self, run: int) -> RunRow:
        """A run as it stands."""
        return known_run(self._tables.runs.get(run), run)

    def claim(self, content_keys: bytes, place_keys: bytes) -> tuple[list[KnownContent], list[KnownPlace]]:
        """Which of the keys are known: see Transaction."""
        owner, tables = self._ruleset.id, self._tables
        contents: list[KnownContent] = [
            (index, *row)
            for index, key in enumerate(cut(content_keys))
            if (row := tables.contents.get((owner, key))) is not None
        ]
        places: list[KnownPlace] = [
            (index, *place)
            for index, key in enumerate(cut(place_keys))
            if (place := tables.places.get((owner, key))) is not None
        ]
        self._claimed = Claimed(content_keys, place_keys, contents, places)
        return contents, places

    def earlier(self, ids: Sequence[int]) -> list[EarlierSighting]:
        """The facts of sightings, in the order of their ids."""
        try:
            rows = [self._tables.sightings[one] for one in ids]
        except KeyError as error:
            raise StoreDamaged(f"{LOCATION} has no sighting {error}", path=LOCATION) from error
        return [(row[0], row[1], row[2], row[8], row[6], row[9]) for row in rows]

    def source_ids(self, names: Sequence[str]) -> list[int]:
        """The ids of sources."""
        tables = self._tables
        for name in names:
            if name not in tables.sources:
                tables.sources[name] = tables.next_source
                tables.next_source += 1
        return [tables.sources[name] for name in names]

    def record(self, judged: JudgedBatch, progress: Progress) -> None:
        """Write a judged batch and where its run stands."""
        tables, owner, first = self._tables, self._ruleset.id, self.next_sighting
        run = still_unfinished(tables.runs.get(progress.run), progress.run)
        self._claimed.check(judged, progress, first, LOCATION)
        for key, number, seen in judged.contents_new:
            tables.contents[owner, key] = (number, seen)
        for key, seen in judged.contents_earlier:
            number, before = tables.contents[owner, key]
            tables.contents[owner, key] = (number, seen if before is None else min(before, seen))
        for key, *place in judged.places:
            tables.places[owner, key] = (place[0], place[1], place[2])
        for row in judged.sightings:
            tables.sightings[row[0]] = row
        self._keep_blocks(judged, progress.run)
        tables.next_sighting += len(judged.sightings)
        self._move_on(run, progress)

    def _keep_blocks(self, judged: JudgedBatch, run: int) -> None:
        """Hold the receipts and kept rows of a batch that begins with the next sighting, where the store holds any."""
        if not self._state.blocks:
            return
        number, keep = self.next_sighting, self._state.keep == "kept"
        for seq, records, receipts, kept, _ in judged.blocks:
            self._tables.blocks[run, seq] = (records, number, receipts, kept if keep else b"")
            number += records

    def _move_on(self, run: RunRow, progress: Progress) -> None:
        """Note where the run stands; the claim is used up."""
        self._tables.runs[progress.run] = replace(
            run, position=dict(progress.position), outputs=dict(progress.outputs), counts=dict(progress.counts)
        )
        self._claimed = NOTHING_CLAIMED

    def set_input(self, run: int, row: InputRow) -> None:
        """Write or replace one input of a run."""
        still_unfinished(self._tables.runs.get(run), run)
        self._tables.inputs[run, row.index] = row

    def finish_run(self, run: int, receipts_sha256: Digest, ended: str) -> Digest:
        """Finish a run: see Transaction."""
        row = still_unfinished(self._tables.runs.get(run), run)
        finished = [one for one in self._tables.runs.values() if one.link is not None]
        last = max(finished, key=lambda one: one.link or 0, default=None)
        chain = chain_digest(None if last is None else last.chain, receipts_sha256)
        changes: dict[str, Any] = {"state": "finished", "ended": ended, "link": len(finished) + 1, "chain": chain}
        self._tables.runs[run] = replace(row, **changes)
        return chain

    def abandon_run(self, run: int, ended: str) -> None:
        """Close an unfinished run."""
        row = still_unfinished(self._tables.runs.get(run), run)
        self._tables.runs[run] = replace(row, state="abandoned", ended=ended)

    def commit(self) -> None:
        """Make everything visible at once."""
        self._state.publish(self._tables)
        self._end()

    def _end(self) -> None:
        self._open = None
        self._state.end()
