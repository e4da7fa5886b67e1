"""Loops of neighbour embeddings. Numba, loaded on first use. Sums are kept per point of a strip, as those of stress."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LARGEST = 709.0  # exponent whose power of e counts as 0: its power of 2 has the bits of 0 then
PER_LOG2, SHIFT = 1.4426950408889634, 6755399441055744.0  # 1 / log 2; 1.5 * 2^52
LOG2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # high digits, which times k are exact, and the rest
TAYLOR = tuple(1 / math.factorial(i) for i in range(12, -1, -1))  # the next term is 2e-16
RUN = 1024  # float32 numbers that are added up before their sum goes on in float64


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
def plane_repulsion(Y, first, strip, out, mass):
    """The sums of `student_repulsion` for float32 places in the plane; runs of 1,024 points are added in float64.

    Three short loops: a compiler proves no more than a few arrays to lie apart.
    """
    n, m = Y.shape[1], strip.shape[1]
    one = np.float32(1)
    x, y = strip[0], strip[1]
    total, squared = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.float32)
    across, along = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.float32)
    for start in range(0, n, RUN):
        total[:] = 0
        across[:] = 0
        along[:] = 0
        for j in range(start, min(start + RUN, n)):
            p, q = Y[0, j], Y[1, j]
            for t in range(m):
                u, v = x[t] - p, y[t] - q
                w = np.divide(one, one + (u * u + v * v))
                total[t] += w
                squared[t] = w * w
            for t in range(m):
                across[t] += squared[t] * (x[t] - p)
            for t in range(m):
                along[t] += squared[t] * (y[t] - q)
        for t in range(m):
            mass[t] += total[t]
            out[0, t] += across[t]
            out[1, t] += along[t]
    for t in range(m):
        if 0 <= first + t < n:
            mass[t] -= 1.0


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
def _exponentials(x, shifted, bits):
    """x -> exp(-x), x >= 0, within two units in the last place; `bits` are those of `shifted`, which has room for them.

    exp(-x) = 2^-k exp(-r) with x = k log 2 + r, |r| <= log(2) / 2. Added to SHIFT, a number is rounded to the whole k,
    which then stands in its last bits. Short loops without a call, which a compiler turns into wide instructions:
    `math.exp` took three quarters of the time of a gradient.
    """
    for t in range(len(x)):
        x[t] = LARGEST if x[t] > LARGEST else x[t]
        shifted[t] = x[t] * PER_LOG2 + SHIFT
    for t in range(len(x)):
        k = shifted[t] - SHIFT
        r = k * LOG2[0] - x[t] + k * LOG2[1]
        series = TAYLOR[0]
        for c in TAYLOR[1:]:
            series = series * r + c
        x[t] = series
    for t in range(len(x)):
        bits[t] = (1023 - bits[t]) << 52
    for t in range(len(x)):
        x[t] *= shifted[t]


@njit(nogil=True, cache=True)
def gaussian_sums(Y, first, strip, out, mass):
    """out[:, i] += sum_j w_ij (y_i - y_j), mass_i += sum_j w_ij with w = exp(-||y_i - y_j||^2), j != i."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap, shifted = np.empty(m), np.empty((d, m)), np.empty(m)
    bits = shifted.view(np.int64)
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        if 0 <= j - first < m:
            squared[j - first] = LARGEST
        _exponentials(squared, shifted, bits)
        for t in range(m):
            mass[t] += squared[t]
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += squared[t] * g[t]


@njit(nogil=True, cache=True)
def gaussian_mass(Y, first, strip, mass):
    """mass_i += sum_{j != i} exp(-||y_i - y_j||^2)."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap, shifted = np.empty(m), np.empty((d, m)), np.empty(m)
    bits = shifted.view(np.int64)
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        if 0 <= j - first < m:
            squared[j - first] = LARGEST
        _exponentials(squared, shifted, bits)
        for t in range(m):
            mass[t] += squared[t]


@njit(nogil=True, cache=True)
def gaussian_repulsion(Y, strip, a, own, out):
    """out[:, i] += sum_j (a_i + a_j) exp(-||y_i - y_j||^2) (y_i - y_j); `own` holds a of the strip."""
    d, n = Y.shape
    m = strip.shape[1]
    squared, gap, shifted = np.empty(m), np.empty((d, m)), np.empty(m)
    bits = shifted.view(np.int64)
    for j in range(n):
        _squares(Y, strip, j, gap, squared)
        _exponentials(squared, shifted, bits)
        for t in range(m):
            squared[t] *= own[t] + a[j]
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
def sparse_attraction(indptr, indices, P, start, stop, Y, student, out):
    """The sums of `attraction` for rows start..stop of a sparse P; Y is (n, d)."""
    d = Y.shape[1]
    for i in range(start, stop):
        a = b = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if d == 2:  # sums that stay in registers
                u, v = Y[i, 0] - Y[j, 0], Y[i, 1] - Y[j, 1]
                w = np.divide(P[e], 1.0 + (u * u + v * v)) if student else P[e]
                a += w * u
                b += w * v
                continue
            s = 0.0
            for k in range(d):
                s += (Y[i, k] - Y[j, k]) ** 2
            w = P[e] / (1.0 + s) if student else P[e]
            for k in range(d):
                out[i, k] += w * (Y[i, k] - Y[j, k])
        if d == 2:
            out[i, 0], out[i, 1] = a, b


@njit(nogil=True, cache=True)
def sparse_attraction_cost(indptr, indices, P, start, stop, Y, student, cost):
    """The sums of `attraction_cost` for rows start..stop of a sparse P."""
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            s = 0.0
            for k in range(Y.shape[1]):
                s += (Y[i, k] - Y[indices[e], k]) ** 2
            cost[i] += P[e] * (math.log(1.0 + s) if student else s)


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
