"""A receipt beside its sighting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

from seenbefore.audit.check.totals import Totals, pair
from seenbefore.audit.times import utc_text
from seenbefore.rules import VERDICTS
from seenbefore.stores.rows import Fault, SightingRow

_REFUSED = VERDICTS.index("refused")
_NULL = b"null"
# A receipt whose texts have no escapes, as nearly all have; its parts as they are written. Canonical JSON has one way
# to write each, so that they can be compared without reading them. Whatever doesn't match, or differs, is read.
_TEXT = rb'("[^"\\]*"|null)'
_PLAIN = re.compile(
    rb'\{"run":([0-9]+),"seq":([0-9]+),"input":"[^"\\]*","line":[0-9]+,"source":%b,"url":%b,"url_key":%b,"fetched_at":%b'
    rb',"payload_digest":%b,"content_key":%b,"verdict":"([a-z]+)",' % ((_TEXT,) * 6)
)


def compared(row: tuple[int, int], line: bytes, sighting: SightingRow | None, totals: Totals) -> Iterator[Fault]:
    """What the receipt of a row and its sighting say differently; the keys that it names are added to the totals."""
    plain = _PLAIN.match(line)
    if plain is not None and sighting is not None and _agrees(row, plain.groups(), sighting, totals):
        return
    name = f"{row[0]}:{row[1]}"
    try:
        receipt = json.loads(line)
        said = _said(receipt)
    except (ValueError, KeyError, TypeError):
        totals.uncompared = True
        yield Fault("block", name, "has a receipt that can't be read", "a receipt", line[:60].decode(errors="replace"))
        return
    if (receipt["run"], receipt["seq"]) != row:
        found = f"row {receipt['run']}:{receipt['seq']}"
        yield Fault("block", name, "has the receipt of another row", f"row {name}", found)
    if sighting is None:
        return
    for fact, value in _told(sighting).items():
        if fact in said and said[fact] != value:
            what = f"has another {fact} than its receipt, row {name}"
            yield Fault("sighting", str(sighting.id), what, str(said[fact] or "none"), str(value or "none"))
    if receipt.get("content_key") is not None:
        place = receipt["url_key"]
        _add(totals, sighting.id, receipt["content_key"].encode(), None if place is None else place.encode())


def kept_as(receipt: bytes) -> bytes:
    """The first members of `_seen` on the kept row of a receipt."""
    payload = receipt.find(b',"payload_digest":')
    content = receipt.find(b',"content_key":', payload)
    end = receipt.find(b',"verdict":', content)
    return b'"sha256":%b,%b,' % (receipt[payload + 18 : content], receipt[content + 1 : end])


def _agrees(row: tuple[int, int], parts: tuple[bytes, ...], sighting: SightingRow, totals: Totals) -> bool:
    """Whether a plain receipt says what the sighting does: the parts are written as they should be."""
    run, seq, source, url, url_key, fetched_at, payload, content_key, verdict = parts
    keyed = content_key != _NULL
    if (
        (int(run), int(seq)) != row
        or not 0 <= sighting.verdict < _REFUSED
        or verdict != VERDICTS[sighting.verdict].encode()
        or source != _source(sighting.source)
        or url != (_NULL if sighting.url is None else encode_basestring(sighting.url).encode())
        or fetched_at != (_NULL if sighting.fetched_at is None else b'"%b"' % utc_text(sighting.fetched_at).encode())
        or payload != (_NULL if sighting.payload is None else b'"sha256:%b"' % sighting.payload.hex().encode())
        or keyed is (sighting.content is None)
        or (keyed and url_key != _NULL) is (sighting.place is None)
    ):
        return False
    if keyed:
        _add(totals, sighting.id, content_key[1:-1], None if url_key == _NULL else url_key[1:-1])
    return True


@lru_cache(maxsize=1 << 12)
def _source(name: str) -> bytes:
    return encode_basestring(name).encode()


def _add(totals: Totals, sighting: int, content_key: bytes, url_key: bytes | None) -> None:
    """Adds the keys that a receipt names, by the last digits of their digests."""
    totals.named += pair(sighting, "content", int(content_key[-16:], 16))
    if url_key is not None:
        totals.named += pair(sighting, "place", int(url_key[-16:], 16))


def _said(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """What a receipt says of its sighting."""
    facts: dict[str, Any] = {"verdict": receipt["verdict"]}
    if receipt["verdict"] != "refused":
        facts |= {name: receipt[name] for name in ("source", "url", "fetched_at", "payload_digest")}
        keyed = receipt["content_key"] is not None
        facts |= {"content": _is(keyed), "place": _is(keyed and receipt["url_key"] is not None)}
    return facts


def _told(row: SightingRow) -> dict[str, Any]:
    """The same of the sighting itself."""
    verdict = VERDICTS[row.verdict] if 0 <= row.verdict < len(VERDICTS) else row.verdict
    facts: dict[str, Any] = {"verdict": verdict}
    if row.verdict != _REFUSED:
        payload = None if row.payload is None else f"sha256:{row.payload.hex()}"
        facts |= {"source": row.source, "url": row.url, "fetched_at": utc_text(row.fetched_at)}
        facts |= {
            "payload_digest": payload,
            "content": _is(row.content is not None),
            "place": _is(row.place is not None),
        }
    return facts


def _is(there: bool) -> str | None:
    return "one" if there else None
