"""Numbers that were binary floats when a record was keyed: a columnar file or a program says so, its text doesn't."""

from __future__ import annotations

from seenbefore.errors import Refused
from seenbefore.rules import Ruleset


def float_fields(rules: Ruleset, record: bytes, content_key: str | None) -> list[str]:
    """The fields whose numbers must have been floats so that the record has that content key.

    None where its text gives the key, where there is no key, and where no reading gives it.
    """
    if content_key is None:
        return []
    try:
        if rules.keys(record).content_key == content_key:
            return []
    except Refused:
        pass  # an integer of 2.5, for instance
    return rules.kernel.float_reading(record, bytes.fromhex(content_key.rpartition(":")[2])) or []
