"""Loops of stress majorisation. Numba, loaded on first use.

The loops run over points j outside and over a strip of points i inside, with every sum kept per i: nothing is reduced
across the inner loop, so it becomes vector instructions without `fastmath`. Dissimilarities are symmetric, so that the
strip of row j is the contiguous delta[j, first:first + m]. `np.divide` divides where the divisor is known to be
positive: Python's own division checks for zero, which ends the vector loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNIT, SAMMON, GIVEN = 0, 1, 2  # weights: 1, 1 / delta, a matrix; always 0 where delta is not finite


@njit(nogil=True, cache=True)
def unit_strip(delta, first, Y, strip, out, rho, eta, stress):
    """For the points i of `strip` (d, m) among all points j of Y (d, n), all weights 1 and every pair measured.

    out[:, i] += sum_j (delta_ij / d_ij) (y_i - y_j), rho_i += sum_j delta_ij d_ij, eta_i += sum_j d_ij^2,
    stress_i += sum_j (delta_ij - d_ij)^2.
    """
    d, n = Y.shape
    m = strip.shape[1]
    squared = np.empty(m, delta.dtype)
    ratio = np.empty(m, delta.dtype)
    gap = np.empty((d, m), delta.dtype)
    zero, one = delta.dtype.type(0), delta.dtype.type(1)
    for j in range(n):
        row = delta[j, first : first + m]
        squared[:] = zero
        for k in range(d):
            y = Y[k, j]
            x, g = strip[k], gap[k]
            for t in range(m):
                u = x[t] - y
                g[t] = u
                squared[t] += u * u
        for t in range(m):
            s = squared[t]
            far = s > zero
            root = np.sqrt(s if far else one)
            length = root if far else zero
            ratio[t] = np.divide(row[t], root) if far else zero
            eta[t] += s
            rho[t] += row[t] * length
            stress[t] += (row[t] - length) * (row[t] - length)
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += ratio[t] * g[t]


@njit(nogil=True, cache=True)
def _weigh(delta, j, first, own, kind, W, small, w, measured):
    """Weights of point j with the strip, 0 where unmeasured or j itself; `measured` is delta with 0 in their place.

    Under 1 / delta pairs at 0 weigh as the nearest pair at a distance does.
    """
    m = len(w)
    row = delta[j, first : first + m]
    for t in range(m):
        known = abs(row[t]) < np.inf
        w[t] = 1.0 if known else 0.0
        measured[t] = row[t] if known else 0.0
    if kind == SAMMON:
        for t in range(m):
            w[t] = np.divide(w[t], measured[t] if measured[t] > 0.0 else small)
    if kind == GIVEN:
        given = W[j, first : first + m]
        for t in range(m):
            w[t] *= given[t]
    if 0 <= j - own < m:
        w[j - own] = 0.0


@njit(nogil=True, cache=True)
def weighted_strip(delta, first, own, kind, W, small, Y, strip, out, rho, eta, stress):
    """The same with weights w_ij in every sum; the strip's point t is point own + t of Y (own < -m: none of them)."""
    d, n = Y.shape
    m = strip.shape[1]
    w, measured, squared, ratio, gap = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty((d, m))
    for j in range(n):
        _weigh(delta, j, first, own, kind, W, small, w, measured)
        squared[:] = 0.0
        for k in range(d):
            y = Y[k, j]
            x, g = strip[k], gap[k]
            for t in range(m):
                u = x[t] - y
                g[t] = u
                squared[t] += u * u
        for t in range(m):
            s = squared[t]
            far = s > 0.0
            root = np.sqrt(s if far else 1.0)
            length = root if far else 0.0
            ratio[t] = w[t] * (np.divide(measured[t], root) if far else 0.0)
            eta[t] += w[t] * s
            rho[t] += w[t] * measured[t] * length
            stress[t] += w[t] * (measured[t] - length) * (measured[t] - length)
        for k in range(d):
            o, g = out[k], gap[k]
            for t in range(m):
                o[t] += ratio[t] * g[t]


@njit(nogil=True, cache=True)
def weights_strip(delta, first, own, kind, W, small, Y, degree, total, moment):
    """degree_i += sum_j w_ij, total_i += sum_j w_ij delta_ij^2, moment[:, i] += sum_j w_ij y_j."""
    d, n = Y.shape
    m = degree.shape[0]
    w, measured = np.empty(m), np.empty(m)
    for j in range(n):
        _weigh(delta, j, first, own, kind, W, small, w, measured)
        for t in range(m):
            degree[t] += w[t]
            total[t] += w[t] * measured[t] * measured[t]
        for k in range(d):
            y, o = Y[k, j], moment[k]
            for t in range(m):
                o[t] += w[t] * y


@njit(nogil=True, cache=True)
def weight_matrix(delta, kind, W, small, out):
    """out_ij = -w_ij off the diagonal and its negated row sum on it: the weights' Laplacian V."""
    n = delta.shape[0]
    measured = np.empty(n)
    for i in range(n):
        w = out[i]
        _weigh(delta, i, 0, 0, kind, W, small, w, measured)
        total = 0.0
        for j in range(n):
            total += w[j]
            w[j] = -w[j]
        w[i] = total


