"""Rows of a record batch as lines of JSON, a column at a time: no row becomes a Python object (spec/inputs-1.md §5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Texts are bytes all along: whether they are UTF-8 is for the kernel to say, line by line.
_TEXT = pa.large_binary()
_CONTROLS = "[\\x00-\\x1f]"
_ESCAPES = {8: rb"\b", 9: rb"\t", 10: rb"\n", 12: rb"\f", 13: rb"\r"}


@dataclass(slots=True)
class Lines:
    """Lines of JSON with their LF, the ways to binary floats in them, and rows that are no records."""

    text: bytes
    floats: list[list[str | None]] = field(default_factory=list)
    refused: list[tuple[int, str, str]] = field(default_factory=list)


def lines(batch: pa.RecordBatch) -> Lines:
    """The rows of a batch. Raises ValueError, naming the column, for a type without a reading as JSON."""
    names = _names(batch.schema)
    made = Lines(b"")
    parts: list[Any] = []
    faults: dict[int, tuple[str, str]] = {}
    for at, (name, column) in enumerate(zip(names, batch.columns, strict=True)):
        made.floats += [[name, *way] for way in _floats(column.type)]
        parts += [_scalar(f"{',' if at else '{'}{_quoted(name)}:"), _written(name, column)]
        for row, code in _faults(column, parts[-1]):
            faults.setdefault(row, (code, f'column "{name}": {_WORDS[code]}'))
    end = _scalar("}\n" if parts else "{}\n")
    if not parts:
        parts = [pa.array([b""] * batch.num_rows, _TEXT)]
    rows = pc.binary_join_element_wise(*parts, end, _scalar(""))
    made.refused = [(row, *fault) for row, fault in sorted(faults.items())]
    made.text = _joined(rows)
    return made


_WORDS = {
    "invalid-utf8": "bytes that are not UTF-8",
    "invalid-json": "NaN or infinity, which JSON does not have",
    "bad-timestamp": "a time outside the years that can be written",
}


def _names(schema: Any) -> list[str]:
    seen: set[str] = set()
    for name in schema.names:
        if name in seen:
            raise ValueError(f"two columns are named {name!r}")
        seen.add(name)
    return list(schema.names)


def _written(name: str, column: Any) -> Any:
    try:
        return texts(column)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, NotImplementedError) as error:
        raise ValueError(f"column {name!r} is of type {column.type}, which has no reading as JSON") from error


def texts(array: Any) -> Any:
    """The JSON text of each value, as large binaries without nulls. Raises pyarrow's errors for unknown types."""
    kind = array.type
    for is_kind, write in _WRITERS:
        if is_kind(kind):
            return _null_as_word(write(array), array)
    raise NotImplementedError(str(kind))


def _null_as_word(text: Any, array: Any) -> Any:
    if array.null_count or pa.types.is_null(array.type):
        text = pc.if_else(array.is_valid(), text, _scalar("null"))
    return pc.fill_null(text, _scalar("null"))


def _word(array: Any) -> Any:
    """Values whose own text is JSON."""
    return array.cast(pa.large_string()).cast(_TEXT)


def _boolean(array: Any) -> Any:
    return pc.if_else(array, _scalar("true"), _scalar("false"))


def _float(array: Any) -> Any:
    # The text of a narrower float would be another number's.
    return _word(array.cast(pa.float64()))


def _string(array: Any) -> Any:
    text = array.cast(_TEXT)
    text = pc.replace_substring(text, pattern=b"\\", replacement=b"\\\\")
    text = pc.replace_substring(text, pattern=b'"', replacement=b'\\"')
    if pc.any(pc.match_substring_regex(text, pattern=_CONTROLS)).as_py():
        for control in range(0x20):
            escape = _ESCAPES.get(control, f"\\u{control:04x}".encode())
            text = pc.replace_substring(text, pattern=bytes([control]), replacement=escape)
    return _around('"', text, '"')


def _timestamp(array: Any) -> Any:
    naive = array.view(pa.int64()).view(pa.timestamp(array.type.unit))
    text = pc.replace_substring(naive.cast(pa.large_string()), pattern=" ", replacement="T", max_replacements=1)
    return _around('"', text.cast(_TEXT), '"' if array.type.tz is None else 'Z"')


def _day(array: Any) -> Any:
    return _around('"', _word(array.cast(pa.date32())), '"')


def _time(array: Any) -> Any:
    return _around('"', _word(array), '"')


def _duration(array: Any) -> Any:
    return _word(array.view(pa.int64()))


def _list(array: Any) -> Any:
    items = texts(array.flatten())
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    return _around("[", _within(lengths, items), "]")


