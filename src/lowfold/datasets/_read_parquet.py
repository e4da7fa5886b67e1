"""Parquet and Feather tables, by pyarrow (the extra "tables")."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lowfold._core.extras import load_extra
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold.datasets._file_table import Table
from lowfold.datasets._gaps import Missing
from lowfold.datasets._read_columns import Column, assemble


def read_parquet(
    path: str | Path,
    *,
    label: str | Sequence[str] | None = None,
    missing: Missing = "error",
    ids: bool | str | Literal["auto"] = "auto",
) -> Table:
    """Read a Parquet table; the parameters mean what they mean in `read_table`.

    Single floats stay single when every numeric column is; words and truth values are kept aside as labels.
    """
    pa = load_extra("pyarrow", "tables", "reading Parquet")
    pq = load_extra("pyarrow.parquet", "tables", "reading Parquet")
    file = existing_file(path)
    with parsing(path, "Parquet file"):
        with pq.ParquetFile(str(file)) as parquet:
            rows, width = parquet.metadata.num_rows, parquet.metadata.num_columns
            require_room(path, 8 * rows * width, f"a table of {rows} x {width}")
            table = parquet.read()
        return _assembled(table, pa, path, label=label, ids=ids, missing=missing)


def read_feather(
    path: str | Path,
    *,
    label: str | Sequence[str] | None = None,
    missing: Missing = "error",
    ids: bool | str | Literal["auto"] = "auto",
) -> Table:
    """Read a Feather (Arrow) table; the parameters mean what they mean in `read_table`."""
    pa = load_extra("pyarrow", "tables", "reading Feather")
    feather = load_extra("pyarrow.feather", "tables", "reading Feather")
    file = existing_file(path)
    with parsing(path, "Feather file"):
        require_room(path, file.stat().st_size, "the table")
        return _assembled(feather.read_table(str(file)), pa, path, label=label, ids=ids, missing=missing)


def _assembled(table: Any, pa: Any, path: str | Path, **options: Any) -> Table:
    if table.num_rows == 0 or table.num_columns == 0:
        refuse(path, "holds no rows")
    names = [str(name) for name in table.column_names]
    if len(set(names)) < len(names):
        refuse(path, "two columns have the same name")
    columns = [_column(name, table.column(j), pa, path) for j, name in enumerate(names)]
    return assemble(columns, source=str(path), **options)


def _column(name: str, values: Any, pa: Any, source: object) -> Column:
    """Numbers (null is NaN), or text; lists, structs and the like are refused by name."""
    kind = values.type
    types = pa.types
    if types.is_integer(kind) or types.is_floating(kind):
        array = values.to_numpy()
        single = types.is_float32(kind) or types.is_float16(kind)
        return Column(name, "number", array.astype(np.float32 if single else np.float64, copy=False))
    if types.is_decimal(kind):
        return Column(name, "number", values.cast(pa.float64()).to_numpy())
    if types.is_nested(kind):
        refuse(source, f"column {name!r} holds {kind}, neither numbers nor words")
    words = ["" if value is None else str(value) for value in values.to_pylist()]
    return Column(name, "text", np.array(words, dtype=str))
