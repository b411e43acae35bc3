"""The runs and rulesets of a bundle (spec/bundle-1.md section 3), and whether receipts come to what is stated."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seenbefore._kernel import Verifier
from seenbefore.audit.bags import Bag, read_json
from seenbefore.audit.report import Report
from seenbefore.errors import RulesInvalid
from seenbefore.evidence import bag
from seenbefore.evidence.lines import canonical, ordered
from seenbefore.rules import UNICODE_VERSION, Ruleset

_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_ENTRY = ("configuration", "fingerprint", "label", "settings", "unicode")
_RUN = (
    "run",
    "ruleset",
    "configuration",
    "state",
    "records",
    "receipts_sha256",
    "link",
    "previous",
    "chain",
    "inputs",
)
_RULESETS, _RUNS = f"{bag.PAYLOAD}/{bag.RULESETS}", f"{bag.PAYLOAD}/{bag.RUNS}"


@dataclass(frozen=True, slots=True)
class StatedRun:
    """A line of runs.ndjson that has its form."""

    line: int
    members: Mapping[str, Any]


def rulesets_of(bundle: Bag, report: Report) -> dict[tuple[str, str], Ruleset]:
    """The rulesets of a bundle that can be used, by label and configuration."""
    if not bundle.has(_RULESETS):
        return {}
    found = bundle.whole(_RULESETS)
    document = read_json(found)
    entries = document.get("rulesets")
    if document.get("format") != bag.FORMAT or not isinstance(entries, list) or canonical(document) != found:
        report.problem("rulesets", _RULESETS, 1, "form", f"canonical JSON of format {bag.FORMAT}", found[:100])
    usable = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or tuple(sorted(entry)) != _ENTRY or not isinstance(entry["settings"], dict):
            report.problem("rulesets", _RULESETS, 1, f"ruleset {index + 1}", ", ".join(_ENTRY), str(entry)[:100])
            continue
        rules = _ruleset(entry, report)
        if rules is not None:
            usable[str(entry["label"]), str(entry["configuration"])] = rules
    return usable


def _ruleset(entry: Mapping[str, Any], report: Report) -> Ruleset | None:
    label = str(entry["label"])
    if entry["unicode"] != UNICODE_VERSION:
        report.cannot("rulesets", f"keys of Unicode {entry['unicode']}: this is seenbefore with {UNICODE_VERSION}")
        return None
    try:
        rules = Ruleset.from_toml(toml(entry["settings"]), label)
    except (RulesInvalid, RecursionError) as error:
        report.problem("rulesets", _RULESETS, 1, f"settings of {label}", "a ruleset without mistakes", error)
        return None
    wrong = [
        (name, mine, entry[name])
        for name, mine in (
            ("label", rules.label),
            ("fingerprint", rules.fingerprint),
            ("configuration", rules.configuration),
        )
        if entry[name] != mine
    ]
    for name, mine, stated in wrong:
        report.problem("rulesets", _RULESETS, 1, f"{name} of {label}", mine, stated)
    if not wrong:
        report.good("rulesets")
    return rules


def toml(settings: Mapping[str, Any]) -> str:
    """A ruleset's settings as a TOML document. What TOML doesn't have becomes what no ruleset has."""
    return "".join(f"{_quoted(name)} = {_value(value)}\n" for name, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(name)} = {_value(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    return '""' if value is None else str(value)


def _quoted(text: str) -> str:
    # JSON's escapes are among TOML's, but U+007F must be escaped too (TOML 1.0, "String").
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def runs_of(bundle: Bag, report: Report) -> dict[int, StatedRun]:
    """The lines of runs.ndjson that have their form, by run."""
    if not bundle.has(_RUNS):
        return {}
    runs: dict[int, StatedRun] = {}
    last = 0
    for number, line in enumerate(bundle.whole(_RUNS).removesuffix(b"\n").split(b"\n"), 1):
        members = read_json(line)
        if tuple(members) != _RUN or ordered(members) != line + b"\n" or not _typed(members):
            report.problem("runs", _RUNS, number, "form", f"ordered JSON: {', '.join(_RUN)}", line[:100])
        elif members["run"] <= last:
            report.problem("runs", _RUNS, number, "order", f"a run behind {last}", members["run"])
        else:
            last = members["run"]
            runs[last] = StatedRun(number, members)
    return runs


def _typed(members: Mapping[str, Any]) -> bool:
    def is_digest(name: str) -> bool:
        return isinstance(members[name], str) and _DIGEST.fullmatch(members[name]) is not None

    def is_number(name: str, least: int) -> bool:
        return type(members[name]) is int and members[name] >= least

    if not (is_number("run", 1) and is_number("records", 0) and is_digest("receipts_sha256")):
        return False
    if not isinstance(members["inputs"], list):
        return False
    if members["state"] == "abandoned":
        return members["link"] is members["previous"] is members["chain"] is None
    if members["state"] != "finished" or not is_number("link", 1) or not is_digest("chain"):
        return False
    return members["previous"] is None if members["link"] == 1 else is_digest("previous")


def compare_runs(verifier: Verifier, runs: Mapping[int, StatedRun], report: Report) -> None:
    """Counts, digests and chain of each run as stated, with those of the receipts."""
    chains = {one.members["link"]: one.members["chain"] for one in runs.values() if one.members["link"] is not None}
    for run, records, digest, _ in verifier.runs():
        stated = runs[run].members
        previous, chain = stated["previous"], None
        if stated["link"] is not None:
            before = bytes(32) if previous is None else bytes.fromhex(previous[7:])
            chain = f"sha256:{hashlib.sha256(before + digest).hexdigest()}"
        wanted = {"records": records, "receipts_sha256": f"sha256:{digest.hex()}", "chain": chain}
        if stated["link"] is not None and stated["link"] - 1 in chains:
            wanted["previous"] = chains[stated["link"] - 1]
        wrong = {name: value for name, value in wanted.items() if stated[name] != value}
        for name, value in wrong.items():
            report.problem("runs", _RUNS, runs[run].line, f"{name} of run {run}", value, stated[name])
        if not wrong:
            report.good("runs")