def _struct(array: Any) -> Any:
    names = [array.type.field(at).name for at in range(array.type.num_fields)]
    if len(set(names)) < len(names):
        raise NotImplementedError("two fields of one name")
    if not names:
        return pa.array([b"{}"] * len(array), _TEXT)
    parts: list[Any] = []
    for at, (name, column) in enumerate(zip(names, array.flatten(), strict=True)):
        parts += [_scalar(f"{',' if at else '{'}{_quoted(name)}:"), texts(column)]
    return pc.binary_join_element_wise(*parts, _scalar("}"), _scalar(""))


def _map(array: Any) -> Any:
    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    keys, items = (texts(side.slice(first, last - first)) for side in (array.keys, array.items))
    lengths = pc.pairwise_diff(offsets).slice(1).cast(pa.int64())
    if _is_text(array.type.key_type):
        pairs = pc.binary_join_element_wise(keys, items, _scalar(":"))
        return _around("{", _within(lengths, pairs), "}")
    parts = (_scalar('{"key":'), keys, _scalar(',"value":'), items, _scalar("}"), _scalar(""))
    return _around("[", _within(lengths, pc.binary_join_element_wise(*parts)), "]")


def _within(lengths: Any, items: Any) -> Any:
    """Items joined by commas, so many of them for each value."""
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, items), _scalar(","))


def _around(before: str, text: Any, behind: str) -> Any:
    return pc.binary_join_element_wise(_scalar(before), text, _scalar(behind), _scalar(""))


def _scalar(text: str) -> Any:
    return pa.scalar(text.encode(), _TEXT)


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _joined(rows: Any) -> bytes:
    """The bytes of all values, one after the other."""
    _, offsets, data = rows.buffers()
    bounds = pa.Array.from_buffers(pa.int64(), rows.offset + len(rows) + 1, [None, offsets])
    first, last = bounds[rows.offset].as_py(), bounds[rows.offset + len(rows)].as_py()
    return b"" if data is None else data.slice(first, last - first).to_pybytes()


def _faults(column: Any, text: Any) -> list[tuple[int, str]]:
    """Rows of a column that hold what JSON can't: other bytes than UTF-8, a time of no year, NaN and infinities."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        wrong = pc.starts_with(text, pattern=b'"<')
        return [(row, "bad-timestamp") for row in pc.indices_nonzero(wrong).to_pylist()]
    if pa.types.is_floating(kind):
        wrong = pc.invert(pc.fill_null(pc.is_finite(column.cast(pa.float64())), fill_value=True))
        return [(row, "invalid-json") for row in pc.indices_nonzero(wrong).to_pylist()]
    if not _is_text(kind):
        return []
    try:
        text.cast(pa.large_string())
    except pa.ArrowInvalid:
        return [(row, "invalid-utf8") for row, value in enumerate(text.to_pylist()) if not _is_utf8(value)]
    return []


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _floats(kind: Any) -> list[list[str | None]]:
    """The ways from a value of a type to the binary floats in it."""
    types = pa.types
    if types.is_floating(kind):
        return [[]]
    inner: list[tuple[list[str | None], Any]] = []
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        inner = [([], kind.value_type)]
    elif isinstance(kind, pa.BaseExtensionType):
        inner = [([], kind.storage_type)]
    elif _is_list(kind):
        inner = [([None], kind.value_type)]
    elif types.is_struct(kind):
        inner = [([kind.field(at).name], kind.field(at).type) for at in range(kind.num_fields)]
    elif types.is_map(kind) and _is_text(kind.key_type):
        inner = [([None], kind.item_type)]
    elif types.is_map(kind):
        inner = [([None, "key"], kind.key_type), ([None, "value"], kind.item_type)]
    return [[*steps, *way] for steps, one in inner for way in _floats(one)]


def _is_list(kind: Any) -> bool:
    types = pa.types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(kind) for test in tests)


def _is_text(kind: Any) -> bool:
    types = pa.types
    tests = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_binary,
        types.is_large_binary,
        types.is_binary_view,
        types.is_fixed_size_binary,
    )
    return any(test(kind) for test in tests)


_WRITERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_null, lambda array: pa.nulls(len(array), _TEXT)),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_integer, _word),
    (pa.types.is_decimal, _word),
    (pa.types.is_floating, _float),
    (_is_text, _string),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_date, _day),
    (pa.types.is_time, _time),
    (pa.types.is_duration, _duration),
    (pa.types.is_dictionary, lambda array: texts(array.dictionary_decode())),
    (pa.types.is_run_end_encoded, lambda array: texts(pc.run_end_decode(array))),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: texts(array.storage)),
    (_is_list, _list),
    (pa.types.is_struct, _struct),
    (pa.types.is_map, _map),
)
