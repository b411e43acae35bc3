"""Checks a bundle of seenbefore (`spec/bundle-1.md`) with Python 3.9 or later and its standard library.

    python3 -I data/verify.py [FOLDER] [--json]

Without FOLDER it checks the bundle that it lies in. Exit status: 0 passed, 1 failed, 2 could not run. Nothing is
followed out of the folder, nothing in it is run, and nothing is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

FORMAT = "bundle/1"
CHECKS = ("layout", "manifest", "tag-manifest")
SHOWN = 20  # problems of one check that are listed for people; all are counted, and --json lists more
LISTED = 1000
PART = re.compile(r"(prior|receipts|rows)(?:-([0-9]{5,}))?\.ndjson(\.zst)?")
WHOLE = ("README.md", "datapackage.json", "ruleset.json", "runs.ndjson", "verify.py")
TAGS = ("bag-info.txt", "bagit.txt", "manifest-sha256.txt")
BAGIT = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
SMALL = 64 * 1024 * 1024  # most bytes of a file that is read as a whole


class Unusable(Exception):
    """There is no bundle to be checked."""


# ── What was found ───────────────────────────────────────────────────────────────────────────────────────────────────


def harmless(value: Any) -> str:
    """Text for a terminal: what acts on one is written as its code point, and long text is cut."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= 300 else text[:300] + " …"
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


class Report:
    """All problems, and for each check how many things passed, failed, or could not be checked here and why."""

    def __init__(self) -> None:
        self.passed: Dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.failed: Dict[str, int] = dict.fromkeys(CHECKS, 0)
        self.unchecked: Dict[str, Dict[str, int]] = {check: {} for check in CHECKS}
        self.problems: List[Dict[str, Any]] = []

    def good(self, check: str, count: int = 1) -> None:
        self.passed[check] += count

    def problem(self, check: str, file: str, line: Optional[int], what: str, expected: Any, found: Any) -> None:
        self.failed[check] += 1
        if self.failed[check] <= LISTED:
            facts = {"check": check, "file": file, "line": line, "what": what, "expected": expected, "found": found}
            self.problems.append(facts)

    def cannot(self, check: str, reason: str, count: int = 1) -> None:
        self.unchecked[check][reason] = self.unchecked[check].get(reason, 0) + count

    def outcome(self, check: str) -> str:
        if self.failed[check]:
            return "failed"
        if self.passed[check]:
            return "passed"
        return "not checkable" if self.unchecked[check] else "nothing to check"

    def members(self, folder: str) -> Dict[str, Any]:
        return {
            "bundle": folder,
            "outcome": "failed" if any(self.failed.values()) else "passed",
            "checks": {
                check: {
                    "outcome": self.outcome(check),
                    "passed": self.passed[check],
                    "failed": self.failed[check],
                    "not_checkable": self.unchecked[check],
                }
                for check in CHECKS
            },
            "problems": self.problems,
        }

    def text(self, folder: str) -> Iterator[str]:
        for check in CHECKS:
            line = f"{self.outcome(check):16} {check:13} {self.passed[check]:>9,} passed"
            yield line + (f", {self.failed[check]:,} failed" if self.failed[check] else "")
            for reason, count in self.unchecked[check].items():
                yield f"{'':16} {'':13} {count:>9,} not checkable here: {harmless(reason)}"
        shown = dict.fromkeys(CHECKS, 0)
        for one in self.problems:
            shown[one["check"]] += 1
            if shown[one["check"]] <= SHOWN:
                yield ""
                place = harmless(one["file"]) + ("" if one["line"] is None else f", line {one['line']}")
                yield f"{place}: {harmless(one['what'])} ({one['check']})"
                yield f"  expected {harmless(one['expected'])}"
                yield f"  found    {harmless(one['found'])}"
        for check in CHECKS:
            if self.failed[check] > SHOWN:
                yield ""
                yield f"and {self.failed[check] - SHOWN:,} more of {check}; --json lists {LISTED:,} of each"
        yield ""
        yield f"{'FAILED' if any(self.failed.values()) else 'passed'}: {harmless(folder)}"


# ── The bag, bundle-1.md section 2 ───────────────────────────────────────────────────────────────────────────────────


