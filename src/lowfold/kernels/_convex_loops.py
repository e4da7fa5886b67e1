"""Compiled loops of `_lle`: convex weights, one small quadratic program per point."""

from __future__ import annotations

import numpy as np
from numba import njit

from lowfold._core.rounding import NO_DIVISOR, ROUNDING


@njit(nogil=True, cache=True)
def solve_ones(A, index, count, L, z):
    """z = A[index, index]^-1 1 by Cholesky for the first `count` of `index`; A positive definite."""
    for a in range(count):
        for b in range(a + 1):
            total = A[index[a], index[b]]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            L[a, b] = np.sqrt(max(total, NO_DIVISOR)) if a == b else total / L[b, b]
    for a in range(count):
        total = 1.0
        for c in range(a):
            total -= L[a, c] * z[c]
        z[a] = total / L[a, a]
    for a in range(count - 1, -1, -1):
        total = z[a]
        for c in range(a + 1, count):
            total -= L[c, a] * z[c]
        z[a] = total / L[a, a]


@njit(nogil=True, cache=True)
def enter(A, u, free):
    """The bound variable with the steepest descent, or -1 at the minimum."""
    best, most = -1, ROUNDING  # the right-hand side is 1
    for j in range(len(u)):
        if not free[j]:
            gradient = 1.0
            for other in range(len(u)):
                gradient -= A[j, other] * u[other]
            if gradient > most:
                best, most = j, gradient
    return best


@njit(nogil=True, cache=True)
def simplex_weights(C, w):
    """w_i = argmin w'C_i w over w >= 0, sum w = 1, for positive definite C_i.

    The minimiser is u / sum(u) for u = argmin u'Cu / 2 - 1'u over u >= 0: the active-set method of Lawson & Hanson.
    """
    k = C.shape[1]
    L, z, u = np.empty((k, k)), np.empty(k), np.empty(k)
    free, index = np.empty(k, np.bool_), np.empty(k, np.int64)
    for i in range(len(C)):
        u[:] = 0.0
        free[:] = False
        for _ in range(6 * k):
            best = enter(C[i], u, free)
            if best < 0:
                break
            free[best] = True
            while True:
                count = 0
                for j in range(k):
                    if free[j]:
                        index[count] = j
                        count += 1
                solve_ones(C[i], index, count, L, z)
                step, first = 1.0, -1
                for a in range(count):  # as far as the first free variable reaches zero
                    if z[a] <= 0.0 and u[index[a]] < step * (u[index[a]] - z[a]):
                        step, first = u[index[a]] / (u[index[a]] - z[a]), a
                for a in range(count):
                    u[index[a]] += step * (z[a] - u[index[a]])
                if first < 0:
                    break
                u[index[first]] = 0.0
                free[index[first]] = False
        total = 0.0
        for j in range(k):
            total += u[j]
        for j in range(k):
            w[i, j] = u[j] / total
