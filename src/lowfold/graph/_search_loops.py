"""Loops of the neighbour search. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def _sift(keys, items, k):
    """Put the root of the max-heap keys[:k] (ties: larger index is worse) in its place."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= k:
            return
        right = child + 1
        if right < k and (keys[right] > keys[child] or (keys[right] == keys[child] and items[right] > items[child])):
            child = right
        if keys[child] < keys[i] or (keys[child] == keys[i] and items[child] <= items[i]):
            return
        keys[i], keys[child] = keys[child], keys[i]
        items[i], items[child] = items[child], items[i]
        i = child


@njit(nogil=True, cache=True)
def keep_nearest(block, first_column, own, keys, items):
    """Update per-row heaps (keys, items) of the k best (distance, index) with the columns of `block`.

    own[r] is the row's own index, which is skipped; NaN never wins. Heaps start filled with inf and the number of
    points.
    """
    rows, columns = block.shape
    k = keys.shape[1]
    for r in range(rows):
        key, item = keys[r], items[r]
        top, top_item = key[0], item[0]
        for c in range(columns):
            d = block[r, c]
            if d <= top:
                j = first_column + c
                if (d < top or j < top_item) and j != own[r]:
                    key[0] = d
                    item[0] = j
                    _sift(key, item, k)
                    top, top_item = key[0], item[0]


@njit(nogil=True, cache=True)
def keep_nearest_both(block, norms, first_row, first_column, keys, items):
    """Update the heaps of rows and of columns: block holds -2 <x_r, x_c>, so d^2 = block + |x_r|^2 + |x_c|^2.

    A tile on the diagonal has every pair twice; only the part above the diagonal is read.
    """
    rows, columns = block.shape
    k = keys.shape[1]
    tops = keys[first_column : first_column + columns, 0].copy()
    for r in range(rows):
        i = first_row + r
        key, item = keys[i], items[i]
        top, norm = key[0], norms[i]
        for c in range(r + 1 if first_row == first_column else 0, columns):
            j = first_column + c
            d = (block[r, c] + norm) + norms[j]
            if d <= top and (d < top or j < item[0]):
                key[0] = d
                item[0] = j
                _sift(key, item, k)
                top = key[0]
                if first_row == first_column:
                    tops[r] = top
            if d <= tops[c] and (d < tops[c] or i < items[j, 0]):
                keys[j, 0] = d
                items[j, 0] = i
                _sift(keys[j], items[j], k)
                tops[c] = keys[j, 0]


@njit(nogil=True, cache=True)
def exact_rows(queries, points, rows, own, k, out_distance, out_index):
    """The k nearest points of each query row by direct differences in float64: squared distances, ties by index."""
    n, D = points.shape
    for q in range(len(rows)):
        r = rows[q]
        key = np.full(k, np.inf)
        item = np.full(k, n, np.int64)
        for j in range(n):
            if j == own[r]:
                continue
            d = 0.0
            for f in range(D):
                t = np.float64(queries[r, f]) - np.float64(points[j, f])
                d += t * t
            if d < key[0] or (d == key[0] and j < item[0]):
                key[0] = d
                item[0] = j
                _sift(key, item, k)
        out_distance[q] = key
        out_index[q] = item


@njit(nogil=True, cache=True)
def candidate_distances(queries, points, index, out):
    """out[r, c] = ||queries[r] - points[index[r, c]]||^2 by direct differences in float64."""
    rows, columns = index.shape
    D = points.shape[1]
    for r in range(rows):
        for c in range(columns):
            j = index[r, c]
            d = 0.0
            for f in range(D):
                t = np.float64(queries[r, f]) - np.float64(points[j, f])
                d += t * t
            out[r, c] = d


@njit(nogil=True, cache=True)
def pair_distances(queries, points, rows, columns, out):
    """out[p] = ||queries[rows[p]] - points[columns[p]]||^2, summed as in `candidate_distances`, to the same bits."""
    D = points.shape[1]
    for p in range(len(rows)):
        d = 0.0
        for f in range(D):
            t = np.float64(queries[rows[p], f]) - np.float64(points[columns[p], f])
            d += t * t
        out[p] = d


@njit(nogil=True, cache=True)
def within(block, limit, first_column, own, rows_out, columns_out):
    """Collect the entries of `block` at most limit[column]; returns how many there are, even beyond the room."""
    rows, columns = block.shape
    count = 0
    for r in range(rows):
        for c in range(columns):
            j = first_column + c
            if block[r, c] <= limit[j] and j != own[r]:
                if count < len(rows_out):
                    rows_out[count] = r
                    columns_out[count] = j
                count += 1
    return count
