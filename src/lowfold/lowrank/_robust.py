"""Directions and decompositions that a few gross errors do not spoil.

Projection pursuit with a robust scale: Croux & Ruiz-Gazen (2005), doi:10.1016/j.jmva.2004.08.002; reweighted as in
Hubert, Rousseeuw & Vanden Branden (2005), doi:10.1198/004017004000000563. L1 projection pursuit: Kwak (2008),
doi:10.1109/TPAMI.2008.114. Covariance of signs: Locantore et al. (1999),
doi:10.1007/BF02595862. Low rank plus sparse: Candes, Li, Ma & Wright (2011), doi:10.1145/1970392.1970395, by the
augmented Lagrangian of Lin, Chen & Ma (2010), arXiv:1009.5055.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.parallel import block_slices
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.lowrank._principal import principal_axes

MAD = 1.4826  # median absolute deviation of a Gaussian -> its standard deviation
KEPT = 0.975  # share of a Gaussian's rows that the reweighting step keeps
NO_DIRECTION = 1e-10  # of the longest row: rounding of what the former directions leave of a row
FLAT = 1e-9  # of the largest spread, or of the median length: a direction, or a distance, that is rounding
PROJECTED = 2**22  # numbers of a block of projections: 32 MB
# The augmented Lagrangian of Lin, Chen & Ma (2010): mu starts at 1.25 / |X| and grows by 1.5 in each step, to an end at
# which X + Y / mu has lost the digits of Y.
MU, MU_GROWS, MU_MOST = 1.25, 1.5, 1e12
# Smoothing of |r| in the reweighted least squares: 0.7 of the last, so that sixty steps take off nine digits, down to
# FLAT of the row. RIDGE, of weights of at most 1, where a row has fewer good entries than directions.
SMOOTHER, RIDGE = 0.7, 1e-14
CANDIDATES, MEASURED = 1000, 5000  # directions tried, and rows their spread is measured on


def geometric_median(X: NDArray[np.floating], *, tol: float = 1e-10, max_iter: int = 500) -> Floats:
    """The point with the least sum of distances to the rows of X, by Weiszfeld's iteration from the medians.

    Half of the rows may be anywhere without moving it far.
    """
    m = np.median(X, axis=0).astype(np.float64)
    size = float(np.abs(np.subtract(X, m, dtype=np.float64)).max(initial=0.0)) or 1.0
    for _ in range(max_iter):
        distance = np.linalg.norm(np.subtract(X, m, dtype=np.float64), axis=1)
        w = 1.0 / np.maximum(distance, ROUNDING * size)
        new = np.asarray((w @ X) / w.sum(), dtype=np.float64)
        moved = float(np.abs(new - m).max())
        m = new
        if moved <= tol * size:
            break
    return np.asarray(m)


def spread(P: Floats) -> Floats:
    """The median absolute deviation of each column, scaled to a Gaussian's standard deviation."""
    return np.asarray(MAD * np.median(np.abs(P - np.median(P, axis=0)), axis=0))


