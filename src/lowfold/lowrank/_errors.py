"""How good a low-rank approximation is, and how good it is bound to be; Wang (2012), Chapter 15,
doi:10.1007/978-3-642-27497-8; Martinsson, Rokhlin & Tygert (2011), doi:10.1016/j.acha.2010.02.003.

The bounds are the book's with its slips mended: the chance that a Gaussian matrix is nearly singular is taken at
sqrt(beta), and the projector I - QQ' of the randomized SVD has norm 1, not 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import ROUNDING
from lowfold.lowrank._check import matrix, rank

NO_ERROR = 10  # roundings: the norm of a difference of two matrices that are equal but for it
WELL_CONDITIONED = 100.0  # condition number up to which truncating a factorisation costs two digits at most
MONOTONE = ROUNDING  # share of the largest diagonal entry by which a later one may exceed an earlier one


class ErrorRatios(NamedTuple):
    """An error over the least that rank d allows, in the spectral and the Frobenius norm; 1 is the truncated SVD."""

    spectral: float
    frobenius: float


class ErrorBound(NamedTuple):
    """||A - A~|| <= xi sigma_(k+1) + eta sigma_(k+j+1) with at least this probability; eta = 0 without j.

    `failure` bounds the chance that it does not hold, which 1 - probability would round away.
    """

    xi: float
    eta: float
    probability: float
    failure: float


@dataclass(frozen=True)
class RankRevealing:
    """Whether A = X diag(d) Y' reveals rank: true where both factors are well conditioned and d >= 0 descends."""

    condition_x: float
    condition_y: float
    descending: bool
    limit: float

    def __bool__(self) -> bool:
        return self.descending and max(self.condition_x, self.condition_y) <= self.limit


def approximation_error(A: ArrayLike, B: ArrayLike, d: int) -> ErrorRatios:
    """||A - B|| / sigma_(d+1) and ||A - B||_F / sqrt(sum_(j>d) sigma_j^2): the constant c of a rank-d approximation.

    Both are at least 1 where B has rank d, and 1 for the truncated SVD. Where A itself has rank d the least error is 0:
    the ratio is then 1 for an error of rounding size and inf for any other.

    >>> A = np.diag([4.0, 2.0, 1.0])
    >>> approximation_error(A, np.diag([4.0, 2.0, 0.0]), 2)
    ErrorRatios(spectral=1.0, frobenius=1.0)
    """
    A, B = matrix(A), matrix(B, "B")
    if A.shape != B.shape:
        raise InvalidInput(f"A and B must have the same shape; got {A.shape} and {B.shape}")
    d = rank(d, min(A.shape), "d")
    sigma = scipy.linalg.svdvals(A)
    tail = sigma[d:] if d < len(sigma) else np.zeros(1)
    floor = ROUNDING * max(float(sigma[0]), np.finfo(float).tiny)
    return ErrorRatios(
        _ratio(float(np.linalg.norm(A - B, 2)), float(tail[0]), floor),
        _ratio(float(np.linalg.norm(A - B)), float(np.linalg.norm(tail)), floor),
    )


def _ratio(error: float, least: float, floor: float) -> float:
    if least > floor:
        return error / least
    return 1.0 if error <= NO_ERROR * floor else math.inf


def subspace_distance(U: ArrayLike, V: ArrayLike) -> float:
    """sin of the largest angle between the column spaces of U and V, of equal dimension: 0 equal, 1 orthogonal.

    >>> round(subspace_distance([[1.0], [0.0]], [[1.0], [1.0]]), 4)
    0.7071
    """
    U, V = matrix(U, "U"), matrix(V, "V")
    if U.shape != V.shape:
        raise InvalidInput(f"subspaces of one dimension are compared; got bases of shape {U.shape} and {V.shape}")
    return float(np.sin(scipy.linalg.subspace_angles(U, V).max()))


def is_rank_revealing(
    X: ArrayLike, d: ArrayLike, Y: ArrayLike, *, condition: float = WELL_CONDITIONED
) -> RankRevealing:
    """Whether A = X diag(d) Y' is rank-revealing: d >= 0 descending, X and Y of condition number at most `condition`.

    >>> bool(is_rank_revealing(np.eye(2), [2.0, 1.0], np.eye(2))), bool(is_rank_revealing(np.eye(2), [1, 2], np.eye(2)))
    (True, False)
    """
    D = np.asarray(d, dtype=np.float64).ravel()
    size = float(np.abs(D).max(initial=0.0))
    descending = bool(D.min(initial=0.0) >= 0 and np.all(np.diff(D) <= MONOTONE * size))
    return RankRevealing(
        float(np.linalg.cond(matrix(X, "X"))), float(np.linalg.cond(matrix(Y, "Y"))), descending, condition
    )


