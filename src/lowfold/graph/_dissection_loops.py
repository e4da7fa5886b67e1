"""Loops of nested dissection: the cut of a sparse symmetric pattern and its tree. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit

# A vertex with more neighbours than both is a hub, as of a star: a level of a search from it is nearly the whole graph,
# and no cut through it is narrow. Neighbourhoods of a search have tens; a separator of a surface has about sqrt(n)
# vertices.
HUB, HUB_ROOTS = 100.0, 10.0
# A cut should leave SIDE of the vertices on each side, else the tree is deep: for each hundredth less its width counts
# ten times more. One that leaves less than 1 / PEELED only peels.
SIDE, LOPSIDED, PEELED = 0.3, 1e3, 20
ROOM, LEAST_ROOM = 4, 1024  # rows for each vertex, and in all, before the list has to grow


@njit(nogil=True, cache=True)
def _levels(indptr, indices, part, me, start, queue, level):
    """Breadth-first levels inside the vertices with part[v] == me; returns how many were reached."""
    queue[0] = start
    level[start] = 0
    part[start] = -me
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if part[u] == me:
                part[u] = -me
                level[u] = level[v] + 1
                queue[tail] = u
                tail += 1
    for q in range(tail):
        part[queue[q]] = me
    return tail


@njit(nogil=True, cache=True)
def dissect(indptr, indices, leaf, most_entries, most_work):
    """Nested dissection: halves first, then the level that separates them, recursively down to `leaf` vertices.

    Returns the elimination order and the tree of its nodes (separators and leaves): where each begins and ends in that
    order, and its parent. Vertices with very many neighbours are one separator of everything else. The tree is empty
    where its nodes alone would have more entries or take more work than allowed.
    """
    n = len(indptr) - 1
    order, hubs = _hubs_last(indptr)
    part = np.zeros(n, np.int64)
    level = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    spare = np.empty(n, np.int64)
    begin, end, above = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    first, last, under = np.empty(n + 2, np.int64), np.empty(n + 2, np.int64), np.empty(n + 2, np.int64)
    nodes = 0
    if hubs < n:
        begin[0], end[0], above[0] = hubs, n, -1
        nodes = 1
    entries, work = float(n - hubs) ** 2, float(n - hubs) ** 3 / 3
    first[0], last[0], under[0] = 0, hubs, nodes - 1
    waiting = 1
    me = 0
    while waiting > 0:
        waiting -= 1
        a, b, parent = first[waiting], last[waiting], under[waiting]
        m = b - a
        if m == 0:
            continue
        me += 1
        cut = -1
        if m > leaf:
            for q in range(a, b):
                part[order[q]] = me
            reached = _levels(indptr, indices, part, me, order[a], queue, level)
            if reached < m:
                ends = _components(indptr, indices, part, me, order, a, b, leaf, queue, level, spare)
                for q in range(len(ends)):
                    first[waiting], last[waiting], under[waiting] = a, ends[q], parent
                    a = ends[q]
                    waiting += 1
                continue
            for _ in range(2):  # towards a pair of far ends
                _levels(indptr, indices, part, me, queue[m - 1], queue, level)
            cut = _best_cut(level, queue, m)
        if cut < 0:
            begin[nodes], end[nodes], above[nodes] = a, b, parent
        else:
            left, right = _split(indptr, indices, part, me, level, cut, queue, m, order, a, spare)
            first[waiting], last[waiting], under[waiting] = a, left, nodes
            first[waiting + 1], last[waiting + 1], under[waiting + 1] = left, right, nodes
            waiting += 2
            begin[nodes], end[nodes], above[nodes] = right, b, parent
        entries += float(b - begin[nodes]) ** 2
        work += float(b - begin[nodes]) ** 3 / 3
        nodes += 1
        if entries > most_entries or work > most_work:
            nodes = 0
            break
    return order, begin[:nodes], end[:nodes], above[:nodes]


@njit(nogil=True, cache=True)
def _hubs_last(indptr):
    """The vertices in their order, but hubs at the end, and where these begin."""
    n = len(indptr) - 1
    hub = max(HUB, HUB_ROOTS * np.sqrt(n))
    order = np.empty(n, np.int64)
    rest, hubs = 0, n
    for v in range(n):
        if indptr[v + 1] - indptr[v] > hub:
            hubs -= 1
            order[hubs] = v
        else:
            order[rest] = v
            rest += 1
    return order, hubs


@njit(nogil=True, cache=True)
def _components(indptr, indices, part, me, order, a, b, leaf, queue, level, spare):
    """Put the components of order[a:b] one after the other, small ones together up to a leaf; where each lot ends."""
    ends = np.empty(b - a, np.int64)
    lots, w, begin = 0, a, a
    for q in range(a, b):
        if part[order[q]] != me:
            continue
        size = _levels(indptr, indices, part, me, order[q], queue, level)
        if w > begin and w + size - begin > leaf:
            ends[lots] = begin = w
            lots += 1
        for r in range(size):
            spare[w] = queue[r]
            part[queue[r]] = 0
            w += 1
    ends[lots] = b
    for q in range(a, b):
        order[q] = spare[q]
    return ends[: lots + 1]


@njit(nogil=True, cache=True)
def _best_cut(level, queue, m):
    """The narrowest level that leaves about a third on each side; -1 where no level divides the graph.

    Without a level of at most half of the vertices that leaves a twentieth on each side, as in data of high dimension,
    a cut would only peel off a few vertices at a time.
    """
    depth = level[queue[m - 1]] + 1
    width = np.zeros(depth, np.int64)
    for q in range(m):
        width[level[queue[q]]] += 1
    best, best_cost, before = -1, np.inf, width[0]
    for cut in range(1, depth - 1):
        smaller = min(before, m - before - width[cut])
        cost = width[cut] * (1.0 + LOPSIDED * max(0.0, SIDE - smaller / m))
        if cost < best_cost and PEELED * smaller >= m and 2 * width[cut] <= m:
            best_cost, best = cost, cut
        before += width[cut]
    return best


@njit(nogil=True, cache=True)
def _split(indptr, indices, part, me, level, cut, queue, m, order, a, spare):
    """Write both sides of the cut and then the separator to order[a:]; returns where the last two begin.

    A vertex of the cut level without a neighbour beyond it belongs to the near side.
    """
    n = len(order)
    left, n_separator, n_right = a, 0, 0
    for q in range(m):
        v = queue[q]
        if level[v] > cut:
            spare[n - 1 - n_right] = v
            n_right += 1
            continue
        touches = False
        if level[v] == cut:
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if part[u] == me and level[u] == cut + 1:
                    touches = True
                    break
        if touches:
            spare[n_separator] = v
            n_separator += 1
        else:
            order[left] = v
            left += 1
    w = left
    for q in range(n_right):
        order[w] = spare[n - 1 - q]
        w += 1
    for q in range(n_separator):
        order[w] = spare[q]
        part[spare[q]] = 0
        w += 1
    return left, left + n_right


@njit(nogil=True, cache=True)
def boundaries(indptr, indices, order, rank, start, stop, parent, most_entries, most_work):
    """The rows below each node's own: neighbours that are eliminated later, its children's included; sorted.

    Returns pointers, rows, entries and work; ends early once the factor has more of them, or takes
    more work, than allowed.
    """
    nodes = len(start)
    n = len(order)
    pointer = np.zeros(nodes + 1, np.int64)
    rows = np.empty(max(ROOM * n, LEAST_ROOM), np.int32)
    seen = np.full(n, -1, np.int32)
    first_child = np.full(nodes, -1, np.int64)
    next_child = np.full(nodes, -1, np.int64)
    size = 0
    entries, work = 0.0, 0.0
    for p in range(nodes):
        begin, end = size, stop[p]
        for j in range(start[p], end):
            v = order[j]
            for e in range(indptr[v], indptr[v + 1]):
                i = rank[indices[e]]
                if i >= end and seen[i] != p:
                    seen[i] = p
                    if size == len(rows):
                        rows = _longer(rows)
                    rows[size] = i
                    size += 1
        child = first_child[p]
        while child >= 0:
            for q in range(pointer[child], pointer[child + 1]):
                i = rows[q]
                if i >= end and seen[i] != p:
                    seen[i] = p
                    if size == len(rows):
                        rows = _longer(rows)
                    rows[size] = i
                    size += 1
            child = next_child[child]
        _sort(rows, begin, size)
        pointer[p + 1] = size
        if parent[p] >= 0:
            next_child[p] = first_child[parent[p]]
            first_child[parent[p]] = p
        width, below = float(end - start[p]), float(size - begin)
        entries += width * (width + below)
        work += width**3 / 3 + width * width * below + width * below * below
        if entries > most_entries or work > most_work:
            break
    return pointer, rows[:size], entries, work


@njit(nogil=True, cache=True)
def _longer(rows):
    """Twice the room."""
    out = np.empty(2 * len(rows), np.int32)
    for i in range(len(rows)):
        out[i] = rows[i]
    return out


@njit(nogil=True, cache=True)
def _sort(rows, begin, end):
    """Shell sort of rows[begin:end]; NumPy's sort would take seconds to compile."""
    gap = 1
    while 3 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            value = rows[i]
            j = i
            while j >= begin + gap and rows[j - gap] > value:
                rows[j] = rows[j - gap]
                j -= gap
            rows[j] = value
        gap //= 3
