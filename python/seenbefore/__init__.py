"""seenbefore decides for every scraped record whether it has been seen before, and can prove it."""

from seenbefore._kernel import UNICODE_VERSION, KeyBatch, Keys, canonical_json, canonical_url, normalise
from seenbefore._kernel import VERSION as __version__  # noqa: N811 - the name that tools look for
from seenbefore.audit import Comparison, Explanation, explain
from seenbefore.dedup import Deduplicator, ProvisionalBatch, Settings
from seenbefore.errors import (
    DiskFull,
    InputChanged,
    InputTruncated,
    InputUnreadable,
    Interrupted,
    InUse,
    OutputFailed,
    PermissionDenied,
    Refused,
    RuleChanged,
    RulesInvalid,
    SeenbeforeError,
    StoreDamaged,
    StoreForeign,
    StoreNewer,
    StoreUnsupported,
    UrlRefused,
    UsageError,
)
from seenbefore.rules import Ruleset, content_key
from seenbefore.stores import open_store
from seenbefore.types import Reference, Summary, Verdict

__all__ = [  # noqa: RUF022 - in the order of sorted(), which a test compares
    "Comparison",
    "Deduplicator",
    "DiskFull",
    "Explanation",
    "InUse",
    "InputChanged",
    "InputTruncated",
    "InputUnreadable",
    "Interrupted",
    "KeyBatch",
    "Keys",
    "OutputFailed",
    "PermissionDenied",
    "ProvisionalBatch",
    "Reference",
    "Refused",
    "RuleChanged",
    "RulesInvalid",
    "Ruleset",
    "SeenbeforeError",
    "Settings",
    "StoreDamaged",
    "StoreForeign",
    "StoreNewer",
    "StoreUnsupported",
    "Summary",
    "UNICODE_VERSION",
    "UrlRefused",
    "UsageError",
    "Verdict",
    "__version__",
    "canonical_json",
    "canonical_url",
    "content_key",
    "explain",
    "normalise",
    "open_store",
]