def too_small(l: int, k: int, beta: float) -> float:  # noqa: E741 (l is the letter of the formula)
    """Bound of Pr(sigma_min < 1 / sqrt(l beta)) for a Gaussian l x k matrix: p~(l, k, sqrt(beta)) of (15.29)."""
    excess = l - k + 1
    return (math.e / (excess * math.sqrt(beta))) ** excess / math.sqrt(2 * math.pi * excess)


def too_large(x: int, gamma: float) -> float:
    """Bound of Pr(sigma_max > sqrt(2 x gamma)) for a Gaussian matrix with at most x rows and columns: p of (15.30)."""
    return (2 * gamma / math.exp(gamma - 1)) ** x / (4 * (gamma - 1) * math.sqrt(math.pi * x * gamma))


def failure_probability(m: int, k: int, l: int, beta: float, gamma: float, *, j: int | None = None) -> float:  # noqa: E741
    """Bound of the probability that `error_bound` does not hold; with j, that of the form for fast decay."""
    if j is None:
        return min(1.0, too_small(l, k, beta) + 2 * too_large(m, gamma))
    m1, m2, m3 = _sizes(m, k, l, j)
    return min(1.0, too_small(l, k, beta) + 2 * too_large(m1, gamma) + too_large(m2, gamma) + too_large(m3, gamma))


def error_bound(
    m: int,
    n: int,
    k: int,
    l: int | None = None,  # noqa: E741
    *,
    beta: float = 9 / 16,
    gamma: float = 5.0,
    kind: Literal["interpolative", "svd"] = "interpolative",
    j: int | None = None,
) -> ErrorBound:
    """The error of a randomized rank-k approximation of an m x n matrix from l Gaussian samples (None: k + 20).

    Interpolative (Theorems 15.5, 15.6) or by `randomized_svd` with truncate_first (15.7, 15.8). With j > 0 the form for
    fast decay: the second term counts sigma_(k+j+1). At beta = 9/16 and gamma = 5 the chance to fail is below 1e-17.

    >>> bound = error_bound(200, 150, 10, kind="svd")
    >>> bound.xi < 10 * (30 * 200) ** 0.5, bound.failure < 1e-17
    (True, True)
    """
    l = k + 20 if l is None else l  # noqa: E741
    _check_sizes(m, n, k, l, beta, gamma, j)
    if kind not in ("interpolative", "svd"):
        raise InvalidInput(f"kind must be 'interpolative' or 'svd'; got {kind!r}")
    c = math.sqrt(4 * k * (n - k) + 1) if kind == "interpolative" else 0.0  # (15.27); an SVD has no factor P
    first, second = (c + 1, c) if kind == "interpolative" else (1.0, 1.0)
    failure = failure_probability(m, k, l, beta, gamma, j=j)
    size = 2 * l * beta * gamma
    if j is None:
        return ErrorBound(math.sqrt(size * m + 1) * first + math.sqrt(size * m) * second, 0.0, 1 - failure, failure)
    m1, m2, m3 = _sizes(m, k, l, j)
    xi = math.sqrt(size * m2 + 1) * first + math.sqrt(size * m3) * second
    eta = math.sqrt(size * m1 + 1) * first + math.sqrt(size * m1) * second
    return ErrorBound(xi, eta, 1 - failure, failure)


def _sizes(m: int, k: int, l: int, j: int) -> tuple[int, int, int]:  # noqa: E741
    return max(m - k - j, l), max(j, l), max(j + k, l)


def _check_sizes(m: int, n: int, k: int, l: int, beta: float, gamma: float, j: int | None) -> None:  # noqa: E741
    if not 1 <= k <= l < min(m, n):
        raise InvalidInput(f"1 <= k <= l < min(m, n) is needed; got m = {m}, n = {n}, k = {k}, l = {l}")
    if not beta > 0 or not gamma > 1:
        raise InvalidInput(f"beta must be above 0 and gamma above 1; got {beta!r} and {gamma!r}")
    if j is not None and not 1 <= j < min(m, n) - k:
        raise InvalidInput(f"j must be at least 1 with k + j < min(m, n) = {min(m, n)}; got {j}")
