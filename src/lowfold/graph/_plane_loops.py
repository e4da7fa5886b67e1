"""Loops of the planes that most neighbours of a point lie in. Numba, loaded on first use.

Points stand side by side in the last axis, LANES at a time: a step of one is a step of all of a register.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold.graph._near_planes import BEGINNING, REWEIGHTED, SETTLED, STIFF, WEAK

LANES = 64  # fewer, and beginning a loop over them takes longer than the loop; more leave the nearest cache


@njit(nogil=True, cache=True)
def nearest_entries(indptr, lengths, vertices, entries, counts):
    """entries[s] = the shortest entries of the row of vertices[s], as many as there are columns at most, by length and
    then place; counts[s] of them.
    """
    k = entries.shape[1]
    best = np.empty(k)
    for s in range(len(vertices)):
        n = 0
        for e in range(indptr[vertices[s]], indptr[vertices[s] + 1]):
            if n == k and lengths[e] >= best[k - 1]:
                continue
            n = min(n + 1, k)
            at = n - 1
            while at > 0 and best[at - 1] > lengths[e]:
                best[at], entries[s, at] = best[at - 1], entries[s, at - 1]
                at -= 1
            best[at], entries[s, at] = lengths[e], e
        counts[s] = n


@njit(nogil=True, cache=True)
def near_planes(X, vertices, near, counts, planes, length, height):
    """For vertices[s] with counts[s] neighbours near[s]: planes[s] (d, D), which most of them lie in, the length of the
    line to each, and its height above the plane.
    """
    (k, D), d = (near.shape[1], X.shape[1]), planes.shape[1]
    spokes, product, own = np.empty((k, D)), np.empty((k, k, LANES)), np.empty(k)
    unit, inverse = np.zeros((min(k, D), k, LANES)), np.empty((k, LANES))
    size, first, square = np.empty((3, k, LANES))
    T, inside = np.empty((d, min(k, D), LANES)), np.empty((d, k, LANES))
    for begin in range(0, len(vertices), LANES):
        for v in range(LANES):
            s = min(begin + v, len(vertices) - 1)
            _spokes(X, vertices[s], near[s], counts[s], spokes, own)
            size[:, v] = own
            if k < D:
                _products(spokes, product[:, :, v])
            else:
                unit[:, :, v] = spokes.T
            nearer = min(counts[s], max(d + 1, (counts[s] + 1) // 2))
            for j in range(k):
                first[j, v] = 1.0 if j < nearer else 0.0
        if k < D:
            _own_span(product, unit, inverse)
        _towards_most(unit, first, T, inside, square)
        for v in range(min(LANES, len(vertices) - begin)):
            s = begin + v
            for j in range(k):
                length[s, j], height[s, j] = size[j, v], np.sqrt(square[j, v]) * size[j, v]
            if k < D:
                _spokes(X, vertices[s], near[s], counts[s], spokes, own)
                _in_columns(spokes, unit[:, :, v], inverse[:, v], T[:, :, v], own, planes[s])
            else:
                planes[s] = T[:, :, v]


@njit(nogil=True, cache=True)
def _spokes(X, i, near, count, spokes, size):
    """spokes[j] = x_j - x_i, of length 1, for the neighbours near[:count], and their sizes; 0 for the others."""
    D = spokes.shape[1]
    spokes[count:], size[count:] = 0.0, 0.0
    for j in range(count):
        total = 0.0
        for t in range(D):
            spokes[j, t] = np.float64(X[near[j], t]) - np.float64(X[i, t])
            total += spokes[j, t] * spokes[j, t]
        size[j] = np.sqrt(total)
        inverse = np.divide(1.0, max(size[j], NO_DIVISOR))
        for t in range(D):
            spokes[j, t] *= inverse


@njit(nogil=True, cache=True)
def _products(spokes, out):
    k, D = spokes.shape
    for a in range(k):
        for b in range(a, k):
            total = 0.0
            for t in range(D):
                total += spokes[a, t] * spokes[b, t]
            out[a, b] = out[b, a] = total


@njit(nogil=True, cache=True)
def _own_span(product, unit, inverse):
    """unit[a, j] = coordinate a of neighbour j in an orthonormal basis of what all span: the Cholesky factor of their
    products, and the inverse of its diagonal. A direction lost in rounding has zeros.
    """
    k = len(product)
    for a in range(k):
        for j in range(a, k):
            for v in range(LANES):
                unit[a, j, v] = product[a, j, v]
            for b in range(a):
                for v in range(LANES):
                    unit[a, j, v] -= unit[b, a, v] * unit[b, j, v]
        for v in range(LANES):
            pivot = unit[a, a, v]
            inverse[a, v] = np.divide(1.0, np.sqrt(max(pivot, NO_DIVISOR))) if pivot > WEAK else 0.0
        for j in range(a, k):
            for v in range(LANES):
                unit[a, j, v] *= inverse[a, v]


@njit(nogil=True, cache=True)
def _towards_most(unit, first, T, inside, square):
    """T (d, m) turned towards the plane of the `first` neighbours by the power method, then of all, each with the less
    say the larger its angle; and the squares of their sines.
    """
    _outermost(unit, first, T, inside, square)
    weight, former, last = np.empty_like(square), np.empty_like(square), np.empty_like(T)
    moved, stage = np.empty(LANES), np.zeros(LANES)
    for step in range(BEGINNING + REWEIGHTED):
        former[:], last[:], moved[:] = square, T, 0.0
        for v in range(LANES):
            stage[v] = max(stage[v], 1.0) if step == BEGINNING else stage[v]
        for j in range(len(square)):
            for v in range(LANES):
                new = np.divide(1.0, 1.0 + square[j, v] * square[j, v] * STIFF)
                weight[j, v] = new if stage[v] > 0 else first[j, v]
        _turn(unit, weight, inside, T)
        _orthonormal(T, len(T))
        for c in range(len(T)):
            for a in range(T.shape[1]):
                for v in range(LANES):
                    T[c, a, v] = T[c, a, v] if stage[v] < 2 else last[c, a, v]
        _squares(unit, T, inside, square)
        for j in range(len(square)):
            for v in range(LANES):
                moved[v] = max(moved[v], abs(square[j, v] - former[j, v]))
        for v in range(LANES):
            stage[v] += 1.0 if moved[v] <= SETTLED else 0.0
        if stage.min() >= 2:
            break


@njit(nogil=True, cache=True)
def _outermost(unit, first, T, inside, square):
    """T = directions of neighbours among the first, each as far out of the earlier ones as there is; and _squares."""
    T[:] = 0.0
    for c in range(len(T)):
        _squares(unit, T, inside, square)
        for v in range(LANES):
            at = 0
            for j in range(unit.shape[1]):
                if first[j, v] * square[j, v] > first[at, v] * square[at, v]:
                    at = j
            for a in range(unit.shape[0]):
                T[c, a, v] = unit[a, at, v]
        _orthonormal(T, c + 1)
    _squares(unit, T, inside, square)


@njit(nogil=True, cache=True)
def _squares(unit, T, inside, square):
    """inside[c, j] = the length of neighbour j along T[c]; square[j] = 1 - sum_c inside[c, j]^2, of its sine."""
    m, k = unit.shape[:2]
    square[:] = 1.0
    for c in range(len(T)):
        for j in range(k):
            for v in range(LANES):
                inside[c, j, v] = unit[0, j, v] * T[c, 0, v]
            for a in range(1, m):
                for v in range(LANES):
                    inside[c, j, v] += unit[a, j, v] * T[c, a, v]
            for v in range(LANES):
                square[j, v] -= inside[c, j, v] * inside[c, j, v]
    for j in range(k):
        for v in range(LANES):
            square[j, v] = max(square[j, v], 0.0)


@njit(nogil=True, cache=True)
def _turn(unit, weight, inside, T):
    """T[c] = sum_j weight[j] inside[c, j] unit[j], a step of the power method."""
    m, k = unit.shape[:2]
    T[:] = 0.0
    for c in range(len(T)):
        for j in range(k):
            for v in range(LANES):
                inside[c, j, v] *= weight[j, v]
            for a in range(m):
                for v in range(LANES):
                    T[c, a, v] += inside[c, j, v] * unit[a, j, v]


@njit(nogil=True, cache=True)
def _orthonormal(T, d):
    """The first d of T made orthonormal, one after the other; 0 where rounding alone is left of one."""
    before, left = np.empty((2, LANES))
    for c in range(d):
        _product(T[c], T[c], before)
        for b in range(c):
            _product(T[c], T[b], left)
            for a in range(T.shape[1]):
                for v in range(LANES):
                    T[c, a, v] -= left[v] * T[b, a, v]
        _product(T[c], T[c], left)
        for v in range(LANES):
            lost = left[v] <= ROUNDING * before[v]
            left[v] = 0.0 if lost else np.divide(1.0, np.sqrt(max(left[v], NO_DIVISOR)))
        for a in range(T.shape[1]):
            for v in range(LANES):
                T[c, a, v] *= left[v]


@njit(nogil=True, cache=True)
def _product(first, second, out):
    out[:] = 0.0
    for a in range(len(first)):
        for v in range(LANES):
            out[v] += first[a, v] * second[a, v]


@njit(nogil=True, cache=True)
def _in_columns(spokes, unit, inverse, T, along, plane):
    """plane[c] = T[c] in the columns of the data: the spokes times y, where unit y = T[c]."""
    k, D = spokes.shape
    plane[:] = 0.0
    for c in range(len(T)):
        for a in range(k - 1, -1, -1):
            along[a] = T[c, a]
            for b in range(a + 1, k):
                along[a] -= unit[a, b] * along[b]
            along[a] *= inverse[a]
        for j in range(k):
            for t in range(D):
                plane[c, t] += along[j] * spokes[j, t]


@njit(nogil=True, cache=True)
def heights(X, tails, heads, planes, row, length, height):
    """length[s] of the line from tails[s] to heads[s], and its height[s] above planes[row[s]] (d, D)."""
    d, D = planes.shape[1:]
    inside = np.empty(d)
    for s in range(len(tails)):
        total, r = 0.0, row[s]
        inside[:] = 0.0
        for t in range(D):
            step = np.float64(X[heads[s], t]) - np.float64(X[tails[s], t])
            total += step * step
            for c in range(d):
                inside[c] += planes[r, c, t] * step
        length[s] = np.sqrt(total)
        for c in range(d):
            total -= inside[c] * inside[c]
        height[s] = np.sqrt(max(total, 0.0))
