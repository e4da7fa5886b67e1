"""Loops of matrix products. Numba, loaded on first use.

Sums run in an order fixed by the loops alone, so the bits depend neither on threads nor on which block a row is in.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 256  # columns at a time: what eight rows need of D and V stays in the first-level cache
_ROWS = 8
_LANES = 32  # partial sums per row and column; without them a sum is one long chain of dependent additions


@njit(nogil=True, cache=True)
def times_powers(D, Vt, square, shift, first, last, out):
    """out[i] = sum_j p(d_ij) V[j] for first <= i < last, in float64; p(d) is d or d^2, of d + shift off the diagonal.

    Vt is V transposed, its columns filled up with zeros to a multiple of TILE.
    """
    n = D.shape[1]
    b = Vt.shape[0]
    powers = np.zeros((_ROWS, TILE))
    sums = np.empty((_ROWS, b, _LANES))
    for top in range(first, last, _ROWS):
        rows = min(_ROWS, last - top)
        sums[:] = 0.0
        for start in range(0, n, TILE):
            width = min(TILE, n - start)
            for r in range(rows):
                line, source = powers[r], D[top + r, start : start + width]
                if square:
                    for j in range(width):
                        d = np.float64(source[j]) + shift
                        line[j] = d * d
                else:
                    for j in range(width):
                        line[j] = np.float64(source[j]) + shift
                line[width:] = 0.0
                if shift != 0.0 and start <= top + r < start + width:
                    line[top + r - start] = 0.0
            for c in range(b):
                v = Vt[c, start : start + TILE]
                for r in range(rows):
                    s, a = powers[r], sums[r, c]
                    for q in range(0, TILE, 4 * _LANES):
                        for lane in range(_LANES):
                            i = q + lane
                            a[lane] += (s[i] * v[i] + s[i + _LANES] * v[i + _LANES]) + (
                                s[i + 2 * _LANES] * v[i + 2 * _LANES] + s[i + 3 * _LANES] * v[i + 3 * _LANES]
                            )
        for r in range(rows):
            for c in range(b):
                total = 0.0
                for lane in range(_LANES):
                    total += sums[r, c, lane]
                out[top + r, c] = total


@njit(nogil=True, cache=True)
def times_sparse(indptr, indices, data, V, first, last, out):
    """out[i] = sum_j a_ij V[j] for first <= i < last; four columns at a time, so that their sums stay in registers."""
    b = V.shape[1]
    whole = b - b % 4
    for i in range(first, last):
        for c in range(0, whole, 4):
            s0 = s1 = s2 = s3 = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                a, j = data[e], indices[e]
                s0 += a * V[j, c]
                s1 += a * V[j, c + 1]
                s2 += a * V[j, c + 2]
                s3 += a * V[j, c + 3]
            out[i, c] = s0
            out[i, c + 1] = s1
            out[i, c + 2] = s2
            out[i, c + 3] = s3
        for c in range(whole, b):
            s0 = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                s0 += data[e] * V[indices[e], c]
            out[i, c] = s0


@njit(nogil=True, cache=True)
def smoothing_step(indptr, indices, data, weight, R, X, P, alpha, beta, first, last, out):
    """P = alpha diag(weight) (R - A X) + beta P and out = X + P, in rows first..last; X itself stays for other rows."""
    times_sparse(indptr, indices, data, X, first, last, out)
    for i in range(first, last):
        for c in range(R.shape[1]):
            P[i, c] = alpha * weight[i] * (R[i, c] - out[i, c]) + beta * P[i, c]
            out[i, c] = X[i, c] + P[i, c]
