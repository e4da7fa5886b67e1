"""Parquet and Feather tables, by pyarrow (the extra "tables")."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lowfold._core.extras import load_extra
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold._core.open_rows import no_measurements
from lowfold.datasets._file_table import Table
from lowfold.datasets._gaps import Missing
from lowfold.datasets._marks import Marks, marks_of
from lowfold.datasets._read_columns import Aside, Column, assemble, called_id


def read_parquet(
    path: str | Path,
    *,
    label: str | Sequence[str] | None = None,
    missing: Missing = "error",
    na: Any = None,
    ids: bool | str | Literal["auto"] = "auto",
) -> Table:
    """Read a Parquet table, or a folder that Spark, Dask or pandas wrote one in; the parameters mean what they mean in
    `read_table`.

    Single floats stay single when every numeric column is; words, truth values, and what pandas wrote as the index of
    its table or as categories are kept aside as labels. A column of lists of numbers, all as long, becomes as many.
    """
    pa = load_extra("pyarrow", "tables", "reading Parquet")
    pq = load_extra("pyarrow.parquet", "tables", "reading Parquet")
    files = parquet_files(Path(path)) if Path(path).is_dir() else [existing_file(path)]
    with parsing(path, "Parquet file"):
        needed = 0
        for file in files:
            with pq.ParquetFile(str(file)) as parquet:
                about = parquet.metadata
                stored = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))  # of lists
                needed += max(8 * about.num_rows * about.num_columns, stored)
        require_room(path, needed, "the table")
        partitioning = "hive" if Path(path).is_dir() else None  # names of folders above one file are no columns
        table = pq.read_table(str(path), partitioning=partitioning)
        return _assembled(table, pa, path, label=label, ids=ids, missing=missing, na=na)


def parquet_files(folder: Path) -> list[Path]:
    """The parts of a table that was written as a folder; those of the writer's own begin with _ or a dot."""
    inside = (file.relative_to(folder) for file in sorted(folder.rglob("*.parquet")))
    return [folder / file for file in inside if not any(part[0] in "_." for part in file.parts)]


def read_feather(
    path: str | Path,
    *,
    label: str | Sequence[str] | None = None,
    missing: Missing = "error",
    na: Any = None,
    ids: bool | str | Literal["auto"] = "auto",
) -> Table:
    """Read a Feather (Arrow) table; the parameters mean what they mean in `read_table`."""
    pa = load_extra("pyarrow", "tables", "reading Feather")
    feather = load_extra("pyarrow.feather", "tables", "reading Feather")
    file = existing_file(path)
    with parsing(path, "Feather file"):
        require_room(path, file.stat().st_size, "the table")
        return _assembled(feather.read_table(str(file)), pa, path, label=label, ids=ids, missing=missing, na=na)


def _assembled(
    table: Any, pa: Any, path: str | Path, *, label: str | Sequence[str] | None, ids: Any, missing: Missing, na: Any
) -> Table:
    marks = marks_of(na)
    if table.num_rows == 0 or table.num_columns == 0:
        refuse(path, "holds no rows")
    names = [str(name) for name in table.column_names]
    if len(set(names)) < len(names):
        refuse(path, "two columns have the same name")
    columns = []
    for name, values in zip(names, table.columns):
        lists = pa.types.is_list(values.type) or pa.types.is_large_list(values.type)
        if lists or pa.types.is_fixed_size_list(values.type):
            columns += _listed(name, values, pa, path, marks)
        else:
            columns.append(_column(name, values, pa, path, marks))
    wanted = [label] if isinstance(label, str) else list(label or ())
    aside = no_measurements(table.schema) - set(wanted)
    numeric = [column for column in columns if column.name in aside and column.kind == "number"]
    index = [column.name for column in numeric if not (called_id(column.name) and ids == "auto" and _distinct(column))]
    told = [f"column {name!r} is an index or categories of pandas and is kept aside as a label" for name in index]
    return assemble(columns, Aside([*wanted, *index], ids), source=str(path), missing=missing, notices=told)


def _distinct(column: Column) -> bool:
    values = column.values()
    return len(np.unique(values)) == len(values)


def _listed(name: str, values: Any, pa: Any, source: object, marks: Marks) -> list[Column]:
    """Lists of numbers, all of one length, as columns: what models of words and pictures give is written so."""
    kind = values.type.value_type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        refuse(source, f"column {name!r} holds {values.type}, neither numbers nor words")
    if values.null_count:
        first = int(np.argmax(values.is_null().to_numpy()))
        refuse(source, f"row {first + 1}, column {name!r} holds no list; leave such rows out")
    lengths = np.array([len(one) for one in values], dtype=np.int64)
    if (other := lengths != lengths[0]).any() or lengths[0] == 0:
        row = int(np.argmax(other)) + 1
        refuse(source, f"column {name!r} holds lists of {lengths[0]} numbers, but of {lengths[row - 1]} in row {row}")
    flat = np.concatenate([chunk.flatten().to_numpy(zero_copy_only=False) for chunk in values.chunks])
    single = pa.types.is_float32(kind) or pa.types.is_float16(kind)
    rows = flat.astype(np.float32 if single else np.float64, copy=False).reshape(len(lengths), -1)
    return [Column(f"{name}.{j + 1}", "number", rows[:, j], marks=marks) for j in range(rows.shape[1])]


def _column(name: str, values: Any, pa: Any, source: object, marks: Marks) -> Column:
    """Numbers (null is NaN), or text; structs and the like are refused by name."""
    kind = values.type
    types = pa.types
    if types.is_integer(kind) or types.is_floating(kind):
        array = values.to_numpy()
        single = types.is_float32(kind) or types.is_float16(kind)
        return Column(name, "number", array.astype(np.float32 if single else np.float64, copy=False), marks=marks)
    if types.is_decimal(kind):
        return Column(name, "number", values.cast(pa.float64()).to_numpy(), marks=marks)
    if types.is_nested(kind):
        refuse(source, f"column {name!r} holds {kind}, neither numbers nor words")
    words = ["" if value is None else str(value) for value in values.to_pylist()]
    return Column(name, "text", np.array(words, dtype=str))
