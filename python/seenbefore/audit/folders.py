"""A folder with the output folders of several runs: each of them, and the chain from run to run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from seenbefore.audit.folder import RunFolder
from seenbefore.audit.report import Report
from seenbefore.outputs import RECEIPTS, SUMMARY
from seenbefore.rules import Ruleset
from seenbefore.stores.laws import FIRST_LINK

_CHAIN = re.compile("sha256:([0-9a-f]{64})")


def run_folders(folder: str) -> list[Path]:
    """The output folders of runs that lie in a folder."""
    return sorted(child for child in Path(folder).iterdir() if (child / RECEIPTS).is_file())


def verify_folders(folder: str, rules: Ruleset | None, passed: Callable[[str, int, int | None], None]) -> Report:
    """Checks every run in it, and that each one's chain digest follows from the one before."""
    report = Report("runs", folder)
    runs = [(child.name, RunFolder(str(child), rules)) for child in run_folders(folder)]
    runs.sort(key=lambda one: one[1].run)
    for name, run in runs:
        report.merge(run.verify(passed, alone=False), name)
    _walk_chain(runs, report)
    return report


def _walk_chain(runs: list[tuple[str, RunFolder]], report: Report) -> None:
    """Each link from the one before as its summary states it, so that a broken one is named and not all behind it.

    Runs of one store may end in another order than that of their numbers: the next link is the run that fits.
    """
    here = {run.run for _, run in runs}
    waiting, before = list(runs), FIRST_LINK
    while waiting:
        fits = next((one for one in waiting if one[1].link(before) == one[1].chain), None)
        name, run = fits or waiting[0]
        waiting.remove((name, run))
        stated = _CHAIN.fullmatch(run.chain)
        if fits is not None:
            report.good("runs")
        elif stated is not None and run.run > 1 and run.run - 1 not in here:
            report.cannot("runs", f"the chain digest of run {run.run} rests on a run that is not here")
        else:
            first = (
                "" if any("first broken link" in one.what for one in report.problems) else " (the first broken link)"
            )
            what = f"chain digest of run {run.run}{first}"
            report.problem("runs", f"{name}/{SUMMARY}", None, what, run.chain, f"{run.link(before)} from its receipts")
        before = before if stated is None else bytes.fromhex(stated[1])
