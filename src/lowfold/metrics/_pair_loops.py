"""Loops over all pairs, compiled. Imported on first use, so that Numba loads only then."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

TURN = 2 * math.pi


@njit(nogil=True, cache=True)
def torus_pairs(P: NDArray[Any], Q: NDArray[Any]) -> NDArray[np.float64]:
    """d_ij = sqrt(sum_k w_k^2), w_k = p_ik - q_jk less whole turns."""
    m, n, s = P.shape[0], Q.shape[0], P.shape[1]
    d = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            total = 0.0
            for k in range(s):
                w = np.float64(P[i, k]) - np.float64(Q[j, k])
                w -= TURN * np.rint(w / TURN)
                total += w * w
            d[i, j] = math.sqrt(total)
    return d


# not cached: the code belongs to the user's function, which has no stable name on disk
@njit(nogil=True)
def call_pairs(function: Callable[..., float], A: NDArray[Any], B: NDArray[Any]) -> NDArray[np.float64]:
    """d_ij = function(a_i, b_j)."""
    d = np.empty((A.shape[0], B.shape[0]))
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            d[i, j] = function(A[i], B[j])
    return d
