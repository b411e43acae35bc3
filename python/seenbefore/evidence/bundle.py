"""A store's runs → a bundle: streamed block by block, whole or not at all, the same bytes each time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from seenbefore.errors import OutputFailed, StoreDamaged, StoreUnsupported, UsageError
from seenbefore.evidence import bag
from seenbefore.evidence.chosen import choose, stretches_of
from seenbefore.evidence.lines import canonical, ordered
from seenbefore.evidence.package import descriptor
from seenbefore.evidence.parts import Parts, Written, write_whole
from seenbefore.evidence.prior import prior_lines
from seenbefore.outputs import LOCK, Lock, sync_folder
from seenbefore.stores.base import SeenStore
from seenbefore.stores.laws import chain_digest, parsed
from seenbefore.stores.rows import Digest, RunRow

# Pieces of prior.ndjson that are written at once.
_PIECE = 1 << 20


# Whoever shows how far it is: so many steps of so many.
Passed: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was made: its folder, runs, receipts and rows, and the SHA-256 of its manifest in hex."""

    folder: Path
    runs: tuple[int, ...]
    receipts: int
    rows: int
    prior: int
    size: int
    manifest: str


def build(
    store: SeenStore,
    out: str | os.PathLike[str],
    *,
    runs: str | None = None,
    split: int | None = None,
    compressed: bool = False,
    sign: Callable[[bytes], bytes] | None = None,
    passed: Passed | None = None,
) -> Bundle:
    """Makes the bundle `out`, a folder that isn't there yet.

    `runs` is `A..B` (all where None), `split` the most bytes of a part, `sign` makes the signature of a manifest.
    Raises UsageError, StoreUnsupported where the store keeps no rows, StoreDamaged where its receipts don't give the
    chain digest of their run, InUse, DiskFull, OutputFailed; then nothing is left.
    """
    folder = Path(out)
    with store.snapshot() as now:
        chosen = choose(now, runs)
        with _drafted(folder) as draft:
            return _Building(now, chosen, draft, split, compressed, passed).build(folder, sign)


