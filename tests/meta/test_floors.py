"""What Import Linter can't see: who imports the kernel, and that nothing inside imports the package's front page."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent / "python" / "seenbefore"
# stores/sqlite/ because a process has one SQLite library, the kernel's: two of them break each other's locks on a file.
MAY_USE_KERNEL = (
    "rules/",
    "reading/",
    "writing/",
    "dedup/",
    "audit/",
    "near/",
    "stores/memory/",
    "stores/postgres/",
    "stores/sqlite/",
    "__init__",
)
MODULES = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}
SUBMODULES = {"_kernel", *(name.split("/")[0] for name in MODULES)}


def imported(path: Path) -> list[str]:
    """The dotted names that a file imports, relative ones as written with their dots."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    return names


def test_kernel_is_used_by_its_floor_only() -> None:
    """Only rules, reading, dedup, audit, near and the stores know the kernel; the front page re-exports it."""
    users = {
        name
        for name, path in MODULES.items()
        if any(one == "seenbefore._kernel" or one.startswith("seenbefore._kernel.") for one in imported(path))
    }
    assert {name for name in users if not name.startswith(MAY_USE_KERNEL)} == set()


def test_nothing_inside_imports_the_front_page() -> None:
    """Modules import from the module that has a name, never from the package's `__init__`, which imports everything."""
    breaches = {
        (name, one)
        for name, path in MODULES.items()
        if name != "__init__"
        for one in imported(path)
        if one == "seenbefore" or (one.startswith("seenbefore.") and one.split(".")[1] not in SUBMODULES)
    }
    assert breaches == set()


def test_sqlite_is_the_kernels() -> None:
    """Nothing imports Python's sqlite3: two SQLite libraries in a process let go of each other's locks."""
    assert {name for name, path in MODULES.items() if any(one.startswith("sqlite3") for one in imported(path))} == set()


def test_imports_are_absolute() -> None:
    """Imports name the whole path, so that a file says by itself which floor it stands on."""
    assert {(name, one) for name, path in MODULES.items() for one in imported(path) if one.startswith(".")} == set()
