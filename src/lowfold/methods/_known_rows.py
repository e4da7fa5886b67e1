"""Rows of distances that are rows of the training matrix, without the zero of a point to itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.errors import RepairWarning
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._source import Measured, Pairs
from lowfold.graph._types import Neighbors

NOT_TOLD = (
    "X is symmetric with nothing on its diagonal, as a matrix of the training points is, but {count} of its {n} rows "
    "are not theirs: these are taken for new points. Store a zero in row i, column j where row i is training point j"
)


def with_own(queries: Pairs | Measured, trained: Any) -> Pairs | Measured:
    """With a distance of zero to training point i where the row is that of i, and says nothing of i itself.

    Sparse matrices of distances leave their diagonal out, and an exact zero elsewhere may be lost too. So a row is that
    of i where its positive distances are those of i, at the same points; all that is known of the one is known of the
    other. Rows with a zero distance already say which point they are.
    """
    if not isinstance(trained, (Pairs, Measured)) or _width(queries) != trained.n:
        return queries
    if isinstance(queries, Measured):
        queries = _both_halves(queries)
    asked = _unsaid(queries)
    if not len(asked):
        return queries
    known: dict[int, list[int]] = {}
    for i in np.flatnonzero(np.isin(_largest(trained, own=False), _largest(queries)[asked])).tolist():
        known.setdefault(_mark(*_positive(trained, i, own=False)), []).append(i)
    same = np.full(_height(queries), -1)
    for i in asked.tolist():
        place, row = _positive(queries, i)
        for j in known.get(_mark(place, row), ()):
            if j not in place and all(map(np.array_equal, (place, row), _positive(trained, j, own=False))):
                same[i] = j
                break
    if len(asked) == trained.n == len(same) and (same < 0).any() and _symmetric(queries):
        warn(NOT_TOLD.format(count=int((same < 0).sum()), n=trained.n), RepairWarning)
    return _filled(queries, np.flatnonzero(same >= 0), same)


def _width(matrix: Pairs | Measured) -> int:
    return matrix.pairs.n_points if isinstance(matrix, Measured) else int(matrix.distances.shape[1])


def _height(matrix: Pairs | Measured) -> int:
    return matrix.pairs.n if isinstance(matrix, Measured) else len(matrix.distances)


def _both_halves(queries: Measured) -> Measured:
    """Half of a square matrix stands for both, as it does at fit; as rows of new points one of them would be empty."""
    pairs = queries.pairs
    rows = pairs.rows()
    if pairs.n != pairs.n_points or not ((rows < pairs.indices).all() or (rows > pairs.indices).all()):
        return queries
    half = pairs.to_scipy().tocoo()
    ends = np.concatenate([half.row, half.col]), np.concatenate([half.col, half.row])
    return Measured(_sorted(ends[0], ends[1], np.concatenate([half.data, half.data]), pairs.n, pairs.n_points))


def _sorted(rows: Ints, columns: Ints, values: Floats, n: int, n_points: int) -> Neighbors:
    order = np.lexsort((columns, values, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return Neighbors(indptr, columns[order], values[order], n_points)


def _unsaid(queries: Pairs | Measured) -> Ints:
    """Rows that leave something out, hold something, and say of no point that it is theirs."""
    if isinstance(queries, Pairs):
        D = queries.distances
        known = np.isfinite(D)
        return np.flatnonzero(~known.all(axis=1) & known.any(axis=1) & ~(D == 0).any(axis=1))
    pairs = queries.pairs
    held = np.flatnonzero((pairs.counts > 0) & (pairs.counts < pairs.n_points))
    return held[pairs.distances[pairs.indptr[held]] > 0]


def _positive(matrix: Pairs | Measured, i: int, *, own: bool = True) -> tuple[Ints, Floats]:
    """The points at a positive distance of row i, in order, and the distances; `own=False` leaves out point i."""
    if isinstance(matrix, Measured):
        place, row = matrix.pairs.row(i)
        order = np.argsort(place)
        place, row = place[order].astype(np.int64), row[order]
    else:
        place = np.flatnonzero(np.isfinite(matrix.distances[i]))
        row = matrix.distances[i][place].astype(np.float64)
    kept = (row > 0) & (own | (place != i))
    return place[kept], row[kept]


def _largest(matrix: Pairs | Measured, *, own: bool = True) -> Floats:
    """The largest of the distances that `_positive` gives of every row, 0 without any: few rows share it."""
    if isinstance(matrix, Pairs):
        D = np.where(np.isfinite(matrix.distances), matrix.distances, 0.0).astype(np.float64)
        if not own:
            np.fill_diagonal(D, 0.0)
        return np.asarray(D.max(axis=1, initial=0.0))
    pairs = matrix.pairs
    rows, out = pairs.rows(), np.zeros(pairs.n)
    kept = own | (rows != pairs.indices)
    np.maximum.at(out, rows[kept], pairs.distances[kept])
    return out


def _mark(place: Ints, row: Floats) -> int:
    return hash((place.tobytes(), row.tobytes()))


def _symmetric(queries: Pairs | Measured) -> bool:
    """Whether a square matrix holds nothing on its diagonal and the same on both sides."""
    if isinstance(queries, Pairs):
        D = queries.distances
        return bool(not np.isfinite(np.diagonal(D)).any() and np.array_equal(D, D.T, equal_nan=True))
    A = queries.pairs.to_scipy()
    return bool(not (queries.pairs.rows() == queries.pairs.indices).any() and abs(A - A.T).max() == 0)


def _filled(queries: Pairs | Measured, rows: Ints, same: Ints) -> Pairs | Measured:
    """With zeros at (row, same[row])."""
    if not len(rows):
        return queries
    if isinstance(queries, Pairs):
        D = queries.distances.copy()
        D[rows, same[rows]] = 0.0
        return Pairs(D)
    pairs = queries.pairs
    at, columns = np.concatenate([pairs.rows(), rows]), np.concatenate([pairs.indices, same[rows]])
    values = np.concatenate([pairs.distances, np.zeros(len(rows))])
    return Measured(_sorted(at, columns, values, pairs.n, pairs.n_points))
