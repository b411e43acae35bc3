"""Reading: whole lines with their offsets, however the input is compressed and wherever its blocks are cut."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from seenbefore.errors import InputChanged, InputTruncated, InputUnreadable
from seenbefore.reading import End, Form, LongLine, LongPart, Mark, Piece, Reader
from seenbefore.types import Input

LINES = b'{"id":1}\n\n{"id":2,"t":"a\xe2\x80\xa8b"}\r\n{"id":3}\n' * 40
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstandard.ZstdCompressor().compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
CUT = {"gzip", "zstd", "bzip2", "xz"}


def named(path: Path) -> Input:
    """The input that a path names."""
    return Input(name=path.name, path=str(path), size=path.stat().st_size)


def read(path: Path, *, max_line: int = 1 << 20, block: int = 1 << 16, resume: Mark | None = None) -> list[object]:
    """Everything that a reader gives out."""
    return list(Reader(named(path), max_line=max_line, block=block, resume=resume, form=Form("ndjson")))


def content(events: list[object]) -> bytes:
    """The bytes of all pieces."""
    return b"".join(event.data for event in events if isinstance(event, Piece))


@pytest.mark.parametrize("form", COMPRESS)
@pytest.mark.parametrize("block", [1, 7, 4096])
def test_all_members_give_their_lines(tmp_path: Path, form: str, block: int) -> None:
    """Two members, frames or streams after each other are one input, and the end says its digest as stored."""
    data = COMPRESS[form](LINES) + COMPRESS[form](LINES)
    path = tmp_path / "named.anything"
    path.write_bytes(data)
    events = read(path, block=block)
    assert content(events) == LINES * 2
    end = events[-1]
    assert isinstance(end, End)
    assert (end.sha256, end.size) == (hashlib.sha256(data).digest(), len(data))
    assert end.mark == Mark(len(LINES) * 2, hashlib.sha256(LINES * 2).digest())


@pytest.mark.parametrize("block", [3, 64, 4096])
def test_pieces_end_at_line_feeds_and_know_where_they_are(tmp_path: Path, block: int) -> None:
    """Each piece starts where the one before ended; only the last may lack its LF; marks digest what lies before."""
    path = tmp_path / "a"
    path.write_bytes(LINES + b'{"id":4}')
    pieces = [event for event in read(path, block=block) if isinstance(event, Piece)]
    whole = LINES + b'{"id":4}'
    at = 0
    for piece in pieces:
        assert piece.offset == at
        at += len(piece.data)
        assert piece.data.endswith(b"\n") or at == len(whole)
        end = piece.data.find(b"\n") + 1
        assert piece.mark(end) == Mark(piece.offset + end, hashlib.sha256(whole[: piece.offset + end]).digest())
    assert at == len(whole)


@pytest.mark.parametrize("form", CUT)
@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_cut_off_data_is_named_after_its_whole_lines(tmp_path: Path, form: str, keep: float) -> None:
    """Truncated compression fails with both offsets, and the line that it cuts is not given out."""
    lines = b"".join(
        b'{"id":%d,"noise":"%s"}\n' % (n, hashlib.sha256(b"%d" % n).hexdigest().encode()) for n in range(2000)
    )
    data = COMPRESS[form](lines)
    path = tmp_path / "a"
    path.write_bytes(data[: int(len(data) * keep)])
    pieces: list[object] = []
    with pytest.raises(InputTruncated) as caught:
        pieces.extend(Reader(named(path), max_line=1 << 20))
    got = content(pieces)
    assert not got or got.endswith(b"\n")
    assert lines.startswith(got)
    assert f"{int(len(data) * keep):,}" in str(caught.value)
    assert "decompressed" in str(caught.value)
    assert caught.value.exit_status == 3


def test_first_seven_lines_of_a_cut_member(tmp_path: Path) -> None:
    """A gz cut in its eighth line gives seven."""
    packer = zlib.compressobj(wbits=31)
    data = b"".join(packer.compress(b'{"id":%d}\n' % n) for n in range(1, 8)) + packer.compress(b'{"id":8}')
    path = tmp_path / "a.gz"
    path.write_bytes(data + packer.flush(zlib.Z_SYNC_FLUSH))
    reader = iter(Reader(named(path), max_line=100))
    piece = next(reader)
    assert isinstance(piece, Piece)
    assert piece.data.count(b"\n") == 7
    with pytest.raises(InputTruncated):
        list(reader)


@pytest.mark.parametrize("form", CUT)
def test_bytes_after_the_last_member_are_damage(tmp_path: Path, form: str) -> None:
    """What follows the data and is no member is an error; zero bytes are padding."""
    path = tmp_path / "a"
    path.write_bytes(COMPRESS[form](LINES) + b"\0" * 1024)
    assert content(read(path)) == LINES
    path.write_bytes(COMPRESS[form](LINES) + b"garbage, no member at all")
    with pytest.raises(InputUnreadable, match="damaged"):
        read(path)


def test_flipped_byte_is_damage(tmp_path: Path) -> None:
    """A gz whose check sum does not fit is an error with both offsets."""
    data = bytearray(gzip.compress(LINES))
    data[-6] ^= 1
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    with pytest.raises(InputUnreadable, match="decompressed bytes in"):
        read(path)


@pytest.mark.parametrize("block", [1, 2, 4096])
def test_byte_order_mark_belongs_to_no_line(tmp_path: Path, block: int) -> None:
    """The first line starts at offset 3; a second mark is part of it; a file of a mark alone holds nothing."""
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbf" + LINES)
    first = read(path, block=block)[0]
    assert isinstance(first, Piece)
    assert first.offset == 3
    assert content(read(path, block=block)) == LINES
    path.write_bytes(b"\xef\xbb\xbf")
    assert content(read(path, block=block)) == b""


@pytest.mark.parametrize("block", [1, 3, 10, 11, 64, 4096])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_lines_over_the_limit_pass_in_parts(tmp_path: Path, block: int, end: bytes) -> None:
    """A line of 10 bytes is a line under a limit of 10; one of 11 is handed on in parts with its length and digest."""
    exact, long = b"0123456789", b"0123456789x"
    path = tmp_path / "a"
    path.write_bytes(b"short\n" + exact + b"\r\n" + long + b"\n" + exact + b"\n" + long * 9 + b"\r" + end)
    events = read(path, max_line=10, block=block)
    lines = content(events).split(b"\n")
    assert lines == [b"short", exact + b"\r", exact, b""]
    longs = [event for event in events if isinstance(event, LongLine)]
    last = long * 9 + (b"\r" if end == b"\r\n" else b"")
    assert [(line.offset, line.length, line.sha256) for line in longs] == [
        (18, 11, hashlib.sha256(long).digest()),
        (41, len(last), hashlib.sha256(last).digest()),
    ]
    assert b"".join(event.data for event in events if isinstance(event, LongPart)) == long + last
    assert longs[-1].after.offset == path.stat().st_size


@pytest.mark.parametrize("form", COMPRESS)
@pytest.mark.parametrize("block", [5, 4096])
def test_reading_goes_on_behind_a_mark(tmp_path: Path, form: str, block: int) -> None:
    """A resumed reader gives what lies behind the mark, and digests of the whole input."""
    path = tmp_path / "a"
    path.write_bytes(COMPRESS[form](LINES))
    at = LINES.index(b"\n", 500) + 1
    events = read(path, block=block, resume=Mark(at, hashlib.sha256(LINES[:at]).digest()))
    assert content(events) == LINES[at:]
    end = events[-1]
    assert isinstance(end, End)
    assert end.mark.digest == hashlib.sha256(LINES).digest()
    assert end.sha256 == hashlib.sha256(path.read_bytes()).digest()


def test_another_prefix_is_a_changed_input(tmp_path: Path) -> None:
    """A file whose beginning changed, or that became shorter than the mark, is refused by name."""
    path = tmp_path / "a"
    path.write_bytes(LINES)
    mark = Mark(500, hashlib.sha256(LINES[:500]).digest())
    path.write_bytes(LINES.replace(b'"id":1', b'"id":7', 1))
    with pytest.raises(InputChanged, match="first 500 bytes"):
        read(path, resume=mark)
    path.write_bytes(LINES[:400])
    with pytest.raises(InputChanged):
        read(path, resume=mark)


def test_a_small_file_that_unpacks_to_much_is_bounded(tmp_path: Path) -> None:
    """The limit on decompressed bytes stops a bomb; what is given out at a time stays small."""
    for form in CUT:
        path = tmp_path / form
        path.write_bytes(COMPRESS[form](b"\n" * (64 << 20)))
        reader = Reader(named(path), max_line=1 << 26, max_bytes=16 << 20)
        pieces: list[object] = []
        with pytest.raises(InputUnreadable, match="unpacks to more than"):
            pieces.extend(reader)
        assert 0 < max(len(piece.data) for piece in pieces if isinstance(piece, Piece)) <= 4 << 20


@pytest.mark.parametrize(
    "start", [b"PK\x03\x04zip", b"\x04\x22\x4d\x18lz4", b"SQLite format 3\0", b"7z\xbc\xaf\x27\x1c"]
)
def test_files_of_other_kinds_are_named(tmp_path: Path, start: bytes) -> None:
    """An archive or a database is refused as what it is, not line by line."""
    path = tmp_path / "a"
    path.write_bytes(start + b"x" * 100)
    with pytest.raises(InputUnreadable, match="not a file of records"):
        read(path)


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n"])
def test_empty_inputs_end_well(tmp_path: Path, data: bytes) -> None:
    """An empty file has an end and no line."""
    path = tmp_path / "a"
    path.write_bytes(data)
    events = read(path)
    assert content(events) == data
    assert isinstance(events[-1], End)
