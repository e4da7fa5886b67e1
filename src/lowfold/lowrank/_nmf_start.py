"""Where a nonnegative factorisation starts: Boutsidis & Gallopoulos (2008), doi:10.1016/j.patcog.2007.09.010.

Of every singular triplet the positive or the negative parts of both vectors are taken, whichever are larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.lowrank._principal import principal_axes
from lowfold.lowrank._sparse_axes import sparse_axes

LEAST = 1e-6  # of X, whose largest value is 1: what is below counts as zero, as in scikit-learn
FEW = 64  # columns, whose axes are those of X'X without more ado: a start needs no digits of the small ones


def nonnegative_start(X: Any, k: int, kind: str, run: Run) -> tuple[Floats, Floats]:
    """W (n, k) and H (k, D) for X (n, D) with largest value 1, an array or sparse.

    "nndsvd" keeps its zeros, which no update by a factor ever leaves; "nndsvda" has the mean of X in their place;
    "random" is the absolute value of Gaussian numbers of the size of X.
    """
    mean = float(X.mean())
    if kind == "random":
        size = np.sqrt(mean / k)
        H = size * np.abs(run.rng.standard_normal((k, X.shape[1])))
        return size * np.abs(run.rng.standard_normal((X.shape[0], k))), H
    W, H = _halves(*_triplets(X, k, run))
    W[W < LEAST], H[H < LEAST] = 0.0, 0.0
    if kind == "nndsvda":
        W[W == 0], H[H == 0] = mean, mean
    return W, H


def _triplets(X: Any, k: int, run: Run) -> tuple[Floats, Floats]:
    """U and V of the k leading singular triplets, each with the root of the singular value."""
    V = _few_axes(X, k) if X.shape[1] <= FEW and not hasattr(X, "tocsr") else _axes(X, k, run)
    US = np.asarray(X @ V)
    root = np.sqrt(np.linalg.norm(US, axis=0))
    return US / np.where(root > 0, root, 1.0), V * root


def _few_axes(X: Floats, k: int) -> Floats:
    return np.linalg.eigh(X.T @ X)[1][:, : -1 - k : -1]


def _axes(X: Any, k: int, run: Run) -> Floats:
    origin = np.zeros(X.shape[1])
    if hasattr(X, "tocsr"):
        return sparse_axes(SparseRows(X), origin, k, run=run).V
    return principal_axes(X, origin, k, run=run).V


def _halves(U: Floats, V: Floats) -> tuple[Floats, Floats]:
    above, below = (np.maximum(sign * U, 0.0) for sign in (1, -1)), (np.maximum(sign * V, 0.0) for sign in (1, -1))
    (Up, Un), (Vp, Vn) = above, below
    sizes = [[np.linalg.norm(A, axis=0) for A in pair] for pair in ((Up, Vp), (Un, Vn))]
    first = sizes[0][0] * sizes[0][1] >= sizes[1][0] * sizes[1][1]
    (of_U, of_V) = (np.where(first, *pair) for pair in zip(*sizes, strict=True))
    # |u| |v| of the halves stays, and is shared by both
    share = np.sqrt(np.divide(of_V, of_U, out=np.zeros_like(of_U), where=of_U > 0))
    back = np.divide(1.0, share, out=np.zeros_like(share), where=share > 0)
    return np.where(first, Up, Un) * share, (np.where(first, Vp, Vn) * back).T
