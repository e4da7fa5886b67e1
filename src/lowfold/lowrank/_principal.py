"""Principal axes of a data matrix: covariance, Gram, SVD, Krylov and power routes, and the route by shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from lowfold._core.errors import SolverFailed
from lowfold._core.memory import fits, require
from lowfold._core.operators import DenseOperator
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._on_device import scatter_on_device
from lowfold.lowrank._sampled_axes import sampled_axes, signed
from lowfold.lowrank._scatter import Scatter, centred, triangular_factor
from lowfold.spectral._doors import largest, warn_if_poor
from lowfold.spectral._power import power_method
from lowfold.spectral._types import ZERO, Eigenpairs, fix_signs

SINGLE = 2**22  # values of float32 data from which the products are made in float32 first
# `krylov` passes over the data, `covariance` makes a matrix of the smaller side: from so many rows on, and for at most
# one axis in so many, the passes are the cheaper.
PASSES_FROM, PASSES_SHARE = 2_000, 20
FEW = 8  # an axis in so many at most: else the corrections of a float32 product cost more than the product in float64
DEAD = 1e-8  # of the longest image under Xc': the root of float64's rounding, which is what a Gram matrix leaves of 0
LOST = 1e-7  # a Gram matrix squares singular values: directions below this share of the first have no digits left
ROUTES = ("auto", "covariance", "gram", "svd", "krylov", "power")


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions V (D, k), their variances in `pairs.values`, and the total variance; all divided by n - 1.

    `scores` are Xc V where they were made on the way.
    """

    V: Floats
    pairs: Eigenpairs
    total: float
    scores: Floats | None = None


def select_route(n: int, D: int, k: int) -> str:
    """What `solver="auto"` takes first for k axes of n points with D features.

    - both n and D above 2,000 and k at most a twentieth of the smaller: "krylov", a few passes over the data
    - D <= n: "covariance", the D x D matrix; at 200,000 x 784 it is an order of magnitude faster than an SVD. Of many
      rows for few axes it is that of a sample, corrected by passes over all (`_sampled_axes.py`): `solver_` "sample"
    - else "gram", the n x n matrix
    Where the last direction kept then turns out below 1e-7 of the first (in length), or no longer apart from the next
    one, "covariance" and "gram" have lost its digits and "svd" is used instead. Large float32 data are multiplied in
    float32 first and corrected by passes in float64 until the residual, measured in float64, is below `tol`; where that
    fails the matrix is summed in float64.
    """
    small = min(n, D)
    if small > PASSES_FROM and PASSES_SHARE * k <= small:
        return "krylov"
    return "covariance" if n >= D else "gram"


def principal_axes(X: AnyFloats, mean: Floats, k: int, *, divisor: float | None = None, run: Run | None = None) -> Axes:
    """The k leading principal axes of X (n, D) about `mean`; `run.solver` names the route, see `select_route`.

    Variances are sums of squares over `divisor`, n - 1 by default.
    """
    run = run or Run()
    n, D = X.shape
    scatter = Scatter(X, mean, divisor=max(n - 1, 1) if divisor is None else divisor, n_jobs=run.n_jobs)
    route = select_route(n, D, k) if run.solver == "auto" else run.solver
    with run.stage(f"principal axes ({route})"):
        axes = _ROUTES[route](scatter, k, run)
        if run.solver == "auto":
            values, gap = axes.pairs.values, axes.pairs.gap
            lost = values[-1] < LOST**2 * values[0] or (route != "krylov" and gap == 0.0 and values[-1] < values[0])
            if lost and fits(_svd_bytes(n, D)):
                return _svd(scatter, k, run)
            if values[-1] > ZERO * values[0]:
                warn_if_poor(axes.pairs)
    return axes


def _negligible(run: Run) -> float:
    """Share of the first eigenvalue below which the last is not warned about; with "auto" the caller judges."""
    return 1.0 if run.solver == "auto" else ZERO


def _inner(run: Run) -> Run:
    return replace(run, solver="auto", verbose=False)


def _axes(V: Floats, pairs: Eigenpairs, solver: str, total: float, scores: Floats | None = None) -> Axes:
    return Axes(V, replace(pairs, values=np.maximum(pairs.values, 0.0), solver=solver), total, scores)


