"""Compiled loops: dense rows times a very sparse matrix of signs, sparse rows times such a matrix or a dense one."""

from __future__ import annotations

import numpy as np
from numba import njit

WIDTH = 16  # rows side by side in a vector register or two


@njit(nogil=True, cache=True)
def project_signs(X, indptr, indices, signs, k, scale, out):
    """out = scale X S for S (D, k) with entries +-1 in CSR form by features.

    16 rows at a time, so that each entry of S is one vector operation.
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


@njit(nogil=True, cache=True)
def project_sparse_signs(row_ptr, columns, values, start, stop, indptr, indices, signs, scale, out):
    """out = scale X S for rows start .. stop - 1 of X in CSR form and S as above."""
    for i in range(start, stop):
        target = out[i - start]
        target[:] = 0.0
        for p in range(row_ptr[i], row_ptr[i + 1]):
            x = scale * values[p]
            c = columns[p]
            for q in range(indptr[c], indptr[c + 1]):
                target[indices[q]] += x * signs[q]


@njit(nogil=True, cache=True)
def project_sparse_rows(row_ptr, columns, values, start, stop, R, first, out):
    """out += X R for rows start .. stop - 1 of X in CSR form and the features first .. first + len(R) - 1 alone."""
    last = first + R.shape[0]
    for i in range(start, stop):
        target = out[i - start]
        for p in range(row_ptr[i], row_ptr[i + 1]):
            c = columns[p]
            if first <= c < last:
                x = values[p]
                row = R[c - first]
                for j in range(R.shape[1]):
                    target[j] += x * row[j]
