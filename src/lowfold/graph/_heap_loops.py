"""Dijkstra with an indexed heap: one search, and one for each of many rows. Numba, loaded on first use."""

from __future__ import annotations

import numpy as np
from numba import njit

ARITY = 4  # children per heap node: half the depth of a binary heap, and its children lie in one line of the cache


@njit(nogil=True, cache=True)
def _sift_up(keys, vertices, slot, i, key, v):
    """Put (key, v) at heap place i or above."""
    while i > 0:
        parent = (i - 1) // ARITY
        if keys[parent] <= key:
            break
        keys[i] = keys[parent]
        vertices[i] = vertices[parent]
        slot[vertices[i]] = i
        i = parent
    keys[i] = key
    vertices[i] = v
    slot[v] = i


@njit(nogil=True, cache=True)
def _sift_down(keys, vertices, slot, size, key, v):
    """Put (key, v) at the root or below, in a heap of `size`."""
    i = 0
    while True:
        child = ARITY * i + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, min(child + ARITY, size)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[i] = keys[least]
        vertices[i] = vertices[least]
        slot[vertices[i]] = i
        i = least
    keys[i] = key
    vertices[i] = v
    slot[v] = i


@njit(nogil=True, cache=True)
def settle(
    indptr,
    indices,
    lengths,
    seeds,
    seed_lengths,
    limit,
    far,
    wanted,
    n_wanted,
    distance,
    order,
    heap,
):
    """Dijkstra from a set of (vertex, initial distance): fill `distance`, write the vertices to `order` as they settle.

    Stops beyond `limit`, or once `n_wanted` vertices with wanted[v] are settled (n_wanted < 0: never). Returns how many
    vertices settled; `distance` of the others is `far` or not final.
    """
    keys, vertices, slot = heap
    distance[:] = far
    size = 0
    count = 0
    for s in range(len(seeds)):
        v = seeds[s]
        d = seed_lengths[s]
        if d <= limit and d < distance[v]:
            place = slot[v] if distance[v] != far else size
            size = max(size, place + 1)
            distance[v] = d
            _sift_up(keys, vertices, slot, place, d, v)
    while size > 0:
        v = vertices[0]
        base = keys[0]
        size -= 1
        if size > 0:
            _sift_down(keys, vertices, slot, size, keys[size], vertices[size])
        order[count] = v
        count += 1
        if n_wanted >= 0 and wanted[v]:
            n_wanted -= 1
            if n_wanted == 0:
                break
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            d = base + lengths[e]
            if d < distance[u] and d <= limit:
                place = slot[u] if distance[u] != far else size
                size = max(size, place + 1)
                distance[u] = d
                _sift_up(keys, vertices, slot, place, d, u)
    return count


@njit(nogil=True, cache=True)
def broad_order(indptr, indices):
    """Vertices in the order of a breadth-first search, component by component, and the most steps that one took."""
    n = len(indptr) - 1
    order = np.empty(n, np.int32)
    seen = np.zeros(n, np.bool_)
    most = count = head = 0
    for first in range(n):
        if seen[first]:
            continue
        seen[first] = True
        order[count] = first
        count += 1
        steps = 0
        last = count  # of this step
        while head < count:
            if head == last:
                steps += 1
                last = count
            v = order[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if not seen[u]:
                    seen[u] = True
                    order[count] = u
                    count += 1
        most = max(most, steps)
    return order, most


@njit(nogil=True, cache=True)
def new_heap(n, like):
    """Keys (dtype of `like`), vertices, and the heap place of each vertex."""
    return np.empty(n, like.dtype), np.empty(n, np.int32), np.empty(n, np.int32)


@njit(nogil=True, cache=True)
def dijkstra_rows(out_edges, seeds, rows, columns, limit, far, unit, early, out):
    """out[r, j] = distance from seed set r to vertex columns[j], for r in rows, one Dijkstra each; unit undone.

    With `early` a search ends once all columns are settled.
    """
    indptr, indices, lengths = out_edges
    seed_indptr, seed_indices, seed_lengths = seeds
    n = len(indptr) - 1
    distance = np.empty(n, lengths.dtype)
    order = np.empty(n, np.int32)
    heap = new_heap(n, lengths)
    wanted = np.zeros(n, np.bool_)
    n_wanted = -1
    if early:
        n_wanted = 0
        for v in columns:
            n_wanted += not wanted[v]
            wanted[v] = True
    for r in rows:
        mine = slice(seed_indptr[r], seed_indptr[r + 1])
        settle(
            indptr,
            indices,
            lengths,
            seed_indices[mine],
            seed_lengths[mine],
            limit,
            far,
            wanted,
            n_wanted,
            distance,
            order,
            heap,
        )
        for j in range(len(columns)):
            d = distance[columns[j]]
            out[r, j] = d * unit if d < far else np.inf
