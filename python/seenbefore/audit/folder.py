"""A run's output folder: receipts, kept rows, refused lines and the summary, checked against each other."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from seenbefore._kernel import PROBLEM_CODES, REFUSAL_CODES, VERDICTS, Verifier
from seenbefore.audit.bags import read_json
from seenbefore.audit.feeding import feed
from seenbefore.audit.files import Piece, Unsound, lines_of, opened, whole
from seenbefore.audit.report import Report
from seenbefore.errors import UsageError
from seenbefore.outputs import KEPT, LONG_LINES, RECEIPTS, REFUSED, SUMMARY
from seenbefore.rules import DEFAULT_FILE, Ruleset, builtin_names
from seenbefore.stores.laws import FIRST_LINK

_SHORT = ("run", "seq", "input", "line", "verdict", "action", "code", "sha256")


class RunFolder:
    """The folder of one finished run."""

    def __init__(self, folder: str, rules: Ruleset | None) -> None:
        """Finds the summary and the ruleset. Raises UsageError, InputUnreadable."""
        self._folder = folder
        if not Path(self._path(SUMMARY)).is_file():
            raise UsageError(
                f"{folder} has no {SUMMARY}: its run isn't finished",
                path=folder,
                hint="finish the run first, with the command that began it",
            )
        self._summary = read_json(whole(self._path(SUMMARY)))
        run = self._summary.get("run")
        if type(run) is not int or run < 1:
            raise UsageError(f"{self._path(SUMMARY)} is no summary of a run", path=folder, hint="check the folder")
        self.run: int = run
        # Of the receipts, once they were read.
        self.digest = b""
        self._rules = rules or self._find()
        self._report = Report("run", folder)

    def _path(self, name: str) -> str:
        return str(Path(self._folder) / name)

    def _find(self) -> Ruleset:
        """The ruleset with the run's fingerprint, where it can be found."""
        wanted = self._summary.get("fingerprint")
        known = [Ruleset.builtin(name) for name in builtin_names()]
        if Path(DEFAULT_FILE).is_file():
            known.insert(0, Ruleset.load(DEFAULT_FILE))
        found = next(
            (one for one in known if one.fingerprint == wanted and one.label == self._summary.get("ruleset")), None
        )
        if found is None:
            raise UsageError(
                f"{self._folder} was judged by {self._summary.get('ruleset')}, which isn't at hand",
                path=self._folder,
                expected=f"a ruleset with fingerprint {wanted}",
                hint="name it with --rules",
            )
        return found

    @property
    def chain(self) -> str:
        """The chain digest that the summary states."""
        return str(self._summary.get("chain"))

    def link(self, before: bytes) -> str:
        """The chain digest that the receipts give behind another one."""
        return f"sha256:{hashlib.sha256(before + self.digest).hexdigest()}"

    def verify(self, passed: Callable[[str, int, int | None], None], *, alone: bool = True) -> Report:
        """Checks all of it; where it isn't alone, all but the chain digest, which rests on the run before."""
        report, rules, summary = self._report, self._rules, self._summary
        for name, mine in (("ruleset", rules.label), ("fingerprint", rules.fingerprint)):
            if summary.get(name) == mine:
                report.good("rulesets")
            else:
                report.problem("rulesets", SUMMARY, 1, name, mine, summary.get(name))
        verifier = Verifier(open=True, rows=True)
        verifier.add_run(self.run, rules.kernel)
        done = 0

        def step(count: int) -> None:
            nonlocal done
            done += count
            passed("receipts", done, summary.get("records") if isinstance(summary.get("records"), int) else None)

        feed(verifier, self._lines(RECEIPTS), self._lines(KEPT), report, step)
        self._check_refused()
        self._check_summary(verifier)
        if alone and self.chain == self.link(FIRST_LINK):
            report.good("summary")
        elif alone:
            report.cannot(
                "summary",
                "the chain digest rests on the run before; `seenbefore verify` walks the chain of a store, and of a "
                "folder with the folders of all runs",
            )
        return report

    def _lines(self, name: str) -> Iterator[Piece]:
        return lines_of(self._path(name), name)

    def _check_refused(self) -> None:
        """Each refused line is whole, is that of its receipt, and is refused again for the same reason."""
        receipts = self._refused_receipts()
        number = 0
        try:
            for piece in self._lines(REFUSED):
                for number, line in enumerate(piece.data.splitlines(), piece.line + 1):
                    self._check_line(number, read_json(line), next(receipts, {}))
        except Unsound as fault:
            self._report.problem("refused", fault.file, fault.line + 1, fault.what, fault.expected, fault.found)
        for left in receipts:
            what = f"line of {self.run}:{left.get('seq')}"
            self._report.problem("refused", REFUSED, number + 1, what, "a line in its place", "none")

    def _refused_receipts(self) -> Iterator[dict[str, Any]]:
        try:
            for piece in self._lines(RECEIPTS):
                if b'"verdict":"refused"' in piece.data:
                    for line in piece.data.splitlines():
                        if b'"verdict":"refused"' in line and tuple(receipt := read_json(line)) == _SHORT:
                            yield receipt
        except Unsound:
            return  # said already where the receipts were read

    def _check_line(self, number: int, members: dict[str, Any], receipt: dict[str, Any]) -> None:
        name = f"{self.run}:{receipt.get('seq')}"
        wrong = [(one, receipt.get(one), members.get(one)) for one in ("input", "line", "seq", "code", "sha256")]
        wrong = [(one, expected, found) for one, expected, found in wrong if expected != found]
        digest, length, code = self._facts(members)
        wrong += [("bytes", members.get("sha256"), digest)] if digest != members.get("sha256") else []
        wrong += [("length", length, members.get("length"))] if length != members.get("length") else []
        wrong += [("code", code, members.get("code"))] if code not in {None, members.get("code")} else []
        for what, expected, found in wrong:
            self._report.problem("refused", REFUSED, number, f"{what} of {name}", expected, found)
        if not wrong:
            self._report.good("refused")

    def _facts(self, members: dict[str, Any]) -> tuple[str, int, str | None]:
        """Digest and length of the bytes that a refused line holds, and the code they get now, where that is known."""
        if isinstance(members.get("bin_offset"), int) and isinstance(members.get("length"), int):
            digest = hashlib.sha256()
            length = 0
            with opened(self._path(LONG_LINES)) as file:
                file.seek(max(0, members["bin_offset"]))
                while length < members["length"] and (piece := file.read(min(1 << 20, members["length"] - length))):
                    digest.update(piece)
                    length += len(piece)
            return f"sha256:{digest.hexdigest()}", length, None
        try:
            raw = members.get("raw")
            data = base64.b64decode(str(members.get("raw_base64"))) if raw is None else str(raw).encode()
        except ValueError:
            data = b""
        # A row of a table is no line of JSON, and was refused for what it became.
        codes = self._rules.keys_ndjson(data).codes if data.lstrip(b" \t").startswith(b"{") else []
        known = codes[0] if len(codes) == 1 else None
        return f"sha256:{hashlib.sha256(data).hexdigest()}", len(data), known

    def _check_summary(self, verifier: Verifier) -> None:
        """The summary counts what the receipts say."""
        _, records, self.digest, counts = verifier.runs()[0]
        kept, skipped = counts.get("keep", 0), counts.get("skip", 0)
        wanted: dict[str, Any] = {
            "records": records,
            "verdicts": {verdict: counts.get(verdict, 0) for verdict in VERDICTS},
            "changed_seen_before": counts.get("changed_seen_before", 0),
            "kept": kept,
            "skipped": skipped,
            "refusals": {code: counts[code] for code in REFUSAL_CODES if code in counts},
            "problems": {code: counts[code] for code in PROBLEM_CODES if code in counts},
        }
        for name, value in wanted.items():
            if self._summary.get(name) == value:
                self._report.good("summary")
            else:
                stated = json.dumps(self._summary.get(name))
                self._report.problem("summary", SUMMARY, None, name, json.dumps(value), stated)