def opened(path: str) -> Any:
    """A regular file, opened for reading: never a link, a pipe or a device, whatever was there a moment ago."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unusable(f"{path} is no regular file any more")
    return os.fdopen(handle, "rb")


class Bag:
    """The files of a bundle: path within the folder → size and SHA-256. Only what section 2 names is ever opened."""

    def __init__(self, folder: str, report: Report) -> None:
        self.folder, self.report = folder, report
        self.files: Dict[str, Tuple[int, str]] = {}
        self.parts: Dict[str, List[str]] = {}
        names = set(self._walk())
        wanted = {*TAGS, "tagmanifest-sha256.txt", *("data/" + name for name in WHOLE)}
        for stem in ("prior", "receipts", "rows"):
            found = sorted(
                (int(match.group(2) or 0), match.group(3) or "", name)
                for name in names
                for match in [PART.fullmatch(name[5:])]
                if match and match.group(1) == stem and name.startswith("data/")
            )
            self.parts[stem] = [name for _, _, name in found]
            numbers = [number for number, _, _ in found]
            endings = {ending for _, ending, _ in found}
            spelt = [f"data/{stem}{f'-{number:05}' if number else ''}.ndjson{ending}" for number, ending, _ in found]
            if numbers not in ([0], list(range(1, len(numbers) + 1))) or len(endings) != 1 or spelt != self.parts[stem]:
                report.problem("layout", f"data/{stem}.ndjson", None, "parts", "one file, or parts from 1", spelt)
            wanted.update(self.parts[stem])
        for name in sorted(wanted - names):
            report.problem("layout", name, None, "file", "a file", "none")
        for name in sorted(names - wanted - {"signature.json"}):
            report.problem("layout", name, None, "file", "none of that name", "a file")
        self.names = names & (wanted | {"signature.json"})
        report.good("layout", len(self.names))
        for name in sorted(self.names):
            self.files[name] = self._digest(name)

    def _walk(self) -> Iterator[str]:
        """Regular files; links, devices, hard links and folders that do not belong are problems."""
        for place in ("", "data"):
            try:
                entries = sorted(os.scandir(os.path.join(self.folder, place)), key=lambda entry: entry.name)
            except OSError as error:
                raise Unusable(f"{os.path.join(self.folder, place)}: {error.strerror}") from None
            for entry in entries:
                name = f"{place}/{entry.name}" if place else entry.name
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
                    yield name
                elif name != "data" or not stat.S_ISDIR(facts.st_mode):
                    kinds = (
                        ("a link", stat.S_ISLNK),
                        ("a folder", stat.S_ISDIR),
                        ("a file with other names", stat.S_ISREG),
                    )
                    found = next((word for word, test in kinds if test(facts.st_mode)), "a device or pipe")
                    self.report.problem("layout", name, None, "file", "a regular file, once", found)

    def _digest(self, name: str) -> Tuple[int, str]:
        digest, size = hashlib.sha256(), 0
        with opened(os.path.join(self.folder, name)) as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                digest.update(piece)
                size += len(piece)
        return size, digest.hexdigest()

    def whole(self, name: str) -> bytes:
        """A small file; a larger one is cut, and then differs from what is expected of it."""
        with opened(os.path.join(self.folder, name)) as file:
            data: bytes = file.read(SMALL)
        return data

    def check_tags(self) -> None:
        """The manifests and tag files have exactly the bytes that the files as they are call for."""
        payload = sorted(name for name in self.names if name.startswith("data/"))
        total = sum(self.files[name][0] for name in payload)
        info = f"Bundle-Format: {FORMAT}\nPayload-Oxum: {total}.{len(payload)}\n".encode()
        self.compare("manifest", "manifest-sha256.txt", self.manifest(payload))
        self.compare("tag-manifest", "bagit.txt", BAGIT)
        self.compare("tag-manifest", "bag-info.txt", info)
        tags = sorted(self.names & {*TAGS, "signature.json"})
        self.compare("tag-manifest", "tagmanifest-sha256.txt", self.manifest(tags))

    def manifest(self, names: List[str]) -> bytes:
        return "".join(f"{self.files[name][1]}  {name}\n" for name in names).encode()

    def compare(self, check: str, name: str, expected: bytes) -> None:
        """Line by line, so that what was changed is named; a manifest's lines by the file that they are about."""
        if name not in self.names:
            return
        found = self.whole(name)
        if found == expected:
            self.report.good(check, expected.count(b"\n"))
            return
        wanted, given = expected.decode().splitlines(), found.decode("utf-8", "backslashreplace").split("\n")
        given = given[:-1] if given[-1] == "" else given
        lines = {line: number for number, line in enumerate(given, 1)}
        named = {line.partition("  ")[2] if "manifest" in name else line.partition(":")[0]: line for line in given}
        count = 0
        for line in wanted:
            if line in lines:
                self.report.good(check)
                continue
            subject = line.partition("  ")[2] if "manifest" in name else line.partition(":")[0]
            other, count = named.get(subject), count + 1
            if other and "manifest" in name:
                stated, digest = other.partition("  ")[0], line.partition("  ")[0]
                self.report.problem(check, subject, None, "SHA-256", f"{stated} ({name}, line {lines[other]})", digest)
            else:
                place = lines[other] if other else None
                self.report.problem(check, name, place, f"the line for {subject}", line, other or "no such line")
        subjects = {line.partition("  ")[2] if "manifest" in name else line.partition(":")[0] for line in wanted}
        for subject, line in named.items():
            if subject not in subjects:
                count += 1
                self.report.problem(check, name, lines[line], "line", "none such", line)
        if not count:
            self.report.problem(check, name, None, "bytes", "lines sorted by path, once each, that end in LF", "others")


def check(folder: str) -> Report:
    """Everything about a bundle. Raises Unusable where there is none."""
    report = Report()
    bag = Bag(folder, report)
    bag.check_tags()
    return report


def main(arguments: List[str]) -> int:
    as_json = "--json" in arguments
    rest = [argument for argument in arguments if argument != "--json"]
    if len(rest) > 1 or any(argument.startswith("-") for argument in rest):
        print((__doc__ or "").partition("\n\n")[2], file=sys.stderr)
        return 2
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folder = rest[0] if rest else own
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # text streams of every Python
    try:
        report = check(folder)
    except Unusable as error:
        print(f"error: {harmless(error)}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(report.members(folder)))
    else:
        print("\n".join(report.text(folder)))
    return 1 if any(report.failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
