"""Sparse matrices saved by `scipy.sparse.save_npz`: an archive of the arrays that make one up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from lowfold._core.file_words import refuse
from lowfold.datasets._file_table import Table, numbered, small_float

COMPRESSED: dict[str, Any] = {"csr": csr_array, "csc": csc_array}
MEMBERS = {"format", "shape", "data"}  # of every sparse matrix in a file


def sparse_table(arrays: Mapping[str, NDArray[Any]], source: object) -> Table:
    """The matrix as sparse rows, which are points, features or the edges of a graph."""
    kind = arrays["format"].item()
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    shape, data = tuple(int(side) for side in arrays["shape"].ravel()), arrays["data"]
    if len(shape) != 2 or 0 in shape or data.ndim != 1 or data.dtype.kind not in "fiub":
        refuse(source, f"a sparse array of shape {shape} and type {data.dtype} holds no points")
    data = data.astype(small_float(data.dtype))
    needed = ("indices", "indptr") if kind in COMPRESSED else ("row", "col")
    if kind not in (*COMPRESSED, "coo") or not set(needed) <= set(arrays):
        refuse(
            source, f"sparse arrays are read in the forms csr, csc and coo; this is {kind!r}, with {', '.join(arrays)}"
        )
    parts = [np.array(arrays[name]) for name in needed]
    if kind == "coo":
        X = coo_array((data, tuple(parts)), shape=shape).tocsr()
    else:
        X = COMPRESSED[kind]((data, *parts), shape=shape)
        X.check_format(full_check=True)
        X = X.tocsr()
    rows: Any = X
    return Table(rows, numbered(shape[1]), source=str(source))
