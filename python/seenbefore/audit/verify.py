"""Verification with the kernel: a bundle, output folders of runs, or a store. What it finds is a Report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from seenbefore._kernel import Verifier
from seenbefore.audit.bags import Bag
from seenbefore.audit.feeding import feed
from seenbefore.audit.files import Piece, Unsound, lines_of
from seenbefore.audit.folder import RunFolder
from seenbefore.audit.folders import run_folders, verify_folders
from seenbefore.audit.report import Report
from seenbefore.audit.rulings import compare_runs, rulesets_of, runs_of
from seenbefore.errors import UsageError
from seenbefore.evidence import bag
from seenbefore.outputs import RECEIPTS
from seenbefore.rules import Ruleset
from seenbefore.stores import open_store
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import FIRST_LINK
from seenbefore.stores.rows import RunRow

# Hears what goes on, how many steps of it are done, and how many there are (None: not known).
Passed = Callable[[str, int, int | None], None]
Kind = Literal["bundle", "run", "runs", "store"]


def verify(
    path: str,
    *,
    rules: Ruleset | None = None,
    key: str | None = None,
    passed: Passed = lambda _what, _done, _total: None,
) -> Report:
    """Checks everything about a bundle, a run's output folder, a folder of such folders, or a store.

    `rules` is for runs' folders, which hold none; None takes a built-in one or ./seenbefore.toml where its
    fingerprint is that of the run. `key` is the public key, in hex, that must have signed a bundle. Raises UsageError
    where `path` is none of these, InputUnreadable, and what opening a store raises.
    """
    kind = kind_of(path)
    if kind == "bundle":
        return verify_bundle(path, key, passed)
    if key is not None:
        raise UsageError(f"{path} is no bundle, and only bundles are signed", path=path, hint="leave --key away")
    if kind == "run":
        return RunFolder(path, rules).verify(passed)
    if kind == "runs":
        return verify_folders(path, rules, passed)
    with open_store(path, read_only=True) as store, store.snapshot() as now:
        return verify_store(now, passed)


def kind_of(path: str) -> Kind:
    """What lies at `path`. Raises UsageError for a folder that is neither bundle nor output."""
    folder = Path(path)
    if not folder.is_dir():
        return "store"
    if (folder / bag.BAGIT).is_file():
        return "bundle"
    if (folder / RECEIPTS).is_file():
        return "run"
    if run_folders(path):
        return "runs"
    raise UsageError(
        f"{path} is neither a bundle nor the output folder of a run, nor does it hold any",
        path=path,
        expected=f"a folder with {bag.BAGIT}, or one with {RECEIPTS}",
        hint="check the path",
    )


def verify_bundle(folder: str, key: str | None, passed: Passed) -> Report:
    """Checks a bundle."""
    report = Report("bundle", folder)
    count = _Counter("bytes hashed", passed)
    bundle = Bag(folder, report, count.add)
    bundle.check_tags()
    bundle.check_signature(key)
    bundle.check_package()
    rulesets, runs = rulesets_of(bundle, report), runs_of(bundle, report)
    verifier = Verifier(open=False, rows=True)
    usable = {}
    for run, stated in runs.items():
        rules = rulesets.get((str(stated.members["ruleset"]), str(stated.members["configuration"])))
        if rules is None:
            report.problem(
                "runs", f"{bag.PAYLOAD}/{bag.RUNS}", stated.line, f"ruleset of run {run}", "one that is there", "none"
            )
        else:
            usable[run] = stated
            verifier.add_run(run, rules.kernel)
    try:
        for piece in _pieces(bundle, bag.PRIOR):
            verifier.prior(piece.data, piece.file, piece.line)
    except Unsound as fault:
        report.problem("prior", fault.file, fault.line + 1, fault.what, fault.expected, fault.found)
    total = sum(one.members["records"] for one in usable.values())
    count = _Counter("receipts", passed, total)
    feed(verifier, _pieces(bundle, bag.RECEIPTS), _pieces(bundle, bag.ROWS), report, count.add)
    compare_runs(verifier, usable, report)
    return report


def _pieces(bundle: Bag, stem: str) -> Iterator[Piece]:
    for name in bundle.parts[stem]:
        if bundle.has(name):
            yield from lines_of(bundle.path(name), name)


def verify_store(store: SeenStore, passed: Passed) -> Report:
    """Checks a store's receipts, rows and chain."""
    report = Report("store", store.location)
    keep = next((stretch.packed_kept is not None for stretch in store.stretches()), True)
    verifier = Verifier(open=False, rows=keep)
    runs = store.runs()
    for row in runs:
        text = store.settings_text(row.ruleset, row.configuration)
        if text is None:
            report.problem("rulesets", store.location, None, f"settings of run {row.ordinal}", row.ruleset, "none")
        else:
            verifier.add_run(row.ordinal, Ruleset.from_toml(text, store.location).kernel)
            report.good("rulesets")
    if not keep:
        report.cannot("rows", "this store keeps no rows")
    count = _Counter("receipts", passed, sum(row.counts.get("records", 0) for row in runs))
    rows = _StoredRows(store)
    feed(verifier, rows.receipts(), rows.kept() if keep else None, report, count.add)
    _walk_chain(store.location, runs, {run: digest for run, _, digest, _ in verifier.runs()}, report)
    return report


class _StoredRows:
    """A store's blocks as pieces of files that are named after their runs."""

    def __init__(self, store: SeenStore) -> None:
        self._store = store

    def receipts(self) -> Iterator[Piece]:
        for stretch in self._store.stretches():
            yield Piece(stretch.receipts, f"run {stretch.run}, receipts", stretch.first_seq - 1)

    def kept(self) -> Iterator[Piece]:
        before: dict[int, int] = {}
        for stretch in self._store.stretches():
            data = stretch.kept or b""
            line = before.get(stretch.run, 0)
            before[stretch.run] = line + data.count(b"\n")
            if data:
                yield Piece(data, f"run {stretch.run}, kept rows", line)


def _walk_chain(location: str, runs: list[RunRow], digests: dict[int, bytes], report: Report) -> None:
    """Each link from the one before as the store states it, so that a broken one is named and not all behind it."""
    before, expected_link = FIRST_LINK, 1
    for row in sorted((row for row in runs if row.link is not None), key=lambda row: row.link or 0):
        chain = hashlib.sha256(before + digests.get(row.ordinal, b"")).digest()
        if row.link != expected_link:
            report.problem("runs", location, None, f"link of run {row.ordinal}", expected_link, row.link)
        elif chain != row.chain:
            first = "" if report.tallies["runs"].failed else ", the first broken link"
            what = f"chain digest of run {row.ordinal} (link {row.link}{first})"
            stated = "none" if row.chain is None else f"sha256:{row.chain.hex()}"
            report.problem("runs", location, None, what, stated, f"sha256:{chain.hex()} from its receipts")
        else:
            report.good("runs")
        before, expected_link = row.chain or before, (row.link or 0) + 1


class _Counter:
    """Adds up steps that threads report."""

    def __init__(self, what: str, passed: Passed, total: int | None = None) -> None:
        self._what, self._passed, self._total, self._done = what, passed, total, 0

    def add(self, steps: int) -> None:
        """So many more."""
        self._done += steps
        self._passed(self._what, self._done, self._total)
