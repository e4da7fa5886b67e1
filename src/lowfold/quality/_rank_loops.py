"""Loops of the rank measures. Numba, loaded on first use by `_ranks`."""

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


BITS = 11  # of a digit: its 2,048 counts stay in the nearest cache
HALF = 1 << BITS
LONG_RUN = 24  # equal keys: shorter runs are sorted by insertion, longer ones, as of repeated points, by a heap


@njit(nogil=True, cache=True)
def heap_sort(d, items):
    """Sort indices by (d, index) in place."""
    m = len(items)
    for root in range(m // 2 - 1, -1, -1):
        sift(d, items, root, m)
    for last in range(m - 1, 0, -1):
        items[0], items[last] = items[last], items[0]
        sift(d, items, 0, last)


@njit(nogil=True, cache=True)
def sift(d, items, root, stop):
    """Let items[root] sink below every later one of its branch, in the heap items[:stop]."""
    while 2 * root + 1 < stop:
        child = 2 * root + 1
        if child + 1 < stop:
            i, j = items[child], items[child + 1]
            if d[i] < d[j] or (d[i] == d[j] and i < j):
                child += 1
        i, j = items[root], items[child]
        if d[i] > d[j] or (d[i] == d[j] and i > j):
            return
        items[root], items[child] = j, i
        root = child


@njit(nogil=True, cache=True)
def ranks_of_row(d, own, key, first, second, rank):
    """rank[j] = place of j among the others by (distance, index), from 1; 0 for the point itself.

    Distances become whole numbers below 2^22 that rise with them, sorted by two counting passes; what shares a number
    is then sorted by the distance itself. Both keep the order of indices among equals.
    """
    n = len(d)
    low, high = np.inf, -np.inf
    for j in range(n):
        if j != own:
            low, high = min(low, d[j]), max(high, d[j])
    scale = (HALF * HALF - 1) / (high - low) if high > low else 0.0
    if not np.isfinite(scale):
        scale = 0.0
    counts_low = np.zeros(HALF + 1, dtype=np.int32)
    counts_high = np.zeros(HALF + 1, dtype=np.int32)
    for j in range(n):
        if j != own:
            key[j] = np.int32((d[j] - low) * scale)
            counts_low[(key[j] & (HALF - 1)) + 1] += 1
            counts_high[(key[j] >> BITS) + 1] += 1
    for b in range(HALF):
        counts_low[b + 1] += counts_low[b]
        counts_high[b + 1] += counts_high[b]
    for j in range(n):
        if j != own:
            b = key[j] & (HALF - 1)
            first[counts_low[b]] = j
            counts_low[b] += 1
    m = n - 1
    for p in range(m):
        b = key[first[p]] >> BITS
        second[counts_high[b]] = first[p]
        counts_high[b] += 1
    start = 0
    while start < m:
        stop = start + 1
        while stop < m and key[second[stop]] == key[second[start]]:
            stop += 1
        if stop - start > LONG_RUN:
            heap_sort(d, second[start:stop])
        else:
            for p in range(start + 1, stop):
                j = second[p]
                place = p
                while place > start and d[second[place - 1]] > d[j]:
                    second[place] = second[place - 1]
                    place -= 1
                second[place] = j
        for p in range(start, stop):
            rank[second[p]] = p + 1
        start = stop
    rank[own] = 0


@njit(nogil=True, cache=True)
def compare_rows(D, E, own, weights, of_embedding, of_data, kept, area, spearman):
    """Everything that ranks say about some rows: ranks across, shared neighbours of every size, rank correlation.

    D, E (m, n) distances in data and embedding; own (m,) the rows' points; weights (n - 2,) of the sizes K, summing to
    1. kept[K - 1] grows by the number of shared neighbours; area and spearman are set.
    """
    m, n = D.shape
    k = of_data.shape[1]
    others = n - 1
    key = np.empty(n, dtype=np.int32)
    first, second = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    a, b = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for i in range(m):
        ranks_of_row(D[i], own[i], key, first, second, a)
        ranks_of_row(E[i], own[i], key, first, second, b)
        counts = np.zeros(n, dtype=np.int32)
        apart = 0.0
        for j in range(n):
            r, s = a[j], b[j]
            counts[max(r, s)] += 1
            apart += float(r - s) * float(r - s)
            if 0 < s <= k:
                of_embedding[i, s - 1] = r
            if 0 < r <= k:
                of_data[i, r - 1] = s
        shared, total = 0, 0.0
        for size in range(1, n - 1):
            shared += counts[size]
            kept[size - 1] += shared
            total += weights[size - 1] * (others * (shared / size) - size) / (others - size)
        area[i] = total
        spearman[i] = 1.0 - 6.0 * apart / (others * (float(others) * others - 1.0))


@njit(nogil=True, cache=True)
def pair_sums_of_rows(D, E, sums):
    """sums (6, m): of delta, d, delta^2, d^2, delta d and (delta - d)^2 over each row."""
    m, n = D.shape
    for i in range(m):
        s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            x, y = D[i, j], E[i, j]
            s0 += x
            s1 += y
            s2 += x * x
            s3 += y * y
            s4 += x * y
            s5 += (x - y) * (x - y)
        sums[0, i], sums[1, i], sums[2, i], sums[3, i], sums[4, i], sums[5, i] = s0, s1, s2, s3, s4, s5
