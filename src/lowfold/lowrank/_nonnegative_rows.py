"""y >= 0 minimising |A y - b| for many b at once, from a guess of where y is 0.

Entries of y are free or held at 0. Where a free one comes out below 0, or the gradient of a held one does, they change
places, all at once (block principal pivoting, Kim & Park 2011, doi:10.1137/110821172). After a descent hardly any do,
and a stack of small systems takes a tenth of the time of one call of SciPy's `nnls` for each b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import STACKED, block_slices
from lowfold._core.types import Floats

CONDITION = 1e5  # of A, its columns of length 1: beyond, the squares that are solved lose too many digits
SIGN = 1e-10  # of the largest of a row: what is below 0 by less is 0
ROUGHLY = 1e-5  # the same before the correction, which is not worth its time for rows that change again
EXCHANGES = 5  # at most: rows whose guess was poor may go round in circles

Bools = NDArray[np.bool_]


def nonnegative_rows(A: Floats, B: Floats, free: Bools) -> tuple[Floats, Bools]:
    """Y (n, k) for the rows b of B (n, m), and which of them are settled: none where A (m, k) is ill-conditioned.

    `free` (n, k) is the guess of where Y > 0.
    """
    Y, settled = np.zeros(free.shape), np.zeros(len(B), dtype=np.bool_)
    size = np.linalg.norm(A, axis=0)
    if len(A) < len(size) or not (size > 0).all() or np.linalg.cond(A / size) > CONDITION:
        return Y, settled
    for part in block_slices(len(B), max(1, STACKED // len(size) ** 2)):
        Y[part], settled[part] = _exchanged(A / size, B[part], free[part])
    return Y / size, settled


def _exchanged(A: Floats, B: Floats, free: Bools) -> tuple[Floats, Bools]:
    G, F = A.T @ A, B @ A
    Y, left = np.zeros_like(F), np.arange(len(B))
    for _ in range(EXCHANGES):
        y = _solved(G, F[left], free)
        wrong = _wrong(y, G, F[left], free, ROUGHLY)
        near = ~wrong.any(axis=1)  # one correction by the residual of A y = b gives the digits that the squares lost
        fine, b = left[near], B[left[near]]
        y[near] += _solved(G, (b - y[near] @ A.T) @ A, free[near])
        wrong[near] = _wrong(y[near], G, F[fine], free[near], SIGN)
        done = ~wrong.any(axis=1)
        Y[left[done]] = np.maximum(y[done], 0.0)
        left, free = left[~done], (free ^ wrong)[~done]
        if len(left) == 0:
            break
    settled = np.ones(len(B), dtype=np.bool_)
    settled[left] = False
    return Y, settled


def _wrong(y: Floats, G: Floats, F: Floats, free: Bools, sign: float) -> Bools:
    """Free entries below 0, and held ones whose gradient is."""
    return np.where(free, y < -sign * _largest(y), y @ G - F < -sign * _largest(F))


def _solved(G: Floats, F: Floats, free: Bools) -> Floats:
    """y of the free columns from the normal equations, 0 elsewhere."""
    M = np.where(free[:, :, None] & free[:, None, :], G, np.eye(len(G)))
    return np.asarray(np.linalg.solve(M, np.where(free, F, 0.0)[:, :, None])[:, :, 0])


def _largest(rows: Floats) -> Floats:
    return np.asarray(np.abs(rows).max(axis=1, keepdims=True, initial=0.0))
