"""Runs in which one call of the program goes wrong: the library that does it, and the process that starts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit status (negative for a signal), standard output, standard error."""

    status: int
    told: str
    said: str


class Faulty:
    """Starts runs in children of one process, with `shim.c` between the program and its system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        library = folder / "shim.so"
        build = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, Path(__file__).with_name("shim.c")]
        subprocess.run([*build, "-ldl"], check=True)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.forked"],
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(library)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @staticmethod
    def missing() -> str | None:
        """Why it can't be had on this machine."""
        if not sys.platform.startswith("linux"):
            return "calls are made to fail by LD_PRELOAD, as on Linux"
        return None if shutil.which("cc") else "no C compiler (cc), which makes the library that lets calls fail"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.communicate(timeout=60)

    def run(
        self, folder: Path, arguments: Sequence[str], nth: int = 0, action: str = "EIO", log: Path | None = None
    ) -> Ended:
        """Run the program in `folder` with the `nth` call on files below it going wrong; see shim.c."""
        told, said = self._folder / "told", self._folder / "said"
        for path in (told, said):
            path.write_bytes(b"")
        asked = {"arguments": arguments, "folder": str(folder), "below": f"{folder}/", "nth": nth, "action": action}
        asked |= {"log": "" if log is None else str(log), "told": str(told), "said": str(said)}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{json.dumps(asked)}\n")
        self._server.stdin.flush()
        return Ended(int(self._server.stdout.readline()), told.read_text(), said.read_text())

    def calls(self, folder: Path, arguments: Sequence[str], action: str) -> list[str]:
        """The calls that a run makes when nothing goes wrong, by name and file, those that `action` counts."""
        log = self._folder / "log"
        log.unlink(missing_ok=True)
        self.run(folder, arguments, action=action, log=log)
        return [f"{name} {Path(path).name}" for _, name, path in map(str.split, log.read_text().splitlines())]
