"""Rows of NDJSON written as CSV or Parquet (docs/reference/outputs.md)."""

from __future__ import annotations

from seenbefore.writing.tables import KEPT_FORMATS, convert, needed
from seenbefore.writing.tables import write as write_table

__all__ = ["KEPT_FORMATS", "convert", "needed", "write_table"]
