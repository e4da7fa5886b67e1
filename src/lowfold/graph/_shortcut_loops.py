"""Loops of the search for shortcuts. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit

from lowfold._core.rounding import NO_DIVISOR


@njit(nogil=True, cache=True)
def shared_neighbors(indptr, indices, lengths, first, last, enough, spared, share):
    """share[e] = |N(i) and N(j)| / min(|N(i)|, |N(j)|) for the entries (i, j), i < j, of rows first..last - 1; 1 for
    those of at most the length spared[i] or spared[j].

    What is more than `enough` is the least such share. The row of i is marked once for all its j, and no branch is
    guessed wrongly: a merge of two rows takes twice as long. Marks of one byte stay in the nearest cache; unsigned
    places spare a test for negative ones.
    """
    mark, asked = np.zeros(len(indptr) - 1, np.uint8), np.empty(len(indptr), np.int64)
    for i in range(first, last):
        n_asked = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[e])
            mark[j], share[e], asked[n_asked] = 1, j > i, e
            n_asked += (j > i) & (lengths[e] > spared[i]) & (lengths[e] > spared[j])
        for e in asked[:n_asked]:
            j = np.uint32(indices[e])
            least, common = min(indptr[i + 1] - indptr[i], indptr[j + 1] - indptr[j]), 0
            for b in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                common += mark[np.uint32(indices[b])]
            share[e] = min(common, int(enough * least) + 1) / least
        for a in range(indptr[i], indptr[i + 1]):
            mark[np.uint32(indices[a])] = 0


@njit(nogil=True, cache=True)
def mirror(indptr, indices, values):
    """Give the entries (i, j) and (j, i) the larger of their values: rows are sorted, so the next place is known."""
    place = indptr[:-1].copy()
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j > i:
                other = place[j]
                values[e] = values[other] = max(values[e], values[other])
            place[j] += 1


@njit(nogil=True, cache=True)
def low_entries(indptr, indices, share, limit, entries, others, tails):
    """How many entries (i, j), i < j, have a share of at most the limit: where they stand, where (j, i) does, and i.

    Rows are sorted, so that the next place of (j, i) is known.
    """
    place, n = indptr[:-1].copy(), 0
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[e])
            if j > i and share[e] <= limit:
                entries[n], others[n], tails[n] = e, place[j], i
                n += 1
            place[j] += 1
    return n


@njit(nogil=True, cache=True)
def labels(indptr, indices, kept, out):
    """out[i] = the smallest vertex that the kept entries join with i; entries are kept in both rows or in none."""
    waiting = np.empty(len(out), np.int64)
    out[:] = -1
    for i in range(len(out)):
        if out[i] >= 0:
            continue
        out[i], waiting[0], size = i, i, 1
        while size > 0:
            size -= 1
            v = waiting[size]
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if kept[e] and out[u] < 0:
                    out[u], waiting[size] = i, u
                    size += 1


@njit(nogil=True, cache=True)
def places(indptr, indices, rows, columns, out):
    """out[s] = where the entry (rows[s], columns[s]) stands: rows are sorted."""
    for s in range(len(rows)):
        low, high = indptr[rows[s]], indptr[rows[s] + 1] - 1
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < columns[s]:
                low = middle + 1
            else:
                high = middle
        out[s] = low


@njit(nogil=True, cache=True)
def mean_lengths(indptr, lengths, vertices, out):
    """out[s, c] = the mean length of the entries in the row of vertices[s, c]."""
    for s in range(len(vertices)):
        for c in range(vertices.shape[1]):
            v, total = vertices[s, c], 0.0
            for e in range(indptr[v], indptr[v + 1]):
                total += lengths[e]
            out[s, c] = total / max(indptr[v + 1] - indptr[v], 1)


@njit(nogil=True, cache=True)
def mth_lengths(indptr, lengths, m, out):
    """out[a, i] = the m[a]-th smallest length in row i, inf where there are fewer."""
    best = np.empty(m.max())
    for i in range(len(indptr) - 1):
        best[:] = np.inf
        for e in range(indptr[i], indptr[i + 1]):
            length = lengths[e]
            for at in range(len(best)):  # each keeps the smaller, hands the larger on: branches are guessed wrongly
                kept = min(best[at], length)
                length = max(best[at], length)
                best[at] = kept
        for a in range(len(m)):
            out[a, i] = best[m[a] - 1]


@njit(nogil=True, cache=True)
def long_edges(indptr, indices, lengths, middle, step, factor, edges, times):
    """How many entries (i, j), i < j, of every `step`-th row are more than `factor` times as long as the smaller of
    middle[i] and middle[j]; edges and times get them, and how many times.
    """
    n = 0
    for i in range(0, len(indptr) - 1, step):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[e])
            usual = min(middle[i], middle[j])
            if j > i and lengths[e] > factor * usual:
                edges[n], times[n] = e, lengths[e] / max(usual, NO_DIVISOR)
                n += 1
    return n


@njit(nogil=True, cache=True)
def short_ways(indptr, indices, lengths, kept, tails, heads, reach, out):
    """out[s] = whether a way of two or three kept entries leads from tails[s] to heads[s] within reach[s].

    Nearly every sound edge has one, which spares it the search.
    """
    for s in range(len(tails)):
        i, j, limit = tails[s], heads[s], reach[s]
        out[s] = _shared_within(indptr, indices, lengths, kept, i, j, limit)
        for e in range(indptr[i], indptr[i + 1]):
            if out[s]:
                break
            if kept[e] and indices[e] != j and lengths[e] < limit:
                out[s] = _shared_within(indptr, indices, lengths, kept, indices[e], j, limit - lengths[e])


@njit(nogil=True, cache=True)
def _shared_within(indptr, indices, lengths, kept, i, j, limit):
    """Whether i and j have a neighbour in common, over kept entries, the sum of whose lengths is within the limit."""
    a, b = indptr[i], indptr[j]
    a_end, b_end = indptr[i + 1], indptr[j + 1]
    while a < a_end and b < b_end:
        u, v = indices[a], indices[b]
        if u == v and kept[a] and kept[b] and lengths[a] + lengths[b] <= limit:
            return True
        a += u <= v
        b += v <= u
    return False


@njit(nogil=True, cache=True)
def _push(keys, items, size, key, item):
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] <= key:
            break
        keys[i], items[i] = keys[parent], items[parent]
        i = parent
    keys[i], items[i] = key, item


@njit(nogil=True, cache=True)
def _pop(keys, items, size):
    """Take the root of a heap of `size` away; the caller has read it."""
    key, item = keys[size - 1], items[size - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i], items[i] = keys[child], items[child]
        i = child
    keys[i], items[i] = key, item


@njit(nogil=True, cache=True)
def detours(indptr, indices, lengths, kept, tails, heads, reach, most, out):
    """out[s] = whether the way from tails[s] to heads[s] over the kept entries is longer than reach[s], or there is
    none; False where `most` vertices of an end were settled before it was known.

    Entries are kept in both rows or in none. Half the reach is searched from either end: on a surface a quarter of the
    vertices each.
    """
    n, pushes = len(indptr) - 1, len(indices) + 1  # an entry is looked at once at most; unused pages cost nothing
    keys, items = np.empty(pushes), np.empty(pushes, np.int64)
    labels, touched = np.full((2, n), np.inf), np.empty((2, n), np.int64)
    rows = indptr, indices, lengths, kept
    for s in range(len(tails)):
        known, seen = _meets(*rows, tails[s], reach[s], most, labels[0], labels[1], keys, items, touched[0])
        met, others = known, 0
        if not known:
            met, others = _meets(*rows, heads[s], reach[s], most, labels[1], labels[0], keys, items, touched[1])
        out[s] = not met
        for t in range(seen):
            labels[0, touched[0, t]] = np.inf
        for t in range(others):
            labels[1, touched[1, t]] = np.inf


@njit(nogil=True, cache=True)
def _meets(indptr, indices, lengths, kept, source, limit, most, label, other, keys, items, touched):
    """Label the vertices within the limit whose way from the source leaves half of it on its last entry at most;
    whether one has a label of the other end and both are within the limit (or `most` were settled), and how many were
    labelled.

    The first vertex of a way that lies beyond half the limit is less than half of it from the other end.
    """
    label[source] = 0.0
    keys[0], items[0], touched[0] = 0.0, source, source
    size, seen, settled = 1, 1, 0
    if other[source] <= limit:
        return True, seen
    while size > 0:
        near, v = keys[0], items[0]
        _pop(keys, items, size)
        size -= 1
        if near > label[v]:
            continue
        settled += 1
        if settled > most:
            return True, seen
        for e in range(indptr[v], indptr[v + 1]):
            u, through = indices[e], near + lengths[e]
            if not kept[e] or through > limit or through >= label[u]:
                continue
            if through + other[u] <= limit:
                return True, seen
            if label[u] == np.inf:
                touched[seen] = u
                seen += 1
            label[u] = through
            if through <= limit / 2:
                _push(keys, items, size, through, u)
                size += 1
    return False, seen
