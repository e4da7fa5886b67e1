"""Matrix Market files (.mtx), as SuiteSparse and 10x Genomics give matrices: sparse, or dense in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import existing_file, parsing, refuse, require_room
from lowfold.datasets._file_table import Table, numbered
from lowfold.datasets._unpack import unpacked

SPARSE: Any = csr_array
LEAST = 2  # bytes of an entry of a dense matrix; of a sparse one at least twice as many


def read_market(path: str | Path, *, points: Literal["rows", "columns"] = "rows") -> Table:
    """Read a matrix of numbers, also packed (.mtx.gz): points are rows, or columns as in tables of genes by cells."""
    from scipy.io import mminfo, mmread

    if points not in ("rows", "columns"):
        raise InvalidInput(f"points must be 'rows' or 'columns'; got {points!r}")
    with unpacked(existing_file(path), path) as file, parsing(path, "Matrix Market file"):
        rows, columns, entries, form, kind, _ = mminfo(str(file))
        if kind == "complex":
            refuse(path, "holds complex numbers")
        if min(rows, columns) < 1:
            refuse(path, f"a matrix of {rows} x {columns} holds no points")
        if LEAST * entries > file.stat().st_size * (2 if form == "array" else 1):
            refuse(path, f"the header promises {entries} entries, more than the file can hold")
        require_room(path, 16 * entries + 8 * max(rows, columns), f"a matrix of {entries} entries")
        found: Any = mmread(str(file))
    X: Any = found.T if points == "columns" else found
    X = SPARSE(X).astype(np.float64) if form == "coordinate" else np.ascontiguousarray(X, dtype=np.float64)
    return Table(X, numbered(X.shape[1]), source=str(path))
