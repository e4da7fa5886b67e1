"""Principal axes of a data matrix: covariance, Gram or SVD route."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold.spectral._doors import largest
from lowfold.spectral._types import Eigenpairs, fix_signs

Floats = NDArray[np.float64]

LOST = 1e-7  # a Gram matrix squares singular values: directions below this share of the first have no digits left


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions V (D, k), their variances in `pairs.values`, and the total variance; all divided by n - 1."""

    V: Floats
    pairs: Eigenpairs
    total: float


def principal_axes(X: NDArray[np.floating], mean: Floats, k: int, *, run: Run | None = None) -> Axes:
    """The k leading principal axes of X (n, D).

    "auto": the covariance for D <= n, the Gram matrix otherwise; the SVD when the last direction kept is below 1e-7 of
    the first and would have lost its digits.
    """
    run = run or Run()
    n, D = X.shape
    route = run.solver if run.solver != "auto" else ("covariance" if D <= n else "gram")
    total = float(sum(((X[part] - mean) ** 2).sum(dtype=np.float64) for part in block_slices(n, 65_536))) / (n - 1)
    with run.stage(f"principal axes ({route})"):
        axes = {"covariance": _covariance, "gram": _gram, "svd": _svd}[route](X, mean, k, run)
        values = axes.pairs.values
        if run.solver == "auto" and values[-1] < LOST**2 * values[0] and values[0] > 0:
            axes = _svd(X, mean, k, run)
    return replace(axes, total=total)


def _inner(run: Run) -> Run:
    return replace(run, solver="auto", verbose=False)


def _covariance(X: NDArray[np.floating], mean: Floats, k: int, run: Run) -> Axes:
    n, D = X.shape
    rows = block_slices(n, max(1024, n // 64 + 1))
    require(8.0 * D * D * (len(rows) + 3), f"the covariance of {D} features", "use solver='gram' or RandomProjection first")
    sums = np.zeros((len(rows), D, D))

    def work(i: int) -> None:
        part = X[rows[i]] - mean
        np.matmul(part.T, part, out=sums[i])

    run_blocks(work, len(rows), n_jobs=run.n_jobs)
    C = sums.sum(axis=0) / (n - 1)
    pairs = largest(DenseOperator(C, psd=True), k, negligible=1e-12, run=_inner(run))
    return Axes(pairs.vectors, replace(pairs, values=np.maximum(pairs.values, 0.0), solver="covariance"), 0.0)


def _gram(X: NDArray[np.floating], mean: Floats, k: int, run: Run) -> Axes:
    n, _ = X.shape
    require(3 * 8.0 * n * n, f"the Gram matrix of {n} points", "use solver='covariance'")
    Xc = X - mean
    pairs = largest(DenseOperator(Xc @ Xc.T / (n - 1), psd=True), k, negligible=1e-12, run=_inner(run))
    V = Xc.T @ pairs.vectors
    norms = np.linalg.norm(V, axis=0)
    V, dead = V / np.where(norms > 0, norms, 1.0), norms <= 1e-8 * max(norms.max(initial=0.0), 1e-300)
    if dead.any():  # directions beyond the data's rank: any orthonormal completion
        V[:, dead] = scipy.linalg.qr(np.hstack([V[:, ~dead], np.eye(len(V), int(dead.sum()) + 1)]), mode="economic")[0][
            :, int((~dead).sum()) : k
        ]
    return Axes(fix_signs(V), replace(pairs, values=np.maximum(pairs.values, 0.0), solver="gram"), 0.0)


def _svd(X: NDArray[np.floating], mean: Floats, k: int, run: Run) -> Axes:
    n, D = X.shape
    require(8.0 * n * D * 3, f"the SVD of a {n} x {D} matrix", "use solver='covariance'")
    _, s, Vt = scipy.linalg.svd(X - mean, full_matrices=False, overwrite_a=True, check_finite=False)
    values = s**2 / (n - 1)
    gap = float(values[k - 1] - values[k]) if len(values) > k else float("inf")
    V = fix_signs(np.ascontiguousarray(Vt[:k].T))
    return Axes(V, Eigenpairs(values[:k], V, 0.0, gap, "svd", 1), 0.0)
