"""Forgeries: what is changed in a bundle, sealed again, and where that must be found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.evidence.verifiers import edit, member, ordered, reseal, reseal_bag

from seenbefore import Ruleset
from seenbefore.audit.rulings import toml

Place = tuple[str, str, int | None]
ROWS, RECEIPTS, PRIOR = "data/rows.ndjson", "data/receipts.ndjson", "data/prior.ndjson"
RULESETS, RUNS = "data/ruleset.json", "data/runs.ndjson"


def lines(bundle: Path, name: str) -> list[Any]:
    """A file's lines, parsed."""
    return [json.loads(line) for line in (bundle / name).read_bytes().splitlines()]


def drop_line(data: bytes, line: int) -> bytes:
    """Without one line, from 1."""
    lines = data.splitlines(keepends=True)
    return b"".join(lines[: line - 1] + lines[line:])


def swap(data: bytes, line: int) -> bytes:
    """With one line and the next in the other order."""
    lines = data.splitlines(keepends=True)
    lines[line - 1 : line + 1] = [lines[line], lines[line - 1]]
    return b"".join(lines)


def again(data: bytes, line: int) -> bytes:
    """With one line twice."""
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:line], lines[line - 1], *lines[line:]])


def reorder_members(data: bytes, line: int) -> bytes:
    """With the first member of one line moved behind the second."""
    lines = data.splitlines(keepends=True)
    (first, second, *rest) = json.loads(lines[line - 1]).items()
    lines[line - 1] = ordered(dict([second, first, *rest])) + b"\n"
    return b"".join(lines)


def reorder_members_of_row(data: bytes, line: int) -> bytes:
    """With `url` and `source` of a row in the other order."""
    url, source = b'"url": "https://courier.example/post/100"', b'"source": "courier"'
    lines = data.splitlines(keepends=True)
    assert url + b", " + source in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(url + b", " + source, source + b", " + url)
    return b"".join(lines)


def reseal_runs(bundle: Path, change: Callable[[Any], Any]) -> None:
    """Changes the runs' lines, and seals the bag alone."""
    path = bundle / RUNS
    path.write_bytes(b"".join(ordered(run) + b"\n" for run in change(lines(bundle, RUNS))))
    reseal_bag(bundle)


