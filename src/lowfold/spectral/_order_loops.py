"""Loops over the pattern of a sparse symmetric matrix: aggregates. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def aggregate(indptr, indices):
    """Label every vertex with an aggregate: a seed and its neighbours; leftovers join the aggregate next to them."""
    n = len(indptr) - 1
    label = np.full(n, -1, np.int64)
    count = 0
    for v in range(n):
        if label[v] >= 0:
            continue
        free = True
        for e in range(indptr[v], indptr[v + 1]):
            if label[indices[e]] >= 0:
                free = False
                break
        if free:
            label[v] = count
            for e in range(indptr[v], indptr[v + 1]):
                label[indices[e]] = count
            count += 1
    joined = label.copy()
    for v in range(n):
        if label[v] < 0:
            for e in range(indptr[v], indptr[v + 1]):
                if label[indices[e]] >= 0:
                    joined[v] = label[indices[e]]
                    break
            if joined[v] < 0:
                joined[v] = count
                label[v] = count
                count += 1
    return joined, count
