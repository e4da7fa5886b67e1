"""Compiled loop: dense rows times a very sparse matrix of signs."""

from __future__ import annotations

import numpy as np
from numba import njit

WIDTH = 16


@njit(nogil=True, cache=True)
def project_signs(X, indptr, indices, signs, k, scale, out):
    """out = scale X S for S (D, k) with entries +-1 in CSR form by features; 16 rows at a time, so that each entry of S
    is one vector operation.
    """
    n, D = X.shape
    block = np.empty((D, WIDTH), dtype=out.dtype)
    sums = np.empty((k, WIDTH), dtype=out.dtype)
    for start in range(0, n, WIDTH):
        rows = min(WIDTH, n - start)
        for r in range(WIDTH):
            if r < rows:
                for c in range(D):
                    block[c, r] = X[start + r, c]
            else:
                for c in range(D):
                    block[c, r] = 0.0
        sums[:] = 0.0
        for c in range(D):
            for p in range(indptr[c], indptr[c + 1]):
                target = indices[p]
                if signs[p] > 0:
                    for r in range(WIDTH):
                        sums[target, r] += block[c, r]
                else:
                    for r in range(WIDTH):
                        sums[target, r] -= block[c, r]
        for r in range(rows):
            for j in range(k):
                out[start + r, j] = scale * sums[j, r]
