"""The loop of the union of neighbourhoods. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def union(indptr, indices, distances):
    """Rows, sorted by index, of i ~ j when either is a neighbour of the other; of two lengths the shorter counts.

    Each pass is a transposition, which sorts: the first tells whose neighbour a point is, the second sorts its own ones
    and those together. Unsigned places spare a test for negative ones.
    """
    n, m = len(indptr) - 1, len(indices)
    starts = np.zeros(n + 1, np.int64)
    for e in range(m):
        starts[np.uint32(indices[e]) + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    whose, how_far = _transposed(indptr, indices, distances, starts)
    both, lengths, ends = np.empty(2 * m, np.int32), np.empty(2 * m), np.zeros(n + 1, np.int64)
    place, size = np.full(n, -1, np.int64), 0
    for i in range(n):
        first = size
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            both[np.uint64(size)], lengths[np.uint64(size)] = indices[e], distances[e]
            place[np.uint32(indices[e])] = size
            size += 1
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            at = place[np.uint32(whose[e])]
            new = at < first
            there = np.uint64(size if new else at)
            lengths[there] = how_far[e] if new else min(lengths[there], how_far[e])
            both[there] = whose[e]
            size += new
        ends[i + 1] = size
    rows, sorted_lengths = _transposed(ends, both[:size], lengths[:size], ends)  # it is symmetric
    return ends, rows, sorted_lengths


@njit(nogil=True, cache=True)
def _transposed(indptr, indices, values, starts):
    """The row of every entry and its value, by columns, which begin at `starts`."""
    rows, moved, at = np.empty(len(indices), np.int32), np.empty(len(indices)), starts[:-1].copy()
    for i in range(len(indptr) - 1):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            to = np.uint64(at[np.uint32(indices[e])])
            at[np.uint32(indices[e])] += 1
            rows[to], moved[to] = i, values[e]
    return rows, moved
