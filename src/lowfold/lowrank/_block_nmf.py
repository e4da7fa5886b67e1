"""Nonnegative matrix factorisation of rows that stay in blocks: min ||X - Y H||, Y >= 0, H >= 0.

Given H every row has its own y; given all y, H depends on them by Y'Y and Y'X alone, which are sums over blocks (Lin
2007, doi:10.1162/neco.2007.19.10.2756, alternating least squares). Both problems are lowered by exact steps for one
column after the other (Cichocki & Phan 2009, doi:10.1587/transfun.E92.A.708). H starts from a small batch of rows.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.rows import Rows
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._block_sums import added
from lowfold.lowrank._nmf import gradient_left, swept

SWEEPS = 30  # over the columns of Y in one pass, and of H after it
Sums = tuple[Floats, Floats]


def lowered(rows: Rows, H: Floats, *, tol: float, max_iter: int) -> tuple[Floats, int, float]:
    """H, the passes taken, and the gradient in H that is left, over the largest entry of Y'X."""
    left = np.inf
    for step in range(1, max_iter + 1):
        YtY, YtX = rows.fold(_products, added, H)
        left = gradient_left(H, YtY, YtX)
        if left <= tol:
            return H, step, left
        H = swept(H, YtY, YtX, SWEEPS)
    return H, max_iter, left


def _products(block: AnyFloats, start: int, H: Floats) -> Sums:
    """Y'Y and Y'X for the y >= 0 of every row."""
    X = block.astype(np.float64, copy=False)
    Y = swept(np.zeros((len(H), len(X))), H @ H.T, H @ X.T, SWEEPS)
    return Y @ Y.T, Y @ X
