"""A PostgreSQL server for the tests: one a session, started when the first test needs it, in a folder that goes.

The server refuses to be root's, so root starts it as a user who owns nothing else. It listens on a Unix socket in its
folder and on a free port of the loopback interface. It is stopped by its process id.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Whom root starts the server as: Debian's package makes the first, the second is everywhere.
_USERS = ("postgres", "nobody")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "deadlock_timeout": "200ms",
    "autovacuum": "off",
    "log_min_messages": "warning",
}
_numbers = itertools.count(1)


def programs() -> Path | None:
    """The folder of initdb and postgres, of the newest version that is installed; None where there is none."""
    found = shutil.which("initdb")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return installed[-1].parent if installed else None if found is None else Path(found).resolve().parent


class PostgresServer:
    """A private server. `durable` waits for the disk at commits, which only tests that pull the plug need."""

    def __init__(self, binaries: Path, *, durable: bool = False, folder: Path | None = None) -> None:
        self._binaries, self._durable = binaries, durable
        self.folder = Path(tempfile.mkdtemp(prefix="sb-pg-", dir=folder))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._user = None if os.geteuid() else next(pwd.getpwnam(name) for name in _USERS if _is_there(name))
        self._own(self.folder)
        data = self.folder / "data"
        initdb = [binaries / "initdb", "-D", data, "-U", "admin", "-E", "UTF8", "--locale=C", "-A", "trust", "-N"]
        self._run(*map(str, initdb))
        self.start()

    def _own(self, path: Path) -> None:
        path.chmod(0o755 if path == self.folder else 0o700)
        if self._user is not None:
            os.chown(path, self._user.pw_uid, self._user.pw_gid)

    def _as_user(self) -> dict[str, int | list[int]]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, **self._as_user())  # type: ignore[call-overload]
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = _SETTINGS | {"port": str(self.port), "unix_socket_directories": str(self.folder)}
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            command = [self._binaries / "postgres", "-D", self.folder / "data", *options]
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._as_user())  # type: ignore[call-overload]
        self._wait()

    def _wait(self) -> None:
        import psycopg

        for _ in range(600):
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres")).close()
                return
            assert self._process is not None
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT is a fast shutdown, SIGQUIT an immediate one, as a crash of the machine would be."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def remove(self) -> None:
        """Stop it, and leave nothing."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, *, user: str = "admin", port: int | None = None) -> str:
        """The URL of a database, by way of the loopback interface."""
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}"

    def schema(self) -> str:
        """The URL of a store that isn't there yet, in a database that tests share."""
        return f"{self.url('postgres')}?schema=test{next(_numbers)}"

    def database(self) -> str:
        """The URL of a new, empty database."""
        import psycopg

        name = f"test{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        return self.url(name)


def _is_there(name: str) -> bool:
    with contextlib.suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


_servers: list[PostgresServer] = []


def postgres_server() -> PostgresServer:
    """The session's server."""
    if not _servers:
        _servers.append(PostgresServer(binaries()))
    return _servers[0]


def binaries() -> Path:
    """The folder of the server's programs; without them the test is skipped."""
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL server is installed here: `make server` installs Debian's")
    return found


def stop_servers() -> Iterator[None]:
    """For a fixture of the session: stops what was started."""
    yield
    while _servers:
        _servers.pop().remove()
