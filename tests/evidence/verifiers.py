"""Both verifiers, told apart by name, and how a bundle is sealed again after somebody changed it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seenbefore.audit.bags import Bag
from seenbefore.audit.report import Report
from seenbefore.audit.verify import verify
from seenbefore.evidence import bag

CHECKER = Path(__file__).parents[2] / "python" / "seenbefore" / "evidence" / "verify.py"
_spec = importlib.util.spec_from_file_location("checker", CHECKER)
assert _spec is not None
assert _spec.loader is not None
checker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checker)

Told = dict[str, Any]
VERIFIERS: dict[str, Callable[[Path], Told]] = {
    "kernel": lambda bundle: verify(str(bundle)).members(),
    "verify.py": lambda bundle: checker.Checker(str(bundle), None).check().members(str(bundle)),
}


def kernel_bag(bundle: Path) -> Told:
    """What the bag alone says."""
    report = Report("bundle", str(bundle))
    Bag(str(bundle), report, lambda _: None).check_tags()
    return report.members()


def plain_bag(bundle: Path) -> Told:
    """The same by verify.py."""
    checking = checker.Checker(str(bundle), None)
    checking.bag.check_tags()
    told: Told = checking.report.members(str(bundle))
    return told


BAGS: dict[str, Callable[[Path], Told]] = {"kernel": kernel_bag, "verify.py": plain_bag}


def places(told: Told) -> set[tuple[str, str, int | None]]:
    """Check, file and line of every problem."""
    return {(one["check"], one["file"], one["line"]) for one in told["problems"]}


def edit(path: Path, line: int, change: Callable[[bytes], bytes]) -> None:
    """Changes one line, from 1; what `change` gives stands in its place, its LF aside."""
    lines = path.read_bytes().split(b"\n")
    lines[line - 1] = change(lines[line - 1])
    path.write_bytes(b"\n".join(lines))


def member(name: str, value: Any) -> Callable[[bytes], bytes]:
    """A change of one member of a line of ordered JSON."""

    def change(line: bytes) -> bytes:
        members = json.loads(line)
        assert members[name] != value
        return ordered({**members, name: value})

    return change


def ordered(members: Any) -> bytes:
    """Ordered JSON without LF."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def reseal(bundle: Path) -> None:
    """Makes every digest that anybody can recompute: of receipts, of the chain, of the package, of the manifests."""
    data = bundle / "data"
    runs = [json.loads(line) for line in (data / "runs.ndjson").read_bytes().splitlines()]
    receipts = (data / "receipts.ndjson").read_bytes().split(b"\n")[:-1]
    previous: str | None = None
    for at, run in enumerate(runs):
        own = [line for line in receipts if line.startswith(b'{"run":%d,' % run["run"])]
        digest = hashlib.sha256(b"".join(line + b"\n" for line in own)).digest()
        if at:
            run["previous"] = previous
        before = bytes(32) if run["previous"] is None else bytes.fromhex(run["previous"][7:])
        previous = run["chain"] = f"sha256:{hashlib.sha256(before + digest).hexdigest()}"
        run["records"], run["receipts_sha256"] = len(own), f"sha256:{digest.hex()}"
    (data / "runs.ndjson").write_bytes(b"".join(ordered(run) + b"\n" for run in runs))
    reseal_bag(bundle)


def reseal_bag(bundle: Path) -> None:
    """Makes the digests of the package and of the manifests alone."""
    data = bundle / "data"
    package = json.loads((data / "datapackage.json").read_bytes())
    for resource in package["resources"]:
        path = data / resource["path"]
        resource["bytes"], resource["hash"] = path.stat().st_size, f"sha256:{sha256(path)}"
    (data / "datapackage.json").write_bytes(ordered(package) + b"\n")
    payload = {f"data/{path.name}": path for path in data.iterdir()}
    (bundle / bag.MANIFEST).write_bytes(bag.manifest({name: sha256(path) for name, path in payload.items()}))
    (bundle / bag.BAG_INFO).write_bytes(bag.bag_info({name: path.stat().st_size for name, path in payload.items()}))
    tags = {path.name: sha256(path) for path in bundle.glob("*.*") if path.name != bag.TAG_MANIFEST}
    (bundle / bag.TAG_MANIFEST).write_bytes(bag.manifest(tags))


def sha256(path: Path) -> str:
    """In hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
