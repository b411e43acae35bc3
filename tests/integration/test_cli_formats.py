"""The same crawl in every format: the same verdicts, and a run that was stopped goes on in the middle of any."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from seenbefore import Deduplicator, Settings
from seenbefore.dedup.running import Silent
from seenbefore.reading import Dialect, Form

pa = pytest.importorskip("pyarrow")
ROWS = [
    {
        "id": f"{number % 40:03}",
        "title": f'Lamp {number % 40}, "old"\n{number % 7}',
        "url": f"https://e.example/{number % 50}",
    }
    for number in range(300)
]
RULES = """
name = "t"
version = 1
identity = ["id", "title"]
[record]
url = "url"
"""


def as_ndjson() -> bytes:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in ROWS).encode()


def as_table(delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(ROWS[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)
    return file.getvalue().encode()


def as_parquet() -> bytes:
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(ROWS), file, row_group_size=70)
    return file.getvalue()


def as_arrow(stream: bool) -> bytes:
    file = io.BytesIO()
    table = pa.Table.from_pylist(ROWS)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)
    return file.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "a.ndjson": as_ndjson,
    "a.json": lambda: json.dumps(ROWS, indent=1).encode(),
    "a.csv": lambda: as_table(","),
    "a.tsv": lambda: as_table("\t"),
    "a.parquet": as_parquet,
    "a.arrow": lambda: as_arrow(False),
    "a.arrows": lambda: as_arrow(True),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data[:500]) + gzip.compress(data[500:]),
    ".zst": lambda data: zstandard.compress(data[:500]) + zstandard.compress(data[500:]),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


class Stop(Exception):
    """Thrown where a process would be killed."""


class StopAfter(Silent):
    """Stops a run once so many records are committed."""

    def __init__(self, records: int) -> None:
        self.records = records

    def passed(self, raw: int, records: int) -> None:  # noqa: ARG002 - the shape of a Watch
        """Stop."""
        if records >= self.records:
            raise Stop


def verdicts(out: Path) -> list[tuple[Any, ...]]:
    """What the receipts say but for where the record was read."""
    lines = [json.loads(line) for line in (out / "receipts.ndjson").read_text().splitlines()]
    return [(one["seq"], one["verdict"], one["content_key"], one["url_key"], one["refers_to"]) for one in lines]


@pytest.mark.parametrize(
    ("name", "packed"),
    [*((name, "") for name in FILES), *zip(FILES, (".xz", ".gz", ".zst", ".bz2", ".xz", ".gz", ".zst"), strict=True)],
)
def test_every_format_gives_the_same_verdicts_and_goes_on(tmp_path: Path, name: str, packed: str) -> None:
    """Whole or stopped three times, from a file of any format and compression: the same verdicts, the same files."""
    (tmp_path / "rules.toml").write_text(RULES)
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(PACKED[packed](FILES[name]()))
    (tmp_path / "plain.ndjson").write_bytes(as_ndjson())
    for given, out in ((tmp_path / "plain.ndjson", "plain"), (path, "whole")):
        with Deduplicator(tmp_path / "rules.toml", "memory:") as dedup:
            dedup.run(given, tmp_path / out)
    assert verdicts(tmp_path / "whole") == verdicts(tmp_path / "plain")
    for stop in (1, 75, 140):
        with (
            pytest.raises(Stop),
            Deduplicator(
                tmp_path / "rules.toml", tmp_path / "s.db", settings=Settings(batch_size=13), watch=StopAfter(stop)
            ) as dedup,
        ):
            dedup.run(path, tmp_path / "stopped")
    with Deduplicator(tmp_path / "rules.toml", tmp_path / "s.db", settings=Settings(batch_size=50)) as dedup:
        dedup.run(path, tmp_path / "stopped")
    for file in ("kept.ndjson", "receipts.ndjson", "refused.ndjson", "summary.json"):
        assert (tmp_path / "stopped" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_refused_rows_are_set_aside_untouched(run: Any) -> None:
    """A row that is none, and one whose cell its kind refuses, keep their own bytes, line and offset."""
    Path("rules.toml").write_text(RULES.replace('"title"]', '"price"]') + '[fields.price]\nkind = "decimal"\n')
    Path("a.csv").write_bytes(b'id,price\r\n1,9.90\r\n2,cheap\r\n3\r\n4,"a"b\r\n5,"1\r\n0"\r\n6,9.9\r\n')
    done = run("dedup", "a.csv", "--rules", "rules.toml", "--out", "out", "--json")
    assert done.returncode == 1
    assert "a.csv is read as CSV" in done.stderr
    refused = [json.loads(line) for line in Path("out/refused.ndjson").read_text().splitlines()]
    assert [(one["line"], one["offset"], one["code"], one["raw"]) for one in refused] == [
        (3, 18, "bad-number", "2,cheap"),
        (4, 27, "ragged-row", "3"),
        (5, 30, "invalid-csv", '4,"a"b'),
        (6, 38, "bad-number", '5,"1\r\n0"'),
    ]
    kept = Path("out/kept.ndjson").read_text().splitlines()
    assert kept[0].startswith('{"id":"1","price":"9.90","_seen":')
    assert json.loads(done.stdout)["verdicts"]["new"] == 2
    assert run("explain", "a.csv:6", "--rules", "rules.toml").returncode in {0, 1}
    assert '"9.90"' in run("explain", "a.csv:2", "--json").stdout or "9.9" in run("explain", "1:1").stdout


def test_options_of_tables(run: Any) -> None:
    """--format, --delimiter and --encoding say what an input is; they are remembered with an unfinished run."""
    Path("t.txt").write_bytes("id;title\n1;é\n".encode("cp1252"))
    arguments = ("--rules", "records/1", "--store", "memory:", "--format", "csv")
    done = run("dedup", "t.txt", "--out", "o", *arguments, "--delimiter", ";", "--encoding", "cp1252")
    assert done.returncode == 0, done.stderr
    assert json.loads(Path("o/kept.ndjson").read_text())["title"] == "é"
    for wrong in (
        ("--format", "json", "--delimiter", ";"),
        ("--format", "csv", "--encoding", "klingon"),
        ("--delimiter", ";;"),
    ):
        assert run("dedup", "t.txt", "--out", "p", *wrong).returncode == 2
    assert run("dedup", "t.txt", "--out", "q", "--format", "xls").returncode == 2
    done = run("dedup", "-", "--out", "r", "--store", "memory:", stdin=b"id,title\n1,x\n2,y\n")
    assert done.returncode == 3
    assert "--format csv" in done.stderr


def test_names_say_source_and_time(run: Any) -> None:
    """--from-name gives each file's records their source and time, unless they have their own."""
    Path("rules.toml").write_text(RULES + 'source = "shop"\nfetched_at = "at"\n')
    for name in ("a_2026-01-31.ndjson", "b_2026-02-01.ndjson"):
        Path(name).write_text('{"id":1,"title":"x"}\n{"id":2,"shop":"own","at":"2026-03-01"}\n')
    arguments = ("--rules", "rules.toml", "--from-name", "{source}_{fetched_at}.ndjson", "--store", "memory:")
    assert run("dedup", "a_2026-01-31.ndjson", "b_2026-02-01.ndjson", "--out", "o", *arguments).returncode == 0
    receipts = [json.loads(line) for line in Path("o/receipts.ndjson").read_text().splitlines()]
    assert [(one["source"], one["fetched_at"]) for one in receipts] == [
        ("a", "2026-01-31T00:00:00Z"),
        ("own", "2026-03-01T00:00:00Z"),
        ("b", "2026-02-01T00:00:00Z"),
        ("own", "2026-03-01T00:00:00Z"),
    ]
    done = run("dedup", "day.ndjson", "--out", "p", *arguments)
    assert done.returncode == 2
    assert "day.ndjson does not match" in done.stderr
    assert run("dedup", "a_2026-01-31.ndjson", "--out", "p", *arguments, "--source", "s").returncode == 2


