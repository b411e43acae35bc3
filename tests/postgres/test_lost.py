"""Writers, connections and servers that go away in mid-batch: no record is lost, none is new twice."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres.crawls import check_laws, mixed, receipts_match, rules, start, write
from tests.servers import PostgresServer, binaries, postgres_server

from seenbefore import Deduplicator
from seenbefore.dedup import Settings
from seenbefore.errors import PermissionDenied, StoreForeign, StoreNewer
from seenbefore.stores import make_store, open_store
from seenbefore.stores.postgres.transaction import Writer

RECORDS, BATCH = 1500, 100


def expected(folder: Path, crawl: Path) -> Path:
    """The output of the same run into a file of SQLite."""
    out = folder / "expected"
    with Deduplicator(folder / "rules.toml", folder / "expected.db", settings=Settings(batch_size=BATCH)) as dedup:
        dedup.run(crawl, out)
    return out


def same_files(one: Path, other: Path) -> None:
    """Receipts and kept rows are the same, byte for byte."""
    for name in ("receipts.ndjson", "kept.ndjson"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


class Cutter:
    """A connection that is lost around the COMMIT of some batch: before it, or after it came to pass."""

    def __init__(self, connection: Any, when: str, count: int) -> None:
        self._connection, self._when, self._left = connection, when, count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: Any, *arguments: Any) -> Any:
        """As the connection, but for one COMMIT."""
        if statement == "COMMIT":
            self._left -= 1
            if not self._left:
                if self._when == "after":
                    self._connection.execute("COMMIT")
                self._connection.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")
        return self._connection.execute(statement, *arguments)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("count", [2, 5, 17])
def test_the_answer_to_a_commit_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, count: int) -> None:
    """Whether the commit came to pass or not, the run ends with the files of one that nothing happened to."""
    rules(tmp_path)
    crawl = write(tmp_path / "crawl.ndjson", mixed(1, RECORDS))
    url, begin = postgres_server().schema(), Writer.begin
    with Deduplicator(tmp_path / "rules.toml", url, settings=Settings(batch_size=BATCH)) as dedup:
        cutters: list[Cutter] = []

        def cut(writer: Writer) -> Any:
            connection = begin(writer)
            if not cutters:
                cutters.append(Cutter(connection, when, count))
            return cutters[0] if cutters[0]._connection is connection else connection

        # The first COMMIT begins the run, the last one finishes it.
        monkeypatch.setattr(Writer, "begin", cut)
        dedup.run(crawl, tmp_path / "out")
        assert cutters[0]._left == 0
    same_files(tmp_path / "out", expected(tmp_path, crawl))
    with open_store(url, read_only=True) as store:
        check_laws(store)
        receipts_match(store, 1, tmp_path / "out")


class Proxy:
    """Hands bytes on to a server, and cuts all its connections when told to."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            self._pairs += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._hand_on, args=(source, sink), daemon=True).start()

    def _hand_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            one.close()

    def cut(self) -> None:
        """Cut what is connected now."""
        pairs, self._pairs = self._pairs, []
        for one in pairs:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def close(self) -> None:
        """Take no more."""
        self._listener.close()
        self.cut()


def disturbed(tmp_path: Path, url: str, disturb: Callable[[], None], times: int) -> None:
    """Run a crawl in a process while something happens again and again, and hold its files against others'."""
    rules(tmp_path)
    crawl = write(tmp_path / "crawl.ndjson", mixed(2, RECORDS))
    worker = start(url, [crawl], tmp_path / "out", 20)
    dice = random.Random(3)
    for _ in range(times):
        time.sleep(dice.random())
        if worker.poll() is None:
            disturb()
    _, said = worker.communicate(timeout=250)
    assert worker.returncode == 0, said
    same_files(tmp_path / "out", expected(tmp_path, crawl))


@pytest.mark.slow
def test_connections_are_cut(tmp_path: Path) -> None:
    """Connections that are cut at any moment are made anew, and the run ends as if nothing had been."""
    server = postgres_server()
    proxy, url = Proxy(server.port), server.schema()
    make_store(url, keep="kept")
    try:
        disturbed(tmp_path, url.replace(f":{server.port}/", f":{proxy.port}/"), proxy.cut, 8)
    finally:
        proxy.close()
    with open_store(url, read_only=True) as store:
        check_laws(store)


@pytest.mark.slow
def test_the_server_is_started_anew(tmp_path: Path) -> None:
    """A server that is shut down, or crashes, in mid-batch and comes again loses nothing that it said is committed."""
    server = PostgresServer(binaries(), durable=True)
    hows: Iterator[signal.Signals] = iter([signal.SIGINT, signal.SIGQUIT] * 4)

    def restart() -> None:
        server.stop(next(hows))
        server.start()

    try:
        url = server.schema()
        make_store(url, keep="kept")
        disturbed(tmp_path, url, restart, 3)
        with open_store(url, read_only=True) as store:
            check_laws(store)
    finally:
        server.remove()


@pytest.mark.slow
def test_killed_workers_leave_whole_batches(tmp_path: Path) -> None:
    """A worker that is killed again and again, and started again with the same command, ends with the same files."""
    rules(tmp_path)
    url, crawl = postgres_server().schema(), write(tmp_path / "crawl.ndjson", mixed(4, RECORDS))
    dice, kills = random.Random(5), 0
    while True:
        worker = start(url, [crawl], tmp_path / "out", 20)
        time.sleep(1 + dice.random())
        if kills < 5:
            worker.kill()
        _, said = worker.communicate(timeout=200)
        if worker.returncode == 0:
            break
        assert worker.returncode == -signal.SIGKILL, said
        kills += 1
    assert kills
    same_files(tmp_path / "out", expected(tmp_path, crawl))
    with open_store(url, read_only=True) as store:
        check_laws(store)


def test_a_plain_role_writes_and_makes_nothing(tmp_path: Path) -> None:
    """A role without the right to make tables works once they are there, is refused before, and no password is told."""
    server = postgres_server()
    admin, schema = server.schema().split("?schema=")
    url = f"{admin}?schema={schema}".replace("admin@", f"plain_{schema}:secretword@")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE plain_{schema} LOGIN".encode())
        with pytest.raises(PermissionDenied) as refused:
            open_store(url)
        assert "secretword" not in str(refused.value)
        make_store(f"{admin}?schema={schema}", keep="kept")
        for right in ("USAGE ON SCHEMA {}", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {}"):
            connection.execute(f"GRANT {right.format(schema)} TO plain_{schema}".encode())
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO plain_{schema}".encode())
    crawl = write(tmp_path / "crawl.ndjson", mixed(6, 200))
    with Deduplicator(rules(tmp_path), url) as dedup:
        assert "secretword" not in dedup.store.location + repr(dedup.store._address)
        dedup.run(crawl, tmp_path / "out")
    same_files(tmp_path / "out", expected(tmp_path, crawl))


def test_foreign_and_newer_schemas_are_refused() -> None:
    """A schema with other tables, and one of a newer version, are refused and left as they are."""
    server = postgres_server()
    foreign, newer = server.schema(), server.schema()
    make_store(newer, keep="kept")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        name = foreign.rpartition("=")[2]
        connection.execute(f"CREATE SCHEMA {name}; CREATE TABLE {name}.mine (id int)".encode())
        name = newer.rpartition("=")[2]
        connection.execute(f"INSERT INTO {name}.migration VALUES (2, '2-later')".encode())
    with pytest.raises(StoreForeign):
        open_store(foreign)
    with pytest.raises(StoreNewer):
        open_store(newer)
