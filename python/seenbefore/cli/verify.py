"""`seenbefore verify`: check a bundle, a run's output folder, or a store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from seenbefore.cli.given import which_store
from seenbefore.errors import UsageError

if TYPE_CHECKING:
    from seenbefore.audit.report import Report

# Problems of one check that are listed for people; --json lists more.
_SHOWN = 20


@click.command()
@click.argument("path", metavar="BUNDLE|DIR|STORE", required=False)
@click.option("--store", "-s", metavar="URL", help="The same as STORE, as dedup takes it.")
@click.option("--rules", "-r", metavar="FILE|NAME", help="Ruleset of output folders, which hold none.")
@click.option("--key", metavar="FILE", help="The public key that must have signed a bundle: PEM, OpenSSH or hex.")
@click.option("--digest", is_flag=True, help="Print the SHA-256 of the verify.py that this version puts into bundles.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def verify(path: str | None, store: str | None, rules: str | None, key: str | None, digest: bool, as_json: bool) -> int:
    """Check a bundle, the output folder of a run or of several, or a store: digests, keys, verdicts, chain.

    Everything is recomputed, on all cores, and every problem is named. Nothing is changed. Exit status 1 says that
    something failed.
    """
    from seenbefore.audit.verify import verify as check
    from seenbefore.cli.waiting import Bar
    from seenbefore.evidence.signing import read_public_key
    from seenbefore.rules import Ruleset

    if digest:
        _print_digest(path)
        return 0
    if path is None and store is None:
        raise UsageError("nothing is named to be checked", hint="name a bundle, a run's output folder, or a store")
    path = which_store(path, store)
    wanted = None if key is None else read_public_key(key)
    ruleset = None if rules is None else Ruleset.find(rules)
    with Bar("looking") as bar:
        report = check(path, rules=ruleset, key=wanted, passed=bar.at)
    if as_json:
        click.echo(json.dumps(report.members(), ensure_ascii=False))
    else:
        _print(report)
    return 1 if report.failed else 0


def _print_digest(path: str | None) -> None:
    import hashlib

    from seenbefore.evidence.bundle import checker
    from seenbefore.rules import VERSION

    if path is not None:
        raise UsageError("--digest names no bundle", hint=f"sha256sum {path}/data/verify.py gives the one to compare")
    click.echo(f"{hashlib.sha256(checker()).hexdigest()}  verify.py of seenbefore {VERSION}")


def _print(report: Report) -> None:
    from seenbefore.cli.terminal import say

    for check, tally in report.tallies.items():
        if tally.outcome == "nothing to check":
            continue
        failed = f", {tally.failed:,} failed" if tally.failed else ""
        say(f"{tally.outcome:14} {check:13} {tally.passed:>11,} passed{failed}")
        for reason, count in tally.not_checkable.items():
            say(f"{'':14} {'':13} {count:>11,} not checkable here: {reason}")
    shown = dict.fromkeys(report.tallies, 0)
    for problem in report.problems:
        shown[problem.check] += 1
        if shown[problem.check] > _SHOWN:
            continue
        say()
        place = problem.file if problem.line is None else f"{problem.file}, line {problem.line}"
        say(f"{_line(place)}: {_line(problem.what)} ({problem.check})")
        say(f"  expected {_line(problem.expected)}")
        say(f"  found    {_line(problem.found)}")
    for check, tally in report.tallies.items():
        if tally.failed > _SHOWN:
            say()
            say(f"and {tally.failed - _SHOWN:,} more of {check}; --json lists up to 1,000 of each")
    say()
    for note in report.notes:
        say(note)
    say(f"{'FAILED' if report.failed else 'passed'}: {report.kind} {report.path}")


def _line(text: str) -> str:
    """Text on one line, not longer than anybody reads."""
    flat = text.replace("\n", "<U+000A>").replace("\t", "<U+0009>")
    return flat if len(flat) <= 320 else f"{flat[:320]} …"  # noqa: PLR2004 - about four lines
