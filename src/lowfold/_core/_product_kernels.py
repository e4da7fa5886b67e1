"""Loops of matrix products. Numba, loaded on first use.

Sums run in an order fixed by the loops alone, so the bits depend neither on threads nor on which block a row is in.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 256  # columns at a time: what eight rows need of D and V stays in the first-level cache
_ROWS = 8
_LANES = 32


@njit(nogil=True, cache=True)
def _two_by_two(s, t, v, w, sv, tv):
    """Add to lanes of partial sums the four products of rows s, t with columns v, w: each is loaded once for two uses."""
    for q in range(0, TILE, 2 * _LANES):
        for lane in range(_LANES):
            i, j = q + lane, q + lane + _LANES
            sv[0, lane] += s[i] * v[i] + s[j] * v[j]
            sv[1, lane] += s[i] * w[i] + s[j] * w[j]
            tv[0, lane] += t[i] * v[i] + t[j] * v[j]
            tv[1, lane] += t[i] * w[i] + t[j] * w[j]


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
            for c in range(0, b, 2):
                v, w = Vt[c, start : start + TILE], Vt[c + 1, start : start + TILE]
                for r in range(0, rows, 2):
                    _two_by_two(powers[r], powers[r + 1], v, w, sums[r, c : c + 2], sums[r + 1, c : c + 2])
        for r in range(rows):
            for c in range(out.shape[1]):
                total = 0.0
                for lane in range(_LANES):
                    total += sums[r, c, lane]
                out[top + r, c] = total
