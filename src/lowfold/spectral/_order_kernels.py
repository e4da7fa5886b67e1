"""Loops over the pattern of a sparse symmetric matrix: aggregates, dissection, fill. Numba, loaded on first use."""

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
def nested_dissection(indptr, indices, leaf):
    """An elimination order: halves first, then the level that separates them, recursively down to `leaf` vertices."""
    n = len(indptr) - 1
    order = np.arange(n)
    part = np.zeros(n, np.int64)
    level = np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    spare = np.empty(n, np.int64)
    todo = [(0, n)]
    me = 0
    while len(todo) > 0:
        a, b = todo.pop()
        m = b - a
        if m <= leaf:
            continue
        me += 1
        for q in range(a, b):
            part[order[q]] = me
        reached = _levels(indptr, indices, part, me, order[a], queue, level)
        if reached < m:  # a component by itself, then the rest
            w = a
            for q in range(reached):
                spare[w] = queue[q]
                part[queue[q]] = 0
                w += 1
            for q in range(a, b):
                if part[order[q]] == me:
                    spare[w] = order[q]
                    w += 1
            order[a:b] = spare[a:b]
            todo.append((a, a + reached))
            todo.append((a + reached, b))
            continue
        for _ in range(2):  # towards a pair of far ends
            _levels(indptr, indices, part, me, queue[m - 1], queue, level)
        depth = level[queue[m - 1]] + 1
        if depth < 3:
            continue
        width = np.zeros(depth, np.int64)
        for q in range(m):
            width[level[queue[q]]] += 1
        best, best_cost, before = 1, np.inf, width[0]
        for cut in range(1, depth - 1):
            smaller = min(before, m - before - width[cut])
            cost = width[cut] * (1.0 + 1e3 * max(0.0, 0.3 - smaller / m))
            if cost < best_cost:
                best_cost, best = cost, cut
            before += width[cut]
        left, n_separator, n_right = a, 0, 0
        for q in range(m):
            v = queue[q]
            if level[v] < best:
                order[left] = v
                left += 1
            elif level[v] > best:
                spare[n - 1 - n_right] = v
                n_right += 1
            else:
                touches = False
                for e in range(indptr[v], indptr[v + 1]):
                    u = indices[e]
                    if part[u] == me and level[u] == best + 1:
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
        todo.append((a, left))
        todo.append((left, left + n_right))
    return order


@njit(nogil=True, cache=True)
def column_counts(indptr, indices, weight, limit):
    """Weighted number of entries in each column of the Cholesky factor of a matrix in its given order.

    Row i of the factor is the part of the elimination tree between the entries of row i and i itself; walking it once
    per row counts every entry once. `weight` is the number of matrix rows that a vertex stands for. Counting ends once
    there are more than `limit` entries.
    """
    n = len(indptr) - 1
    parent = np.full(n, -1, np.int64)
    seen = np.full(n, -1, np.int64)
    counts = weight.astype(np.int64)
    total = float(n)
    for i in range(n):
        seen[i] = i
        if total > limit:
            break
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            while j < i and seen[j] != i:
                if parent[j] == -1:
                    parent[j] = i
                counts[j] += weight[i]
                total += weight[i]
                seen[j] = i
                j = parent[j]
    return counts