def _covariance(scatter: Scatter, k: int, run: Run) -> Axes:
    D = scatter.n
    require(8.0 * D * D * 6, f"the covariance of {D} features", "use solver='krylov' or RandomProjection first")
    found = sampled_axes(scatter, k, run) if run.solver == "auto" and run.device == "cpu" else None
    if found is not None:
        return Axes(found[0].vectors, *found)
    pairs, total, scores = _leading(scatter, k, run)
    return _axes(pairs.vectors, pairs, "covariance", total, scores)


def _gram(scatter: Scatter, k: int, run: Run) -> Axes:
    dual = replace(scatter, dual=True)
    n = dual.n
    require(6 * 8.0 * n * n, f"the Gram matrix of {n} points", "use solver='krylov' or 'covariance'")
    pairs, total, _ = _leading(dual, k, run)
    return _axes(_lifted(scatter, pairs.vectors), pairs, "gram", total)


Found = tuple[Eigenpairs, float, Floats | None]


def _leading(scatter: Scatter, k: int, run: Run) -> Found:
    """Leading eigenpairs of the matrix itself, its trace, and the scores where they were made."""
    C = scatter_on_device(scatter, run) if run.device != "cpu" else None
    X = scatter.X
    if C is None and X.dtype == np.float32 and X.size >= SINGLE and FEW * k <= scatter.n and scatter.weights is None:
        found = _corrected(scatter, k, run)
        if found is not None:
            return found
    C = scatter.dense() if C is None else C
    pairs = largest(DenseOperator(C, psd=True, n_jobs=run.n_jobs), k, negligible=_negligible(run), run=_inner(run))
    return pairs, float(np.trace(C)), None


def _corrected(scatter: Scatter, k: int, run: Run, *, rounds: int = 3) -> Found | None:
    """Leading eigenpairs of C from its float32 product C + E, good to `run.tol`; None where that is not reached.

    With V the vectors found, C + E is changed by the symmetric matrix of rank 2k after which it does to V what C does;
    the error of the next vectors is then of the order (|E| / gap)^2. What C does to V is computed in float64. The trace
    has a few 1e-7 of it, as the values of the data have.
    """
    C = scatter.dense_single()
    total = float(np.trace(C))
    if not np.isfinite(C).all():
        return None
    for _ in range(rounds):
        pairs = largest(DenseOperator(C, psd=False, n_jobs=run.n_jobs), k, negligible=1.0, run=_inner(run))
        if not pairs.gap > 0:
            return None
        V = pairs.vectors
        scores, CV = (None, scatter.apply(V)) if scatter.dual else scatter.scores_and_product(V)
        values, turn = stacked_eigh(V.T @ CV)
        values, turn = values[::-1], turn[:, ::-1]
        away = np.linalg.norm(CV @ turn - (V @ turn) * values, axis=0)
        residual = float((away / (values - (pairs.values[-1] - pairs.gap))).max())
        if 0 <= residual <= run.tol:
            vectors, turn = signed(V, turn)
            pairs = replace(pairs, values=values, vectors=vectors, residual=residual)
            return pairs, total, None if scores is None else scores @ turn
        error = CV - C @ V
        C += error @ V.T + V @ (error.T - (error.T @ V) @ V.T)
    return None


def _krylov(scatter: Scatter, k: int, run: Run) -> Axes:
    n, D = scatter.X.shape
    op = replace(scatter, dual=n < D)
    pairs = largest(op, k, negligible=_negligible(run), run=_inner(run))
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
    pairs = Eigenpairs(values[:k], V, 0.0, gap, "svd", 1)
    if len(s) > k and s[k - 1] > ZERO * s[0] and s[k - 1] - s[k] <= ROUNDING * s[0]:
        warn_if_poor(replace(pairs, gap=0.0))
    return Axes(V, pairs, float(values.sum()))


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
    dead = norms <= DEAD * max(float(norms.max(initial=0.0)), np.finfo(float).tiny)
    V = V / np.where(norms > 0, norms, 1.0)
    if dead.any():
        alive = V[:, ~dead]
        filled = np.linalg.qr(np.hstack([alive, np.eye(len(V), min(len(V), V.shape[1]))]))[0]
        extra = filled[:, alive.shape[1] : V.shape[1]]
        V[:, dead] = extra[:, : int(dead.sum())]
    return fix_signs(V)


def range_basis(
    X: AnyFloats,
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
        kept = int(np.argmax(share >= energy - ROUNDING)) + 1
    return np.ascontiguousarray(Vt[:kept].T), s[:kept]
