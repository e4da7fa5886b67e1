"""One new point among fixed ones: stress over the new row only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.types import Floats
from lowfold.optimize._descend import descend_rows, polish_rows
from lowfold.optimize._stress import LOOPS, NOWHERE, WEIGHTS

FLAT = 1e-10  # of the largest eigenvalue of Yc'Yc: a direction that the points hardly have does not place a new one
_NO_MATRIX = np.empty((0, 0))


def triangulate(squared: Floats, Y: Floats) -> Floats:
    """y = -1/2 (Yc'Yc)^+ Yc' (delta^2 - b) with b_j = ||y_j - mean||^2: squared distances made linear in y.

    squared (m, n) from each new point to the points Y (n, d); unmeasured ones (not finite) count as fitting.
    """
    mean = Y.mean(axis=0)
    Yc = Y - mean
    gap = np.einsum("nd,nd->n", Yc, Yc) - squared
    gap = np.where(np.isfinite(gap), gap - np.nanmean(np.where(np.isfinite(gap), gap, np.nan), axis=1)[:, None], 0.0)
    # einsum and not a matrix product: each new point gets the same bits in whatever batch it comes
    along = np.einsum("mn,nd->md", gap, Yc)
    return np.asarray(0.5 * np.einsum("md,de->me", along, np.linalg.pinv(Yc.T @ Yc, rcond=FLAT, hermitian=True)) + mean)


def place_rows(
    delta: NDArray[np.floating],
    Y: Floats,
    start: Floats,
    *,
    weights: str = "unit",
    small: float = 1.0,
    p: float = 2.0,
    max_iter: int = 500,
    tol: float = 1e-9,
) -> tuple[Floats, Floats]:
    """New points (m, d) that minimise sum_j w_j (delta_j - d(y, y_j))^2 each by itself, and these sums.

    delta (n, m) has a column per new point, NaN or inf where unmeasured. With p = 2 by majorisation,
    y <- sum_j w_j (y_j + delta_j (y - y_j) / d_j) / sum_j w_j, twice as far; otherwise by gradient descent.
    """
    YT = np.ascontiguousarray(Y.T)
    kind = WEIGHTS[weights]
    if p != 2.0:
        return _by_gradient(delta, YT, start, kind, small, p, max_iter, tol)
    loops = compiled(LOOPS)
    d, m = Y.shape[1], len(start)
    degree, total, moment = np.zeros(m), np.zeros(m), np.zeros((d, m))
    loops.weights_strip(delta, 0, NOWHERE, kind, _NO_MATRIX, small, YT, degree, total, moment)
    y = np.array(start.T, dtype=np.float64)
    active = np.arange(m)
    size = float(np.abs(Y - Y.mean(axis=0)).max(initial=0.0))
    for _ in range(max_iter):
        if len(active) == 0:
            break
        strip = np.ascontiguousarray(y[:, active])
        out, (rho, eta, stress) = np.zeros_like(strip), np.zeros((3, len(active)))
        part = delta if len(active) == m else np.ascontiguousarray(delta[:, active])
        loops.weighted_strip(part, 0, NOWHERE, kind, _NO_MATRIX, small, YT, strip, out, rho, eta, stress)
        guttman = (out + moment[:, active]) / degree[active]
        y[:, active] = 2.0 * guttman - strip
        still = np.abs(guttman - strip).max(axis=0) <= tol * size
        y[:, active[still]] = guttman[:, still]
        active = active[~still]

    def function(rows: Floats, which: NDArray[np.int64]) -> tuple[Floats, Floats]:
        strip = np.ascontiguousarray(rows.T)
        out, (rho, eta, stress) = np.zeros_like(strip), np.zeros((3, len(rows)))
        part = np.ascontiguousarray(delta[:, which])
        loops.weighted_strip(part, 0, NOWHERE, kind, _NO_MATRIX, small, YT, strip, out, rho, eta, stress)
        return stress, 2.0 * (degree[which] * strip - moment[:, which] - out).T

    return polish_rows(function, np.ascontiguousarray(y.T))


def _by_gradient(
    delta: NDArray[np.floating], YT: Floats, start: Floats, kind: int, small: float, p: float, max_iter: int, tol: float
) -> tuple[Floats, Floats]:
    loops = compiled(LOOPS)

    def function(rows: Floats, which: NDArray[np.int64]) -> tuple[Floats, Floats]:
        strip = np.ascontiguousarray(rows.T)
        out, eta, stress = np.zeros_like(strip), np.zeros(len(rows)), np.zeros(len(rows))
        part = np.ascontiguousarray(delta[:, which])
        loops.gradient_strip(part, 0, NOWHERE, kind, _NO_MATRIX, small, p, YT, strip, out, eta, stress)
        return stress, out.T

    return polish_rows(function, descend_rows(function, start, max_iter=max_iter, tol=tol)[0])
