"""Which format an input has, and that a wrong one is named instead of refused line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from seenbefore.errors import InputUnreadable, UsageError
from seenbefore.reading.formats import recognised
from seenbefore.reading.names import NamePattern


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a", b'{"a":1}\n', "ndjson"),
        ("a.csv", b"a,b\n", "csv"),
        ("A.CSV.GZ", b"a,b\n", "csv"),
        ("a.tsv.zst", b"a\tb\n", "tsv"),
        ("a.tab", b"a\tb\n", "tsv"),
        ("a.ndjson", b'\n [{"a":1},\n{"a":2}]', "json"),
        ("a", b"\xef\xbb\xbf[]", "json"),
        ("a.ndjson", b'[1,2]\n{"a":1}\n', "ndjson"),
        ("a.json", b'{"a":1}\n{"a":2}\n', "ndjson"),
        ("a.json", b'{"a":1}', "ndjson"),
        ("a.csv", b"PAR1....", "parquet"),
        ("a", b"ARROW1\0\0", "arrow"),
        ("a", b"\xff\xff\xff\xff\x10\0\0\0", "arrow"),
        ("a.ndjson", b"junk\n" * 9, "ndjson"),
        ("a", b"junk\n", "ndjson"),
        ("a", b'junk\n{"a":1}\n', "ndjson"),
        ("a", b'{"cut\n{"a":1}\n', "ndjson"),
        ("a", b"", "ndjson"),
    ],
)
def test_formats_are_recognised(name: str, head: bytes, expected: str) -> None:
    """By unmistakable content, then by the name before its compression, then by the first lines."""
    assert recognised(name, head, None) == expected
    assert recognised(name, head, "ndjson") == "ndjson"


@pytest.mark.parametrize(
    ("name", "head", "message"),
    [
        ("-", b"id,title\n1,x\n", "doesn't look like NDJSON"),
        ("a.ndjson", b"id,title\n" * 10, "doesn't look like NDJSON"),
        ("a.json", b'{\n  "items": [\n    {"a":1}\n  ]\n}\n', "spans lines"),
        ("a", b'{"items": [\n  1\n]}\n', "spans lines"),
        ("a.ndjson", '{"a":1}\n'.encode("utf-16"), "UTF-16"),
        ("a.ndjson", '{"a":1}\n'.encode("utf-16-le"), "UTF-16"),
        ("a.ndjson", '{"a":1}\n'.encode("utf-16-be"), "UTF-16"),
        ("a.ndjson", '[{"a":1}]\n'.encode("utf-32"), "UTF-32"),
    ],
)
def test_what_is_no_ndjson_is_said_once(name: str, head: bytes, message: str) -> None:
    """A table, a spread object and UTF-16 are named with what to do."""
    with pytest.raises(InputUnreadable, match=message) as caught:
        recognised(name, head, None)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("{source}_{fetched_at}.ndjson.gz", "crawl/shop_2026-01-31.ndjson.gz", ("shop", "2026-01-31T00:00:00Z")),
        ("{source}_{fetched_at}.{}", "my_shop_20260131.csv", ("my_shop", "2026-01-31T00:00:00Z")),
        (
            "{source}/{fetched_at}.ndjson",
            "/x/a.example/20260131T101500Z.ndjson",
            ("a.example", "2026-01-31T10:15:00Z"),
        ),
        ("{source}-{fetched_at}.csv", "s-2026-01-31T10-15-00Z.csv", ("s", "2026-01-31T10:15:00Z")),
        ("{_}_{source}_{fetched_at}.csv", "x_s_2026-01-31_10-15.csv", ("s", "2026-01-31T10:15:00Z")),
        ("{source}_{fetched_at}.csv", "s_20260131-101500+0200.csv", ("s", "2026-01-31T10:15:00+02:00")),
        ("{source}.{}", "s.csv.gz", ("s", None)),
        ("run_{fetched_at}{}", "run_2026.01.31.csv", (None, "2026-01-31T00:00:00Z")),
    ],
)
def test_names_say_facts(pattern: str, name: str, expected: tuple[str | None, str | None]) -> None:
    """The pattern is matched against the end of a name; times have the forms that file names have."""
    facts = NamePattern(pattern).facts(name)
    assert (facts.get("source"), facts.get("fetched_at")) == expected


def test_names_that_say_nothing_are_errors() -> None:
    """A name that doesn't match, a time that is none, a pattern that says nothing or what is unknown."""
    for pattern, name in [
        ("{source}_{fetched_at}.ndjson", "shop.ndjson"),
        ("{source}_{fetched_at}.ndjson", "shop_yesterday.ndjson"),
        ("{fetched_at}.ndjson", "2026-02-30.ndjson"),
        ("{source}/{fetched_at}.ndjson", "2026-01-31.ndjson"),
    ]:
        with pytest.raises(UsageError) as caught:
            NamePattern(pattern).facts(name)
        assert name in str(caught.value)
        assert pattern in str(caught.value)
    for pattern in ("{src}.csv", "{source}{source}", "a.csv", "{}"):
        with pytest.raises(UsageError):
            NamePattern(pattern)


def test_bombs_are_refused(tmp_path: Path) -> None:
    """What unpacks to over 1 GiB and a thousand times its size is refused, before it fills memory or disk."""
    import zstandard

    from seenbefore.reading.content import Content
    from seenbefore.types import Input

    packer = zstandard.ZstdCompressor(level=1).compressobj()
    line = b'{"a":"' + b"x" * ((1 << 22) - 9) + b'"}\n'
    path = tmp_path / "bomb.zst"
    with path.open("wb") as file:
        for _ in range(300):
            file.write(packer.compress(line))
        file.write(packer.flush())
    size = path.stat().st_size
    assert size < 1 << 20
    source = Input(name="bomb.zst", path=str(path), size=size)
    with pytest.raises(InputUnreadable, match="times its size"):
        for _ in Content(source):
            pass
    assert sum(len(block) for block in Content(source, max_bytes=1 << 31)) == 300 * len(line)
