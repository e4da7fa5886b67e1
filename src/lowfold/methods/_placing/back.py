"""The way back to data space, chosen at fit: of a few maps the one that restores points best which it did not see.

A point's barycentric weights among its nearest embedded points are exact where the embedding is smooth, and extrapolate
wildly where it is not; a ridge holds them, at the price of a bias, and a linear map averages over all points. Which is
better is a matter of the data, so training points are restored from the others (leave one out) by each, from where they
would be as new points, and the mean is the answer where none is better.

Where a few points hold most of the spread, as in tables with outliers, these are all judged, they lend nothing to
others where those tell nothing of them, and a gain that they alone make is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from lowfold.methods._fit import AsNew, Fit, Trained
from lowfold.methods._placing.maps import Barycentric, Unknown, embedded, lenders, lent
from lowfold.methods._placing.trust import error_range

MOST = 20_000  # rows in blocks that are brought here for it
SAMPLE = 200  # training points that are restored from the others
LEAST = 4  # points: among fewer there is nothing to choose by
NEAR = 10  # embedded points that weights are found among
# Points that weights are found among, and their ridge relative to the trace of the local Gram matrix. Where like things
# lie close together and the distances between them say nothing (t-SNE), few are better than many, and one than few.
WAYS = ((NEAR, 1e-6), (NEAR, 1e-3), (NEAR, 1e-2), (NEAR, 1e-1), (NEAR, 1.0), (3, 1e-1), (1, 1.0))
PRODUCT, LEAST_ROWS = 2**22, 256  # numbers of a block of rows of X, 32 MB, but so many rows at least
LEVERAGE = 1e-6  # least 1 - h: a row that alone decides its own prediction has no error when it is left out
BETTER = 0.98  # another map than the plain weights must beat them by this factor, in its error or in what it explains
# Outliers, in medians of the squared distances from the mean, that are looked at one by one: one in 5,000 normal rows
# of one feature, where they are most frequent. Means would leave out the second one where the first is far enough.
HEAVY = 30.0
# Share of an outlier's square that is left when its neighbours restore it, from which on they are none of its. At 0.9
# 6 of 676 fits of tables with heavy tails led new points farther off than the mean, at 0.5 2.
LOST = 0.5
LOST_BY = 1e-1  # ridge of the weights that judge this: those of WAYS that heavy tails chose most often


@dataclass(frozen=True, eq=False)
class LinearBack:
    """x = mean + y B: the linear map that restores the training points best; those themselves come back exactly."""

    mean: Floats
    B: Floats

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        """Rows of data space."""
        out = np.asarray(self.mean + coordinates @ self.B)
        inside = np.flatnonzero(np.isfinite(trained.coordinates).all(axis=1))
        found = nearest(embedded(trained.coordinates[inside]), 1, queries=np.ascontiguousarray(coordinates), run=run)
        same = np.flatnonzero(found.distances == 0)
        if len(same) and isinstance(trained.source, (Points, Blocks)):
            out[same] = trained.source.subset(inside[found.indices[same]]).X
        return out


class Judged(NamedTuple):
    """Rows by which ways back are judged: their data, squared distances from the mean, and how many rows each is for.

    `at` are their coordinates, `queries` those that they would have as new points.
    """

    rows: Ints
    truth: Floats
    spread: Floats
    times: Floats
    at: Floats
    queries: Floats

    def some(self, kept: Ints) -> Judged:
        """Some of them."""
        rows, truth, spread, times, at, queries = self
        return Judged(rows[kept], truth[kept], spread[kept], times[kept], at[kept], queries[kept])

    def heavy(self) -> Ints:
        """Outliers among them."""
        order = np.argsort(self.spread)
        below = np.cumsum(self.times[order])
        middle = self.spread[order[np.searchsorted(below, below[-1] / 2)]]
        return np.flatnonzero(self.spread > HEAVY * middle)


class Chosen(NamedTuple):
    """A way back, its error on rows left out, ||restored - X|| / ||X - mean||, and bounds of it.

    `outliers` is what these hold of ||X - mean||^2.
    """

    way: Barycentric | LinearBack
    error: float
    bounds: tuple[float, float]
    outliers: float


def with_inverse(fit: Fit, source: object, run: Run) -> Fit:
    """The fit with its way back chosen, and its errors; as it is where that is none by weights."""
    if not isinstance(fit.invert, Barycentric) or not isinstance(source, (Points, Blocks)):
        return fit
    X, Y = _chosen_by(source, fit.coordinates)
    if isinstance(X, SparseRows):
        return fit
    as_new = (lambda rows: fit.extend.as_new(Y, rows, source, run)) if isinstance(source, Points) else None
    chosen = choose_inverse(X, Y, run, as_new)
    extra = {
        "inverse_error_": chosen.error,
        "inverse_error_range_": chosen.bounds,
        "inverse_outliers_": chosen.outliers,
    }
    return replace(fit, invert=chosen.way, extra={**fit.extra, **extra})


def _chosen_by(source: Points | Blocks, Y: Floats) -> tuple[AnyFloats, Floats]:
    """The rows that the choice is made by: all, or of blocks an even selection."""
    if isinstance(source, Points):
        return source.X, Y
    rows = np.linspace(0, source.n - 1, min(source.n, MOST)).astype(np.int64)
    return source.rows.take(rows), Y[rows]


def choose_inverse(X: AnyFloats, Y: Floats, run: Run, as_new: Callable[[Ints], AsNew] | None = None) -> Chosen:
    """The best way from Y back to X, and its error on rows left out.

    `as_new` says where rows would be if they were new; None is where they are.
    """
    inside = np.flatnonzero(finite_rows(Y))
    x, y = (X, Y) if len(inside) == len(Y) else (X[inside], Y[inside])
    mean = x.mean(axis=0, dtype=np.float64)
    rows, times = _sample(_squares(x, mean))
    truth = x[rows].astype(np.float64)
    spread = np.square(truth - mean).sum(axis=1)
    if len(y) < LEAST or not spread.any():
        return Chosen(Barycentric(*WAYS[0]), 0.0, (0.0, 0.0), 0.0)
    there = AsNew(y[rows]) if as_new is None else as_new(inside[rows])
    judged = Judged(rows, truth, spread, times, y[rows], there.coordinates)
    unknown = _unknown(x, y, mean, judged, there.nowhere, run)
    index, Z = _others(y, unknown, judged, run)
    ways: list[tuple[Barycentric | LinearBack, Floats]] = [
        (Barycentric(k, reg, _in_rows(unknown, inside)), _errors(x, judged, index[:, :k], Z[:, :k], reg, unknown))
        for k, reg in WAYS
    ]
    ways.append(_linear(x, mean, y, judged))
    best = _best([errors for _, errors in ways], judged)
    heavy = judged.heavy()
    outliers = float(times[heavy] @ spread[heavy] / (times @ spread))
    if best is None:
        return Chosen(LinearBack(mean, np.zeros((y.shape[1], x.shape[1]))), 1.0, (1.0, 1.0), outliers)
    way, errors = ways[best]
    return Chosen(way, *error_range(errors, spread, times), outliers)


def _squares(X: AnyFloats, mean: Floats) -> Floats:
    """Squared distances of rows from the mean."""
    out = np.empty(len(X))
    for part in block_slices(len(X), max(LEAST_ROWS, PRODUCT // X.shape[1])):
        out[part] = np.square(X[part].astype(np.float64) - mean).sum(axis=1)
    return out


def _sample(spread: Floats) -> tuple[Ints, Floats]:
    """Rows that are judged, and how many rows each stands for: the likelier the more of the spread they hold.

    A third of the chances is even, a third goes by squared distances, of which errors are sums, and a third by
    distances, so that there is something left for the second largest. Rows are passed in their order, and one is taken
    whenever the sum of the chances passes another half.
    """
    n = len(spread)
    if n <= SAMPLE:
        return np.arange(n), np.ones(n)
    far = np.sqrt(spread)
    share: Floats = (1 / n + spread / (spread.sum() or 1.0) + far / (far.sum() or 1.0)) / 3
    chance = np.minimum(SAMPLE * share, 1.0)
    sure = np.zeros(n, dtype=bool)
    while (chance[~sure] >= 1).any():  # what is beyond 1 goes to the others
        sure |= chance >= 1
        chance[~sure] = (SAMPLE - sure.sum()) * share[~sure] / share[~sure].sum()
    chance[sure] = 1.0
    steps = np.floor(np.cumsum(np.where(sure, 0.0, chance)) + 0.5)
    taken = np.flatnonzero(sure | (np.diff(steps, prepend=0.0) > 0))
    return taken, 1.0 / chance[taken]


def _unknown(X: AnyFloats, Y: Floats, mean: Floats, judged: Judged, nowhere: Floats | None, run: Run) -> Unknown | None:
    """Outliers of which their neighbours in the embedding tell nothing, and the place where nothing is known."""
    none = Unknown(nowhere, mean, None)
    heavy = judged.heavy()
    if len(heavy):
        some = judged.some(heavy)
        index, Z = _others(Y, none, some, run)
        lost = _errors(X, some, index, Z, LOST_BY, none) > LOST * some.spread
        if lost.any():
            return replace(none, apart=some.rows[lost])
    return None if nowhere is None else none


def _in_rows(unknown: Unknown | None, inside: Ints) -> Unknown | None:
    """The same with the rows of all points."""
    return unknown if unknown is None or unknown.apart is None else replace(unknown, apart=inside[unknown.apart])


def _best(errors: list[Floats], judged: Judged) -> int | None:
    """The way whose errors are least when what it gains on the mean is a standard error less; None is the mean.

    Plain weights, the first, are kept unless another is clearly better: they are exact on smooth surfaces.
    """
    total = float(judged.times @ judged.spread)
    sums = [float(judged.times @ e) + float(np.linalg.norm(judged.times * (judged.spread - e))) for e in errors]
    best = int(np.argmin(sums))
    if sums[best] >= total:
        return None
    near = sums[0] * BETTER**2 <= sums[best] and total - sums[0] >= BETTER * (total - sums[best])
    return 0 if near else best


def _others(Y: Floats, unknown: Unknown | None, judged: Judged, run: Run) -> tuple[Ints, Floats]:
    """(m, k) the rows nearest to each query, without the one that it is of, and their coordinates (m, k, d)."""
    E, lending = lenders(Y, unknown)
    k = min(NEAR, len(E) - 1)
    found = nearest(embedded(E), k + 1, queries=np.ascontiguousarray(judged.queries), run=run).indices
    found = found.reshape(-1, k + 1)
    own = lending[found] == judged.rows[:, None]
    own[~own.any(axis=1), -1] = True  # repeated points, or one that is elsewhere as a new one: the last goes instead
    kept = found[~own].reshape(-1, k)
    return lending[kept], E[kept]


def _errors(X: AnyFloats, judged: Judged, index: Ints, Z: Floats, reg: float, unknown: Unknown | None) -> Floats:
    """Squared errors of rows that weights restore."""
    out = np.empty(len(index))
    for part in block_slices(len(index), max(1, TABLED // (index.shape[1] * X.shape[1]))):
        w = held_weights(judged.queries[part], Z[part], reg=reg)
        restored = lent(w, index[part], np.maximum(index[part], 0), X, unknown)
        out[part] = np.square(restored - judged.truth[part]).sum(axis=1)
    return out


def _linear(X: AnyFloats, mean: Floats, Y: Floats, judged: Judged) -> tuple[LinearBack, Floats]:
    """Least squares, and its squared errors on rows left out, each by the map that did not see it.

    Without row i the map is B - P z_i r_i' / (1 - h_i), P = (Z'Z)^-1, r_i its residual and h_i its leverage.
    """
    centre = Y.mean(axis=0)
    Z = Y - centre
    inverse = np.linalg.pinv(Z.T @ Z)
    product = np.zeros((Y.shape[1], X.shape[1]))  # Z'(X - mean) = Z'X, because Z is centred
    for part in block_slices(len(Y), max(LEAST_ROWS, PRODUCT // X.shape[1])):
        product += Z[part].T @ X[part]
    B = inverse @ product
    z, q = judged.at - centre, judged.queries - centre
    h, pulled = (np.einsum("ma,ab,mb->m", a, inverse, z) + 1.0 / len(Y) for a in (z, q))
    residual = (judged.truth - (mean + z @ B)) / np.maximum(1 - h, LEVERAGE)[:, None]
    left = judged.truth - (mean + q @ B) + pulled[:, None] * residual
    return LinearBack(mean - centre @ B, B), np.square(left).sum(axis=1)
