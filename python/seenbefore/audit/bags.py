"""The bag of a bundle (spec/bundle-1.md sections 2, 5 and 6): which files there are, and whether their digests hold."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from seenbefore.audit.files import opened, whole
from seenbefore.audit.report import Report
from seenbefore.errors import StoreUnsupported, UsageError
from seenbefore.evidence import bag, signing
from seenbefore.evidence.lines import canonical

_WHOLE = (bag.README, bag.PACKAGE, bag.RULESETS, bag.RUNS, bag.CHECKER)
_TAGS = (bag.BAGIT, bag.BAG_INFO, bag.MANIFEST)
_KEY, _SIGNATURE = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{128}")
# Names beyond the first so many that don't belong are counted, not listed.
_STRANGE = 1000


class Bag:
    """The files of a bundle that belong there. `sizes` and `digests` are by path within the folder."""

    def __init__(self, folder: str, report: Report, hashed: Callable[[int], None]) -> None:
        """Looks at the folder and hashes its files; `hashed` hears of so many bytes.

        Raises UsageError, InputUnreadable.
        """
        self.folder, self._report = Path(folder), report
        if not (self.folder / bag.BAGIT).is_file() or not (self.folder / bag.PAYLOAD).is_dir():
            raise UsageError(f"{folder} is no bundle", path=folder, hint=f"a bundle has {bag.BAGIT} and {bag.PAYLOAD}/")
        found = set(self._walk())
        self.parts = {stem: self._parts(stem, found) for stem in bag.GROWING}
        wanted = {*_TAGS, bag.TAG_MANIFEST, *(f"{bag.PAYLOAD}/{name}" for name in _WHOLE)}
        wanted.update(name for names in self.parts.values() for name in names)
        for name in sorted(wanted - found):
            report.problem("layout", name, None, "file", "a file", "none")
        for name in sorted(found - wanted - {bag.SIGNATURE}):
            report.problem("layout", name, None, "file", "none of that name", "a file")
        self.names = sorted(found & (wanted | {bag.SIGNATURE}))
        report.good("layout", len(self.names))
        with ThreadPoolExecutor() as pool:
            facts = list(pool.map(lambda name: self._digest(name, hashed), self.names))
        self.sizes = {name: size for name, (size, _) in zip(self.names, facts, strict=True)}
        self.digests = {name: digest for name, (_, digest) in zip(self.names, facts, strict=True)}

    def path(self, name: str) -> str:
        """Where a file lies."""
        return str(self.folder / name)

    def has(self, name: str) -> bool:
        """Whether it is there."""
        return name in self.digests

    def whole(self, name: str) -> bytes:
        """A small file."""
        return whole(self.path(name))

    def _walk(self) -> Iterator[str]:
        """Regular files; links, devices, files with other names and folders that don't belong are problems."""
        strange = 0
        for place in ("", bag.PAYLOAD):
            with os.scandir(self.folder / place) as entries:
                for entry in entries:
                    name = f"{place}/{entry.name}" if place else entry.name
                    facts = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
                        yield name
                    elif name != bag.PAYLOAD or not stat.S_ISDIR(facts.st_mode):
                        strange += 1
                        if strange <= _STRANGE:
                            self._report.problem(
                                "layout", name, None, "file", "a regular file, once", _kind(facts.st_mode)
                            )

    def _parts(self, stem: str, found: set[str]) -> list[str]:
        """The parts of a growing file in their order."""
        parts = []
        for name in found:
            part = bag.part_of(name.removeprefix(f"{bag.PAYLOAD}/")) if name.startswith(f"{bag.PAYLOAD}/") else None
            if part is not None and part[0] == stem:
                parts.append((part[1] or 0, part[2], name))
        parts.sort()
        compressed = bool(parts) and parts[0][1]
        numbers = [None] if parts and parts[0][0] == 0 else range(1, len(parts) + 1)
        names = [f"{bag.PAYLOAD}/{bag.part_name(stem, number, compressed=compressed)}" for number in numbers]
        have = [name for *_, name in parts]
        if have != names or not have:
            self._report.problem(
                "layout", f"{bag.PAYLOAD}/{stem}.ndjson", None, "parts", "one file, or all parts from 1", have or "none"
            )
        return have

    def _digest(self, name: str, hashed: Callable[[int], None]) -> tuple[int, str]:
        digest, size = hashlib.sha256(), 0
        with opened(self.path(name)) as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
                size += len(piece)
                hashed(len(piece))
        return size, digest.hexdigest()

    def check_tags(self) -> None:
        """Compares manifests and tag files with what they must be for the files as they are."""
        payload = {name: self.digests[name] for name in self.names if name.startswith(f"{bag.PAYLOAD}/")}
        tags = {name: self.digests[name] for name in self.names if name in {*_TAGS, bag.SIGNATURE}}
        self._compare("manifest", bag.MANIFEST, bag.manifest(payload))
        self._compare("tag-manifest", bag.BAGIT, bag.BAGIT_BYTES)
        self._compare("tag-manifest", bag.BAG_INFO, bag.bag_info({name: self.sizes[name] for name in payload}))
        self._compare("tag-manifest", bag.TAG_MANIFEST, bag.manifest(tags))

    def _compare(self, check: str, name: str, expected: bytes) -> None:
        """Compares line by line, so that what was changed is named: a file by its digest, other lines by number."""
        if not self.has(name):
            return
        found = self.whole(name)
        if found == expected:
            self._report.good(check, expected.count(b"\n"))
            return
        before = self._report.tallies[check].failed
        by_path = name in {bag.MANIFEST, bag.TAG_MANIFEST}
        _Lines(found, expected, by_path=by_path).tell(check, name, self._report)
        if self._report.tallies[check].failed == before:
            self._report.problem(
                check, name, None, "bytes", "lines sorted by path, each once, each with an LF", "others"
            )

    def check_signature(self, expected_key: str | None) -> None:
        """Checks the signature, and that `expected_key` made it where one is given."""
        if not self.has(bag.SIGNATURE):
            if expected_key is not None:
                self._report.problem("signature", bag.SIGNATURE, None, "file", f"a signature by {expected_key}", "none")
            return
        found = self.whole(bag.SIGNATURE)
        members = read_json(found)
        key, signature = (str(members.get(name)) for name in ("public_key", "signature"))
        formed = members.get("algorithm") == signing.ALGORITHM and members.get("signs") == bag.MANIFEST
        formed = formed and bool(_KEY.fullmatch(key) and _SIGNATURE.fullmatch(signature)) and len(members) == 4  # noqa: PLR2004
        if not formed or canonical(members) != found:
            expected = "algorithm, public_key, signature and signs, as spec/bundle-1.md section 6 has them"
            self._report.problem("signature", bag.SIGNATURE, 1, "form", expected, found[:200])
            return
        try:
            holds = signing.holds(key, signature, self.whole(bag.MANIFEST))
        except StoreUnsupported:
            self._report.cannot(
                "signature", "a signature needs the package cryptography: pip install 'seenbefore[sign]'"
            )
            return
        if not holds:
            self._report.problem("signature", bag.SIGNATURE, 1, "signature", f"that of {bag.MANIFEST}", "another")
        elif expected_key is not None and expected_key != key:
            self._report.problem("signature", bag.SIGNATURE, 1, "public_key", expected_key, key)
        else:
            self._report.good("signature")
            if expected_key is None:
                self._report.notes.append(
                    f"signed by {key}: compare that with the key that you know, or give it with --key"
                )

    def check_package(self) -> None:
        """Compares the Data Package descriptor with the files."""
        name = f"{bag.PAYLOAD}/{bag.PACKAGE}"
        if not self.has(name):
            return
        resources = read_json(self.whole(name)).get("resources")
        given = resources if isinstance(resources, list) else []
        stems = (bag.PRIOR, bag.RECEIPTS, bag.ROWS, bag.RULESETS.partition(".")[0], bag.RUNS.partition(".")[0])
        stated = [one.get("name") if isinstance(one, dict) else None for one in given]
        if stated != list(stems):
            self._report.problem("package", name, 1, "resources", ", ".join(stems), stated)
            return
        for one, stem in zip(given, stems, strict=True):
            files = self.parts.get(stem) or [
                f"{bag.PAYLOAD}/{file}" for file in (bag.RULESETS, bag.RUNS) if file.partition(".")[0] == stem
            ]
            if not all(map(self.has, files)):
                continue
            names = [file.removeprefix(f"{bag.PAYLOAD}/") for file in files]
            facts: dict[str, Any] = {
                "path": names[0] if len(names) == 1 else names,
                "bytes": sum(map(self.sizes.__getitem__, files)),
            }
            facts["hash"] = f"sha256:{self.digests[files[0]]}" if len(files) == 1 else None
            wrong = {fact: value for fact, value in facts.items() if one.get(fact) != value}
            for fact, value in wrong.items():
                self._report.problem("package", name, 1, f"{fact} of {stem}", value, one.get(fact))
            if not wrong:
                self._report.good("package")


