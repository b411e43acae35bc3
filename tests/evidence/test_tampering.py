"""Every kind of change, found by both verifiers and named: with digests as they were, and with digests recomputed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evidence.forgeries import FORGED, UNSEEN, again, drop_line, reorder_members, swap
from tests.evidence.verifiers import BAGS, VERIFIERS, places, reseal

ROWS, RECEIPTS, PRIOR = "data/rows.ndjson", "data/receipts.ndjson", "data/prior.ndjson"
RULESETS, RUNS = "data/ruleset.json", "data/runs.ndjson"
FILES = [
    "bag-info.txt", "bagit.txt", "manifest-sha256.txt", "data/README.md", "data/datapackage.json", RECEIPTS, ROWS,
    RULESETS, RUNS, "data/verify.py",
]  # fmt: skip


@pytest.fixture(params=VERIFIERS)
def verifier(request: pytest.FixtureRequest) -> Any:
    """Each of the two."""
    return VERIFIERS[request.param]


@pytest.fixture(params=BAGS)
def bag_of(request: pytest.FixtureRequest) -> Any:
    """Each of the two, looking at the bag alone."""
    return BAGS[request.param]


def test_nothing_is_wrong_with_what_was_made(whole: Path, later: Path, verifier: Any) -> None:
    """A bundle as it was made passes every check that has something to check."""
    for bundle in (whole, later):
        told = verifier(bundle)
        assert told["problems"] == []
        assert told["outcome"] == "passed"
        assert {one["outcome"] for one in told["checks"].values()} <= {"passed", "nothing to check"}


def test_both_say_the_same(whole: Path, later: Path) -> None:
    """The two verifiers count the same things, though they share no code."""
    for bundle in (whole, later):
        kernel, plain = (VERIFIERS[name](bundle)["checks"] for name in ("kernel", "verify.py"))
        assert {name: kernel[name] for name in plain} == plain


# With digests as they were


@pytest.mark.parametrize("name", [*FILES, "tagmanifest-sha256.txt"])
def test_a_byte(copied: Path, name: str, bag_of: Any) -> None:
    """One other byte in any file is found, and the file is named."""
    data = bytearray((copied / name).read_bytes())
    at = len(data) // 2
    data[at] = ord("x") if data[at] != ord("x") else ord("y")
    (copied / name).write_bytes(data)
    told = bag_of(copied)
    assert told["outcome"] == "failed"
    named = {file for check, file, _ in places(told) if check in {"manifest", "tag-manifest"}}
    assert name in named or (name == "tagmanifest-sha256.txt" and named)


WHOLE_FILE: dict[str, Callable[[bytes], bytes]] = {
    "a line gone": lambda data: drop_line(data, 3),
    "a line twice": lambda data: again(data, 3),
    "two lines swapped": lambda data: swap(data, 2),
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "one CRLF": lambda data: data.replace(b"\n", b"\r\n", 1),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "no LF at the end": lambda data: data[:-1],
    "an empty line": lambda data: data + b"\n",
    "nothing left": lambda _: b"",
}


@pytest.mark.parametrize("name", [ROWS, RECEIPTS, "manifest-sha256.txt", RUNS])
@pytest.mark.parametrize("change", WHOLE_FILE)
def test_a_file(copied: Path, name: str, change: str, bag_of: Any) -> None:
    """Lines gone, repeated or moved, other line ends, a BOM: found in any file, and the file is named."""
    path = copied / name
    path.write_bytes(WHOLE_FILE[change](path.read_bytes()))
    named = {file for check, file, _ in places(bag_of(copied)) if check in {"manifest", "tag-manifest"}}
    assert name in named


def test_members_of_a_row_in_another_order(copied: Path, bag_of: Any) -> None:
    """A row whose members were moved is another file."""
    path = copied / ROWS
    path.write_bytes(reorder_members(path.read_bytes(), 1))
    assert ("manifest", ROWS, None) in places(bag_of(copied))


@pytest.mark.parametrize("name", FILES)
def test_a_file_gone(copied: Path, name: str, bag_of: Any) -> None:
    """A missing file is named; without bagit.txt it is no bundle any more."""
    (copied / name).unlink()
    if name == "bagit.txt":
        with pytest.raises(Exception, match=r"is neither a bundle|is no bundle"):
            bag_of(copied)
        return
    assert ("layout", name, None) in places(bag_of(copied))


@pytest.mark.parametrize("name", ["extra.txt", "data/extra.ndjson", "data/rows-00001.ndjson", "data/rows.ndjson.zst"])
def test_a_file_too_many(copied: Path, name: str, bag_of: Any) -> None:
    """A file that doesn't belong is named, or the set of parts that it would make."""
    (copied / name).write_bytes(b"{}\n")
    assert places(bag_of(copied)) & {("layout", name, None), ("layout", ROWS, None)}


# With digests recomputed


@pytest.mark.parametrize("change", FORGED)
def test_a_forgery(copied: Path, change: str) -> None:
    """What contradicts a recomputed key, the table or a form is found though every digest was recomputed.

    Both verifiers name the same lines of the same files for the same checks.
    """
    do, expected = FORGED[change]
    do(copied)
    kernel, plain = (VERIFIERS[name](copied) for name in ("kernel", "verify.py"))
    found = places(kernel)
    assert found == places(plain)
    counts = [{name: told["checks"][name]["failed"] for name in plain["checks"]} for told in (kernel, plain)]
    assert counts[0] == counts[1]
    assert not {check for check, *_ in found} & {"manifest", "tag-manifest", "layout"}
    for check, file, line in expected:
        assert (check, file, line) in found or (line is None and any(one[:2] == (check, file) for one in found)), found


@pytest.mark.parametrize("change", UNSEEN)
def test_what_no_key_covers(copied: Path, change: str, verifier: Any) -> None:
    """What neither key nor payload digest covers is found by the manifest, and not once that is recomputed."""
    UNSEEN[change](copied)
    assert verifier(copied)["problems"] == []


def test_prior_state(later: Path, tmp_path: Path, verifier: Any) -> None:
    """A line of prior state that is missing or altered contradicts the receipts that rest on it."""
    for change in (lambda data: drop_line(data, 1), lambda data: data.replace(b'"first":true', b'"first":false', 1)):
        bundle = Path(shutil.copytree(later, tmp_path / "bundle"))
        path = bundle / PRIOR
        path.write_bytes(change(path.read_bytes()))
        reseal(bundle)
        assert {check for check, *_ in places(verifier(bundle))} & {"replay", "prior"}
        shutil.rmtree(bundle)
