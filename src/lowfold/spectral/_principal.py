"""Principal axes of a data matrix: covariance, Gram, SVD, Krylov and power routes, and the route by shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowfold._core.errors import SolverFailed
from lowfold._core.memory import fits, require
from lowfold._core.operators import DenseOperator
from lowfold._core.run import Run
from lowfold.spectral._doors import largest
from lowfold.spectral._power import power_method
from lowfold.spectral._scatter import Rows, Scatter, centred, triangular_factor
from lowfold.spectral._types import Eigenpairs, fix_signs

Floats = NDArray[np.float64]

LOST = 1e-7  # a Gram matrix squares singular values: directions below this share of the first have no digits left
ROUTES = ("auto", "covariance", "gram", "svd", "krylov", "power")


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions V (D, k), their variances in `pairs.values`, and the total variance; all divided by n - 1."""

    V: Floats
    pairs: Eigenpairs
    total: float


def select_route(n: int, D: int, k: int) -> str:
    """What `solver="auto"` takes first for k axes of n points with D features.

    - both n and D above 2,000 and k at most a twentieth of the smaller: "krylov", a few passes over the data
    - D <= n: "covariance", the D x D matrix; at 200,000 x 784 it is an order of magnitude faster than an SVD
    - else "gram", the n x n matrix
    Where the last direction kept then turns out below 1e-7 of the first (in length), these have lost its digits and
    "svd" is used instead.
    """
    small = min(n, D)
    if small > 2_000 and 20 * k <= small:
        return "krylov"
    return "covariance" if n >= D else "gram"


def principal_axes(X: Rows, mean: Floats, k: int, *, divisor: float | None = None, run: Run | None = None) -> Axes:
    """The k leading principal axes of X (n, D) about `mean`; `run.solver` names the route, see `select_route`.

    Variances are sums of squares over `divisor`, n - 1 by default.
    """
    run = run or Run()
    n, D = X.shape
    scatter = Scatter(X, mean, divisor=max(n - 1, 1) if divisor is None else divisor, n_jobs=run.n_jobs)
    route = select_route(n, D, k) if run.solver == "auto" else run.solver
    with run.stage(f"principal axes ({route})"):
        axes = _ROUTES[route](scatter, k, run)
        values = axes.pairs.values
        if run.solver == "auto" and values[0] > 0 and values[-1] < LOST**2 * values[0] and fits(_svd_bytes(n, D)):
            axes = _svd(scatter, k, run)
    return axes


def _inner(run: Run) -> Run:
    return replace(run, solver="auto", verbose=False)


def _axes(V: Floats, pairs: Eigenpairs, solver: str, total: float) -> Axes:
    return Axes(V, replace(pairs, values=np.maximum(pairs.values, 0.0), solver=solver), total)


def _covariance(scatter: Scatter, k: int, run: Run) -> Axes:
    D = scatter.n
    require(8.0 * D * D * 6, f"the covariance of {D} features", "use solver='krylov' or RandomProjection first")
    C = scatter.dense()
    pairs = largest(DenseOperator(C, psd=True, n_jobs=run.n_jobs), k, negligible=1e-12, run=_inner(run))
    return _axes(pairs.vectors, pairs, "covariance", float(np.trace(C)))


def _gram(scatter: Scatter, k: int, run: Run) -> Axes:
    dual = replace(scatter, dual=True)
    n = dual.n
    require(6 * 8.0 * n * n, f"the Gram matrix of {n} points", "use solver='krylov' or 'covariance'")
    G = dual.dense()
    pairs = largest(DenseOperator(G, psd=True, n_jobs=run.n_jobs), k, negligible=1e-12, run=_inner(run))
    return _axes(_lifted(scatter, pairs.vectors), pairs, "gram", float(np.trace(G)))


