"""Bundles as they are made: the files, their bytes, prior state, splitting, compression, signing, and failing."""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.evidence.conftest import made

from seenbefore import Deduplicator, Ruleset
from seenbefore.errors import InUse, StoreDamaged, StoreUnsupported, UsageError
from seenbefore.evidence.bundle import build
from seenbefore.evidence.chosen import ordinals
from seenbefore.outputs import Lock
from seenbefore.stores import MemoryStore, open_store

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
FILES = [
    "bag-info.txt", "bagit.txt", "data/README.md", "data/datapackage.json", "data/prior.ndjson", "data/receipts.ndjson",
    "data/rows.ndjson", "data/ruleset.json", "data/runs.ndjson", "data/verify.py", "manifest-sha256.txt",
    "tagmanifest-sha256.txt",
]  # fmt: skip


def files(bundle: Path) -> dict[str, bytes]:
    """All files of a folder, by path."""
    return {
        path.relative_to(bundle).as_posix(): path.read_bytes() for path in sorted(bundle.rglob("*")) if path.is_file()
    }


def lines(path: Path) -> list[Any]:
    """The lines of NDJSON."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def names(folder: Path) -> list[str]:
    """What lies in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


def test_same_bytes_each_time(store: Path, whole: Path, tmp_path: Path) -> None:
    """Built again from the same store, at another time and place, a bundle is the same, byte for byte."""
    again = files(made(store, tmp_path / "again"))
    assert again == files(whole)
    assert list(again) == FILES


def test_files_are_those_of_the_runs(store: Path, whole: Path) -> None:
    """Receipts and rows are the runs' own files, one after the other."""
    outs = [store.parent / "out" / str(run) for run in (1, 2, 3)]
    for name, source in (("receipts", "receipts"), ("rows", "kept")):
        together = b"".join((out / f"{source}.ndjson").read_bytes() for out in outs)
        assert (whole / "data" / f"{name}.ndjson").read_bytes() == together
    assert (whole / "data" / "prior.ndjson").read_bytes() == b""


def test_runs_carry_the_chain(store: Path, later: Path) -> None:
    """Each run's line has the chain digest of its summary, and the one before it."""
    first, second, third = (
        json.loads((store.parent / "out" / str(run) / "summary.json").read_bytes()) for run in (1, 2, 3)
    )
    runs = lines(later / "data" / "runs.ndjson")
    assert [run["chain"] for run in runs] == [second["chain"], third["chain"]]
    assert [run["previous"] for run in runs] == [first["chain"], second["chain"]]
    assert [run["inputs"] for run in runs] == [second["inputs"], third["inputs"]]
    for run in runs:
        previous, receipts = (bytes.fromhex(run[name][7:]) for name in ("previous", "receipts_sha256"))
        assert run["chain"] == f"sha256:{hashlib.sha256(previous + receipts).hexdigest()}"


def test_prior_is_what_the_runs_rest_on(store: Path, later: Path) -> None:
    """Prior state has the first sighting of each content used, with first_seen by then, and the latest of each URL."""
    before = lines(store.parent / "out" / "1" / "receipts.ndjson")
    used = lines(later / "data" / "receipts.ndjson")
    used = [one for one in used if one.get("content_key") is not None]
    contents, places = ({one[name] for one in used} - {None} for name in ("content_key", "url_key"))
    first: dict[str, Any] = {}
    latest: dict[str, Any] = {}
    times: dict[str, set[str]] = {}
    for receipt in before:
        if receipt.get("content_key") is not None:
            first.setdefault(receipt["content_key"], receipt["seq"])
            times.setdefault(receipt["content_key"], set()).update({receipt["fetched_at"]} - {None})
            latest[receipt["url_key"]] = receipt["seq"]
    wanted = {
        *(("first", key, seq) for key, seq in first.items() if key in contents),
        *(("latest", key, seq) for key, seq in latest.items() if key in places),
    }
    prior = lines(later / "data" / "prior.ndjson")
    found = {("first", one["content_key"], one["seq"]) for one in prior if one["first"]}
    found |= {("latest", one["url_key"], one["seq"]) for one in prior if one["latest"]}
    assert found == wanted
    assert len(wanted) > 100
    assert [one["seq"] for one in prior] == sorted({seq for _, _, seq in wanted})
    for one in prior:
        assert one["first_seen"] == (min(times[one["content_key"]], default=None) if one["first"] else None)


def test_splitting(store: Path, whole: Path, tmp_path: Path) -> None:
    """Parts are cut at line ends, hold at most the size asked for or one line, and together are the file."""
    parts = made(store, tmp_path / "parts", split=20_000)
    for stem in ("receipts", "rows", "prior"):
        found = sorted((parts / "data").glob(f"{stem}-*.ndjson"))
        assert [path.name for path in found] == [f"{stem}-{number:05}.ndjson" for number in range(1, len(found) + 1)]
        assert b"".join(path.read_bytes() for path in found) == (whole / "data" / f"{stem}.ndjson").read_bytes()
        for path, following in itertools.pairwise(found):
            data, next_line = path.read_bytes(), following.read_bytes().partition(b"\n")[0] + b"\n"
            assert data.endswith(b"\n")
            assert len(data) <= 20_000 < len(data) + len(next_line) or data.count(b"\n") == 1
    assert len(list((parts / "data").glob("receipts-*"))) > 5
    tiny = made(store, tmp_path / "tiny", split=1)
    assert len(list((tiny / "data").glob("rows-*"))) == (whole / "data" / "rows.ndjson").read_bytes().count(b"\n")


