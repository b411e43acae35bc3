"""The program in children of one process that has imported everything: some twenty milliseconds a run.

    LD_PRELOAD=shim.so python -m tests.crash.forked

A line of JSON asks for a run: `arguments`, `folder` (its working directory), and for the shim `below`, `nth`, `action`,
`log`, and the files that get what it prints, `said` and `told`. The answer is a line with the exit status, negative for
a signal. The child is a process like any other: it ends as a command ends, by signals too.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
from typing import Any

MODULES = ("seenbefore.cli", "seenbefore.dedup", "seenbefore.stores.sqlite", "rich.console", "rich.table", "rich.box")


def child(asked: dict[str, Any]) -> int:
    """Become the program."""
    from seenbefore.cli import main

    for name, descriptor in (("/dev/null", 0), (asked["told"], 1), (asked["said"], 2)):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(asked["folder"])
    sys.argv = ["seenbefore", *asked["arguments"]]
    ctypes.CDLL(None).fault_arm(
        asked["below"].encode(), ctypes.c_long(asked["nth"]), asked["action"].encode(), asked["log"].encode()
    )
    return main()


def serve() -> int:
    """Fork a child for each line that comes in; gives its status only within that child."""
    for name in MODULES:
        importlib.import_module(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            return child(json.loads(line))
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
