"""Runs: what they counted, how far they say they came, and the chain of those that are finished."""

from __future__ import annotations

from collections.abc import Iterator

from seenbefore.audit.check.totals import RunTotals, Totals
from seenbefore.rules import VERDICTS
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import chain_digest
from seenbefore.stores.rows import Digest, Fault, RunRow


def runs(store: SeenStore, totals: Totals, *, quick: bool) -> Iterator[Fault]:
    """What the runs say that their blocks and sightings don't. `quick`: of blocks only the records were counted."""
    known = store.runs()
    for ordinal in sorted(totals.runs.keys() - {run.ordinal for run in known}):
        yield Fault("block", f"{ordinal}:1", "is of a run that is not there", f"run {ordinal}", "none")
    for run in known:
        counted = totals.runs[run.ordinal]
        yield from _counts(run, counted)
        yield from _inputs(store, run)
        if not quick:
            yield from _verdicts(run, counted)
            if not counted.unread:
                yield from _lengths(run, counted, keeps=store.keep == "kept")
    yield from _links(known, totals, quick=quick)


def _counts(run: RunRow, counted: RunTotals) -> Iterator[Fault]:
    for name, said in (("counts", run.counts.get("records", 0)), ("position", run.position.get("seq"))):
        if said is not None and said != counted.records:
            yield _fault(run, f"has other records in its {name} than in its blocks", counted.records, said)


def _inputs(store: SeenStore, run: RunRow) -> Iterator[Fault]:
    inputs = store.inputs(run.ordinal)
    if [row.index for row in inputs] != list(range(len(inputs))):
        found = ", ".join(str(row.index) for row in inputs)
        yield Fault("input", str(run.ordinal), "are not counted from 0 without gaps", f"{len(inputs)} inputs", found)
    if run.state == "finished" and inputs:
        read = sum(row.records or 0 for row in inputs)
        if read != run.counts.get("records", 0):
            yield _fault(run, "counts other records than its inputs had", read, run.counts.get("records", 0))


def _verdicts(run: RunRow, counted: RunTotals) -> Iterator[Fault]:
    said = run.counts.get("verdicts", {})
    for index, verdict in enumerate(VERDICTS):
        if said.get(verdict, 0) != counted.verdicts[index]:
            what = f"counts other sightings with the verdict {verdict} than there are"
            yield _fault(run, what, counted.verdicts[index], said.get(verdict, 0))
    for odd in sorted(counted.verdicts.keys() - set(range(len(VERDICTS)))):
        yield _fault(run, f"has sightings with a verdict that there isn't, {odd}", "none", counted.verdicts[odd])


def _lengths(run: RunRow, counted: RunTotals, *, keeps: bool) -> Iterator[Fault]:
    if run.counts.get("kept", 0) != counted.kept:
        yield _fault(run, "counts other kept rows than its receipts say", counted.kept, run.counts.get("kept", 0))
    lengths = {"receipts.ndjson": counted.receipt_bytes, **({"kept.ndjson": counted.kept_bytes} if keeps else {})}
    for name, length in lengths.items():
        said = run.outputs.get(name, length)
        if said != length:
            yield _fault(run, f"says another length of {name} than its blocks have", f"{length} bytes", f"{said} bytes")


def _links(known: list[RunRow], totals: Totals, *, quick: bool) -> Iterator[Fault]:
    finished = sorted((run for run in known if run.link is not None), key=lambda run: run.link or 0)
    for run in known:
        ended, linked = run.state == "finished", run.link is not None and run.chain is not None
        if ended is not linked:
            expected = "a link and a chain digest" if ended else "none: it is not finished"
            yield _fault(run, "doesn't stand in the chain as its state says", expected, f"link {run.link}")
    for number, run in enumerate(finished, 1):
        if run.link != number:
            yield _fault(run, "is another link of the chain than its place", f"link {number}", f"link {run.link}")
    if not quick:
        yield from _chain(finished, totals)


def _chain(finished: list[RunRow], totals: Totals) -> Iterator[Fault]:
    """Each digest from the one noted before it, so that a receipt that was changed is a fault of its run alone."""
    before: Digest | None = None
    for run in finished:
        counted = totals.runs[run.ordinal]
        chain = chain_digest(before, counted.receipts.digest())
        if not counted.unread and run.chain != chain:
            found = "none" if run.chain is None else f"sha256:{run.chain.hex()}"
            yield _fault(run, "has receipts that don't give its chain digest", f"sha256:{chain.hex()}", found)
        before = run.chain


def _fault(run: RunRow, what: str, expected: object, found: object) -> Fault:
    return Fault("run", str(run.ordinal), what, str(expected), str(found))