@njit(nogil=True, cache=True)
def _minkowski(u, d, p, slope):
    """(sum_k |u_k|^p)^(1/p); slope receives its derivatives, zero where u is zero."""
    length = 0.0
    if p == 1.0:
        for k in range(d):
            length += abs(u[k])
            slope[k] = np.sign(u[k])
        return length
    top = 0.0
    for k in range(d):
        top = max(top, abs(u[k]))
    if top == 0.0:
        slope[:] = 0.0
        return 0.0
    for k in range(d):
        length += (abs(u[k]) / top) ** p
    length = top * length ** (1.0 / p)
    for k in range(d):
        slope[k] = np.sign(u[k]) * (abs(u[k]) / length) ** (p - 1.0)
    return length


@njit(nogil=True, cache=True)
def gradient_strip(delta, first, own, kind, W, small, p, Y, strip, out, eta, stress):
    """Stress and its slope with Minkowski distances of exponent p.

    stress_i += sum_j w_ij (delta_ij - d_ij)^2, eta_i += sum_j w_ij d_ij^2,
    out[:, i] += sum_j 2 w_ij (d_ij - delta_ij) dd_ij/dy_i.
    """
    d, n = Y.shape
    m = strip.shape[1]
    u, slope, w, measured = np.empty(d), np.empty(d), np.empty(m), np.empty(m)
    for j in range(n):
        _weigh(delta, j, first, own, kind, W, small, w, measured)
        for t in range(m):
            if w[t] == 0.0:
                continue
            for k in range(d):
                u[k] = strip[k, t] - Y[k, j]
            length = _minkowski(u, d, p, slope)
            stress[t] += w[t] * (measured[t] - length) ** 2
            eta[t] += w[t] * length * length
            f = 2.0 * w[t] * (length - measured[t])
            for k in range(d):
                out[k, t] += f * slope[k]


@njit(nogil=True, cache=True)
def edge_distances(i, j, p, Y, out):
    """out_e = Minkowski distance of the ends of edge e."""
    d = Y.shape[1]
    u, slope = np.empty(d), np.empty(d)
    for e in range(len(i)):
        for k in range(d):
            u[k] = Y[i[e], k] - Y[j[e], k]
        if p == 2.0:
            s = 0.0
            for k in range(d):
                s += u[k] * u[k]
            out[e] = np.sqrt(s)
        else:
            out[e] = _minkowski(u, d, p, slope)


@njit(nogil=True, cache=True)
def edge_sums(i, j, delta, weight, Y, out, rho, eta, stress):
    """The sums of `weighted_strip` over a list of edges, both ends at once; an empty `weight` is all ones."""
    d = Y.shape[1]
    for e in range(len(i)):
        a, b = i[e], j[e]
        w = weight[e] if len(weight) else 1.0
        s = 0.0
        for k in range(d):
            s += (Y[a, k] - Y[b, k]) ** 2
        length = np.sqrt(s)
        part = w * (delta[e] - length) ** 2
        stress[a] += part
        stress[b] += part
        eta[a] += w * s
        eta[b] += w * s
        rho[a] += w * delta[e] * length
        rho[b] += w * delta[e] * length
        if s > 0.0:
            r = w * delta[e] / length
            for k in range(d):
                g = r * (Y[a, k] - Y[b, k])
                out[a, k] += g
                out[b, k] -= g


@njit(nogil=True, cache=True)
def edge_pull(i, j, ratio, Y, out):
    """ratio_e (y_i - y_j) added at i and taken off at j."""
    d = Y.shape[1]
    for e in range(len(i)):
        a, b, r = i[e], j[e], ratio[e]
        for k in range(d):
            g = r * (Y[a, k] - Y[b, k])
            out[a, k] += g
            out[b, k] -= g


@njit(nogil=True, cache=True)
def edge_gradient(i, j, delta, weight, p, Y, out, eta, stress):
    """The sums of `gradient_strip` over a list of edges."""
    d = Y.shape[1]
    u, slope = np.empty(d), np.empty(d)
    for e in range(len(i)):
        a, b = i[e], j[e]
        w = weight[e] if len(weight) else 1.0
        for k in range(d):
            u[k] = Y[a, k] - Y[b, k]
        length = _minkowski(u, d, p, slope)
        eta[a] += w * length * length
        eta[b] += w * length * length
        part = w * (delta[e] - length) ** 2
        stress[a] += part
        stress[b] += part
        for k in range(d):
            g = 2.0 * w * (length - delta[e]) * slope[k]
            out[a, k] += g
            out[b, k] -= g


@njit(nogil=True, cache=True)
def pool_adjacent_violators(y, w, out):
    """Isotonic regression: the non-decreasing sequence nearest to y in sum w (out - y)^2; the number of its blocks."""
    n = len(y)
    mean, mass, start = np.empty(n), np.empty(n), np.empty(n, np.int64)
    top = -1
    for e in range(n):
        top += 1
        mean[top], mass[top], start[top] = y[e], w[e], e
        while top > 0 and mean[top - 1] >= mean[top]:
            total = mass[top - 1] + mass[top]
            mean[top - 1] += (mean[top] - mean[top - 1]) * (mass[top] / total)
            mass[top - 1] = total
            top -= 1
    for b in range(top + 1):
        stop = start[b + 1] if b < top else n
        out[start[b] : stop] = mean[b]
    return top + 1