class _Building:
    def __init__(
        self,
        store: SeenStore,
        runs: tuple[RunRow, ...],
        draft: Path,
        split: int | None,
        compressed: bool,
        passed: Passed | None,
    ) -> None:
        self._store, self._runs, self._draft, self._passed = store, runs, draft, passed
        self._data = draft / bag.PAYLOAD
        self._split, self._compressed = split, compressed
        self._files: dict[str, list[Written]] = {}
        self._digests = {row.ordinal: hashlib.sha256() for row in runs}
        self._records = dict.fromkeys(self._digests, 0)
        self._first, self._last = 1, 0
        self._rows = self._prior = self._done = 0
        self._total = sum(row.counts.get("records", 0) for row in runs)

    def build(self, folder: Path, sign: Callable[[bytes], bytes] | None) -> Bundle:
        """Everything, in the draft."""
        self._data.mkdir()
        self._stream_blocks()
        self._stream_prior()
        settings = self._rulesets()
        self._whole(bag.RUNS, b"".join(map(ordered, self._run_lines())))
        self._whole(bag.README, _shipped("README-bundle.md"))
        self._whole(bag.CHECKER, _shipped(bag.CHECKER))
        self._whole(bag.PACKAGE, descriptor(self._files, settings))
        manifest = self._tags(sign)
        return Bundle(
            folder,
            tuple(self._records),
            sum(self._records.values()),
            self._rows,
            self._prior,
            sum(part.size for parts in self._files.values() for part in parts),
            manifest,
        )

    def _stream_blocks(self) -> None:
        with self._parts(bag.RECEIPTS) as receipts, self._parts(bag.ROWS) as rows:
            for stretch in stretches_of(self._store, self._runs):
                judged, kept = stretch.receipts, stretch.kept
                if kept is None:
                    raise StoreUnsupported(
                        f"{self._store.location} keeps no rows, only receipts",
                        path=self._store.location,
                        hint='a store that is to be bundled is made with keep = "kept", which is the default',
                    )
                receipts.write(judged)
                rows.write(kept)
                if self._last == 0:
                    self._first = stretch.first_sighting
                self._last = stretch.first_sighting + stretch.records - 1
                self._digests[stretch.run].update(judged)
                self._records[stretch.run] += stretch.records
                self._rows += kept.count(b"\n")
                self._step(stretch.records)

    def _stream_prior(self) -> None:
        with self._parts(bag.PRIOR) as prior:
            piece, size = list[bytes](), 0
            # The bundle's own sightings once, those before it twice: see `prior_lines`.
            self._total += self._last - self._first + 1 + 2 * (self._first - 1) if self._first > 1 else 0
            for line in prior_lines(self._store, self._first, self._last, self._step):
                self._prior += 1
                piece.append(line)
                size += len(line)
                if size >= _PIECE:
                    prior.write(b"".join(piece))
                    piece, size = [], 0
            if piece:
                prior.write(b"".join(piece))

    def _rulesets(self) -> list[Any]:
        """Writes `ruleset.json` → the settings in it."""
        known = {row.label: row for row in self._store.rulesets()}
        entries = []
        for label, configuration in sorted({(run.ruleset, run.configuration) for run in self._runs}):
            text = self._store.settings_text(label, configuration)
            if text is None:
                raise StoreDamaged(
                    f"{self._store.location} has no settings of {label} as a run had them", path=self._store.location
                )
            entries.append(
                {
                    "label": label,
                    "configuration": configuration,
                    "fingerprint": known[label].fingerprint,
                    "unicode": known[label].unicode_version,
                    "settings": parsed(text),
                }
            )
        self._whole(bag.RULESETS, canonical({"format": bag.FORMAT, "rulesets": entries}))
        return [entry["settings"] for entry in entries]

    def _run_lines(self) -> Iterator[dict[str, Any]]:
        links = {row.link: row.chain for row in self._store.runs() if row.link is not None}
        for row in self._runs:
            previous = None if row.link is None or row.link == 1 else links[row.link - 1]
            self._check_chain(row, previous)
            yield {
                "run": row.ordinal,
                "ruleset": row.ruleset,
                "configuration": row.configuration,
                "state": row.state,
                "records": self._records[row.ordinal],
                "receipts_sha256": f"sha256:{self._digests[row.ordinal].hexdigest()}",
                "link": row.link,
                "previous": _text(previous),
                "chain": _text(row.chain),
                "inputs": [
                    {"name": one.name, "sha256": _text(one.sha256), "records": one.records}
                    for one in self._store.inputs(row.ordinal)
                ],
            }

    def _check_chain(self, row: RunRow, previous: Digest | None) -> None:
        """Refuses to hand over receipts that are no longer those that the run ended with."""
        if row.chain is not None and row.chain != chain_digest(previous, self._digests[row.ordinal].digest()):
            raise StoreDamaged(
                f"the receipts of run {row.ordinal} in {self._store.location} don't give the chain digest noted for it",
                path=self._store.location,
                hint=f"`seenbefore verify {self._store.location}` says more; put back a backup of the store",
            )

    def _tags(self, sign: Callable[[bytes], bytes] | None) -> str:
        files = [part for parts in self._files.values() for part in parts]
        paths = {f"{bag.PAYLOAD}/{part.name}": part for part in files}
        manifest = bag.manifest({path: part.sha256 for path, part in paths.items()})
        tags = {
            bag.BAGIT: bag.BAGIT_BYTES,
            bag.BAG_INFO: bag.bag_info({path: part.size for path, part in paths.items()}),
            bag.MANIFEST: manifest,
        }
        if sign is not None:
            tags[bag.SIGNATURE] = sign(manifest)
        written = {name: write_whole(self._draft, name, data).sha256 for name, data in tags.items()}
        write_whole(self._draft, bag.TAG_MANIFEST, bag.manifest(written))
        return written[bag.MANIFEST]

    @contextlib.contextmanager
    def _parts(self, stem: str) -> Iterator[Parts]:
        parts = Parts(self._data, stem, split=self._split, compressed=self._compressed)
        try:
            yield parts
            self._files[stem] = parts.close()
        finally:
            parts.abort()

    def _whole(self, name: str, data: bytes) -> None:
        self._files[name.partition(".")[0]] = [write_whole(self._data, name, data)]

    def _step(self, records: int) -> None:
        self._done = min(self._done + records, self._total)
        if self._passed is not None:
            self._passed(self._done, self._total)


@contextlib.contextmanager
def _drafted(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` that becomes it at the end, or is gone."""
    if os.path.lexists(folder):
        raise UsageError(
            f"{folder} is there already", path=str(folder), hint="choose another --out, or remove it yourself"
        )
    draft = folder.with_name(f".{folder.name}.unfinished")
    try:
        draft.mkdir(parents=True, exist_ok=True)
        lock = Lock(draft / LOCK, f"the bundle {folder}")
    except OSError as error:
        raise OutputFailed.from_os(str(folder), error) from error
    try:
        _clear(draft)  # what a killed build left
        yield draft
        lock.release()
        sync_folder(draft / bag.PAYLOAD)
        sync_folder(draft)
        if os.path.lexists(folder):
            raise UsageError(f"{folder} has appeared meanwhile", path=str(folder), hint="choose another --out")
        draft.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        raise OutputFailed.from_os(str(folder), error) from error
    finally:
        lock.release()
        shutil.rmtree(draft, ignore_errors=True)


def _clear(draft: Path) -> None:
    for entry in draft.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def checker() -> bytes:
    """The program `verify.py` as bundles carry it."""
    return _shipped(bag.CHECKER)


def _shipped(name: str) -> bytes:
    return resources.files(__package__ or "seenbefore.evidence").joinpath(name).read_bytes()


def _text(digest: Digest | None) -> str | None:
    return None if digest is None else f"sha256:{digest.hex()}"
