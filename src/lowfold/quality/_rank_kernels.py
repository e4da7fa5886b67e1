"""Numba kernels of the rank measures; imported on first use by `_ranks`, never with the package."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def nearest_in_rows(D, own, k, out):
    """The k nearest of every row, by (distance, index), the point itself left out."""
    m, n = D.shape
    keys = np.empty(k)
    for i in range(m):
        filled = 0
        for j in range(n):
            if j == own[i]:
                continue
            d = D[i, j]
            if filled == k and d >= keys[k - 1]:  # j rises: of equal distances the first stays
                continue
            place = filled if filled < k else k - 1
            while place > 0 and keys[place - 1] > d:
                keys[place] = keys[place - 1]
                out[i, place] = out[i, place - 1]
                place -= 1
            keys[place] = d
            out[i, place] = j
            filled = min(filled + 1, k)


@njit(nogil=True, cache=True)
def ranks_in_rows(D, own, index, out):
    """out[i, a] = rank (from 1) of point index[i, a] among all others of row i, by (distance, index).

    The k asked for are sorted; every other point is counted where it falls between them; sums of the counts are ranks.
    """
    m, n = D.shape
    k = index.shape[1]
    order = np.empty(k, dtype=np.int64)
    keys, items = np.empty(k), np.empty(k, dtype=np.int64)
    for i in range(m):
        for a in range(k):
            d, j = D[i, index[i, a]], index[i, a]
            place = a
            while place > 0 and (keys[place - 1] > d or (keys[place - 1] == d and items[place - 1] > j)):
                keys[place], items[place], order[place] = keys[place - 1], items[place - 1], order[place - 1]
                place -= 1
            keys[place], items[place], order[place] = d, j, a
        counts = np.zeros(k + 1, dtype=np.int64)
        for j in range(n):
            d = D[i, j]
            if d > keys[k - 1] or j == own[i]:
                continue
            low, high = 0, k  # how many of the sorted keys come before (d, j)
            while low < high:
                middle = (low + high) // 2
                if keys[middle] < d or (keys[middle] == d and items[middle] < j):
                    low = middle + 1
                else:
                    high = middle
            counts[low] += 1
        before = 0
        for a in range(k):
            before += counts[a]
            out[i, order[a]] = before
