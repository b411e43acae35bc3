"""Counts of batches → the summary of a run, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seenbefore._kernel import VERDICTS
from seenbefore.dedup.opening import Run
from seenbefore.rules import Ruleset
from seenbefore.types import InputSummary, SourceSummary, Summary


def merged(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Two trees of counts added up; names that only one of them has stay."""
    total = dict(before)
    for name, value in more.items():
        if isinstance(value, Mapping):
            total[name] = merged(total.get(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value
    return total


def summarise(rules: Ruleset, run: Run, chain: bytes | None, seconds: float) -> Summary:
    """What an ended run counted."""
    counts = run.counts
    return Summary(
        run=run.ordinal,
        ruleset=rules.label,
        fingerprint=rules.fingerprint,
        inputs=tuple(
            InputSummary(run.inputs[index].name, done.records, f"sha256:{done.sha256.hex()}")
            for index, done in sorted(run.done.items())
        ),
        records=counts.get("records", 0),
        verdicts=_verdicts(counts.get("verdicts", {})),
        changed_seen_before=counts.get("changed_seen_before", 0),
        kept=counts.get("kept", 0),
        skipped=counts.get("skipped", 0),
        refusals=dict(sorted(counts.get("refusals", {}).items())),
        problems=dict(sorted(counts.get("problems", {}).items())),
        sources={name: _source(source) for name, source in sorted(counts.get("sources", {}).items())},
        chain=None if chain is None else f"sha256:{chain.hex()}",
        seconds=seconds,
    )


def summary_members(summary: Summary) -> dict[str, Any]:
    """The members of summary.json, in the order in which they stand there."""
    return {
        "run": summary.run,
        "ruleset": summary.ruleset,
        "fingerprint": summary.fingerprint,
        "inputs": [{"name": one.name, "records": one.records, "sha256": one.sha256} for one in summary.inputs],
        "records": summary.records,
        "verdicts": dict(summary.verdicts),
        "changed_seen_before": summary.changed_seen_before,
        "kept": summary.kept,
        "skipped": summary.skipped,
        "refusals": dict(summary.refusals),
        "problems": dict(summary.problems),
        "sources": {
            name: {
                "keyed": source.keyed,
                "seen_before": source.seen_before,
                "collapse_rate": source.collapse_rate,
                "verdicts": dict(source.verdicts),
            }
            for name, source in summary.sources.items()
        },
        "chain": summary.chain,
    }


def summary_file(summary: Summary) -> bytes:
    """The bytes of summary.json: no time and nothing random, so that the same run gives the same file."""
    return (json.dumps(summary_members(summary), ensure_ascii=False, indent=2) + "\n").encode()


def _source(counts: Mapping[str, Any]) -> SourceSummary:
    keyed, seen_before = counts.get("keyed", 0), counts.get("seen_before", 0)
    rate = round(seen_before / keyed, 6) if keyed else None
    return SourceSummary(keyed, seen_before, rate, _verdicts(counts.get("verdicts", {})))


def _verdicts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in VERDICTS}
