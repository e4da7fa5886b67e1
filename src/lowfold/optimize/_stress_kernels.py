"""Loops of stress majorisation. Numba, loaded on first use.

The loops run over points j outside and over a strip of points i inside, with every sum kept per i: nothing is reduced
across the inner loop, so it becomes vector instructions without `fastmath`. Dissimilarities are symmetric, so that the
strip of row j is the contiguous delta[j, first:first + m]. `np.divide` is used for division because Python's own checks for
zero, which ends the vector loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNIT, SAMMON, GIVEN = 0, 1, 2  # weights: 1, 1 / delta, a matrix; 0 where delta is not finite


@njit(nogil=True, cache=True)
def unit_strip(delta, first, Y, strip, out, rho, eta):
    """For the points i of `strip` (d, m) among all points j of Y (d, n), all weights 1, everything measured:

    out[:, i] = sum_j (delta_ij / d_ij) (y_i - y_j),  rho_i = sum_j delta_ij d_ij,  eta_i = sum_j d_ij^2.
    """
    d, n = Y.shape
    m = strip.shape[1]
    squared = np.empty(m, delta.dtype)
    ratio = np.empty(m, delta.dtype)
    gap = np.empty((d, m), delta.dtype)
    zero, one = delta.dtype.type(0), delta.dtype.type(1)
    for j in range(n):
        row = delta[j, first : first + m]
        squared[:] = zero
        for k in range(d):
            y = Y[k, j]
            x, g = strip[k], gap[k]
            for t in range(m):
                u = x[t] - y
                g[t] = u
                squared[t] += u * u
        for t in range(m):
            s = squared[t]
            far = s > zero
            length = np.sqrt(s if far else one)
            ratio[t] = np.divide(row[t], length) if far else zero
            eta[t] += s
            rho[t] += row[t] * length if far else zero
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += ratio[t] * g[t]