def test_compression(store: Path, whole: Path, tmp_path: Path) -> None:
    """Compressed parts unpack to the same bytes, have their size and checksum in them, and come out the same again."""
    packed = made(store, tmp_path / "packed", compressed=True)
    assert files(packed) == files(made(store, tmp_path / "again", compressed=True))
    for stem in ("receipts", "rows"):
        data = (packed / "data" / f"{stem}.ndjson.zst").read_bytes()
        parameters = zstandard.get_frame_parameters(data)
        plain = (whole / "data" / f"{stem}.ndjson").read_bytes()
        assert (parameters.content_size, parameters.has_checksum, parameters.dict_id) == (len(plain), True, 0)
        assert zstandard.ZstdDecompressor().decompress(data) == plain
    assert (packed / "data" / "prior.ndjson.zst").read_bytes() == b""


def test_frames_end_with_lines(tmp_path: Path) -> None:
    """A frame holds whole lines and ends with the one that brings it to 4 MiB, in whatever pieces it was written."""
    from seenbefore.evidence.parts import Parts

    text = b"".join(b"%d %s\n" % (number, b"x" * 1000) for number in range(9000))
    packed = []
    for name, step in (("a", 1_000_003), ("b", len(text))):
        (tmp_path / name).mkdir()
        parts = Parts(tmp_path / name, "rows", split=None, compressed=True)
        pieces = [text[start : start + step] for start in range(0, len(text), step)]
        for piece in pieces if step == len(text) else _whole_lines(pieces):
            parts.write(piece)
        (written,) = parts.close()
        packed.append((tmp_path / name / written.name).read_bytes())
    assert packed[0] == packed[1]
    sizes, rest = [], packed[0]
    while rest:
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        frame, rest = unpacker.decompress(rest), b""
        rest = unpacker.unused_data
        assert frame.endswith(b"\n")
        sizes.append(len(frame))
    assert sum(sizes) == len(text)
    assert all((4 << 20) <= size < (4 << 20) + 1100 for size in sizes[:-1])
    assert len(sizes) == 3


def _whole_lines(pieces: list[bytes]) -> list[bytes]:
    out, rest = [], b""
    for piece in pieces:
        end = (rest + piece).rfind(b"\n") + 1
        out.append((rest + piece)[:end])
        rest = (rest + piece)[end:]
    return out


def test_signature(store: Path, tmp_path: Path) -> None:
    """A signature is Ed25519 over the manifest's bytes, as the `cryptography` package checks it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = new_key(tmp_path / "key.pem")
    done = subprocess.run(
        [SEENBEFORE, "bundle", store, "--out", tmp_path / "signed", "--sign", key], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    signature = json.loads((tmp_path / "signed" / "signature.json").read_bytes())
    assert (signature["algorithm"], signature["signs"]) == ("ed25519", "manifest-sha256.txt")
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
    public.verify(bytes.fromhex(signature["signature"]), (tmp_path / "signed" / "manifest-sha256.txt").read_bytes())
    assert "  signature.json\n" in (tmp_path / "signed" / "tagmanifest-sha256.txt").read_text(encoding="utf-8")


def new_key(path: Path) -> Path:
    """A new private key in PEM form."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


def test_a_key_that_is_none(store: Path, tmp_path: Path) -> None:
    """A file that holds no Ed25519 key, or none at all, ends before anything is written."""
    (tmp_path / "key").write_text("no key", encoding="utf-8")
    for key in (tmp_path / "key", tmp_path / "missing"):
        done = subprocess.run(
            [SEENBEFORE, "bundle", store, "--out", tmp_path / "out", "--sign", key],
            check=False,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, str(key) in done.stderr) == (2, True)
    assert names(tmp_path) == ["key"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, (1, None)), ("2..3", (2, 3)), ("2..", (2, None)), ("..3", (1, 3)), ("2", (2, 2))],
)
def test_ranges_of_runs(text: str | None, expected: tuple[int, int | None]) -> None:
    """Runs are named by a range with one or both ends, or by one number."""
    assert ordinals(text) == expected


@pytest.mark.parametrize("text", ["", "a", "3..2", "1...2", "-1", "1-2", "1.2"])
def test_what_is_no_range(text: str) -> None:
    """Anything else is refused as a mistake of usage."""
    with pytest.raises(UsageError):
        ordinals(text)


