"""Compiled loops of `_alignment`: merging patch matrices into rows of one sparse matrix."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def containing(indptr, members, n):
    """For every point the patches that contain it, in their order, and its place in `members`."""
    start = np.zeros(n + 1, np.int64)
    for e in range(len(members)):
        start[members[e] + 1] += 1
    for a in range(n):
        start[a + 1] += start[a]
    free = start[:-1].copy()
    owner = np.empty(len(members), np.int32)
    entry = np.empty(len(members), np.int64)
    for p in range(len(indptr) - 1):
        for e in range(indptr[p], indptr[p + 1]):
            a = members[e]
            owner[free[a]] = p
            entry[free[a]] = e
            free[a] += 1
    return start, owner, entry


@njit(nogil=True, cache=True)
def walk(indptr, members, n):
    """All points in breadth-first order through the patches, so that those which share patches come close together.

    Rows are merged in this order: with a million points in random order nearly every access would miss the cache.
    """
    order = np.empty(n, np.int32)
    reached = np.zeros(n, np.bool_)
    last = 0
    for a in range(n):
        if reached[a]:
            continue
        reached[a] = True
        order[last] = a
        first = last
        last += 1
        while first < last:
            p = order[first]
            first += 1
            if p < len(indptr) - 1:
                for e in range(indptr[p], indptr[p + 1]):
                    b = members[e]
                    if not reached[b]:
                        reached[b] = True
                        order[last] = b
                        last += 1
    return order


@njit(nogil=True, cache=True)
def count_columns(low, high, order, indptr, members, start, owner, counts):
    """Number of different points that share a patch with each point of order[low:high]."""
    seen = np.full(len(start) - 1, -1, np.int32)
    for i in range(low, high):
        a = order[i]
        found = 0
        for s in range(start[a], start[a + 1]):
            p = owner[s]
            for e in range(indptr[p], indptr[p + 1]):
                b = members[e]
                if seen[b] != a:
                    seen[b] = a
                    found += 1
        counts[a] = found


@njit(nogil=True, cache=True)
def shell_sort(values, first, last):
    """Sort values[first:last] in place; rows have some dozens of entries."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            value = values[i]
            j = i
            while j >= first + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@njit(nogil=True, cache=True)
def fill_rows(low, high, order, indptr, members, factor, complement, start, owner, entry, pointers, columns, values):
    """Rows order[low:high] of sum_i W_i, columns sorted."""
    n, r = len(start) - 1, factor.shape[1]
    total = np.zeros(n)
    seen = np.full(n, -1, np.int32)
    sign = -1.0 if complement else 1.0
    for i in range(low, high):
        a = order[i]
        first = pointers[a]
        last = first
        for s in range(start[a], start[a + 1]):
            p, own = owner[s], entry[s]
            for e in range(indptr[p], indptr[p + 1]):
                b = members[e]
                product = 0.0
                for c in range(r):
                    product += factor[own, c] * factor[e, c]
                product *= sign
                if complement and e == own:
                    product += 1.0
                if seen[b] != a:
                    seen[b] = a
                    total[b] = product
                    columns[last] = b
                    last += 1
                else:
                    total[b] += product
        shell_sort(columns, first, last)
        for e in range(first, last):
            values[e] = total[columns[e]]
