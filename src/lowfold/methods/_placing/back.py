"""The way back to data space, chosen at fit: of a few maps the one that restores points best which it did not see.

A point's barycentric weights among its nearest embedded points are exact where the embedding is smooth, and extrapolate
wildly where it is not; a ridge holds them, at the price of a bias, and a linear map averages over all points. Which is
better is a matter of the data, so training points are restored from the others (leave one out) by each, from where they
would be as new points, and the mean is the answer where none is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowfold._core.finite import finite_rows
from lowfold._core.parallel import TABLED, block_slices
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Blocks, Points
from lowfold.kernels._barycentric import held_weights
from lowfold.methods._fit import Fit, Trained
from lowfold.methods._placing.maps import Barycentric
from lowfold.metrics._resolve import resolve_metric

MOST = 20_000  # rows in blocks that are brought here for it
SAMPLE = 200  # training points that are restored from the others
NEAR = 10  # embedded points that weights are found among
# Points that weights are found among, and their ridge relative to the trace of the local Gram matrix. Where like things
# lie close together and the distances between them say nothing (t-SNE), few are better than many, and one than few.
WAYS = ((NEAR, 1e-6), (NEAR, 1e-3), (NEAR, 1e-2), (NEAR, 1e-1), (NEAR, 1.0), (3, 1e-1), (1, 1.0))
PRODUCT, LEAST_ROWS = 2**22, 256  # numbers of a block of rows of X, 32 MB, but so many rows at least
LEVERAGE = 1e-6  # least 1 - h: a row that alone decides its own prediction has no error when it is left out
BETTER = 0.98  # another map than the plain weights must beat them by this factor


@dataclass(frozen=True, eq=False)
class LinearBack:
    """x = mean + y B: the linear map that restores the training points best; those themselves come back exactly."""

    mean: Floats
    B: Floats

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        """Rows of data space."""
        out = np.asarray(self.mean + coordinates @ self.B)
        inside = np.flatnonzero(np.isfinite(trained.coordinates).all(axis=1))
        found = nearest(_embedded(trained.coordinates[inside]), 1, queries=np.ascontiguousarray(coordinates), run=run)
        same = np.flatnonzero(found.distances == 0)
        if len(same) and isinstance(trained.source, (Points, Blocks)):
            out[same] = trained.source.subset(inside[found.indices[same]]).X
        return out


def with_inverse(fit: Fit, source: object, run: Run) -> Fit:
    """The fit with its way back chosen, and `inverse_error_`; as it is where that is none by weights."""
    if not isinstance(fit.invert, Barycentric) or not isinstance(source, (Points, Blocks)):
        return fit
    X, Y = _chosen_by(source, fit.coordinates)
    if isinstance(X, SparseRows):
        return fit
    as_new = (lambda rows: fit.extend.as_new(Y, rows, source, run)) if isinstance(source, Points) else None
    invert, error = choose_inverse(X, Y, run, as_new)
    return replace(fit, invert=invert, extra={**fit.extra, "inverse_error_": error})


def _chosen_by(source: Points | Blocks, Y: Floats) -> tuple[AnyFloats, Floats]:
    """The rows that the choice is made by: all, or of blocks an even selection."""
    if isinstance(source, Points):
        return source.X, Y
    rows = np.linspace(0, source.n - 1, min(source.n, MOST)).astype(np.int64)
    return source.rows.take(rows), Y[rows]


def choose_inverse(
    X: AnyFloats, Y: Floats, run: Run, as_new: Callable[[Ints], Floats] | None = None
) -> tuple[Barycentric | LinearBack, float]:
    """The best way from Y back to X, and its error on rows left out: ||restored - X|| / ||X - mean||.

    `as_new` says where rows would be if they were new; None is where they are. Weights without much of a ridge are
    kept unless another map is clearly better.
    """
    inside = np.flatnonzero(finite_rows(Y))
    if len(inside) < len(Y):
        X, Y = X[inside], Y[inside]
    rows = np.linspace(0, len(Y) - 1, min(len(Y), SAMPLE)).astype(np.int64)
    truth = X[rows].astype(np.float64)
    mean = X.mean(axis=0, dtype=np.float64)
    spread = float(np.linalg.norm(truth - mean))
    if len(Y) < 4 or spread == 0:
        return Barycentric(*WAYS[0]), 0.0
    queries = Y[rows] if as_new is None else as_new(inside[rows])
    index = _others(Y, queries, rows, run)
    ways: list[tuple[float, Barycentric | LinearBack]] = [
        (_weights_error(X, Y, truth, queries, index[:, :k], reg), Barycentric(k, reg)) for k, reg in WAYS
    ]
    linear, error = _linear(X, mean, Y, truth, queries, rows)
    ways.append((error, linear))
    best = min(ways, key=lambda way: way[0])
    best = ways[0] if ways[0][0] * BETTER <= best[0] else best
    nothing = LinearBack(mean, np.zeros_like(linear.B))
    best = best if best[0] <= spread else (spread, nothing)
    return best[1], best[0] / spread


def _embedded(Y: Floats) -> Points:
    return Points(np.ascontiguousarray(Y), resolve_metric("euclidean", None, None))


def _others(Y: Floats, queries: Floats, rows: Ints, run: Run) -> Ints:
    """(m, k) the embedded points nearest to each query, without the row that it is of."""
    k = min(NEAR, len(Y) - 1)
    found = nearest(_embedded(Y), k + 1, queries=np.ascontiguousarray(queries), run=run).indices.reshape(-1, k + 1)
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True  # repeated points, or one that is elsewhere as a new one: the last goes instead
    return np.asarray(found[~own].reshape(-1, k), dtype=np.int64)


def _weights_error(X: AnyFloats, Y: Floats, truth: Floats, queries: Floats, index: Ints, reg: float) -> float:
    total = 0.0
    for part in block_slices(len(queries), max(1, TABLED // (index.shape[1] * X.shape[1]))):
        w = held_weights(queries[part], Y[index[part]], reg=reg)
        restored = (w[:, None, :] @ X[index[part]].astype(np.float64))[:, 0]
        total += float(((restored - truth[part]) ** 2).sum())
    return float(np.sqrt(total))


def _linear(
    X: AnyFloats, mean: Floats, Y: Floats, truth: Floats, queries: Floats, rows: Ints
) -> tuple[LinearBack, float]:
    """Least squares, and its error on rows left out, each by the map that did not see it.

    Without row i the map is B - P z_i r_i' / (1 - h_i), P = (Z'Z)^-1, r_i its residual and h_i its leverage.
    """
    centre = Y.mean(axis=0)
    Z = Y - centre
    inverse = np.linalg.pinv(Z.T @ Z)
    product = np.zeros((Y.shape[1], X.shape[1]))  # Z'(X - mean) = Z'X, because Z is centred
    for part in block_slices(len(Y), max(LEAST_ROWS, PRODUCT // X.shape[1])):
        product += Z[part].T @ X[part]
    B = inverse @ product
    z, q = Z[rows], queries - centre
    h, pulled = (np.einsum("ma,ab,mb->m", a, inverse, z) + 1.0 / len(Y) for a in (z, q))
    residual = (truth - (mean + z @ B)) / np.maximum(1 - h, LEVERAGE)[:, None]
    left = truth - (mean + q @ B) + pulled[:, None] * residual
    return LinearBack(mean - centre @ B, B), float(np.linalg.norm(left))
