"""Compiled loop of `_lle`: convex weights, one small quadratic program per point."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def simplex_weights(C, w):
    """w_i = argmin w'C_i w over w >= 0, sum w = 1, for positive definite C_i.

    The minimiser is u / sum(u) for u = argmin u'Cu / 2 - 1'u over u >= 0: the active-set method of Lawson & Hanson.
    """
    k = C.shape[1]
    for i in range(len(C)):
        A = C[i]
        tol = 1e-12
        u = np.zeros(k)
        free = np.zeros(k, np.bool_)
        for _ in range(6 * k):
            gradient = 1.0 - A @ u
            best, most = -1, tol
            for j in range(k):
                if not free[j] and gradient[j] > most:
                    best, most = j, gradient[j]
            if best < 0:
                break
            free[best] = True
            while True:
                index = np.flatnonzero(free)
                s = len(index)
                small = np.empty((s, s))
                for a in range(s):
                    for b in range(s):
                        small[a, b] = A[index[a], index[b]]
                z = np.linalg.solve(small, np.ones(s))
                step = 1.0
                for a in range(s):
                    if z[a] <= 0.0:
                        step = min(step, u[index[a]] / (u[index[a]] - z[a]))
                moved = False
                for a in range(s):
                    u[index[a]] += step * (z[a] - u[index[a]])
                    if u[index[a]] <= 1e-15 * np.abs(z).max() and z[a] <= 0.0:
                        u[index[a]] = 0.0
                        free[index[a]] = False
                        moved = True
                if step == 1.0 or not moved:
                    break
        w[i] = u / u.sum()