def test_a_folder_that_is_there_is_refused(store: Path, tmp_path: Path) -> None:
    """An existing folder or file is never written to."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("file", "folder", "link"):
        with pytest.raises(UsageError, match="is there already"):
            made(store, tmp_path / name)
    assert names(tmp_path) == ["file", "folder", "link"]


def test_an_interrupted_build_leaves_nothing(store: Path, tmp_path: Path) -> None:
    """What ends early leaves no folder and no draft; what a killed build left is cleared by the next one."""

    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with open_store(str(store), read_only=True) as opened, pytest.raises(KeyboardInterrupt):
        build(opened, tmp_path / "bundle", passed=stop)
    assert names(tmp_path) == []
    (tmp_path / ".bundle.unfinished" / "data").mkdir(parents=True)
    (tmp_path / ".bundle.unfinished" / "data" / "rows.ndjson").write_text("half", encoding="utf-8")
    made(store, tmp_path / "bundle")
    assert names(tmp_path) == ["bundle"]


def test_two_builds_at_once(store: Path, tmp_path: Path) -> None:
    """Of two builds of one folder the second is refused, and the first one's draft stays."""
    draft = tmp_path / ".bundle.unfinished"
    draft.mkdir()
    lock = Lock(draft / ".lock", "the bundle")
    with pytest.raises(InUse):
        made(store, tmp_path / "bundle")
    assert names(draft) == [".lock"]
    lock.release()


def test_unfinished_and_absent_runs_are_refused(tmp_path: Path) -> None:
    """A run that can still go on, and a number that no run has, are no bundle."""
    rules = Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n')
    store = MemoryStore(blocks=True)
    with pytest.raises(UsageError, match="it has none"):
        build(store, tmp_path / "bundle")
    with Deduplicator(rules, store) as deduplicator:
        deduplicator.judge({"t": "a"})
        with pytest.raises(UsageError, match="run 1 of memory: is unfinished"):
            build(store, tmp_path / "bundle")
    with pytest.raises(UsageError, match="it has 1 to 1"):
        build(store, tmp_path / "bundle", runs="2..")
    assert build(store, tmp_path / "bundle").receipts == 1


def test_runs_between_are_refused(tmp_path: Path) -> None:
    """Runs that were committed in turns belong together: without one of them verdicts would rest on nothing."""
    rules = Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n')
    store = MemoryStore(blocks=True)
    with Deduplicator(rules, store) as one, Deduplicator(rules, store) as other:
        one.judge({"t": "a"})
        other.judge({"t": "b"})
        one.judge({"t": "b"})
    with pytest.raises(UsageError, match="run 2 of memory: was committed between"):
        build(store, tmp_path / "bundle", runs="1")
    assert names(tmp_path) == []
    made = build(store, tmp_path / "bundle")
    assert [(one["run"], one["seq"]) for one in lines(made.folder / "data" / "receipts.ndjson")] == [
        (1, 1),
        (2, 1),
        (1, 2),
    ]
    alone = build(store, tmp_path / "alone", runs="2")
    assert (alone.receipts, alone.prior) == (1, 0)


def test_a_store_without_rows_is_refused(tmp_path: Path) -> None:
    """A store that keeps receipts only has nothing to hand over."""
    rules = Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n')
    with open_store(str(tmp_path / "seen.db"), keep="none") as store:
        with Deduplicator(rules, store) as deduplicator:
            deduplicator.judge({"t": "a"})
        with pytest.raises(StoreUnsupported, match="keeps no rows"):
            build(store, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_receipts_at_odds_with_the_chain_are_refused(tmp_path: Path) -> None:
    """A store whose receipts were changed after their run makes no bundle."""
    rules = Ruleset.from_toml('name = "t"\nversion = 1\nidentity = ["t"]\n')
    store = MemoryStore(blocks=True)
    with Deduplicator(rules, store) as deduplicator:
        deduplicator.judge({"t": "a"})
    blocks = store._state.tables.blocks
    blocks[1, 1] = (*blocks[1, 1][:2], blocks[1, 1][2].replace(b'"new"', b'"New"'), blocks[1, 1][3])
    with pytest.raises(StoreDamaged, match="run 1 in memory: don't give the chain digest"):
        build(store, tmp_path / "bundle")


def test_options_of_the_command(store: Path, tmp_path: Path) -> None:
    """The command takes a range of runs, a size with unit, and zstd; what it made is told, or printed as JSON."""
    options = ("--runs", "2..3", "--split", "20kB", "--zstd", "--json")
    done = subprocess.run(
        [SEENBEFORE, "bundle", store, "--out", tmp_path / "bundle", *options],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["runs"], told["prior"] > 50) == ([2, 3], True)
    digest = hashlib.sha256((tmp_path / "bundle" / "manifest-sha256.txt").read_bytes()).hexdigest()
    assert told["manifest"] == f"sha256:{digest}"
    assert (tmp_path / "bundle" / "data" / "rows-00002.ndjson.zst").exists()
    for wrong in ("0", "1XB", "big"):
        done = subprocess.run(
            [SEENBEFORE, "bundle", store, "--out", tmp_path / "no", "--split", wrong], check=False, capture_output=True
        )
        assert done.returncode == 2
