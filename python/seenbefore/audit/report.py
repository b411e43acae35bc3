"""What a verification found: all problems, and how many things of each check passed, failed, or are undecided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "not checkable", "nothing to check"]

# In the order in which they are made and shown (spec/bundle-1.md section 7). The last two belong to a run's folder.
CHECKS = (
    "layout",
    "manifest",
    "tag-manifest",
    "signature",
    "package",
    "rulesets",
    "runs",
    "prior",
    "receipts",
    "urls",
    "replay",
    "rows",
    "keys",
    "refused",
    "summary",
)
# Most problems of one check that are kept; all are counted. The kernel keeps as many.
LISTED = 1000
# Most characters that are shown of a value.
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it must be. `line` is None where it is about a whole file."""

    check: str
    file: str
    line: int | None
    what: str
    expected: str
    found: str


@dataclass(slots=True)
class Tally:
    """How many things of one check passed and failed, and how many could not be decided, by reason."""

    passed: int = 0
    failed: int = 0
    not_checkable: Counter[str] = field(default_factory=Counter)

    @property
    def outcome(self) -> Outcome:
        """The check as a whole: failed if anything did, else passed if anything did."""
        if self.failed:
            return "failed"
        if self.passed:
            return "passed"
        return "not checkable" if self.not_checkable else "nothing to check"


def _short(value: object) -> str:
    """What a report shows of a value, as the kernel does it: of a long one the beginning."""
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


class Report:
    """What was found about `path`, which is a `bundle`, the folder of a `run`, one of several `runs`, or a `store`."""

    def __init__(self, kind: Literal["bundle", "run", "runs", "store"], path: str) -> None:
        self.kind, self.path = kind, path
        self.tallies = {check: Tally() for check in CHECKS}
        self.problems: list[Problem] = []
        # What is worth saying though nothing is wrong, such as who signed.
        self.notes: list[str] = []

    @property
    def failed(self) -> bool:
        """Whether anything failed."""
        return any(tally.failed for tally in self.tallies.values())

    def good(self, check: str, count: int = 1) -> None:
        """Counts what is as it must be."""
        self.tallies[check].passed += count

    def problem(self, check: str, file: str, line: int | None, what: str, expected: object, found: object) -> None:
        """Adds a problem."""
        tally = self.tallies[check]
        tally.failed += 1
        if tally.failed <= LISTED:
            self.problems.append(Problem(check, file, line, _short(what), _short(expected), _short(found)))

    def cannot(self, check: str, reason: str, count: int = 1) -> None:
        """Counts what can't be decided here."""
        self.tallies[check].not_checkable[reason] += count

    def take(self, tallies: dict[str, tuple[int, int, dict[str, int]]], found: list[Any]) -> None:
        """Adds what the kernel counted and found."""
        for check, (passed, failed, reasons) in tallies.items():
            tally = self.tallies[check]
            tally.passed += passed
            tally.failed += failed
            tally.not_checkable.update(reasons)
        self.problems += [Problem(*one) for one in found]

    def merge(self, other: Report, folder: str) -> None:
        """Adds the report about a folder in this one."""
        for check, tally in other.tallies.items():
            mine = self.tallies[check]
            mine.passed, mine.failed = mine.passed + tally.passed, mine.failed + tally.failed
            mine.not_checkable.update(tally.not_checkable)
        self.problems += [replace(one, file=f"{folder}/{one.file}") for one in other.problems]
        self.notes += other.notes

    def members(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "kind": self.kind,
            "path": self.path,
            "outcome": "failed" if self.failed else "passed",
            "checks": {
                check: {
                    "outcome": tally.outcome,
                    "passed": tally.passed,
                    "failed": tally.failed,
                    "not_checkable": dict(tally.not_checkable),
                }
                for check, tally in self.tallies.items()
            },
            "notes": self.notes,
            "problems": [
                {name: getattr(one, name) for name in ("check", "file", "line", "what", "expected", "found")}
                for one in self.problems
            ],
        }
