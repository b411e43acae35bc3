"""What people see of a run: notes and a progress bar on stderr, the closing tables on stdout."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from seenbefore.cli.tables import print_table
from seenbefore.cli.terminal import harmless, say
from seenbefore.stores.base import Waiting
from seenbefore.types import SourceSummary, Summary

if TYPE_CHECKING:
    from rich.progress import Progress

# Beyond so many sources the table shows those with the most keyed records; the file has them all.
_SOURCES_SHOWN = 20


class Meter:
    """Notes always; a bar with rate and time left where stderr is a terminal."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def began(self, run: int, resumed_at: int, total: int | None) -> None:
        """Says where a resumed run goes on, and opens the bar."""
        if resumed_at:
            self.note(f"run {run} goes on behind its record {resumed_at:,}")
        if sys.stderr.isatty():
            self._open(total)

    def passed(self, raw: int, records: int) -> None:
        """Moves the bar."""
        if self._bar is not None:
            self._bar.update(self._task, completed=raw, records=records)

    def note(self, text: str) -> None:
        """A sentence on stderr, above the bar."""
        if self._bar is not None:
            self._bar.console.print(harmless(text), markup=False, highlight=False)
        else:
            say(text, err=True)

    def waits(self, waiting: Waiting) -> None:
        """Says for whom a store is waited for."""
        self.note(
            f"waiting for {waiting.holder}, which is writing to {waiting.location} ({waiting.seconds:.0f} s by now)"
        )

    def _open(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        from seenbefore.cli.columns import RecordRate

        left = [BarColumn(), DownloadColumn()] if total is not None else [DownloadColumn()]
        time = TimeRemainingColumn() if total is not None else TimeElapsedColumn()
        self._bar = Progress(
            TextColumn("{task.fields[records]:>12,} records"), RecordRate(), *left, time, console=Console(stderr=True)
        )
        self._task = self._bar.add_task("", total=total, records=0)
        self._bar.start()


def closing(summary: Summary, rules: str, out: str | None, store: str, *, dry_run: bool, made: str = "") -> None:
    """The verdict table, the collapse rate of each source, the rule, and where everything is."""
    if not summary.inputs and not summary.records:
        say("nothing to do: every input was judged already" if not summary.run else "no records")
        if not summary.run:
            return
    say(f"run {summary.run}: {summary.records:,} records in {summary.seconds:.1f} s{' (dry run)' if dry_run else ''}")
    say()
    print_table(["verdict", "records", "share"], _verdicts(summary))
    if rows := _sources(summary):
        say()
        print_table(["source", "keyed", "seen before", "collapse rate"], rows)
    for title, counts in (("refused", summary.refusals), ("problems", summary.problems)):
        if counts:
            say()
            say(f"{title}: {', '.join(f'{code} {count:,}' for code, count in counts.items())}")
    say()
    say(f"kept {summary.kept:,}, skipped {summary.skipped:,}, refused {summary.verdicts['refused']:,}")
    say(f"ruleset {summary.ruleset} ({rules}) {summary.fingerprint[:19]}…")
    say(f"store   {store}{' (unchanged)' if dry_run else ''}")
    if out is not None:
        say(f"files   {out}: kept.ndjson receipts.ndjson refused.ndjson summary.json{made}")


def _verdicts(summary: Summary) -> list[list[str]]:
    rows = []
    for verdict, count in summary.verdicts.items():
        share = f"{100 * count / summary.records:.1f} %" if summary.records else ""
        rows.append([verdict, f"{count:,}", share])
        if verdict == "changed" and summary.changed_seen_before:
            rows.append(["  of these seen before", f"{summary.changed_seen_before:,}", ""])
    return rows


def _sources(summary: Summary) -> list[list[str]]:
    def keyed(item: tuple[str, SourceSummary]) -> tuple[int, str]:
        return -item[1].keyed, item[0]

    # A line that can't be read counts under its input's name; such a source has no rate to show.
    named = sorted(((name, source) for name, source in summary.sources.items() if source.keyed), key=keyed)
    rows = [
        [
            name or "(none)",
            f"{source.keyed:,}",
            f"{source.seen_before:,}",
            "" if source.collapse_rate is None else f"{100 * source.collapse_rate:.1f} %",
        ]
        for name, source in named[:_SOURCES_SHOWN]
    ]
    if len(named) > _SOURCES_SHOWN:
        rows.append([f"… and {len(named) - _SOURCES_SHOWN:,} more", "", "", ""])
    return rows
