"""Interpolative decompositions: a few columns of the matrix itself, and all others from them; Cheng, Gimbutas,
Martinsson & Rokhlin (2005), doi:10.1137/030602678; Martinsson, Rokhlin & Tygert (2011),
doi:10.1016/j.acha.2010.02.003.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.random import generator
from lowfold._core.types import Floats
from lowfold.lowrank._check import matrix, rank
from lowfold.lowrank._pivoted import pivoted_qr, rrqr
from lowfold.lowrank._results import Interpolative

LARGEST = 2.0  # bound of |P_ij|: with it ||P|| <= sqrt(4 k (n - k) + 1) and the error at most that times sigma_(k+1)


def interpolative(
    A: ArrayLike,
    k: int | None = None,
    *,
    eps: float | None = None,
    oversampling: int | None = None,
    random_state: object = 0,
) -> Interpolative:
    """A ~ A[:, columns] P with P[:, columns] = I, |P_ij| <= 2: k columns, or the fewest with an error <= eps ||A||.

    Deterministic, or from k + `oversampling` Gaussian combinations of the rows of A (20 is the book's), which costs one
    product with A. With eps the sample is doubled until it suffices, and the error is checked against A itself.

    >>> found = interpolative(np.outer([1.0, 2.0], [1.0, 3.0, 2.0]), 1)
    >>> found.columns.tolist(), found.P.round(2).tolist()
    ([1], [[0.33, 1.0, 0.67]])
    """
    A = matrix(A)
    if oversampling is not None and oversampling < 0:
        raise InvalidInput(f"oversampling must be 0 or more; got {oversampling!r}")
    if k is None or eps is not None:
        if k is not None or eps is None:
            raise InvalidInput("interpolative takes either k, the number of columns, or eps, the error allowed")
        if not eps > 0:
            raise InvalidInput(f"eps must be above 0, a share of ||A||; got {eps!r}")
        return _to_precision(A, float(eps), oversampling, random_state)
    k = rank(k, min(A.shape))
    return _of(A, A if oversampling is None else _sketch(A, k + oversampling, random_state), k)


def _sketch(A: Floats, l: int, random_state: object) -> Floats:  # noqa: E741 (the letter of the formula)
    """R = G A with a Gaussian G (l, m): its columns depend on each other nearly as those of A do."""
    if l >= A.shape[0]:
        return A
    return np.asarray(generator(random_state).standard_normal((l, A.shape[0])) @ A)


def _of(A: Floats, R: Floats, k: int) -> Interpolative:
    """Columns and coefficients found on R, columns taken from A."""
    from scipy.linalg.interpolative import interp_decomp, reconstruct_interp_matrix

    found: Any = interp_decomp(R.copy(), k, rand=False)
    index, proj = found[0], found[1]
    if np.abs(proj).max(initial=0.0) <= LARGEST:
        P = reconstruct_interp_matrix(index, proj)
        columns = np.asarray(index[:k], dtype=np.int64)
    else:  # pivoting alone was not enough
        strong = rrqr(R, k, LARGEST)
        P, columns = strong.coefficients(), strong.columns[:k]
    return Interpolative(A[:, columns], np.asarray(P), columns)


def _to_precision(A: Floats, eps: float, oversampling: int | None, random_state: object) -> Interpolative:
    allowed = eps * float(np.linalg.norm(A, 2))
    most = min(A.shape)
    if oversampling is None:
        k = _least_rank(A, allowed)
        R = A
    else:
        k, l = most, oversampling + 1  # noqa: E741
        while k + oversampling > l:
            l = min(2 * l + oversampling, A.shape[0])  # noqa: E741
            R = _sketch(A, l, random_state)
            scale = np.sqrt(l) if l < A.shape[0] else 1.0  # a Gaussian sample is longer by sqrt(l)
            k = _least_rank(R / scale, allowed)
            if l == A.shape[0]:
                break
    found = _of(A, R, k)
    while k < most and np.linalg.norm(A - found.dense(), 2) > allowed:
        k += 1
        found = _of(A, R if k <= min(R.shape) else A, k)
    while k > 1 and oversampling is not None and np.linalg.norm(A - (less := _of(A, R, k - 1)).dense(), 2) <= allowed:
        found, k = less, k - 1
    return found


def _least_rank(A: Floats, allowed: float) -> int:
    """The least k >= 1 with ||R22|| <= allowed in pivoted QR; the norms fall with k, so halving finds it."""
    R = pivoted_qr(A)[1]
    low, high = 1, min(A.shape)
    while low < high:
        k = (low + high) // 2
        if np.linalg.norm(R[k:, k:], 2) <= allowed:
            high = k
        else:
            low = k + 1
    return low
