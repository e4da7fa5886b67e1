"""Chains of plane rotations on triangular factors, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def rotation(a, b):
    """c, s with c a + s b = hypot(a, b) and c b - s a = 0."""
    r = np.hypot(a, b)
    if r == 0.0:
        return 1.0, 0.0
    return a / r, b / r


@njit(nogil=True, cache=True)
def turn(first, second, c, s):
    """Two rows (or columns): (c first + s second, c second - s first)."""
    for t in range(first.shape[0]):
        a, b = first[t], second[t]
        first[t] = c * a + s * b
        second[t] = c * b - s * a


@njit(nogil=True, cache=True)
def to_front(L, Ut, Vt, u, i):
    """Rows i: of the lower triangular L are rotated so that u (their left singular vector) becomes e_1; columns follow
    to keep L lower triangular. Ut and Vt hold U' and V'.
    """
    n = L.shape[0]
    for j in range(n - 1, i, -1):
        c, s = rotation(u[j - 1 - i], u[j - i])
        u[j - 1 - i] = c * u[j - 1 - i] + s * u[j - i]
        u[j - i] = 0.0
        turn(L[j - 1, : j + 1], L[j, : j + 1], c, s)
        turn(Ut[j - 1], Ut[j], c, s)
        c, s = rotation(L[j - 1, j - 1], L[j - 1, j])
        turn(L[j - 1 :, j - 1], L[j - 1 :, j], c, s)
        L[j - 1, j] = 0.0
        turn(Vt[j - 1], Vt[j], c, s)


@njit(nogil=True, cache=True)
def absorb(L, x, Ut, last):
    """A row x under the lower triangular L is rotated into it, from its last entry on; `last` is its row of U'."""
    for j in range(L.shape[0] - 1, -1, -1):
        c, s = rotation(L[j, j], x[j])
        turn(L[j, : j + 1], x[: j + 1], c, s)
        x[j] = 0.0
        turn(Ut[j], last, c, s)


@njit(nogil=True, cache=True)
def sweep(L, y, row, Ut, last, corner):
    """An extra row (`row`, `corner` in the column y belongs to) takes y up, entry by entry; L stays lower triangular.

    Returns the corner. `last` is the extra row of U'.
    """
    for j in range(L.shape[0]):
        c, s = rotation(corner, y[j])
        corner = c * corner + s * y[j]
        y[j] = 0.0
        turn(row[: j + 1], L[j, : j + 1], c, s)
        turn(last, Ut[j], c, s)
    return corner
