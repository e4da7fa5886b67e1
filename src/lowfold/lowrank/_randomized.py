"""Randomized SVD: Halko, Martinsson & Tropp (2011), doi:10.1137/090771806; with the book's early truncation,
Martinsson, Rokhlin & Tygert (2011), doi:10.1016/j.acha.2010.02.003.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.random import generator
from lowfold._core.types import Floats
from lowfold.lowrank._check import matrix, rank
from lowfold.lowrank._results import SVD


def randomized_svd(
    A: ArrayLike,
    k: int,
    *,
    oversampling: int = 20,
    n_iter: int = 0,
    truncate_first: bool = False,
    random_state: object = 0,
) -> SVD:
    """The k leading singular triplets of A from k + `oversampling` random combinations and `n_iter` power steps.

    `truncate_first=True` is the book's: the sample R = G A is cut to its k leading right singular vectors Q before A is
    seen again, A~ = A Q Q', so that U diag(s) V' is the SVD of A Q. Else all of the sample is kept until the end, which
    is more accurate at nearly the same price. No singular value comes out above the true one.

    >>> randomized_svd(np.diag([3.0, 2.0, 1.0]), 2).s.round(6).tolist()
    [3.0, 2.0]
    """
    A = matrix(A)
    k = rank(k, min(A.shape))
    if oversampling < 0 or n_iter < 0:
        raise InvalidInput(f"oversampling and n_iter must be 0 or more; got {oversampling!r} and {n_iter!r}")
    rng = generator(random_state)
    if truncate_first:
        return _book(A, k, min(k + oversampling, *A.shape), n_iter, rng)
    from sklearn.utils.extmath import randomized_svd as library

    U, s, Vt = library(
        A, k, n_oversamples=oversampling, n_iter=n_iter, random_state=int(rng.integers(2**31)), flip_sign=True
    )
    return SVD(np.asarray(U), np.asarray(s), np.asarray(Vt.T))


def _book(A: Floats, k: int, l: int, n_iter: int, rng: np.random.Generator) -> SVD:  # noqa: E741
    R = rng.standard_normal((l, A.shape[0])) @ A
    for _ in range(n_iter):
        Q, _ = np.linalg.qr(A @ np.linalg.qr(R.T)[0])
        R = Q.T @ A
    Q = np.linalg.svd(R, full_matrices=False)[2][:k].T
    U, s, Wt = np.linalg.svd(A @ Q, full_matrices=False)
    return SVD(U, s, Q @ Wt.T)
