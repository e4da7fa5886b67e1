"""The loops of `_plane_loops` in NumPy, for few points: the same steps in the same order, for all points at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._near_planes import BEGINNING, REWEIGHTED, SETTLED, STIFF, WEAK


def nearest_entries(indptr: NDArray[np.integer], lengths: Floats, vertices: Ints, entries: Ints, counts: Ints) -> None:
    """entries[s] = the shortest entries of the row of vertices[s], as many as there are columns at most, by length and
    then place; counts[s] of them.
    """
    degrees, k = np.diff(indptr)[vertices], entries.shape[1]
    before = np.cumsum(degrees) - degrees
    row = np.repeat(np.arange(len(vertices)), degrees)
    place = np.arange(len(row)) - before[row]
    entry = indptr[vertices][row] + place
    entry = entry[np.lexsort((lengths[entry], row))]  # rows stay where they are
    kept = place < k
    entries[row[kept], place[kept]] = entry[kept]
    counts[:] = np.minimum(degrees, k)


def near_planes(
    X: AnyFloats, vertices: Ints, near: Ints, counts: Ints, planes: Floats, length: Floats, height: Floats
) -> None:
    """For vertices[s] with counts[s] neighbours near[s]: planes[s] (d, D), which most of them lie in, the length of the
    line to each, and its height above the plane.
    """
    d, (n, k), D = planes.shape[1], near.shape, X.shape[1]
    j = np.arange(k)[:, None]
    rows, places = np.nonzero(counts[:, None] > j.T)
    spokes = np.zeros((D, k, n))
    spokes[:, places, rows] = np.subtract(X[near[rows, places]], X[vertices[rows]], dtype=np.float64).T
    size = np.sqrt(_product(spokes, spokes))
    spokes *= 1.0 / np.maximum(size, NO_DIVISOR)
    unit, inverse = _own_span(spokes) if k < D else (spokes, size)
    first = (j < np.minimum(counts, np.maximum(d + 1, (counts + 1) // 2))).astype(np.float64)
    T, square = _towards_most(unit, first, d)
    length[:], height[:] = size.T, (np.sqrt(square) * size).T
    for c in range(d):
        planes[:, c] = (_in_columns(spokes, unit, inverse, T[c]) if k < D else T[c]).T


def _product(first: Floats, second: Floats) -> Floats:
    """sum_t first[t] second[t], added up in this order."""
    out = np.zeros(np.broadcast_shapes(first.shape[1:], second.shape[1:]))
    for one, other in zip(first, second, strict=True):
        out += one * other
    return out


def _own_span(spokes: Floats) -> tuple[Floats, Floats]:
    """unit[a, j] = coordinate a of neighbour j in an orthonormal basis of what all span: the Cholesky factor of their
    products, and the inverse of its diagonal. A direction lost in rounding has zeros.
    """
    product = _product(spokes[:, :, None], spokes[:, None])
    unit, inverse = np.zeros(product.shape), np.empty(product.shape[1:])
    for a in range(len(product)):
        unit[a, a:] = product[a, a:]
        for b in range(a):
            unit[a, a:] -= unit[b, a] * unit[b, a:]
        pivot = unit[a, a]
        inverse[a] = np.where(pivot > WEAK, 1.0 / np.sqrt(np.maximum(pivot, NO_DIVISOR)), 0.0)
        unit[a, a:] *= inverse[a]
    return unit, inverse


def _towards_most(unit: Floats, first: Floats, d: int) -> tuple[Floats, Floats]:
    """T (d, m) turned towards the plane of the `first` neighbours by the power method, then of all, each with the less
    say the larger its angle; and the squares of their sines.
    """
    T, inside, square = _outermost(unit, first, d)
    stage = np.zeros(unit.shape[2])
    for step in range(BEGINNING + REWEIGHTED):
        former = square
        if step == BEGINNING:
            stage = np.maximum(stage, 1)
        weight = np.where(stage > 0, 1.0 / (1.0 + square * square * STIFF), first)
        turned = np.array([_product((one * weight)[:, None], unit.transpose(1, 0, 2)) for one in inside])
        _orthonormal(turned)
        T = np.where(stage < 2, turned, T)
        inside, square = _squares(unit, T)
        stage += np.abs(square - former).max(axis=0) <= SETTLED
        if stage.min() >= 2:
            break
    return T, square


def _outermost(unit: Floats, first: Floats, d: int) -> tuple[Floats, Floats, Floats]:
    """Directions of neighbours among the first, each as far out of the earlier ones as there is; and _squares."""
    m, k, n = unit.shape
    T, square = np.zeros((d, m, n)), np.ones((k, n))
    for c in range(d):
        T[c] = unit[:, np.argmax(first * square, axis=0), np.arange(n)]
        _orthonormal(T[: c + 1])
        inside, square = _squares(unit, T)
    return T, inside, square


def _squares(unit: Floats, T: Floats) -> tuple[Floats, Floats]:
    """inside[c, j] = the length of neighbour j along T[c], and 1 - sum_c inside[c, j]^2, the square of its sine."""
    inside = np.array([_product(unit, direction[:, None]) for direction in T])
    square = np.ones(unit.shape[1:])
    for along in inside:
        square -= along * along
    return inside, np.maximum(square, 0.0)


def _orthonormal(T: Floats) -> None:
    """T made orthonormal, one after the other; 0 where rounding alone is left of one."""
    for c in range(len(T)):
        before = _product(T[c], T[c])
        for b in range(c):
            T[c] -= _product(T[c], T[b]) * T[b]
        left = _product(T[c], T[c])
        T[c] *= np.where(left <= ROUNDING * before, 0.0, 1.0 / np.sqrt(np.maximum(left, NO_DIVISOR)))


def _in_columns(spokes: Floats, unit: Floats, inverse: Floats, direction: Floats) -> Floats:
    """The direction in the columns of the data: the spokes times y, where unit y = direction."""
    along = direction.copy()
    for a in range(len(along) - 1, -1, -1):
        for b in range(a + 1, len(along)):
            along[a] -= unit[a, b] * along[b]
        along[a] *= inverse[a]
    return _product(along[:, None], spokes.transpose(1, 0, 2))


def heights(X: AnyFloats, tails: Ints, heads: Ints, planes: Floats, row: Ints, length: Floats, height: Floats) -> None:
    """length[s] of the line from tails[s] to heads[s], and its height[s] above planes[row[s]] (d, D)."""
    step = np.subtract(X[heads], X[tails], dtype=np.float64).T
    total = _product(step, step)
    length[:] = np.sqrt(total)
    for c in range(planes.shape[1]):
        inside = _product(planes[row, c].T, step)
        total -= inside * inside
    height[:] = np.sqrt(np.maximum(total, 0.0))
