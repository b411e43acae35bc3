"""The path, wired once: inputs → keyed batches → one transaction each → four files.

And the same for records of a program.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from seenbefore._kernel import Verdict
from seenbefore.dedup.batches import Settings
from seenbefore.dedup.opening import Opening
from seenbefore.dedup.opening import Run as _Run
from seenbefore.dedup.provisional import ProvisionalBatch
from seenbefore.dedup.running import Running, Silent, Watch
from seenbefore.dedup.session import Session
from seenbefore.dedup.summaries import summarise, summary_members
from seenbefore.reading import expand, with_facts
from seenbefore.rules import UNICODE_VERSION, Ruleset
from seenbefore.stores import open_store
from seenbefore.stores.base import SeenStore
from seenbefore.types import Summary

__all__ = ["Deduplicator", "ProvisionalBatch", "Settings", "Watch", "summary_members"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class Deduplicator:
    """Judges records under one ruleset against one store.

    `rules` is a Ruleset, the label of a built-in one, or a path; `store` an open store, a path or a store URL. Where
    `dry_run` is set all runs are dry, and the store isn't told of the ruleset either. One thread at a time.

    Raises what reading the rules and opening the store raise, and RuleChanged where the store knows another rule by
    that label.
    """

    def __init__(
        self,
        rules: Ruleset | str | os.PathLike[str],
        store: SeenStore | str | os.PathLike[str] = "seenbefore.db",
        *,
        settings: Settings | None = None,
        watch: Watch | None = None,
        dry_run: bool = False,
    ) -> None:
        self._dry, self._next_run = dry_run, None if not dry_run else 1
        self.rules = rules if isinstance(rules, Ruleset) else Ruleset.find(rules)
        self.settings = settings or Settings()
        self.watch = watch or Silent()
        self._owned = isinstance(store, str | os.PathLike)
        if isinstance(store, str | os.PathLike):
            store = open_store(os.fspath(store), told=self.watch.waits)
        self.store: SeenStore = store
        self._session: Session | None = None
        try:
            self._register()
        except BaseException:
            if self._owned:
                self.store.close()
            raise

    def _register(self) -> None:
        """Tells the store of the ruleset, or for a dry run takes what it knows of it."""
        rules = self.rules
        if self._dry:
            self._next_run = max((row.ordinal for row in self.store.runs()), default=0) + 1
            known = next((row for row in self.store.rulesets() if row.label == rules.label), None)
            if known is not None:
                self.store.ruleset(known.label, rules.fingerprint, known.configuration, rules.text, UNICODE_VERSION)
                return
            # Under a ruleset that a store doesn't know nothing was seen before, as in a new one.
            if self._owned:
                self.store.close()
            self.store, self._owned = open_store("memory:"), True
        self.store.ruleset(rules.label, rules.fingerprint, rules.configuration, rules.text, UNICODE_VERSION)

    def run(
        self,
        inputs: Paths,
        out: str | os.PathLike[str] | None = None,
        *,
        again: bool = False,
        dry_run: bool = False,
        run_id: int | None = None,
    ) -> Summary:
        """Judges files, directories, globs or `-` in the order given, into the directory `out` ({run}: its ordinal).

        Without `out` nothing is written but the store; with `dry_run` not even that. An unfinished run of that
        directory goes on where it stopped, and one that this very call finished already is answered as it was then.
        Inputs that a finished run judged under the same name, byte for byte, are left out unless `again`.
        """
        given = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        found = expand((os.fspath(one) for one in given), self.watch.note)
        sources = with_facts(found, self.settings.from_name)
        opening = Opening(self.store, self.rules, self.settings, self.watch.note)
        place = None if out is None else os.fspath(out)
        if dry_run or self._dry:
            with self.store.transaction() as transaction:
                left = sources if again else opening.not_done(sources)
                ordinal = transaction.begin_run("", self.rules.configuration, "", run=run_id or self._next_run)
                run = _Run(ordinal, left, None)
                return Running(self.store, self.rules, self.settings, run, self.watch).dry(transaction)
        unfinished = opening.unfinished(place)
        if unfinished is not None:
            run = opening.resume(unfinished, sources, run_id)
        else:
            if place is not None:
                over = None if again else opening.finished(place, sources, run_id)
                if over is not None:
                    return summarise(self.rules, *over, 0.0)
                opening.refuse_ended(place)
            left = sources if again else opening.not_done(sources)
            if not left:
                return summarise(self.rules, _Run(0, [], None), None, 0.0)
            run = opening.begin(left, place, run_id)
        with contextlib.closing(run):
            return Running(self.store, self.rules, self.settings, run, self.watch).to_the_end()

    def abandon(self, out: str | os.PathLike[str]) -> int:
        """Closes the unfinished run of a directory; what it committed stays, kept and seen → its ordinal.

        Raises UsageError.
        """
        opening = Opening(self.store, self.rules, self.settings, self.watch.note)
        return opening.abandon(os.fspath(out))

    def batch(self) -> ProvisionalBatch:
        """A batch of records that a program stores itself: see ProvisionalBatch."""
        if self._session is None:
            self._session = Session(self.store, self.rules, self.settings)
        return ProvisionalBatch(self._session)

    def judge(
        self,
        record: Mapping[str, Any],
        url: str | None = None,
        source: str | None = None,
        fetched_at: str | None = None,
    ) -> Verdict:
        """Judges one record, and marks it as seen at once."""
        with self.batch() as batch:
            return batch.judge(record, url=url, source=source, fetched_at=fetched_at)

    def judge_many(self, records: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
        """Judges records in order; all are marked as seen when the iteration ends, none where it is broken off."""
        with self.batch() as batch:
            for record in records:
                yield batch.judge(record)

    def close(self) -> None:
        """Finishes the run of this program's batches, if there was one, and closes the store if it was opened here."""
        try:
            if self._session is not None:
                self._session.finish()
                self._session = None
        finally:
            if self._owned:
                self.store.close()

    def __enter__(self) -> Self:
        """Return the Deduplicator."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
