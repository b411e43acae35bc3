"""`seenbefore verify` and `verify.py` as people start them: bundles, output folders, stores, options, exit statuses."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.evidence.conftest import SAMPLE, crawl, made
from tests.evidence.test_bundle import new_key
from tests.evidence.verifiers import CHECKER, edit, member

from seenbefore._kernel import unpack
from seenbefore.errors import UsageError
from seenbefore.stores import open_store

SEENBEFORE = Path(sys.executable).with_name("seenbefore")
RULES = str(SAMPLE / "rules.toml")
# What verify.py may import: of the standard library, in Python 3.9 already, and `compression` where there is one.
ALLOWED = {
    "__future__", "base64", "bisect", "collections", "compression", "datetime", "fractions", "hashlib", "html",
    "json", "math", "os", "re", "stat", "sys", "typing", "unicodedata",
}  # fmt: skip


def verify(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command."""
    done = subprocess.run(
        [SEENBEFORE, "verify", *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


def plain(bundle: Path, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The bundle's own program, in an empty environment."""
    command = [sys.executable, "-I", bundle / "data" / "verify.py", *arguments]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, check=False)


def test_a_bundle_copied_away(whole: Path, tmp_path: Path) -> None:
    """A copy is checked by both, from any working directory; one letter changed in it is found and named by both."""
    bundle = Path(shutil.copytree(whole, tmp_path / "elsewhere" / "bundle"))
    for done in (verify(bundle), plain(bundle, folder=tmp_path)):
        assert done.returncode == 0, done.stdout + done.stderr
        assert "passed: " in done.stdout
    path = bundle / "data" / "rows.ndjson"
    path.write_bytes(path.read_bytes().replace(b"noon", b"moon", 1))
    for done in (verify(bundle), plain(bundle, folder=tmp_path)):
        assert done.returncode == 1
        assert "data/rows.ndjson, line 1: payload digest of 1:1 (keys)" in done.stdout
        assert "FAILED: " in done.stdout


def test_json_reports(whole: Path) -> None:
    """Both print one JSON value, of the same members."""
    kernel, plainly = (json.loads(done.stdout) for done in (verify(whole, "--json"), plain(whole, "--json")))
    assert (kernel["kind"], kernel["outcome"], kernel["problems"]) == ("bundle", "passed", [])
    assert set(plainly) | {"notes"} == set(kernel)
    assert plainly["checks"].items() <= kernel["checks"].items()


def test_digest_is_that_of_the_bundles_program(whole: Path) -> None:
    """--digest prints the SHA-256 of the verify.py that is put into bundles, and takes no path."""
    digest = hashlib.sha256((whole / "data" / "verify.py").read_bytes()).hexdigest()
    assert verify("--digest").stdout.startswith(digest)
    assert verify("--digest", whole).returncode == 2
    assert verify().returncode == 2


def test_compressed_and_split(store: Path, tmp_path: Path) -> None:
    """Compressed parts are checked by the kernel, and by verify.py where it has them unpacked; else it says why not."""
    bundle = made(store, tmp_path / "bundle", compressed=True, split=20_000)
    assert verify(bundle).returncode == 0
    done = json.loads(plain(bundle, "--json").stdout)
    if sys.version_info < (3, 14):
        assert {done["checks"][check]["outcome"] for check in ("receipts", "replay", "rows", "keys")} == {
            "not checkable"
        }
        assert done["outcome"] == "passed"
    unpacked = made(store, tmp_path / "plain", split=20_000)
    done = json.loads(plain(bundle, "--unpacked", str(unpacked / "data"), "--json").stdout)
    assert {done["checks"][check]["outcome"] for check in ("receipts", "replay", "rows", "keys")} == {"passed"}


def test_a_part_gone(store: Path, tmp_path: Path) -> None:
    """A part that is missing, or named out of turn, is found."""
    bundle = made(store, tmp_path / "bundle", split=20_000)
    (bundle / "data" / "rows-00002.ndjson").rename(bundle / "data" / "rows-00009.ndjson")
    for done in (verify(bundle), plain(bundle)):
        assert done.returncode == 1
        assert "one file, or all parts from 1" in done.stdout


def test_signatures(store: Path, tmp_path: Path) -> None:
    """A signature passes with its key, fails with another key, over another manifest, and where there is none."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    def public(path: Path) -> Path:
        key = load_pem_private_key(path.read_bytes(), None).public_key()
        out = path.with_suffix(".pub")
        out.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        return out

    mine, other = new_key(tmp_path / "mine.pem"), new_key(tmp_path / "other.pem")
    bundle = tmp_path / "bundle"
    subprocess.run([SEENBEFORE, "bundle", store, "--out", bundle, "--sign", mine], check=True, capture_output=True)
    assert verify(bundle, "--key", public(mine)).returncode == 0
    alone = verify(bundle)
    assert (alone.returncode, "signed by " in alone.stdout) == (0, True)
    assert "not checkable    signature" in plain(bundle).stdout
    wrong = verify(bundle, "--key", public(other))
    assert (wrong.returncode, "public_key (signature)" in wrong.stdout) == (1, True)
    signature = json.loads((bundle / "signature.json").read_bytes())
    signature["signature"] = "0" * 128
    (bundle / "signature.json").write_text(json.dumps(signature, separators=(",", ":")) + "\n", encoding="utf-8")
    told = json.loads(verify(bundle, "--json").stdout)
    assert told["checks"]["signature"]["outcome"] == "failed"
    unsigned = made(store, tmp_path / "unsigned")
    assert verify(unsigned, "--key", public(mine)).returncode == 1
    assert verify(store, "--key", public(mine)).returncode == 2


def test_an_output_folder(store: Path, tmp_path: Path) -> None:
    """A run's folder passes with its ruleset; any of its files changed is named, refused lines and counts too."""
    for run in (1, 2, 3):
        done = verify(store.parent / "out" / str(run), "--rules", RULES)
        assert done.returncode == 0, done.stdout
    assert verify(store.parent / "out" / "1", folder=tmp_path).returncode == 2
    changes = {
        "kept.ndjson": (lambda path: path.write_bytes(path.read_bytes().replace(b"noon", b"moon", 1)), "(keys)"),
        "receipts.ndjson": (lambda path: edit(path, 1, member("verdict", "unkeyed")), "(replay)"),
        "refused.ndjson": (lambda path: edit(path, 1, member("raw", "else")), "(refused)"),
        "summary.json": (count_otherwise, "(summary)"),
    }
    for name, (change, check) in changes.items():
        folder = Path(shutil.copytree(store.parent / "out" / "1", tmp_path / name))
        change(folder / name)
        done = verify(folder, "--rules", RULES)
        assert (done.returncode, check in done.stdout) == (1, True), done.stdout
    (tmp_path / "seenbefore.toml").write_bytes(Path(RULES).read_bytes())
    assert verify(store.parent / "out" / "2", folder=tmp_path).returncode == 0
    (tmp_path / "empty").mkdir()
    assert verify(tmp_path / "empty").returncode == 2
    shutil.rmtree(tmp_path / "kept.ndjson")
    unfinished = Path(shutil.copytree(store.parent / "out" / "1", tmp_path / "unfinished"))
    (unfinished / "summary.json").unlink()
    assert verify(unfinished, "--rules", RULES).returncode == 2


def test_folders_of_several_runs(store: Path, tmp_path: Path) -> None:
    """A folder with a folder for each run: the chain is walked, and its first broken link is named."""
    out = Path(shutil.copytree(store.parent / "out", tmp_path / "out"))
    done = verify(out, "--rules", RULES)
    assert (done.returncode, "passed: runs " in done.stdout) == (0, True), done.stdout
    edit(out / "2" / "receipts.ndjson", 3, member("source", "elsewhere"))
    done = verify(out, "--rules", RULES)
    assert done.returncode == 1
    assert "2/summary.json: chain digest of run 2 (the first broken link) (runs)" in done.stdout
    assert "run 1" not in done.stdout
    assert "run 3" not in done.stdout
    shutil.rmtree(out / "2")
    done = verify(out, "--rules", RULES)
    assert done.returncode == 0
    assert "the chain digest of run 3 rests on a run that is not here" in done.stdout
    shutil.rmtree(out / "3")
    edit(out / "1" / "kept.ndjson", 1, lambda line: line.replace(b"noon", b"moon"))
    assert "1/kept.ndjson, line 1: payload digest of 1:1 (keys)" in verify(out, "--rules", RULES).stdout


def count_otherwise(path: Path) -> None:
    """Another number of kept rows in a summary."""
    members = json.loads(path.read_bytes())
    path.write_text(json.dumps({**members, "kept": members["kept"] + 1}), encoding="utf-8")


def test_a_store_and_its_first_broken_link(tmp_path: Path) -> None:
    """A store passes as it is; of receipts that were changed in it the first broken link of the chain is named."""
    store = crawl(tmp_path)
    assert verify(store).returncode == 0
    with open_store(str(store)) as opened:
        spoil(opened, store)
    done = verify(store)
    assert done.returncode == 1
    assert "chain digest of run 2 (link 2, the first broken link) (runs)" in done.stdout
    assert "run 1, receipts" not in done.stdout


def spoil(opened: Any, store: Path) -> None:
    """Changes a receipt of run 2 as whoever can write to the file would."""
    import sqlite3

    import zstandard

    opened.close()
    connection = sqlite3.connect(store)
    ((row, packed),) = connection.execute("SELECT rowid, receipts FROM block WHERE run = 2").fetchall()
    data = unpack(packed)
    changed = data.replace(b'"source":"courier"', b'"source":"kourier"', 1)
    assert changed != data
    connection.execute(
        "UPDATE block SET receipts = ? WHERE rowid = ?", (zstandard.ZstdCompressor().compress(changed), row)
    )
    connection.commit()
    connection.close()


def test_what_is_no_bundle(tmp_path: Path, whole: Path) -> None:
    """A missing path and a file that is no store end with an error and their exit status, without a traceback."""
    assert verify(tmp_path / "missing").returncode == 2
    (tmp_path / "file").write_text("text", encoding="utf-8")
    assert verify(tmp_path / "file").returncode == 4
    for arguments in ((str(tmp_path),), ("--odd",), (str(tmp_path), "b")):
        assert plain(whole, *arguments).returncode == 2


def test_grammar_and_imports() -> None:
    """verify.py is in the grammar of Python 3.9 and imports nothing but a few modules of its standard library."""
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"), feature_version=(3, 9))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.partition(".")[0] for module in modules} <= ALLOWED
    # Newer than 3.9, though the grammar allows them.
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [one for one in called for keyword in one.keywords if keyword.arg in {"strict", "slots", "kw_only"}]
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & {"pairwise", "file_digest", "bit_count", "batched", "UTC", "fromisoformat"}
    # `X | Y` of types is an error in 3.9 where it is evaluated: outside of annotations, that is.
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    unions = [node for value in values for node in ast.walk(value) if isinstance(node, ast.BinOp)]
    assert not [one for one in unions if isinstance(one.op, ast.BitOr) and "None" in ast.dump(one)]


@pytest.mark.parametrize("minor", [9, 10, 12, 13, 14])
def test_other_pythons(whole: Path, minor: int) -> None:
    """Where this machine has another Python, the bundle's program passes on it too."""
    found = shutil.which(f"python3.{minor}") or "there is none"
    asked = [found, "-c", f"import sys; print(sys.executable * (sys.version_info[:2] == (3, {minor})))"]
    python = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() if "/" in found else ""
    if not python:
        pytest.skip(f"there is no python3.{minor} here")
    command = [python, "-I", whole / "data" / "verify.py"]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_ruleset_for_a_runs_folder(store: Path) -> None:
    """The message names the fingerprint that is needed, and the option."""
    from seenbefore.audit.verify import verify as check

    with pytest.raises(UsageError, match="isn't at hand") as error:
        check(str(store.parent / "out" / "1"))
    assert "--rules" in (error.value.hint or "")
    assert "PATH" in os.environ
