"""Missing values of a table: told, kept, filled in, or their rows left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.file_words import refuse
from lowfold.datasets._file_table import Table

LEAST = 3  # rows of a square that is taken for a matrix of distances
DISTANCES = (
    "missing='keep': in a matrix of distances these are pairs that nobody measured, which "
    "MetricMDS and NonmetricMDS take with metric='precomputed'"
)
WAYS = "missing='drop' (without these rows), missing='mean' (filled in) or missing='keep' (for EMPCA)"
Missing = Literal["error", "keep", "drop", "mean"]


def check_missing_option(missing: object) -> None:
    """One of the four words."""
    if missing not in get_args(Missing):
        raise InvalidInput(f"missing must be 'error', 'keep', 'drop' or 'mean'; got {missing!r}")


def are_distances(X: NDArray[np.floating]) -> bool:
    """Whether the values that are there can be distances between the rows: no row can be left out alone then."""
    if X.shape[0] != X.shape[1] or len(X) < LEAST or np.any(np.diag(X) != 0):
        return False
    known = np.isfinite(X) & np.isfinite(X.T)
    return bool((X[known] >= 0).all() and np.array_equal(X[known], X.T[known]))


def with_gaps(table: Table, missing: Missing) -> Table:
    """The table, with its missing values dealt with as asked."""
    check_missing_option(missing)
    if issparse(table.X):  # what is not there is 0
        return table
    gaps = np.isnan(table.X)
    rows = np.asarray(gaps.any(axis=1))
    if not rows.any():
        return table
    empty = gaps.all(axis=0)
    if missing != "keep" and len(gaps) > 1 and empty.any() and not are_distances(table.X):
        name = table.columns[int(np.argmax(empty))]
        refuse(table.source, f"column {name!r} has no value at all; take it out, or keep it aside with label={name!r}")
    count, (row, column) = int(gaps.sum()), (int(i) for i in np.argwhere(gaps)[0])
    words = f"the first in row {row + 1}, column {table.columns[column]!r}"
    if missing == "error":
        way = DISTANCES if are_distances(table.X) else WAYS
        refuse(table.source, f"{count} values are missing, {words}; read with {way}")
    if missing == "keep":
        told = f"{count} values are missing (NaN), {words}"
        return replace(table, notices=[*table.notices, told])
    return _filled(table, gaps) if missing == "mean" else _dropped(table, rows)


def _filled(table: Table, gaps: NDArray[np.bool_]) -> Table:
    with np.errstate(invalid="ignore"):
        means = np.nansum(table.X, axis=0) / (~gaps).sum(axis=0)
    if not np.isfinite(means).all():
        refuse(table.source, f"column {table.columns[int(np.argmin(np.isfinite(means)))]!r} has no value at all")
    X = np.where(gaps, means, table.X).astype(table.X.dtype)
    return replace(table, X=X, notices=[*table.notices, f"{int(gaps.sum())} missing values filled by column means"])


def _dropped(table: Table, rows: NDArray[np.bool_]) -> Table:
    """The other rows, which are no longer all the pixels of a picture."""
    kept = ~rows
    if not kept.any():
        refuse(table.source, "every row has a missing value; use missing='mean' or 'keep'")
    labels = {name: values[kept] for name, values in table.labels.items()}
    told = f"{int(rows.sum())} of {len(rows)} rows left out, which have missing values"
    if table.ids is None:  # else nobody could tell which row of the file a coordinate belongs to
        told += "; the ids of the others are their places in the file, from 1"
    ids = np.flatnonzero(kept) + 1 if table.ids is None else table.ids[kept]
    return replace(table, X=table.X[kept], labels=labels, ids=ids, notices=[*table.notices, told], grid_shape=None)
