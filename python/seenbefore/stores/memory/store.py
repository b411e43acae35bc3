"""The store in memory: the read side, and rulesets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, Self

from seenbefore.errors import StoreDamaged, StoreUnsupported
from seenbefore.stores.laws import check_ruleset, kept_line, line, split_key, split_label
from seenbefore.stores.memory.tables import LOCATION, Key, State
from seenbefore.stores.memory.transaction import MemoryTransaction
from seenbefore.stores.rows import (
    ContentRow,
    Digest,
    DoneInput,
    EarlierSighting,
    Fault,
    Gathered,
    InputRow,
    Keep,
    Known,
    PlaceRow,
    RulesetRow,
    RunRow,
    SightingRow,
    StoreInfo,
    Stretch,
)


class MemoryStore:
    """A store that lives as long as this object; `close` forgets nothing. Threads may share it.

    `blocks` says whether receipts and, with `keep="kept"`, kept rows are held too: without, they can't be read back.
    """

    location = LOCATION

    def __init__(self, *, blocks: bool = False, keep: Keep = "kept") -> None:
        self._state = State(blocks=blocks, keep=keep)
        self._rulesets: list[RulesetRow] = []
        self._texts: dict[tuple[str, str], str] = {}
        self._current: RulesetRow | None = None
        self.keep: Keep = keep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    @property
    def holds_receipts(self) -> bool:
        """Whether receipts can be read back."""
        return self._state.blocks

    def ruleset(self, label: str, fingerprint: str, configuration: str, text: str, unicode_version: str) -> RulesetRow:
        """Register a ruleset or check it: see SeenStore."""
        name, version = split_label(label)
        with self._state.publishing:
            known = next((row for row in self._rulesets if row.label == label), None)
            if known is None:
                known = RulesetRow(
                    id=len(self._rulesets) + 1,
                    name=name,
                    version=version,
                    fingerprint=fingerprint,
                    configuration=configuration,
                    text=text,
                    unicode_version=unicode_version,
                    state="active",
                )
                self._rulesets.append(known)
            else:
                check_ruleset(known, fingerprint, text, unicode_version, self.location)
                text = self._texts.get((label, configuration), text)
                known = replace(known, configuration=configuration, text=text)
                self._rulesets[known.id - 1] = known
            self._texts.setdefault((label, configuration), text)
            self._current = known
            return known

    def transaction(self, ruleset: RulesetRow | None = None) -> MemoryTransaction:
        """A write transaction: see SeenStore."""
        return MemoryTransaction(self._state, ruleset or self._current)

    def rulesets(self) -> list[RulesetRow]:
        """All rulesets, by id."""
        return list(self._rulesets)

    def settings_text(self, label: str, configuration: str) -> str | None:
        """The text of a ruleset as a run with that configuration had it."""
        return self._texts.get((label, configuration))

    def runs(self) -> list[RunRow]:
        """All runs, by ordinal."""
        with self._state.publishing:
            return [run for _, run in sorted(self._state.tables.runs.items())]

    def run(self, ordinal: int) -> RunRow | None:
        """One run."""
        return self._state.tables.runs.get(ordinal)

    def inputs(self, run: int) -> list[InputRow]:
        """The inputs of a run, by index."""
        with self._state.publishing:
            return [row for (owner, _), row in sorted(self._state.tables.inputs.items()) if owner == run]

    def finished_input(self, name: str, sha256: Digest) -> DoneInput | None:
        """The same bytes in a finished run: see SeenStore."""
        label = None if self._current is None else self._current.label
        finished = {run.ordinal for run in self.runs() if run.state == "finished" and run.ruleset == label}
        with self._state.publishing:
            same = [
                DoneInput(run, row.name, row.records)
                for (run, _), row in sorted(self._state.tables.inputs.items())
                if run in finished and row.sha256 == sha256 and row.records is not None
            ]
        return next((one for one in same if one.name == name), same[0] if same else None)

    def receipt(self, run: int, seq: int) -> bytes | None:
        """One receipt."""
        found = self._block(run, seq)
        return None if found is None else line(found[1], seq - found[0])

    def kept(self, run: int, seq: int) -> bytes | None:
        """One kept row."""
        found = self._block(run, seq)
        return None if found is None else kept_line(found[1], found[2], seq - found[0])

    def receipts(self, run: int) -> Iterator[bytes]:
        """The receipts of a run in pieces."""
        return (receipts for _, receipts, _ in self._blocks(run))

    def kept_rows(self, run: int) -> Iterator[bytes]:
        """The kept rows of a run in pieces."""
        return (kept for _, _, kept in self._blocks(run))

    def _blocks(self, run: int) -> list[tuple[int, bytes, bytes]]:
        """The blocks of a run by seq: first seq, receipts, kept rows."""
        if not self._state.blocks:
            raise StoreUnsupported(
                "this store in memory holds no receipts", path=self.location, hint="read them from the run's files"
            )
        with self._state.publishing:
            blocks = sorted(self._state.tables.blocks.items())
        return [(first, receipts, kept) for (owner, first), (_, _, receipts, kept) in blocks if owner == run]

    def _block(self, run: int, seq: int) -> tuple[int, bytes, bytes] | None:
        """The last block of a run that starts at `seq` or before."""
        return next((block for block in reversed(self._blocks(run)) if block[0] <= seq), None)

    def known(self, content_key: Digest | None, url_key: Digest | None) -> Known:
        """What is committed about the keys of one record."""
        owner, tables = 0 if self._current is None else self._current.id, self._state.tables
        return (
            None if content_key is None else tables.contents.get((owner, content_key)),
            None if url_key is None else tables.places.get((owner, url_key)),
        )

    def earlier(self, sighting: int) -> EarlierSighting:
        """The facts of one sighting."""
        row = self._state.tables.sightings.get(sighting)
        if row is None:
            raise StoreDamaged(f"{self.location} has no sighting {sighting}", path=self.location)
        return row[0], row[1], row[2], row[8], row[6], row[9]

    def lookup_content(self, key: str) -> ContentRow | None:
        """A content by its key."""
        label, digest = split_key(key, url=False)
        row = self._state.tables.contents.get((self._ruleset_id(label), digest))
        return None if row is None else ContentRow(label, digest, *row)

    def lookup_place(self, key: str) -> PlaceRow | None:
        """A place by its URL key."""
        label, digest = split_key(key, url=True)
        row = self._state.tables.places.get((self._ruleset_id(label), digest))
        return None if row is None else PlaceRow(label, digest, *row)

    def _ruleset_id(self, label: str) -> int:
        return next((row.id for row in self._rulesets if row.label == label), 0)

    def sighting(self, run: int, seq: int) -> SightingRow | None:
        """One sighting by its run and ordinal."""
        return next((row for row in self.sightings(run=run) if row.seq == seq), None)

    def sightings(
        self,
        *,
        run: int | None = None,
        source: str | None = None,
        content: int | None = None,
        place: int | None = None,
        verdict: int | None = None,
        after: int = 0,
    ) -> Iterator[SightingRow]:
        """The sightings that have all the given facts, by id."""
        wanted = {"run": run, "source": source, "content": content, "place": place, "verdict": verdict}
        asked = {name: value for name, value in wanted.items() if value is not None}
        with self._state.publishing:
            names = {number: name for name, number in self._state.tables.sources.items()}
            rows, end = self._state.tables.sightings, self._state.tables.next_sighting
        # Ids have no gaps, so the rows asked for are found without looking at those before them.
        for row in map(rows.__getitem__, range(after + 1, end)):
            one = SightingRow(row[0], row[1], row[2], names[row[3]], *row[4:])
            if all(getattr(one, name) == value for name, value in asked.items()):
                yield one

    def snapshot(self) -> MemoryStore:
        """A store with what this one holds now."""
        copy = MemoryStore(keep=self.keep)
        with self._state.publishing:
            copy._state = self._state.copy()
            copy._rulesets, copy._texts = list(self._rulesets), dict(self._texts)
        return copy

    def contents(self) -> Iterator[ContentRow]:
        """All contents, by id."""
        rows = self._keys(self._state.tables.contents)
        return (ContentRow(label, key, *row) for label, key, row in rows)

    def places(self) -> Iterator[PlaceRow]:
        """All places, by id."""
        rows = self._keys(self._state.tables.places)
        return (PlaceRow(label, key, *row) for label, key, row in rows)

    def _keys(self, table: Mapping[Key, Any]) -> list[tuple[str, Digest, Any]]:
        with self._state.publishing:
            labels = {row.id: row.label for row in self._rulesets}
            rows = [(labels[owner], key, row) for (owner, key), row in table.items()]
        return sorted(rows, key=lambda row: row[2][0])

    def gathered(self, by: Literal["content", "place"]) -> Iterator[Gathered]:
        """The sightings that have a content, or a place, by its id."""
        rows = [(getattr(row, by), row) for row in self.sightings() if getattr(row, by) is not None]
        rows.sort(key=lambda pair: (pair[0], pair[1].id))
        return (
            (owner, row.id, row.run, row.seq, row.source, row.url, row.fetched_at, row.content) for owner, row in rows
        )

    def last_sighting(self) -> int:
        """The id of the last sighting."""
        return self._state.tables.next_sighting - 1

    def faults(self, *, quick: bool) -> Iterator[Fault]:  # noqa: ARG002 - the same call for every store
        """Nothing: it has no file."""
        return iter(())

    def stretches(self, *, packed: bool = True) -> Iterator[Stretch]:  # noqa: ARG002 - nothing here is packed
        """The receipts and kept rows of all runs; none where this store holds no receipts."""
        with self._state.publishing:
            blocks = sorted(self._state.tables.blocks.items(), key=lambda block: block[1][1])
        for (run, first_seq), (records, first_sighting, receipts, kept) in blocks:
            yield Stretch(
                run, first_seq, first_sighting, records, receipts, kept if self._state.keep == "kept" else None, bytes
            )

    def copy(self, target: str) -> int:
        """Refused: it has no file."""
        raise StoreUnsupported("a store in memory can't be copied to a file", path=target)

    def vacuum(self) -> tuple[int, int]:
        """Refused: it has no file."""
        raise StoreUnsupported("a store in memory has no room to give back", path=self.location)

    def info(self) -> StoreInfo:
        """What the store is and how much it holds."""
        tables = self._state.tables
        return StoreInfo(
            kind="memory",
            location=self.location,
            migrations=(),
            keep=self._state.keep,
            rulesets=len(self._rulesets),
            runs=len(tables.runs),
            contents=len(tables.contents),
            places=len(tables.places),
            sightings=len(tables.sightings),
            size=0,
        )