def pursued_directions(Xc: Floats, k: int, *, rng: np.random.Generator) -> Floats:
    """Orthonormal W (D, k): each is, of the directions x / |x| of the rows, that in which the rows spread the most by
    their median absolute deviation; on what the former leave.

    Up to half of the rows may be anywhere. A median uses few of the digits in the data, so the directions are rough.
    Above 1,000 rows as many are tried, and the spread is measured on 5,000, both drawn by `rng`.
    """
    n, D = Xc.shape
    A = Xc[rng.permutation(n)[:MEASURED]]
    W = np.zeros((D, k))
    for j in range(k):
        size = np.linalg.norm(A, axis=1)
        rows = np.flatnonzero(
            size > NO_DIRECTION * max(float(np.linalg.norm(Xc[0])), float(size.max(initial=0.0)), NO_DIVISOR)
        )
        rows = rows[:CANDIDATES]
        tried = (A[rows] / size[rows, None]).T
        found = [spread(A @ tried[:, part]) for part in block_slices(len(rows), max(1, PROJECTED // len(A)))]
        w = tried[:, int(np.argmax(np.concatenate(found)))] if len(rows) else np.zeros(D)
        W[:, j] = _beside(w, W[:, :j])
        A = A - np.outer(A @ W[:, j], W[:, j])
    return W


def inliers(Xc: Floats, W: Floats) -> NDArray[np.bool_]:
    """The rows near the others along W and near the span of W, by medians: 97.5% of a Gaussian in either respect.

    At least half of the rows, the nearest, are among them.
    """
    from scipy.special import ndtri

    Y = Xc @ W
    size = spread(Y)
    real = size > FLAT * max(float(size.max(initial=0.0)), NO_DIVISOR)
    inside = np.square((Y[:, real] - np.median(Y[:, real], axis=0)) / size[real]).sum(axis=1)
    inside /= _chi_squared(max(int(real.sum()), 1))
    # The cube root of a squared distance is nearly Gaussian (Wilson & Hilferty).
    beside = np.linalg.norm(Xc - Y @ W.T, axis=1) ** (2 / 3)
    limit = np.median(beside) + ndtri(KEPT) * float(spread(beside[:, None])[0])
    limit = max(limit, FLAT * float(np.median(np.linalg.norm(Xc, axis=1))) ** (2 / 3))
    far = np.maximum(inside, beside / limit if limit > 0 else beside)
    kept = far <= 1
    if 2 * int(kept.sum()) < len(Xc):
        kept = np.zeros(len(Xc), dtype=bool)
        kept[np.argsort(far, kind="stable")[: len(Xc) // 2 + 1]] = True
    return np.asarray(kept)


def _chi_squared(k: int) -> float:
    """The square of the distance within which `KEPT` of a k-dimensional Gaussian lies: the quantile of chi squared."""
    from scipy.special import gammaincinv

    return 2 * float(gammaincinv(k / 2, KEPT))


def truncation(k: int) -> float:
    """Share of a k-dimensional Gaussian's variance that is left when only the rows within the limit are looked at."""
    from scipy.special import gammainc

    return float(gammainc(k / 2 + 1, _chi_squared(k) / 2) / KEPT)


def _beside(w: Floats, W: Floats) -> Floats:
    """w made orthogonal to the columns of W, of length 1; any such direction where nothing is left of w."""
    w = w - W @ (W.T @ w)
    size = float(np.linalg.norm(w))
    if size <= NO_DIRECTION:
        free = np.eye(len(W)) - W @ W.T
        w = free[:, int(np.argmax(np.diagonal(free)))]
        size = float(np.linalg.norm(w))
    w = w / size
    w = w - W @ (W.T @ w)
    return np.asarray(w / np.linalg.norm(w))


def l1_directions(Xc: Floats, k: int, *, max_iter: int = 1000) -> Floats:
    """Orthonormal W (D, k): one after the other maximises sum_i |w'x_i|, |w| = 1, on what the former leave.

    Fixed point w <- sum_i sign(w'x_i) x_i / |.|, which never lowers the sum and ends after finitely many steps; from
    the longest row, and from the direction of largest variance.
    """
    A = Xc.copy()
    W = np.zeros((Xc.shape[1], k))
    for j in range(k):
        longest = A[np.argmax(np.square(A).sum(axis=1))]
        variance = principal_axes(A, np.zeros(A.shape[1]), 1).V[:, 0]
        found = [_pursue(A, start, max_iter) for start in (longest, variance)]
        w = max(found, key=lambda w: float(np.abs(A @ w).sum()))
        W[:, j] = _beside(w, W[:, :j])
        A -= np.outer(A @ W[:, j], W[:, j])
    return W


def _pursue(A: Floats, start: Floats, max_iter: int) -> Floats:
    size = float(np.linalg.norm(start))
    if size == 0:
        return start
    w = start / size
    for _ in range(max_iter):
        new = np.where(A @ w < 0, -1.0, 1.0) @ A
        size = float(np.linalg.norm(new))
        if size == 0:
            return w
        new /= size
        if np.abs(new - w).max() <= ROUNDING:
            return np.asarray(new)
        w = new
    return w


def sign_rows(Xc: Floats) -> Floats:
    """x / |x|: for every elliptical density their covariance has the eigenvectors of the density's own."""
    size = np.linalg.norm(Xc, axis=1, keepdims=True)
    return np.asarray(Xc / np.where(size > 0, size, 1.0))


@dataclass(frozen=True, eq=False)
class LowRankSparse:
    """X = L + S up to `residual` (relative, Frobenius)."""

    L: Floats
    S: Floats
    residual: float
    iterations: int

    __repr__ = brief


def low_rank_plus_sparse(
    X: Floats, *, penalty: float | None = None, tol: float = 1e-7, max_iter: int = 500, run: Run | None = None
) -> LowRankSparse:
    """min ||L||_* + penalty ||S||_1 with L + S = X; penalty None is 1 / sqrt(max(n, D)).

    Recovers both exactly, with high probability, when L is of low rank and spread out and S is sparse at random places.
    """
    lam = 1.0 / np.sqrt(max(X.shape)) if penalty is None else penalty
    norm = float(np.linalg.norm(X))
    if norm == 0:
        return LowRankSparse(np.zeros_like(X), np.zeros_like(X), 0.0, 0)
    spectral = float(np.sqrt(max(stacked_eigh(_small_gram(X))[0][-1], 0.0)))
    Y = X / max(spectral, float(np.abs(X).max()) / lam)
    mu, S, L, residual = MU / spectral, np.zeros_like(X), np.zeros_like(X), 1.0
    for step in range(1, max_iter + 1):
        L = _shrink_spectrum(X - S + Y / mu, 1 / mu)
        M = X - L + Y / mu
        S = np.sign(M) * np.maximum(np.abs(M) - lam / mu, 0.0)
        gap = X - L - S
        Y += mu * gap
        mu = min(MU_GROWS * mu, MU_MOST / spectral)
        residual = float(np.linalg.norm(gap)) / norm
        if residual <= tol:
            return LowRankSparse(L, S, residual, step)
    return LowRankSparse(L, S, residual, max_iter)


def _small_gram(A: Floats) -> Floats:
    return A.T @ A if A.shape[0] >= A.shape[1] else A @ A.T


def _shrink_spectrum(A: Floats, threshold: float) -> Floats:
    """U max(Sigma - threshold, 0) V', through the smaller Gram matrix: what it rounds away is below the threshold."""
    values, V = stacked_eigh(_small_gram(A))
    s = np.sqrt(np.maximum(values, 0.0))
    kept = s > threshold
    factor = (1.0 - threshold / s[kept]) if kept.any() else np.empty(0)
    P = (V[:, kept] * factor) @ V[:, kept].T
    return np.asarray(A @ P if A.shape[0] >= A.shape[1] else P @ A)


def sparse_regression(Xc: Floats, V: Floats, *, steps: int = 60) -> Floats:
    """y minimising |x - V y|_1 for each row x, by reweighted least squares whose smoothing shrinks: gross errors in a
    few entries of a row do not move its coordinates.
    """
    Y = Xc @ V
    rest = np.abs(Xc - Y @ V.T)
    smooth = np.maximum(np.median(rest, axis=1, keepdims=True), ROUNDING * np.abs(Xc).max(axis=1, keepdims=True))
    smooth = np.where(smooth > 0, smooth, 1.0)
    floor = FLAT * np.maximum(np.abs(Xc).max(axis=1, keepdims=True), np.finfo(float).tiny)
    eye = RIDGE * np.eye(V.shape[1])
    for _ in range(steps):
        w = 1.0 / np.maximum(np.abs(Xc - Y @ V.T), smooth)
        w /= w.max(axis=1, keepdims=True)
        G = np.einsum("mj,ja,jb->mab", w, V, V, optimize=True) + eye
        Y = np.linalg.solve(G, ((w * Xc) @ V)[:, :, None])[:, :, 0]
        smooth = np.maximum(SMOOTHER * smooth, floor)
    return np.asarray(Y)