def edited(name: str, line: int, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A line changed and everything sealed again."""

    def do(bundle: Path) -> None:
        edit(bundle / name, line, change)
        reseal(bundle)

    return do


def whole_file(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A file changed and everything sealed again."""

    def do(bundle: Path) -> None:
        (bundle / name).write_bytes(change((bundle / name).read_bytes()))
        reseal(bundle)

    return do


def unsealed(bundle: Path) -> None:
    """A receipt changed, and neither its run's digest nor the chain made anew."""
    edit(bundle / RECEIPTS, 1, member("source", "tidings"))
    reseal_bag(bundle)


def other_rules(*, honest_fingerprint: bool) -> Callable[[Path], None]:
    """Another ruleset under the same label, with its own fingerprint or with the former one."""

    def do(bundle: Path) -> None:
        document = lines(bundle, RULESETS)[0]
        (entry,) = document["rulesets"]
        entry["settings"]["identity"] = ["title", "text"]
        entry["settings"]["fields"] = {}
        if honest_fingerprint:
            entry["fingerprint"] = Ruleset.from_toml(toml(entry["settings"])).fingerprint
        (bundle / RULESETS).write_bytes(ordered(sorted_deep(document)) + b"\n")
        reseal(bundle)

    return do


def sorted_deep(value: Any) -> Any:
    """With the members of all objects sorted."""
    if isinstance(value, dict):
        return {name: sorted_deep(value[name]) for name in sorted(value)}
    return [sorted_deep(item) for item in value] if isinstance(value, list) else value


def seen(line: bytes, **changes: Any) -> bytes:
    """A row with other members of `_seen`."""
    start = line.rindex(b',"_seen":') + len(b',"_seen":')
    return line[:start] + ordered({**json.loads(line[start:-1]), **changes}) + b"}"


def last_first(line: bytes) -> bytes:
    """A row with `seen_before` at the end of `_seen`."""
    return line.replace(b'"seen_before":false,', b"", 1)[:-2] + b',"seen_before":false}}'


ELSEWHERE = "sample/1:sha256:" + "0" * 64
FORGED: dict[str, tuple[Callable[[Path], None], set[Place]]] = {
    "a text": (edited(ROWS, 1, lambda line: line.replace(b"noon", b"moon")), {("keys", ROWS, 1)}),
    "a URL in a row": (edited(ROWS, 1, lambda line: line.replace(b"post/100", b"post/999")), {("keys", ROWS, 1)}),
    "a time in a row": (
        edited(ROWS, 1, lambda line: line.replace(b"T07:00:00Z", b"T06:00:00Z", 1)),
        {("keys", ROWS, 1)},
    ),
    "a source in a row": (
        edited(ROWS, 1, lambda line: line.replace(b'"courier"', b'"tidings"', 1)),
        {("keys", ROWS, 1)},
    ),
    "a row that is no JSON": (edited(ROWS, 2, lambda line: line[:-1]), {("rows", ROWS, 2)}),
    "a row with NaN": (
        edited(ROWS, 2, lambda line: line.replace(b'"views": ', b'"views": NaN, "v": ', 1)),
        {("rows", ROWS, 2)},
    ),
    "a row gone": (whole_file(ROWS, lambda data: drop_line(data, 3)), {("rows", RECEIPTS, 3)}),
    "a row twice": (whole_file(ROWS, lambda data: again(data, 3)), {("rows", ROWS, 4)}),
    "rows swapped": (whole_file(ROWS, lambda data: swap(data, 3)), {("rows", RECEIPTS, 3), ("rows", ROWS, 4)}),
    "the last row gone": (
        whole_file(ROWS, lambda data: drop_line(data, data.count(b"\n"))),
        {("rows", RECEIPTS, None)},
    ),
    "a row of somebody's": (whole_file(ROWS, lambda data: data + b'{"title":"new"}\n'), {("rows", ROWS, None)}),
    "rows with CRLF": (edited(ROWS, 5, lambda line: line + b"\r"), {("rows", ROWS, 5)}),
    "rows with a BOM": (whole_file(ROWS, lambda data: b"\xef\xbb\xbf" + data), {("rows", ROWS, 1)}),
    "rows without the last LF": (whole_file(ROWS, lambda data: data[:-1]), {("rows", ROWS, None)}),
    "first_seen in a row": (edited(ROWS, 4, lambda line: seen(line, first_seen=None)), {("rows", ROWS, 4)}),
    "seen_before in a row": (edited(ROWS, 4, lambda line: seen(line, seen_before=True)), {("rows", ROWS, 4)}),
    "the order in _seen": (
        edited(ROWS, 4, lambda line: line.replace(b'"seen_before":false,', b"", 1)[:-2] + b',"seen_before":false}}'),
        {("rows", ROWS, 4)},
    ),
    "a space in _seen": (edited(ROWS, 4, lambda line: line.replace(b'"_seen":{', b'"_seen": {')), {("rows", ROWS, 4)}),
    "a verdict": (edited(RECEIPTS, 1, member("verdict", "unkeyed")), {("replay", RECEIPTS, 1), ("rows", ROWS, 1)}),
    "an action": (edited(RECEIPTS, 1, member("action", "skip")), {("replay", RECEIPTS, 1), ("rows", ROWS, 1)}),
    "seen_before": (edited(RECEIPTS, 1, member("seen_before", True)), {("replay", RECEIPTS, 1)}),
    "a content key": (edited(RECEIPTS, 1, member("content_key", ELSEWHERE)), {("keys", ROWS, 1)}),
    "a payload digest": (edited(RECEIPTS, 1, member("payload_digest", "sha256:" + "0" * 64)), {("keys", ROWS, 1)}),
    "a URL key": (
        edited(RECEIPTS, 1, member("url_key", "sample/1:url:sha256:" + "0" * 64)),
        {("urls", RECEIPTS, 1), ("keys", ROWS, 1)},
    ),
    "a URL": (
        edited(RECEIPTS, 1, member("url", "https://courier.example/post/999")),
        {("urls", RECEIPTS, 1), ("keys", ROWS, 1)},
    ),
    "a time": (edited(RECEIPTS, 1, member("fetched_at", "2026-03-01T07:00:00Z")), {("keys", ROWS, 1)}),
    "a source": (edited(RECEIPTS, 1, member("source", "tidings")), {("keys", ROWS, 1)}),
    "a problem": (edited(RECEIPTS, 1, member("problems", ["entity-residue"])), {("keys", ROWS, 1)}),
    "a seq": (edited(RECEIPTS, 2, member("seq", 7)), {("runs", RECEIPTS, 2)}),
    "a run": (edited(RECEIPTS, 2, member("run", 9)), {("receipts", RECEIPTS, 2)}),
    "a label": (edited(RECEIPTS, 2, member("content_key", "other/1:sha256:" + "0" * 64)), {("receipts", RECEIPTS, 2)}),
    "a fraction": (
        edited(RECEIPTS, 2, lambda line: line.replace(b'"seq":2,', b'"seq":2.0,')),
        {("receipts", RECEIPTS, 2)},
    ),
    "an escape": (
        edited(RECEIPTS, 2, lambda line: line.replace(b"courier", b"\\u0063ourier", 1)),
        {("receipts", RECEIPTS, 2)},
    ),
    "the order on a receipt": (
        whole_file(RECEIPTS, lambda data: reorder_members(data, 2)),
        {("receipts", RECEIPTS, 2)},
    ),
    "a space on a receipt": (edited(RECEIPTS, 2, lambda line: b" " + line), {("receipts", RECEIPTS, 2)}),
    "receipts with CRLF": (edited(RECEIPTS, 2, lambda line: line + b"\r"), {("receipts", RECEIPTS, 2)}),
    "receipts with a BOM": (whole_file(RECEIPTS, lambda data: b"\xef\xbb\xbf" + data), {("receipts", RECEIPTS, 1)}),
    "a receipt gone": (
        whole_file(RECEIPTS, lambda data: drop_line(data, 3)),
        {("runs", RECEIPTS, 3), ("rows", ROWS, 3)},
    ),
    "a receipt twice": (whole_file(RECEIPTS, lambda data: again(data, 3)), {("runs", RECEIPTS, 4)}),
    "receipts swapped": (whole_file(RECEIPTS, lambda data: swap(data, 3)), {("runs", RECEIPTS, 3)}),
    "a ruleset swapped": (other_rules(honest_fingerprint=True), {("keys", ROWS, 39)}),
    "a ruleset under its old fingerprint": (other_rules(honest_fingerprint=False), {("rulesets", RULESETS, 1)}),
    "a ruleset spelt otherwise": (
        whole_file(RULESETS, lambda data: data.replace(b'{"format"', b'{ "format"')),
        {("rulesets", RULESETS, 1)},
    ),
    "a run's line gone": (
        lambda bundle: reseal_runs(bundle, lambda runs: runs[:1] + runs[2:]),
        {("receipts", RECEIPTS, 105)},
    ),
    "a chain digest": (
        lambda bundle: reseal_runs(bundle, lambda runs: [{**runs[0], "chain": "sha256:" + "0" * 64}, *runs[1:]]),
        {("runs", RUNS, 1), ("runs", RUNS, 2)},
    ),
    "a count": (
        lambda bundle: reseal_runs(bundle, lambda runs: [{**runs[0], "records": 1}, *runs[1:]]),
        {("runs", RUNS, 1)},
    ),
    "an unsealed receipt": (
        lambda bundle: (edit(bundle / RECEIPTS, 1, member("source", "tidings")), reseal_bag(bundle))[0],
        {("runs", RUNS, 1), ("keys", ROWS, 1)},
    ),
    "the package": (
        whole_file("data/datapackage.json", lambda data: data.replace(b'"name":"rows"', b'"name":"Rows"')),
        {("package", "data/datapackage.json", 1)},
    ),
}

UNSEEN: dict[str, Callable[[Path], None]] = {
    "members of a row in another order": whole_file(ROWS, lambda data: reorder_members_of_row(data, 1)),
    "a volatile member": edited(ROWS, 1, lambda line: line.replace(b'"views": 102', b'"views": 999')),
    "spaces in a row": edited(ROWS, 1, lambda line: line.replace(b'": "', b'":  "', 1)),
}
