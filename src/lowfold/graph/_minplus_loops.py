"""Loops of elimination in the (min, +) algebra, and of shortest paths through its fronts. Numba, loaded on first use.

Products C = min(C, A (+) C) go by blocks that stay in registers (`block_product`). Labels are int32 or float64; rows
are multiples of 64 bytes. Sums are exact and `min` has no order, so blocks may be cut, repeated and updated in place
without changing a bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lowfold._core._product_loops import BLOCK_BYTES, ROWS, add_product, block_product
from lowfold._core._vectors import Vectors
from lowfold.graph._path_loops import store_rows

PIVOTS = 32  # vertices of a front that are eliminated together

lower_rows, lower_row = (block_product(rows, Vectors.smaller, Vectors.plus) for rows in (ROWS, 1))


@njit(nogil=True, cache=True)
def relax(C, into, first, last, through, start, stop, A, place, by_row, by_k, left, right):
    """C[into] = min(itself, A (+) C[through]), the rows first..last of `into`.

    The last block begins early enough to be full, since min(c, c) = c.
    """
    if last - first < ROWS:
        for i in range(first, last):
            lower_row(C, into, i, C, through, start, stop, A, place + (i - first) * by_row, by_row, by_k, left, right)
        return
    for block in range(first, last, ROWS):
        i = min(block, last - ROWS)
        lower_rows(C, into, i, C, through, start, stop, A, place + (i - first) * by_row, by_row, by_k, left, right)


# --- Elimination ----------------------------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def assemble(indptr, indices, lengths, order, rank, begin, end, rows, where, far, M):
    """The front of the vertices begin..end before elimination: 0 on the diagonal, edges, `far` elsewhere."""
    width = end - begin
    M[:] = far
    for i in range(len(M)):
        M[i, i] = 0
    for j in range(begin, end):
        where[j] = j - begin
    for q in range(len(rows)):
        where[rows[q]] = width + q
    for j in range(begin, end):
        v = order[j]
        for e in range(indptr[v], indptr[v + 1]):
            i = rank[indices[e]]
            if i >= begin:
                a, b = where[j], where[i]
                d = min(lengths[e], M[a, b])
                M[a, b] = d
                M[b, a] = d


@njit(nogil=True, cache=True)
def extend_min(U, rows, where, M):
    """Lower the front of a parent to what its child left over."""
    b = len(rows)
    for j in range(b):
        line = M[where[rows[j]]]
        for i in range(b):
            c = where[rows[i]]
            line[c] = min(line[c], U[j, i])


@njit(nogil=True, cache=True)
def close_square(M, first, last):
    """Floyd-Warshall among the vertices first..last of a front."""
    for k in range(first, last):
        for i in range(first, last):
            a = M[i, k]
            for j in range(first, last):
                M[i, j] = min(M[i, j], a + M[k, j])


@njit(nogil=True, cache=True)
def through_pivots(M, every, first, last, top, bottom):
    """Rows top..bottom of a front, lowered by paths through its vertices first..last, which are closed."""
    width = M.shape[1]
    relax(M, every, top, bottom, every, first, last, M.reshape(-1), top * width + first, width, 1, 0, width)


@njit(nogil=True, cache=True)
def eliminate(M, every, width):
    """Paths through the first `width` vertices of a front."""
    for first in range(0, width, PIVOTS):
        last = min(first + PIVOTS, width)
        close_square(M, first, last)
        through_pivots(M, every, first, last, first, last)
        through_pivots(M, every, first, last, 0, first)
        through_pivots(M, every, first, last, last, len(M))


@njit(nogil=True, cache=True)
def copy(M, top, bottom, left, right, out):
    """A block of M, row by row. One by one: an assignment of slices compiles for seconds, because of its error text."""
    place = 0
    for i in range(top, bottom):
        for j in range(left, right):
            out[place] = M[i, j]
            place += 1


@njit(nogil=True, cache=True)
def store(M, width, F):
    """Keep the eliminated rows: the square block, then what leads to the later vertices, each contiguous."""
    b = len(M) - width
    copy(M, 0, width, 0, width, F)
    copy(M, 0, width, width, width + b, F[width * width :])


@njit(nogil=True, cache=True)
def padded(m, itemsize):
    """Numbers in a row that holds m of them in whole blocks."""
    lanes = BLOCK_BYTES // itemsize
    return (m + lanes - 1) // lanes * lanes


@njit(nogil=True, cache=True)
def factor_branch(
    indptr, indices, lengths, order, rank, start, stop, children, pointer, rows, place, F, first, last, largest,
    deepest, far, every,
):  # fmt: skip
    """Eliminate the nodes first..last, a whole branch, children first; returns what its root leaves over."""
    room = np.empty(largest * padded(largest, F.itemsize), F.dtype)
    stack = np.empty(deepest, F.dtype)
    where = np.empty(len(order), np.int32)
    waiting = np.empty(last - first + 1, np.int64)
    count, top = 0, 0
    for p in range(first, last + 1):
        below = rows[pointer[p] : pointer[p + 1]]
        width, b = stop[p] - start[p], len(below)
        m = width + b
        wide = padded(m, F.itemsize)
        M = room[: m * wide].reshape(m, wide)
        assemble(indptr, indices, lengths, order, rank, start[p], stop[p], below, where, far, M)
        for _ in range(children[p]):
            count -= 1
            c = waiting[count]
            size = pointer[c + 1] - pointer[c]
            top -= size * size
            extend_min(stack[top : top + size * size].reshape(size, size), rows[pointer[c] : pointer[c + 1]], where, M)
        eliminate(M, every, width)
        store(M, width, F[place[p] : place[p + 1]])
        copy(M, width, m, width, m, stack[top : top + b * b])
        top += b * b
        waiting[count] = p
        count += 1
    b = pointer[last + 1] - pointer[last]
    return stack[: b * b].copy().reshape(b, b)


# --- Paths ----------------------------------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def paths_from(tree, F, every, node_of, rows, seeds, lowest, wanted, far, due, labels):
    """labels[v, lane] = distance from the seed set rows[lane] to the vertex of rank v, in the nodes that are `wanted`.

    Nodes below `lowest` are not looked at; it must not come after the seeds' own.

    Up from the seeds: what is reached by paths through vertices eliminated before. Down from the roots: what is reached
    at all. Seeds are ranks.
    """
    start, stop, parent, pointer, boundary, place = tree
    seed_indptr, seed_indices, seed_lengths = seeds
    labels[start[lowest] :] = far
    due[lowest:] = False
    width = labels.shape[1]
    for lane in range(len(rows)):
        for s in range(seed_indptr[rows[lane]], seed_indptr[rows[lane] + 1]):
            v = seed_indices[s]
            labels[v, lane] = min(labels[v, lane], seed_lengths[s])
            due[node_of[v]] = True
    for p in range(lowest, len(start)):
        if due[p]:
            w, b = stop[p] - start[p], pointer[p + 1] - pointer[p]
            relax(labels, every, start[p], stop[p], every, start[p], stop[p], F, place[p], w, 1, 0, width)
            below = place[p] + w * w
            relax(labels, boundary, pointer[p], pointer[p + 1], every, start[p], stop[p], F, below, 1, b, 0, width)
            if parent[p] >= 0:
                due[parent[p]] = True
    for p in range(len(start) - 1, lowest - 1, -1):
        b = pointer[p + 1] - pointer[p]
        if b > 0 and wanted[p]:
            below = place[p] + (stop[p] - start[p]) ** 2
            relax(labels, every, start[p], stop[p], boundary, pointer[p], pointer[p + 1], F, below, b, 1, 0, width)


@njit(nogil=True, cache=True)
def eliminated_batches(tree, F, every, node_of, seeds, batches, columns, wanted, limit, far, unit, labels, out):
    """Fill the rows of `out` named by `batches`, whose row b holds the seed sets of batch b, padded with -1."""
    due = np.empty(len(tree[0]), np.bool_)
    for b in range(len(batches)):
        rows = batches[b][batches[b] >= 0]
        paths_from(tree, F, every, node_of, rows, seeds, 0, wanted, far, due, labels)
        store_rows(labels, rows, columns, limit, unit, out)


# --- Products with powers of the distances, which are made and forgotten --------------------------------------------

TILE = 32  # rows of a panel whose powers are multiplied at a time


@njit(nogil=True, cache=True)
def _powers(labels, first, last, count, power, shift, unit, begin, S):
    """S[r, j] = (unit labels[first + r, j] + shift)^power; 0 for j >= count and on the diagonal j = r + begin."""
    for r in range(last - first):
        source, line = labels[first + r], S[r]
        if power == 2:
            for j in range(len(line)):
                d = source[j] * unit + shift
                line[j] = d * d
        else:
            for j in range(len(line)):
                line[j] = source[j] * unit + shift
        line[count:] = 0.0
        if 0 <= r + begin < count:
            line[r + begin] = 0.0


@njit(nogil=True, cache=True)
def times_panels(tree, F, every, node_of, seeds, wanted, panels, power, shift, unit, far, V, labels, out):
    """out += P V for the symmetric P_ij = (d_ij + shift)^power, P_ii = 0; rows of V and `out` by rank, in whole blocks.

    A panel holds the distances from a batch of vertices to all that come later, and serves both triangles.
    """
    n, width = labels.shape
    m = V.shape[1]
    due = np.empty(len(tree[0]), np.bool_)
    S = np.empty((TILE, width))
    sums = np.empty((m, width))
    flat, flat_V = S.reshape(-1), V.reshape(-1)
    for panel in panels:
        q0, q1 = panel * width, min((panel + 1) * width, n)
        paths_from(tree, F, every, node_of, every[q0:q1], seeds, node_of[q0], wanted, far, due, labels)
        sums[:] = 0.0
        first = q0
        while first < n:
            inside = first < q1
            last = min(first + TILE, q1 if inside else n)
            _powers(labels, first, last, q1 - q0, power, shift, unit, first - q0, S)
            add_product(out, every, first, last, V, every, q0, q1, flat, 0, width, 1, 0, m)
            if not inside:
                add_product(sums, every, 0, m, S, every, 0, last - first, flat_V, first * m, 1, m, 0, width)
            first = last
        for j in range(q1 - q0):
            for c in range(m):
                out[q0 + j, c] += sums[c, j]
