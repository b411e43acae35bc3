"""Columns of text → a Parquet file, through pyarrow, each in the narrowest type that holds all of it exactly."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import IO, Any

from seenbefore._kernel import Columns
from seenbefore.errors import UsageError

# Digits that a decimal of 128 bits holds.
_DIGITS_128 = 38
# Says in the schema that a column holds JSON text.
_JSON = {"seenbefore": "json"}


def needed() -> None:
    """Raises UsageError where pyarrow isn't there."""
    if importlib.util.find_spec("pyarrow") is None:
        raise UsageError("Parquet needs pyarrow, which is not installed", hint="pip install 'seenbefore[arrow]'")


def write(columns: Columns, pieces: Iterable[bytes], file: IO[bytes]) -> None:
    """Writes lines of NDJSON, of which `columns` saw all."""
    import pyarrow as pa
    from pyarrow import parquet

    named = columns.named
    schema = pa.schema([_field(pa, *one) for one in named])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for piece in pieces:
            texts = columns.texts(piece)
            arrays = [_array(pa, text, field.type) for text, field in zip(texts, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _field(pa: Any, name: str, kind: str, digits: int, places: int) -> Any:
    if kind == "decimal":
        wide = digits > _DIGITS_128
        return pa.field(name, pa.decimal256(digits, places) if wide else pa.decimal128(digits, places))
    types = {"boolean": pa.bool_(), "integer": pa.int64()}
    return pa.field(name, types.get(kind, pa.string()), metadata=_JSON if kind == "json" else None)


def _array(pa: Any, text: tuple[int, bytes, bytes, bytes], kind: Any) -> Any:
    count, there, ends, data = text
    array = pa.Array.from_buffers(pa.large_string(), count, [pa.py_buffer(part) for part in (there, ends, data)])
    return array.cast(kind)
