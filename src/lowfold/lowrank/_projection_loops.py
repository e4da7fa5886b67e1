"""Compiled loops: dense rows times a very sparse matrix of signs, sparse rows times such a matrix or a dense one."""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 64  # features whose values are turned at a time: with 64 rows, 16 KB that stay in the nearest cache


@njit(nogil=True, cache=True)
def project_signs(X, plus_ptr, plus, minus_ptr, minus, k, scale, width, out):
    """out = scale X S for S (D, k) with entries +-1: of feature c those at `plus` and at `minus`, in CSR form.

    `width` rows at a time, so that each entry of S is a vector operation; its number is not known to the compiler,
    which would write out a loop of a known few, one number after the other.
    """
    n, D = X.shape
    block = np.zeros((TILE, width), dtype=out.dtype)
    sums = np.empty((k, width), dtype=out.dtype)
    for start in range(0, n, width):
        rows = min(width, n - start)
        sums[:] = 0.0
        for first in range(0, D, TILE):
            last = min(first + TILE, D)
            for r in range(rows):
                row = X[start + r]
                for c in range(first, last):
                    block[c - first, r] = row[c]
            for c in range(first, last):
                x = block[c - first]
                for p in range(plus_ptr[c], plus_ptr[c + 1]):
                    s = sums[plus[p]]
                    for r in range(width):
                        s[r] += x[r]
                for p in range(minus_ptr[c], minus_ptr[c + 1]):
                    s = sums[minus[p]]
                    for r in range(width):
                        s[r] -= x[r]
        for r in range(rows):
            for j in range(k):
                out[start + r, j] = scale * sums[j, r]


@njit(nogil=True, cache=True)
def project_sparse_signs(row_ptr, columns, values, start, stop, indptr, indices, signs, scale, out):
    """out = scale X S for rows start .. stop - 1 of X in CSR form; S (D, k) in CSR form, too."""
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
