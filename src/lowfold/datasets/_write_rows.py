"""Rows in blocks to a file, one block after another: whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.rows import Rows
from lowfold._core.types import AnyFloats
from lowfold.datasets._write_table import check_table_ending, replacing, write_text

Aside = Callable[[int], Mapping[str, Any]]
"""Further columns of block i, name -> array or pyarrow's column."""

Put = Callable[[int, AnyFloats, Mapping[str, Any]], None]


def nothing(i: int) -> Mapping[str, Any]:
    """No further columns."""
    return {}


def write_rows(
    path: str | Path, rows: Rows, columns: Sequence[str], *, aside: Aside = nothing, overwrite: bool = False
) -> None:
    """Write rows to .csv, .tsv, .parquet or .npy ("-": CSV to standard output); one block is in memory at a time."""
    if str(path) == "-":
        _filled(rows, aside, _text(sys.stdout, list(columns), ","))
        sys.stdout.flush()
        return
    target = Path(path)
    check_table_ending(target)
    with replacing(target, overwrite=overwrite) as temporary, _opened(temporary, target, rows, list(columns)) as put:
        _filled(rows, aside, put)


def _filled(rows: Rows, aside: Aside, put: Put) -> None:
    for i, block in enumerate(rows.map(_itself)):
        put(i, block, aside(i))


def _itself(block: AnyFloats, start: int) -> AnyFloats:
    return block


@contextmanager
def _opened(temporary: Path, target: Path, rows: Rows, columns: list[str]) -> Iterator[Put]:
    suffix = target.suffix.lower()
    if suffix == ".npy":
        out = np.lib.format.open_memmap(temporary, mode="w+", dtype=rows.dtype, shape=rows.shape)

        def put_npy(i: int, block: AnyFloats, aside: Mapping[str, Any]) -> None:
            if aside:
                raise InvalidInput("labels cannot be written to .npy; use .csv or .parquet")
            out[int(rows.starts[i]) : int(rows.starts[i + 1])] = block

        yield put_npy
        out.flush()
    elif suffix == ".parquet":
        with _Parquet(temporary, columns) as parquet:
            yield parquet.put
    else:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            yield _text(stream, columns, "," if suffix == ".csv" else "\t")


def _text(stream: Any, columns: list[str], delimiter: str) -> Put:
    def put(i: int, block: AnyFloats, aside: Mapping[str, Any]) -> None:
        kept = {name: _as_array(values) for name, values in aside.items()}
        write_text(stream, block, columns, kept, delimiter, header=i == 0)

    return put


def _as_array(values: Any) -> NDArray[Any]:
    return np.asarray(values.to_pylist() if hasattr(values, "to_pylist") else values)


class _Parquet:
    """A Parquet file that grows by a row group for every block; its columns are those of the first."""

    def __init__(self, file: Path, columns: list[str]) -> None:
        self.file, self.columns, self.writer = file, columns, None

    def __enter__(self) -> _Parquet:
        return self

    def put(self, i: int, block: AnyFloats, aside: Mapping[str, Any]) -> None:
        arrow = load_extra("pyarrow", "tables", "writing Parquet")
        parquet = load_extra("pyarrow.parquet", "tables", "writing Parquet")
        numbers = {name: np.ascontiguousarray(block[:, j]) for j, name in enumerate(self.columns)}
        table = arrow.table({**numbers, **aside})
        if self.writer is None:
            self.writer = parquet.ParquetWriter(str(self.file), table.schema)
        self.writer.write_table(table)  # type: ignore[attr-defined]

    def __exit__(self, *error: object) -> None:
        if self.writer is not None:
            self.writer.close()
