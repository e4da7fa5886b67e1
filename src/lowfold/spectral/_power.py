"""The power method with deflation, Wang (2012), Section 5.1: one eigenvector at a time, for very few of them."""

from __future__ import annotations

import numpy as np

from lowfold._core import errors
from lowfold._core.operators import Operator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.spectral._krylov import _fixed_block
from lowfold.spectral._solvers import INNER
from lowfold.spectral._types import COINCIDE, POOR, ZERO, Eigenpairs, fix_signs

VANISHED = 1e-14  # of the eigenvalue: what A v has outside the vectors already found is rounding of taking them out


def power_method(op: Operator, k: int, *, max_iter: int = 10_000, run: Run | None = None) -> Eigenpairs:
    """The k leading eigenpairs of a psd operator: v <- A v / |A v|, made orthogonal to those already found.

    The error shrinks by lambda_2 / lambda_1 with each multiplication, so it is the right tool only where the leading
    eigenvalues stand apart; `iterations` tells what it took. One pair more is found, to measure the gap.
    """
    run = run or Run()
    n, wanted = op.n, min(k + 1, op.n)
    V, values, iterations = np.empty((n, wanted)), np.empty(wanted), 0
    for j in range(wanted):
        V[:, j], values[j], steps = _leading(op, V[:, :j], INNER * run.tol, max_iter, seed=j)
        iterations += steps
    residuals = np.linalg.norm(op.apply(np.ascontiguousarray(V[:, :k])) - V[:, :k] * values[:k], axis=0)
    gap = float(values[k - 1] - values[k]) if wanted > k else float("inf")
    size = max(float(values[0]), np.finfo(float).tiny)
    distances = np.maximum(values[:k] - values[k], COINCIDE * size) if wanted > k else np.full(k, size)
    residual = float((residuals / distances).max())
    if residual > POOR and values[k - 1] > ZERO * size:
        warn(
            f"the power method knows the directions to {residual:.1g} only (gap-relative residual): neighbouring "
            "eigenvalues are too close for it; use another solver",
            errors.AccuracyWarning,
        )
    return Eigenpairs(values[:k], fix_signs(V[:, :k]), residual, max(gap, 0.0), "power", iterations)


def _leading(op: Operator, known: Floats, tol: float, max_iter: int, seed: int) -> tuple[Floats, float, int]:
    """The leading eigenvector on the complement of the orthonormal columns `known`, its value, and the steps taken."""
    v = _unit(_fixed_block(op.n, 1, seed=seed), known)
    value = 0.0
    for step in range(1, max_iter + 1):
        w = op.apply(v)
        value = float((v.T @ w)[0, 0])
        w = w - known @ (known.T @ w)
        if np.linalg.norm(w) <= VANISHED * max(abs(value), np.finfo(float).tiny) or value <= 0:
            return v[:, 0], max(value, 0.0), step
        new = _unit(w, known)
        change = float(np.linalg.norm(new - v))
        v = new
        if change <= tol:
            return v[:, 0], value, step
    return v[:, 0], value, max_iter


def _unit(v: Floats, known: Floats) -> Floats:
    for _ in range(2):
        v = v - known @ (known.T @ v)
    return np.asarray(v / max(float(np.linalg.norm(v)), np.finfo(float).tiny))
