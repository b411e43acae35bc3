"""The Data Package descriptor of a bundle (spec/bundle-1.md section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seenbefore.evidence.bag import PRIOR, RECEIPTS, ROWS, RULESETS, RUNS
from seenbefore.evidence.lines import canonical
from seenbefore.evidence.parts import Written

_SIGHTING = {"run": "integer", "seq": "integer", "url": "string", "url_key": "string", "fetched_at": "string"}
_FIELDS = {
    PRIOR: {
        **_SIGHTING,
        "payload_digest": "string",
        "content_key": "string",
        "first": "boolean",
        "first_seen": "string",
        "latest": "boolean",
    },
    RECEIPTS: {
        "run": "integer",
        "seq": "integer",
        "input": "string",
        "line": "integer",
        "source": "string",
        "url": "string",
        "url_key": "string",
        "fetched_at": "string",
        "payload_digest": "string",
        "content_key": "string",
        "verdict": "string",
        "action": "string",
        "seen_before": "boolean",
        "matched_on": "string",
        "refers_to": "object",
        "previous": "object",
        "problems": "array",
        "code": "string",
        "sha256": "string",
    },
    "runs": {
        "run": "integer",
        "ruleset": "string",
        "configuration": "string",
        "state": "string",
        "records": "integer",
        "receipts_sha256": "string",
        "link": "integer",
        "previous": "string",
        "chain": "string",
        "inputs": "array",
    },
}
_MEDIA = {"ndjson": "application/x-ndjson", "json": "application/json", "zst": "application/zstd"}


def descriptor(files: Mapping[str, Sequence[Written]], settings: Iterable[Mapping[str, Any]]) -> bytes:
    """`datapackage.json`: `files` has the parts of each resource by its name, `settings` are those of the rulesets."""
    fields = {**_FIELDS, ROWS: _row_fields(settings)}
    names = (PRIOR, RECEIPTS, ROWS, RULESETS.partition(".")[0], RUNS.partition(".")[0])
    resources = [_resource(name, files[name], fields.get(name)) for name in names]
    return canonical({"name": "seenbefore-bundle", "profile": "data-package", "resources": resources})


def _resource(name: str, parts: Sequence[Written], fields: Mapping[str, str] | None) -> dict[str, Any]:
    ending = parts[0].name.rpartition(".")[2]
    resource: dict[str, Any] = {
        "name": name,
        "profile": "data-resource",
        "path": parts[0].name if len(parts) == 1 else [part.name for part in parts],
        "format": ending,
        "mediatype": _MEDIA[ending],
        "encoding": "utf-8",
        "bytes": sum(part.size for part in parts),
    }
    if len(parts) == 1:
        resource["hash"] = f"sha256:{parts[0].sha256}"
    if fields is not None:
        # Records differ in their members, so these are no tables; a validator takes NDJSON for one unless told.
        resource["type"] = "file"
        resource["schema"] = {"fields": [{"name": field, "type": kind} for field, kind in fields.items()]}
    return resource


def _row_fields(settings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The members that rulesets name. A record may have others, and may have them in any JSON type."""
    names = set[str]()
    for one in settings:
        identity = one.get("identity")
        names.update(identity if isinstance(identity, list) else ())
        names.update(one.get("require", ()), one.get("fields", {}))
        names.update(value for name, value in one.get("record", {}).items() if name != "assume_offset")
        names.update([one["payload"]] if "payload" in one else [])
    return {**dict.fromkeys(sorted(names - {"_seen"}), "any"), "_seen": "object"}
