"""Loops of neighbour embeddings. Numba, loaded on first use. Sums are kept per point of a strip, as those of stress."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def _squares(Y, strip, j, gap, squared):
    """gap[k, t] = y_tk - y_jk and squared[t] = ||y_t - y_j||^2 for the points t of a strip."""
    d, m = strip.shape
    squared[:] = 0.0
    for k in range(d):
        y = Y[k, j]
        x, g = strip[k], gap[k]
        for t in range(m):
            u = x[t] - y
            g[t] = u
            squared[t] += u * u


@njit(nogil=True, cache=True)
def student_repulsion(Y, first, strip, out, mass):
    """out[:, i] += sum_j w_ij^2 (y_i - y_j), mass_i += sum_j w_ij with w = 1 / (1 + ||y_i - y_j||^2), j != i.

    The strip's point t is point first + t of Y (first < -m: none of them).
    """
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        for t in range(m):
            w = np.divide(1.0, 1.0 + squared[t])
            mass[t] += w
            squared[t] = w * w
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += squared[t] * g[t]
        if 0 <= j - first < m:
            mass[j - first] -= 1.0


@njit(nogil=True, cache=True)
def power_repulsion(Y, first, strip, power, out, mass):
    """The sums of `student_repulsion` for w = (1 + ||y_i - y_j||^2)^-power; out has w / (1 + ||.||^2)."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        for t in range(m):
            u = 1.0 + squared[t]
            w = math.exp(-power * math.log(u))
            mass[t] += w
            squared[t] = w / u
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += squared[t] * g[t]
        if 0 <= j - first < m:
            mass[j - first] -= 1.0


@njit(nogil=True, cache=True)
def gaussian_mass(Y, first, strip, mass):
    """mass_i += sum_{j != i} exp(-||y_i - y_j||^2)."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        for t in range(m):
            if j != first + t:
                mass[t] += math.exp(-squared[t])


@njit(nogil=True, cache=True)
def gaussian_repulsion(Y, strip, a, own, out):
    """out[:, i] += sum_j (a_i + a_j) exp(-||y_i - y_j||^2) (y_i - y_j); `own` holds a of the strip."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        for t in range(m):
            squared[t] = (own[t] + a[j]) * math.exp(-squared[t])
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += squared[t] * g[t]


@njit(nogil=True, cache=True)
def attraction(P, first, Y, strip, student, out):
    """out[:, i] += sum_j p_ij w_ij (y_i - y_j), w_ij = 1 / (1 + ||y_i - y_j||^2) if `student`, else 1."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        row = P[j, first : first + m]
        _squares(Y, strip, j, gap, squared)
        if student:
            for t in range(m):
                squared[t] = np.divide(row[t], 1.0 + squared[t])
        else:
            for t in range(m):
                squared[t] = row[t]
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += squared[t] * g[t]


@njit(nogil=True, cache=True)
def attraction_cost(P, first, Y, strip, student, cost):
    """cost_i += -sum_j p_ij log w_ij: p log(1 + ||.||^2) or p ||.||^2."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap = np.empty(m), np.empty((d, m))
    for j in range(n):
        row = P[j, first : first + m]
        _squares(Y, strip, j, gap, squared)
        for t in range(m):
            cost[t] += row[t] * (math.log(1.0 + squared[t]) if student else squared[t])


@njit(nogil=True, cache=True)
def sparse_attraction(indptr, indices, P, start, stop, Y, student, out, cost):
    """The sums of `attraction` and `attraction_cost` for rows start..stop of a sparse P; Y is (n, d)."""
    d = Y.shape[1]
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            s = 0.0
            for k in range(d):
                s += (Y[i, k] - Y[j, k]) ** 2
            w = P[e] / (1.0 + s) if student else P[e]
            cost[i] += P[e] * (math.log(1.0 + s) if student else s)
            for k in range(d):
                out[i, k] += w * (Y[i, k] - Y[j, k])


@njit(nogil=True, cache=True)
def row_divergences(P, Y, rows, power, value, slope):
    """KL(P_x || Q_x) and its gradient for each new point; see `row_divergence`. A power of 0 is the Gaussian."""
    n, d = Y.shape
    log_w, squared = np.empty(n), np.empty(n)
    for r in range(len(rows)):
        top = -np.inf
        for j in range(n):
            s = 0.0
            for k in range(d):
                s += (rows[r, k] - Y[j, k]) ** 2
            squared[j] = s
            log_w[j] = -power * math.log(1.0 + s) if power > 0.0 else -s
            top = max(top, log_w[j])
        mass = 0.0
        for j in range(n):
            mass += math.exp(log_w[j] - top)
        log_mass = math.log(mass) + top
        total = 0.0
        slope[r] = 0.0
        for j in range(n):
            p = P[r, j]
            if p > 0.0:
                total += p * (math.log(p) - log_w[j] + log_mass)
            f = 2.0 * (p - math.exp(log_w[j] - log_mass))
            if power > 0.0:
                f *= power / (1.0 + squared[j])
            for k in range(d):
                slope[r, k] += f * (rows[r, k] - Y[j, k])
        value[r] = total
