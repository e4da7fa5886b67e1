"""The loops of `_search_loops` in NumPy, for few points: the same results, to the bit, without loading Numba.

Sums run over the features in their order, as the loops' do, and equal distances go by index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import block_slices
from lowfold._core.types import AnyFloats, Floats, Ints

Floating = NDArray[np.floating[Any]]
ENTRIES = 200_000  # of a block at once: five arrays of that size stay in the cache


def candidate_distances(queries: AnyFloats, points: AnyFloats, index: Ints, out: Floats) -> None:
    """out[r, c] = ||queries[r] - points[index[r, c]]||^2 by direct differences in float64."""
    out[:] = 0.0
    for f in range(points.shape[1]):
        t = queries[:, f].astype(np.float64)[:, None] - points[:, f].astype(np.float64)[index]
        out += t * t


def pair_distances(queries: AnyFloats, points: AnyFloats, rows: Ints, columns: Ints, out: Floats) -> None:
    """out[p] = ||queries[rows[p]] - points[columns[p]]||^2."""
    out[:] = 0.0
    for f in range(points.shape[1]):
        t = queries[:, f].astype(np.float64)[rows] - points[:, f].astype(np.float64)[columns]
        out += t * t


def keep_nearest(block: Floating, first_column: int, own: Ints, keys: Floating, items: Ints) -> None:
    """The k best (distance, index) of each row, of (keys, items) and of the columns of `block`, in no order."""
    for rows in block_slices(len(block), max(1, ENTRIES // max(block.shape[1], 1))):
        _keep(block[rows], first_column, own[rows], keys[rows], items[rows])


def _keep(block: Floating, first_column: int, own: Ints, keys: Floating, items: Ints) -> None:
    m, width = block.shape
    k = keys.shape[1]
    columns = first_column + np.arange(width)
    d = np.where(np.isnan(block) | (columns[None, :] == own[:, None]), np.inf, block)
    every = np.concatenate([keys, d], axis=1)
    index = np.concatenate([items, np.broadcast_to(columns, (m, width))], axis=1)
    index[:, k:][columns[None, :] == own[:, None]] = np.iinfo(np.int64).max  # behind all that are as far away
    if every.shape[1] == k:
        return
    best = np.argpartition(every, k - 1, axis=1)[:, :k]
    top = np.take_along_axis(every, best, 1).max(axis=1)
    tied = np.flatnonzero((every <= top[:, None]).sum(axis=1) > k)
    if len(tied):
        order = np.argsort(index[tied], axis=1, kind="stable")
        again = np.argsort(np.take_along_axis(every[tied], order, 1), axis=1, kind="stable")[:, :k]
        best[tied] = np.take_along_axis(order, again, 1)
    keys[:], items[:] = np.take_along_axis(every, best, 1), np.take_along_axis(index, best, 1)


def keep_nearest_both(
    block: Floating, norms: Floating, first_row: int, first_column: int, keys: Floating, items: Ints
) -> None:
    """The same for rows and for columns of a tile: block holds -2 <x_r, x_c>."""
    rows, columns = (slice(a, a + size) for a, size in zip((first_row, first_column), block.shape, strict=True))
    d = block + norms[rows, None] + norms[None, columns]
    keep_nearest(d, first_column, np.arange(rows.start, rows.stop), keys[rows], items[rows])
    if first_row != first_column:
        keep_nearest(d.T, first_row, np.arange(columns.start, columns.stop), keys[columns], items[columns])


def exact_rows(
    queries: AnyFloats, points: AnyFloats, rows: Ints, own: Ints, k: int, out_distance: Floats, out_index: Ints
) -> None:
    """The k nearest points of each query row by direct differences in float64, in no order."""
    n = len(points)
    every = np.broadcast_to(np.arange(n), (len(rows), n))
    d = np.empty((len(rows), n))
    candidate_distances(queries[rows], points, every, d)
    out_distance[:], out_index[:] = np.inf, n
    keep_nearest(d, 0, own[rows], out_distance, out_index)


def within(block: Floating, limit: Floats, first_column: int, own: Ints, rows_out: Ints, columns_out: Ints) -> int:
    """Collect the entries of `block` at most limit[column]; returns how many there are, even beyond the room."""
    columns = first_column + np.arange(block.shape[1])
    rows, found = np.nonzero((block <= limit[columns]) & (columns[None, :] != own[:, None]))
    room = min(len(rows), len(rows_out))
    rows_out[:room], columns_out[:room] = rows[:room], columns[found[:room]]
    return len(rows)