def test_a_cut_array_keeps_what_came_before(run: Any) -> None:
    """The run fails with the byte, its whole records are committed, and with the whole file it goes on."""
    whole = json.dumps(ROWS).encode()
    Path("rules.toml").write_text(RULES)
    Path("a.json").write_bytes(whole[:2000])
    arguments = ("dedup", "a.json", "--rules", "rules.toml", "--out", "out")
    done = run(*arguments)
    assert done.returncode == 3
    assert "cut off at byte 2000" in done.stderr
    assert Path("out/receipts.ndjson").read_text().count("\n") == len(
        json.loads(whole[:2000].rpartition(b", {")[0] + b"]")
    )
    Path("a.json").write_bytes(whole)
    assert run(*arguments).returncode == 0
    assert len(Path("out/receipts.ndjson").read_text().splitlines()) == len(ROWS)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_kept_rows_as_a_table(run: Any, form: str) -> None:
    """--kept-format writes a table beside kept.ndjson; whoever stops before it is there has it made again."""
    from seenbefore.dedup import running

    done = run("dedup", "day.ndjson", "--out", "out", "--store", "a.db", "--kept-format", form)
    assert done.returncode == 1
    assert f"kept.{form}" in done.stdout
    whole = Path(f"out/kept.{form}").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "convert", stop)
        with (
            pytest.raises(Stop),
            Deduplicator("seenbefore.toml", "b.db", settings=Settings(kept_format=form)) as dedup,
        ):
            dedup.run("day.ndjson", "again")
    assert not Path(f"again/kept.{form}").exists()
    assert run("dedup", "day.ndjson", "--out", "again", "--store", "b.db", "--kept-format", form).returncode == 1
    assert Path(f"again/kept.{form}").read_bytes() == whole
    Path(f"again/kept.{form}").unlink()
    run("dedup", "day.ndjson", "--out", "again", "--store", "b.db", "--kept-format", form)
    assert Path(f"again/kept.{form}").read_bytes() == whole
    assert run("dedup", "day.ndjson", "--out", "out", "--store", "c.db").returncode == 2


def stop(*_: object) -> None:
    raise Stop


def test_facts_of_names_are_in_the_store(tmp_path: Path) -> None:
    """What a name said stands beside the input, from the beginning of the run to its end."""
    (tmp_path / "a_20260131.ndjson").write_text('{"id":1}\n')
    settings = Settings(from_name="{source}_{fetched_at}.ndjson")
    with Deduplicator("records/1", tmp_path / "s.db", settings=settings) as dedup:
        dedup.run(tmp_path / "a_20260131.ndjson")
        (row,) = dedup.store.inputs(1)
    assert (row.facts, row.records) == ({"source": "a", "fetched_at": "2026-01-31T00:00:00Z"}, 1)


def test_settings_of_python(tmp_path: Path) -> None:
    """A program says the same as the options do."""
    (tmp_path / "t.csv").write_bytes(b"id|title\n1|x\n")
    settings = Settings(form=Form("csv", Dialect("|")))
    with Deduplicator("records/1", "memory:", settings=settings) as dedup:
        assert dedup.run(tmp_path / "t.csv").verdicts["new"] == 1
