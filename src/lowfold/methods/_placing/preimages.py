"""From feature space back to data: pre-images of points that a kernel method projected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import QUERIED, block_slices, run_blocks
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Points
from lowfold.kernels._functions import Mercer, squared_distances
from lowfold.kernels._kernel_operator import shifted_rows
from lowfold.methods._fit import AsNew, Trained
from lowfold.methods._placing.maps import Barycentric

PANEL = 2**18  # values of a kernel that a thread makes and uses at a time, 2 MB: they stay in its cache
LEAST_QUERIES = 64  # in a panel: each shifts the training points again, a pass over them
SHIFTED = 4096  # training points that a thread copies at a time
HELD = 0.5  # largest k(x, other) from which on a point's place is known without itself: images have 0.7 and more
RIDGE_POINTS = 2_000  # a ridge regression solves one system of this size at most


def over_kernel_rows(
    kernel: Mercer,
    queries: NDArray[np.floating],
    X: NDArray[np.floating],
    work: Callable[[slice, Floats], None],
    run: Run,
) -> None:
    """work(part, k(queries[part], X)) for all parts of the queries, on threads; both centred where k allows."""
    mean = X.mean(axis=0, dtype=np.float64) if kernel.differences else np.zeros(X.shape[1])
    parts = block_slices(len(queries), max(LEAST_QUERIES, PANEL // len(X)))

    def one(i: int) -> None:
        q = shifted_rows(queries[parts[i]], mean)
        columns = [kernel(q, shifted_rows(X[some], mean)) for some in block_slices(len(X), SHIFTED)]
        work(parts[i], columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1))

    run_blocks(one, len(parts), n_jobs=run.n_jobs)


def without_themselves(
    kernel: Mercer, nowhere: Floats, coordinates: Floats, rows: Ints, points: Points, run: Run
) -> AsNew:
    """Training points as new ones, moved the farther to `nowhere`, where k = 0 with all, the less the others hold them.

    Of kernels that fall from 1 at distance 0; points of other kernels are taken to be held by many.
    """
    if not kernel.differences:
        return AsNew(coordinates[rows])
    held = np.empty(len(rows))

    def work(part: slice, values: Floats) -> None:
        values[np.arange(len(values)), rows[part]] = 0.0
        held[part] = values.max(axis=1)

    over_kernel_rows(kernel, points.X[rows], points.X, work, run)
    known = np.minimum(held / HELD, 1.0)[:, None]
    return AsNew(nowhere + known * (coordinates[rows] - nowhere), nowhere)


def _points(trained: Trained) -> NDArray[np.floating]:
    if not isinstance(trained.source, Points):
        raise InvalidInput("inverse_transform needs the training points; this model was fitted on a kernel matrix")
    return trained.source.X


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """The z whose phi(z) comes nearest to P = mean + sum_k y_k u_k = sum_i c_i phi(x_i), for the Gaussian kernel.

    Setting the gradient of |phi(z) - P|^2 to zero gives z = sum_i c_i k(z, x_i) x_i / sum_i c_i k(z, x_i); Mika et al.
    (1999). The start is the barycentric pre-image; a row whose sum of weights vanishes keeps its last value.
    """

    gamma: float
    values: Floats
    vectors: Floats
    center: bool
    max_iter: int = 200
    tol: float = 1e-9

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        X = _points(trained)
        mean = X.mean(axis=0, dtype=np.float64)
        A = np.subtract(X, mean, dtype=np.float64)
        Z = np.asarray(Barycentric().restore(trained, coordinates, run), dtype=np.float64) - mean
        alive = self.values > 0
        scale = np.where(alive, 1 / np.sqrt(np.where(alive, self.values, 1.0)), 0.0)
        for part in block_slices(len(Z), max(1, QUERIED // len(A))):
            c = (coordinates[part] * scale) @ self.vectors.T
            if self.center:
                c += (1.0 - c.sum(axis=1, keepdims=True)) / len(A)
            Z[part] = self._iterate(Z[part], c, A)
        return np.asarray(Z + mean)

    def _iterate(self, Z: Floats, c: Floats, A: Floats) -> Floats:
        size = float(np.sqrt(np.square(A).sum(axis=1).mean())) or 1.0
        for _ in range(self.max_iter):
            w = c * np.exp(-self.gamma * squared_distances(Z, A))
            total = w.sum(axis=1, keepdims=True)
            safe = np.abs(total) > ROUNDING * np.abs(w).sum(axis=1, keepdims=True)
            new = np.where(safe, (w @ A) / np.where(safe, total, 1.0), Z)
            moved = float(np.abs(new - Z).max(initial=0.0))
            Z = new
            if moved <= self.tol * size:
                break
        return Z


@dataclass(frozen=True, eq=False)
class RidgePreimage:
    """Kernel ridge regression of x on y: x(y) = mean + g(y)'(G + alpha I)^-1 Xc, g a Gaussian as wide as Y.

    Above 2,000 training points an even selection of them is used.
    """

    alpha: float

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        from scipy.linalg import solve

        X = _points(trained)
        Y = trained.coordinates
        step = -(-len(Y) // RIDGE_POINTS)
        Y, kept = Y[::step], X[::step].astype(np.float64)
        mean = kept.mean(axis=0)
        scale = 2.0 * float(Y.var(axis=0).sum()) or 1.0
        G = np.exp(-squared_distances(Y, Y) / scale)
        G[np.diag_indices(len(G))] += self.alpha
        weights = solve(G, kept - mean, assume_a="pos")
        return np.asarray(np.exp(-squared_distances(coordinates, Y) / scale) @ weights + mean)