class _Lines:
    """The lines of a tag file as they are and as they must be. `by_path`: digests and paths, else labels and values."""

    def __init__(self, found: bytes, expected: bytes, *, by_path: bool) -> None:
        self._given = found.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n")
        self._wanted = expected.decode().splitlines()
        self._by_path = by_path

    def _subject(self, line: str) -> str:
        return line.partition("  ")[2] if self._by_path else line.partition(": ")[0]

    def tell(self, check: str, name: str, report: Report) -> None:
        """Adds what differs to the report, and counts what doesn't."""
        numbers = {line: number for number, line in enumerate(self._given, 1)}
        by_subject = {self._subject(line): line for line in self._given}
        for line in self._wanted:
            subject = self._subject(line)
            other = by_subject.get(subject)
            if line in numbers:
                report.good(check)
            elif other is None:
                report.problem(check, name, None, f"the line for {subject}", line, "no such line")
            elif self._by_path:
                stated = f"{other.partition('  ')[0]} ({name}, line {numbers[other]})"
                report.problem(check, subject, None, "SHA-256", stated, line.partition("  ")[0])
            else:
                report.problem(check, name, numbers[other], subject, line, other)
        subjects = set(map(self._subject, self._wanted))
        for line in self._given:
            if self._subject(line) not in subjects:
                report.problem(check, name, numbers[line], "line", "none such", line)


def read_json(data: bytes) -> dict[str, Any]:
    """A small object of JSON; an empty one for anything else, which then lacks whatever is looked for."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and _is_shallow(value) else {}


def _is_shallow(value: Any) -> bool:
    """Whether a value is nested as deep as a record may be at most."""
    level = [value]
    for _ in range(128):
        level = [below for one in level if isinstance(one, dict | list) for below in _inside(one)]
        if not level:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file with other names" if stat.S_ISREG(mode) else "a device or pipe"
