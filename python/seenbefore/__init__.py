"""seenbefore decides for every scraped record whether it has been seen before, and can prove it.

Names are loaded when they are first used, because a command line that only prints its version has a start-up budget.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seenbefore._kernel import (
        UNICODE_VERSION,
        KeyBatch,
        Keys,
        Reference,
        Verdict,
        canonical_json,
        canonical_url,
        normalise,
    )
    from seenbefore._kernel import VERSION as __version__  # noqa: N811 - the name that tools look for
    from seenbefore.audit.explain import Comparison, Explanation, explain
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
    from seenbefore.types import Summary

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

# Where each name lives; what is not listed here is an error.
_HOMES = {
    "_kernel": (
        "UNICODE_VERSION",
        "KeyBatch",
        "Keys",
        "Reference",
        "Verdict",
        "canonical_json",
        "canonical_url",
        "normalise",
    ),
    "audit.explain": ("Comparison", "Explanation", "explain"),
    "dedup": ("Deduplicator", "ProvisionalBatch", "Settings"),
    "rules": ("Ruleset", "content_key"),
    "stores": ("open_store",),
    "types": ("Summary",),
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = import_module("seenbefore._kernel").VERSION
    elif name in __all__:
        home = next((module for module, names in _HOMES.items() if name in names), "errors")
        value = getattr(import_module(f"seenbefore.{home}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
