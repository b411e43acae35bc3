"""Which format an input has: what was said, else what its first bytes, its name or its first line show."""

from __future__ import annotations

from seenbefore._kernel import Array
from seenbefore.errors import InputUnreadable

FORMATS = ("ndjson", "json", "csv", "tsv", "parquet", "arrow")
# Endings that tell records in a folder, with what each says.
ENDINGS = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".jsonlines": "ndjson",
    ".ldjson": "ndjson",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
}
COMPRESSED = (".gz", ".zst", ".zstd", ".bz2", ".xz")
SEPARATORS = {"csv": ",", "tsv": "\t"}

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"{\0\0\0": "UTF-32",
    b"\0\0\0{": "UTF-32",
    b"{\0": "UTF-16",
    b"\0{": "UTF-16",
    b"[\0": "UTF-16",
    b"\0[": "UTF-16",
}
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
# So many lines without a record show a file that is no NDJSON; fewer do where the name doesn't say that it is.
_MANY, _SOME = 10, 2


def ending(name: str) -> str | None:
    """The format that a name says, whatever the compression behind it; None where it says none."""
    lower = name.lower()
    for compressed in COMPRESSED:
        lower = lower.removesuffix(compressed)
    return next((what for end, what in ENDINGS.items() if lower.endswith(end)), None)


def recognised(name: str, head: bytes, said: str | None) -> str:
    """The format of the input `name`, which starts with `head`; `said` is what the caller says of it.

    Raises InputUnreadable where nobody said it and the start shows that it is none of them.
    """
    if said is not None:
        return said
    named = ending(name)
    by_content = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), None)
    if by_content is not None:
        return by_content
    if named in SEPARATORS:
        return str(named)
    _refuse_wide(name, head)
    head = head.removeprefix(_BOM)
    lines = [line for line in head.split(b"\n") if line.strip(_BLANK)]
    if not lines:
        return "ndjson"
    first = lines[0].strip(_BLANK)
    if first.startswith(b"[") and not (len(lines) > 1 and _whole(first)):
        return "json"
    if first.startswith(b"{"):
        _refuse_spread(name, lines)
    else:
        _refuse_no_records(name, lines, _MANY if named == "ndjson" else _SOME)
    return "ndjson"


def _whole(line: bytes) -> bool:
    """Whether a line that starts with a bracket holds a whole array."""
    array = Array(len(line) + 1, 0)
    _, fault = array.feed(line)
    return fault is None and array.finish() is None


def _refuse_wide(name: str, head: bytes) -> None:
    wide = next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)
    if wide is not None:
        raise InputUnreadable(
            f"{name} is written in {wide}; JSON is UTF-8",
            path=name,
            expected="UTF-8 (RFC 8259 8.1)",
            found=wide,
            hint=f"convert it first: iconv -f {wide} -t UTF-8; or, if it is a table, say --format csv --encoding "
            f"{wide.lower()}",
        )


def _refuse_spread(name: str, lines: list[bytes]) -> None:
    """Refuses one JSON object that spans lines: its lines would be refused one by one."""
    opens = lines[0].rstrip(_BLANK).endswith((b"{", b"[", b","))
    if opens and len(lines) > 1 and not lines[1].lstrip(_BLANK).startswith(b"{"):
        raise InputUnreadable(
            f"{name} starts with a JSON object that spans lines, so it is neither NDJSON nor an array of records",
            path=name,
            expected="one record a line, or an array of records",
            found=lines[0].strip(_BLANK)[:60].decode("utf-8", "replace"),
            hint=f"one record a line: jq -c . {name}; if the records are in a member of it: jq -c '.items[]' {name}; "
            "or say --format ndjson to have every such line refused",
        )


def _refuse_no_records(name: str, lines: list[bytes], enough: int) -> None:
    if len(lines) >= enough and not any(line.lstrip(_BLANK).startswith(b"{") for line in lines):
        shown = lines[0].strip(_BLANK)[:60].decode("utf-8", "replace")
        raise InputUnreadable(
            f"{name} doesn't look like NDJSON: none of its first {len(lines):,} lines starts with {{",
            path=name,
            expected="one JSON object a line",
            found=shown,
            hint="say what it is: --format csv, tsv, json, parquet or arrow; or --format ndjson to have every such "
            "line refused",
        )
