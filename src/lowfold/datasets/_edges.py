"""Edges of a graph, one in a row of a table, as the sparse matrix that methods with a precomputed metric take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from lowfold._core.file_words import refuse
from lowfold.datasets._file_table import Table

COLUMNS = (2, 3)  # from, to, and what the edge weighs or how long it is


def may_be_edges(table: Table) -> bool:
    """Whether a table that should be a matrix of all pairs has rows of two ends, and perhaps a number."""
    rows, numbers = table.X.shape
    return numbers + len(table.labels) in COLUMNS and rows != numbers and len(table.labels) in (0, 2)


def edge_table(table: Table) -> Table:
    """The matrix of the edges, the same both ways; its ids are the names of the ends.

    Ends are the two columns of words, or the first two of numbers; an edge without a number counts 1.
    """
    if table.labels:
        first, second = table.labels.values()
        values = table.X[:, 0] if table.X.shape[1] else np.ones(len(first))
    else:
        X = np.asarray(table.X)
        first, second = X[:, 0], X[:, 1]
        if not (np.isfinite(X[:, :2]).all() and (X[:, :2] == np.round(X[:, :2])).all()):
            refuse(
                table.source,
                "an edge joins two points by their numbers or names; some of these are neither; a matrix of all pairs "
                "has a column for each row",
            )
        first, second = first.astype(np.int64), second.astype(np.int64)
        values = X[:, 2] if X.shape[1] == COLUMNS[1] else np.ones(len(X))
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        refuse(table.source, f"the number of edge {row + 1} is missing")
    names, ends = np.unique(np.concatenate([first, second]), return_inverse=True)
    A = _both_ways(ends.reshape(2, -1), np.asarray(values, dtype=np.float64), names, table.source)
    told = f"{table.X.shape[0]} rows are read as edges among {len(names)} points, the same both ways"
    rows: Any = A
    return Table(rows, [str(name) for name in names], {}, names, [told], table.source)


def _both_ways(ends: NDArray[np.int64], values: NDArray[np.float64], names: NDArray[Any], source: object) -> Any:
    """Each edge once from either end; of an edge that comes again, the other way perhaps, one number is kept."""
    low, high = ends.min(axis=0), ends.max(axis=0)
    order = np.lexsort((high, low))
    low, high, values = low[order], high[order], values[order]
    again = (np.diff(low) == 0) & (np.diff(high) == 0)
    other = np.flatnonzero(again & (np.diff(values) != 0))
    if len(other):
        i = int(other[0])
        refuse(
            source,
            f"the edge of {names[low[i]]} and {names[high[i]]} comes twice, with {values[i]:g} and {values[i + 1]:g}; "
            "keep one of them",
        )
    kept = np.concatenate([[True], ~again])
    low, high, values = low[kept], high[kept], values[kept]
    far = low != high
    rows, columns = np.concatenate([low, high[far]]), np.concatenate([high, low[far]])
    shape = (len(names), len(names))
    return coo_array((np.concatenate([values, values[far]]), (rows, columns)), shape=shape).tocsr()
