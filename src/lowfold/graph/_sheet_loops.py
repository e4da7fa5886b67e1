"""A surface laid flat from some of its points: steps added up along shortest paths. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit

from lowfold.graph._heap_loops import new_heap, settle

FAR = np.inf


@njit(nogil=True, cache=True)
def lay(links, order, count, distance, home, position, turn):
    """Positions and frames of the first `count` knots of `order`, each seen from the start of its shortest path.

    home[v] is -1 but at the starts, which the caller places.
    """
    indptr, indices, lengths, steps, turns = links
    d = steps.shape[1]
    for p in range(count):
        v = order[p]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if home[u] >= 0 or distance[v] + lengths[e] != distance[u]:
                continue
            home[u] = home[v]
            for a in range(d):
                position[u, a] = position[v, a]
                for b in range(d):
                    position[u, a] += turn[v, a, b] * steps[e, b]
                    turn[u, a, b] = 0.0
                    for c in range(d):
                        turn[u, a, b] += turn[v, a, c] * turns[e, c, b]


@njit(nogil=True, cache=True)
def lay_from(links, starts, wanted, n_wanted, distance, order, heap, home, position, turn):
    """Shortest paths from all starts at once until `n_wanted` of the wanted are reached, laid flat. How many were."""
    home[:] = -1
    for s in range(len(starts)):
        v = starts[s]
        home[v] = s
        position[v] = 0.0
        turn[v] = 0.0
        for a in range(position.shape[1]):
            turn[v, a, a] = 1.0
    zeros = np.zeros(len(starts))
    count = settle(links[0], links[1], links[2], starts, zeros, FAR, FAR, wanted, n_wanted, distance, order, heap)
    lay(links, order, count, distance, home, position, turn)
    return count


@njit(nogil=True, cache=True)
def charts(links, first, last, starts, targets, out):
    """out[i, j] = where targets[i, j] is, seen from starts[i]; NaN where no links lead there."""
    n, d = len(links[0]) - 1, links[3].shape[1]
    distance, order, heap = np.empty(n), np.empty(n, np.int32), new_heap(n, links[2])
    home, position, turn = np.empty(n, np.int64), np.empty((n, d)), np.empty((n, d, d))
    wanted = np.zeros(n, np.bool_)
    for i in range(first, last):
        n_wanted = 0
        for j in range(targets.shape[1]):
            n_wanted += not wanted[targets[i, j]]
            wanted[targets[i, j]] = True
        lay_from(links, starts[i : i + 1], wanted, n_wanted, distance, order, heap, home, position, turn)
        for j in range(targets.shape[1]):
            v = targets[i, j]
            wanted[v] = False
            for a in range(d):
                out[i, j, a] = position[v, a] if home[v] >= 0 else np.nan


@njit(nogil=True, cache=True)
def nearest_marks(links, first, last, marks, number, out, lengths):
    """out[i] = the points first reached from point i, -1 for none; lengths[i] how far they lie laid flat."""
    n, d = len(links[0]) - 1, links[3].shape[1]
    distance, order, heap = np.empty(n), np.empty(n, np.int32), new_heap(n, links[2])
    home, position, turn = np.empty(n, np.int64), np.empty((n, d)), np.empty((n, d, d))
    k = out.shape[1]
    for i in range(first, last):
        count = lay_from(links, marks[i : i + 1], number >= 0, k + 1, distance, order, heap, home, position, turn)
        found = 0
        for p in range(count):
            v = order[p]
            if number[v] >= 0 and number[v] != i:
                square = 0.0
                for a in range(d):
                    square += position[v, a] ** 2
                out[i, found] = number[v]
                lengths[i, found] = np.sqrt(square)
                found += 1


@njit(nogil=True, cache=True)
def homes(links, starts, home, position, turn):
    """The start nearest to every knot, -1 for none, and the knot's position and frame seen from there."""
    n = len(links[0]) - 1
    distance, order, heap = np.empty(n), np.empty(n, np.int32), new_heap(n, links[2])
    lay_from(links, starts, np.zeros(n, np.bool_), -1, distance, order, heap, home, position, turn)