def _krylov(scatter: Scatter, k: int, run: Run) -> Axes:
    n, D = scatter.X.shape
    op = replace(scatter, dual=n < D)
    pairs = largest(op, k, negligible=1e-12, run=_inner(run))
    V = _lifted(scatter, pairs.vectors) if op.dual else pairs.vectors
    return _axes(V, pairs, "krylov", scatter.trace())


def _power(scatter: Scatter, k: int, run: Run) -> Axes:
    pairs = power_method(scatter, k, run=run)
    return _axes(pairs.vectors, pairs, "power", scatter.trace())


def _svd(scatter: Scatter, k: int, run: Run) -> Axes:
    """For D <= n the SVD of the triangular factor, which has the singular values of Xc itself, all digits included."""
    n, D = scatter.X.shape
    require(_svd_bytes(n, D), f"the SVD of a {n} x {D} matrix", "use solver='covariance' or 'krylov'")
    A = (
        triangular_factor(scatter.X, scatter.mean, weights=scatter.weights, run=run)
        if n >= D
        else scatter.rows(slice(0, n))
    )
    s, Vt = thin_svd(A)
    values = s**2 / scatter.divisor
    gap = float(values[k - 1] - values[k]) if len(values) > k else float("inf")
    V = fix_signs(np.ascontiguousarray(Vt[:k].T))
    return Axes(V, Eigenpairs(values[:k], V, 0.0, gap, "svd", 1), float(values.sum()))


_ROUTES = {"covariance": _covariance, "gram": _gram, "svd": _svd, "krylov": _krylov, "power": _power}


def thin_svd(A: Floats) -> tuple[Floats, Floats]:
    """Singular values, descending, and right singular vectors as rows."""
    try:
        _, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        raise SolverFailed(f"the SVD did not converge ({error}); look for huge or tiny values in X") from error
    return np.asarray(s), np.asarray(Vt)


def _svd_bytes(n: int, D: int) -> float:
    return 8.0 * (D * D * 4 if n >= D else n * D * 4)


def _lifted(scatter: Scatter, U: Floats) -> Floats:
    """Xc'U with unit columns, for eigenvectors U of Xc Xc'; beyond the data's rank any orthonormal completion."""
    parts = scatter._parts()
    V = np.zeros((scatter.X.shape[1], U.shape[1]))
    for part in parts:
        V += scatter.rows(part).T @ U[part]
    norms = np.linalg.norm(V, axis=0)
    dead = norms <= 1e-8 * max(float(norms.max(initial=0.0)), np.finfo(float).tiny)
    V = V / np.where(norms > 0, norms, 1.0)
    if dead.any():
        alive = V[:, ~dead]
        filled = np.linalg.qr(np.hstack([alive, np.eye(len(V), min(len(V), V.shape[1]))]))[0]
        extra = filled[:, alive.shape[1] : V.shape[1]]
        V[:, dead] = extra[:, : int(dead.sum())]
    return fix_signs(V)


def range_basis(
    X: Rows,
    mean: Floats,
    *,
    weights: Floats | None = None,
    energy: float = 1.0,
    rank_tol: float = 1e-9,
    run: Run | None = None,
) -> tuple[Floats, Floats]:
    """V (D, r) and s (r,): the right singular vectors and values of the centred, weighted rows that are not negligible.

    Kept are the leading ones that hold the share `energy` of the sum of squares, of those above `rank_tol` times the
    first.
    """
    n, D = X.shape
    require(
        _svd_bytes(n, D), f"the SVD of a {n} x {D} matrix", "reduce the features with PCA or RandomProjection first"
    )
    A = triangular_factor(X, mean, weights=weights, run=run) if n >= D else centred(X, mean, slice(0, n), weights)
    s, Vt = thin_svd(A)
    kept = int((s > rank_tol * max(float(s.max(initial=0.0)), np.finfo(float).tiny)).sum())
    if energy < 1 and kept:
        share = np.cumsum(s[:kept] ** 2) / np.sum(s**2)
        kept = int(np.argmax(share >= energy - 1e-12)) + 1
    return np.ascontiguousarray(Vt[:kept].T), s[:kept]
