"""The quantities that methods lower, as functions of any embedding Y; each returns its value and its share per point.

Where a method fixes its output by a constraint (Y'MY = I, centred), Y is brought there first: the value belongs to the
span of its columns, so that an embedding in any unit and position can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import CentredGram, Operator
from lowfold._core.parallel import COPIED, TABLED, block_slices, run_blocks
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._geodesic_gram import GeodesicGram

DEPENDENT = 1e-9  # columns of unit length whose distance from the others' span is smaller are no new direction
COLUMNS = 128  # of the unit matrix at once, for traces of powers
ROWS = 64  # of a block at least: geodesics are made 64 at a time
WEIGHTED = 1e-9  # of the largest root of an eigenvalue of squared inner products: a direction that weights cannot reach
# Of the factor that scales an embedding: from far too small to far too large for any unit that methods give, in half
# decades, so that the valley is not missed; then to so many digits of its logarithm.
SCALES, SCALE_STEPS, SCALE_TOL = (1e-4, 1e4), 17, 1e-5


@dataclass(frozen=True, eq=False)
class LossValue:
    """What is lowered at one embedding: value, share per point or None, and named parts of it."""

    value: float
    points: Floats | None = None
    parts: tuple[tuple[str, float], ...] = ()


def orthonormal(Y: Floats, null: Floats | None) -> Floats:
    """An orthonormal basis of the columns of Y, `null` (n,) taken out first; the columns must be independent."""
    A = Y.copy()
    if null is not None:
        u = null / np.linalg.norm(null)
        A -= np.outer(u, u @ A)
    size, whole = np.linalg.norm(A, axis=0), np.linalg.norm(Y, axis=0)
    if (size <= ROUNDING * whole).any():
        raise InvalidInput("Y must have no constant column: it spans no direction to be judged")
    Q, R = np.linalg.qr(A / size)
    if np.abs(np.diagonal(R)).min() <= DEPENDENT:
        raise InvalidInput(f"Y must have {Y.shape[1]} independent columns; one is a combination of the others")
    return np.asarray(Q)


def quotient(K: Operator, Q: Floats) -> LossValue:
    """tr(Q'KQ) for an orthonormal Q: least for the bottom eigenvectors (Ky Fan). Points: their terms, q_i'(KQ)_i."""
    points = np.einsum("ij,ij->i", Q, K.apply(Q))
    return LossValue(float(points.sum()), points)


def variance_lost(X: Floats, Q: Floats) -> LossValue:
    """||X - QQ'X||^2 / ||X||^2: what no linear map from the span of Q tells of X; least for principal components."""
    total = float(np.einsum("ij,ij->", X, X))
    if total == 0:
        raise InvalidInput("X has no two different points; there is no variance to explain")
    left = X - Q @ (Q.T @ X)
    points = np.einsum("ij,ij->i", left, left) / total
    return LossValue(float(points.sum()), points)


def energy_lost(K: Operator, diagonal: Floats, Q: Floats) -> LossValue:
    """(tr K - tr Q'KQ) / tr K for a psd K, the same through inner products."""
    KQ = K.apply(Q)
    kept = 2 * np.einsum("ij,ij->i", Q, KQ) - np.einsum("ij,jk,ik->i", Q, Q.T @ KQ, Q, optimize=True)
    total = float(diagonal.sum())
    if total <= 0:
        raise InvalidInput("the kernel matrix has no variance; there is nothing to explain")
    points = (diagonal - kept) / total
    return LossValue(float(points.sum()), points)


def strain(G: CentredGram | GeodesicGram, Y: Floats, scaled: bool) -> LossValue:
    """||G - s Yc Yc'|| / ||G|| in Frobenius norm, G = -1/2 H (D o D) H; s = 1, or what fits best.

    Least for the leading eigenvectors times the roots of their eigenvalues (Eckart & Young 1936). Points: the norm of
    each row's error over that of the row.
    """
    Yc = Y - Y.mean(axis=0)
    GY, C = G.apply(Yc), Yc.T @ Yc
    size = _row_squares(G)
    cross = np.einsum("ij,ij->i", Yc, GY)
    own = np.einsum("ij,jk,ik->i", Yc, C, Yc, optimize=True)
    s = max(float(cross.sum() / own.sum()), 0.0) if scaled and own.sum() > 0 else 1.0
    left = np.maximum(size - 2 * s * cross + s * s * own, 0.0)
    if size.sum() == 0:
        raise InvalidInput("all distances are 0; strain has no unit")
    points = np.sqrt(left / np.where(size > 0, size, 1.0))
    return LossValue(float(np.sqrt(left.sum() / size.sum())), points)


def _row_squares(G: CentredGram | GeodesicGram) -> Floats:
    """sum_j G_ij^2, in blocks of rows."""
    means = G.row_means()
    out = np.empty(G.n)
    parts = block_slices(G.n, max(ROWS, COPIED // G.n))

    def work(b: int) -> None:
        B = G.rows(np.arange(parts[b].start, parts[b].stop))
        B -= means[parts[b], None]
        B -= means[None, :] - means.mean()
        out[parts[b]] = np.einsum("ij,ij->i", B, B) * G.scale**2

    run_blocks(work, len(parts), n_jobs=G.n_jobs)
    return out


def diffusion_lost(S: Operator, trivial: Floats, Q: Floats, t: float) -> LossValue:
    """Share of the variance of the t-step probabilities p_t(i, .) that Q does not explain.

    sum_i phi_0(i) ||p_t(i, .) - phi_0||^2 (norm over 1 / phi_0) = tr S^2t - 1 = sum_(s >= 1) lambda_s^2t, of which the
    leading eigenvectors explain the most. S = D^-1/2 K~ D^-1/2.
    """
    steps = round(2 * t)
    if steps < 1 or abs(2 * t - steps) > ROUNDING:
        raise InvalidInput(f"the objective of diffusion maps needs t = 1/2, 1, 3/2, ...; got {t:g}")

    def power(V: Floats) -> Floats:
        for _ in range(steps):
            V = S.apply(V)
        return V

    diagonal = np.empty(S.n)
    for part in block_slices(S.n, COLUMNS):
        E = np.zeros((S.n, part.stop - part.start))
        E[np.arange(part.start, part.stop), np.arange(E.shape[1])] = 1.0
        diagonal[part] = np.diagonal(power(E)[part])
    diagonal -= trivial**2 / (trivial @ trivial)
    SQ = power(Q)
    kept = 2 * np.einsum("ij,ij->i", Q, SQ) - np.einsum("ij,jk,ik->i", Q, Q.T @ SQ, Q, optimize=True)
    points = (diagonal - kept) / diagonal.sum()
    return LossValue(float(points.sum()), points)


def spring_loss(
    pairs: np.ndarray, squared: Floats, Y: Floats, form: str, nu: float, scaled: bool, factor: Floats | None = None
) -> LossValue:
    """What maximum variance unfolding lowers: (nu sum_e (d_e - s_e)^2 - tr K) / n in units of the mean s_e, K = Yc Yc'.

    Without springs ("eq", "ineq") it is -tr K / n, and the violation says whether Y is allowed at all. `scaled` takes
    the best unit of Y. Points: half of every spring's term to either end, and -|y_i|^2.
    """
    unit = float(squared.mean()) or 1.0
    Yc = (Y if factor is None else factor) - (Y if factor is None else factor).mean(axis=0)
    i, j = pairs.T
    a, b = ((Yc[i] - Yc[j]) ** 2).sum(axis=1) / unit, squared / unit
    own = (Yc**2).sum(axis=1) / unit
    springs = nu if form == "slack" else 0.0
    s = _best_unit(a, b, float(own.sum()), springs, form) if scaled else 1.0
    off = s * a - b
    terms = springs * off**2 / 2
    n = len(Yc)
    points = (np.bincount(i, terms, n) + np.bincount(j, terms, n) - s * own) / n
    wrong = np.maximum(off, 0.0) if form == "ineq" else off
    parts = (("variance", float(s * own.sum() * unit)), ("violation", float(np.sqrt((wrong**2).mean()))))
    return LossValue(float(points.sum()), points, parts)


def _best_unit(a: Floats, b: Floats, variance: float, nu: float, form: str) -> float:
    """The factor of squared lengths that lowers the loss most; of the forms without springs, the one that violates
    least (or, for "ineq", the largest allowed).
    """
    aa = float(a @ a)
    if aa == 0:
        return 1.0
    if form == "ineq":
        return float((b[a > 0] / a[a > 0]).min())
    return (float(a @ b) + (variance / (2 * nu) if nu > 0 else 0.0)) / aa


def nonnegative_loss(X: Floats, Y: Floats) -> LossValue:
    """min over H >= 0 of ||X - YH|| / ||X|| for Y >= 0."""
    from scipy.optimize import nnls

    if Y.min() < 0:
        raise InvalidInput(f"the objective of NMF is defined for Y of at least 0; its smallest value is {Y.min():g}")
    H = np.column_stack([nnls(Y, column)[0] for column in X.T])
    total = float((X**2).sum())
    if total == 0:
        raise InvalidInput("X is 0 everywhere; there is nothing to rebuild")
    left = ((X - Y @ H) ** 2).sum(axis=1)
    points = np.sqrt(left / np.where((X**2).sum(axis=1) > 0, (X**2).sum(axis=1), 1.0))
    return LossValue(float(np.sqrt(left.sum() / total)), points)


def individual_loss(B: Floats, Y: Floats) -> LossValue:
    """min over weights w_k >= 0 of sum_k ||B_k - Yc diag(w_k) Yc'||^2 / sum_k ||B_k||^2."""
    from scipy.optimize import nnls

    Yc = Y - Y.mean(axis=0)
    gram = (Yc.T @ Yc) ** 2
    values, V = stacked_eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))
    inverse = np.where(root > WEIGHTED * root.max(initial=0.0), 1.0 / np.where(root > 0, root, 1.0), 0.0)
    left = np.zeros(len(Y))
    for Bk in B:
        w = nnls(root[:, None] * V.T, inverse * (V.T @ np.einsum("ia,ij,ja->a", Yc, Bk, Yc, optimize=True)))[0]
        left += ((Bk - (Yc * w) @ Yc.T) ** 2).sum(axis=1)
    points = left / float((B**2).sum())
    return LossValue(float(points.sum()), points)


def white(Y: Floats) -> Floats:
    """Centred, uncorrelated columns of variance 1, turned as little as possible (symmetric whitening)."""
    Yc = Y - Y.mean(axis=0)
    orthonormal(Y, np.ones(len(Y)))  # independent columns, else an error in words
    Yc = Yc / Yc.std(axis=0)
    values, V = stacked_eigh(Yc.T @ Yc / len(Y))
    return np.asarray(Yc @ (V / np.sqrt(values)) @ V.T)


def best_scale(value: Callable[[float], float]) -> float:
    """The factor in 1e-4..1e4 with the least value: a grid of half decades, then a line search in its best cell."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(np.log(SCALES[0]), np.log(SCALES[1]), SCALE_STEPS)
    at = int(np.argmin([value(float(np.exp(u))) for u in grid]))
    ends = (grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)])
    found = minimize_scalar(
        lambda u: value(float(np.exp(u))), bounds=ends, method="bounded", options={"xatol": SCALE_TOL}
    )
    return float(np.exp(found.x))


def divergence_points(P: csr_array | Floats, Y: Floats, power: float, first: int, mass: float) -> Floats:
    """sum_j p_ij log(p_ij / q_ij) for some rows of P, q_ij = w_ij / mass; rows start at point `first`."""
    if isinstance(P, csr_array):
        rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
        d2 = ((Y[first + rows] - Y[P.indices]) ** 2).sum(axis=1)
        terms = _terms(np.asarray(P.data), d2, power, mass)
        return np.asarray(np.bincount(rows, terms, minlength=P.shape[0]), dtype=np.float64)
    here = Y[first : first + len(P)]
    d2 = sum((here[:, c, None] - Y[None, :, c]) ** 2 for c in range(Y.shape[1]))
    return np.asarray(_terms(P, np.asarray(d2), power, mass).sum(axis=1))


def _terms(p: Floats, d2: Floats, power: float, mass: float) -> Floats:
    log_w = -power * np.log1p(d2) if power else -d2
    return np.where(p > 0, p * (np.log(np.where(p > 0, p, 1.0)) - log_w + np.log(mass)), 0.0)


def weight_mass(Y: Floats, power: float) -> Floats:
    """sum_(l != i) w_il of every point, w = (1 + d^2)^-power, or exp(-d^2) for a power of 0."""
    out = np.empty(len(Y))
    for part in block_slices(len(Y), max(1, TABLED // len(Y))):
        d2 = np.asarray(sum((Y[part, c, None] - Y[None, :, c]) ** 2 for c in range(Y.shape[1])))
        w = (1.0 + d2) ** -power if power else np.exp(-d2)
        w[np.arange(len(w)), np.arange(part.start, part.stop)] = 0.0
        out[part] = w.sum(axis=1)
    return np.maximum(out, NO_DIVISOR)
