"""How strongly a manifold bends: minimum radius of curvature r_0 and minimum branch separation s_0.

Bernstein, de Silva, Langford and Tenenbaum (2000); Wang (2012), Section 8.5.3, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart, Manifold
from lowfold.geometry._closed import require_positive
from lowfold.geometry._curvature import orthonormal_frame, second_fundamental_form
from lowfold.geometry._derivatives import as_rows

# Of the power method, linear in convergence; its value, a maximum, is good to the square of the vector.
ASCENT_STEPS = 200
STRAIGHT = 1e-8  # curvature of a plane, of which differences leave about 1e-10
ANTIPODES = 1e-9  # of pi r_0: antipodes count as far apart, whatever the rounding of their distance
TILT = 1e-3  # of a start, off its axis of symmetry: enough to leave a saddle within the steps


def largest_normal_curvature(chart: Chart, u: ArrayLike) -> Floats:
    """max over unit tangent vectors v of |II(v, v)|: the sharpest bend of a geodesic through each point, shape (n,).

    Ascent v <- grad |II(v, v)|^2 + shift v, normalised, from the axes and the diagonals of an orthonormal frame. The
    shift makes every step go up (symmetric higher-order power method, Kolda and Mayo 2011).
    """
    rows = as_rows("u", u, chart.dim)
    frame = orthonormal_frame(chart, rows)
    ii = np.einsum("naij,nib,njc->nabc", second_fundamental_form(chart, rows), frame, frame, optimize=True)
    size = np.sum(ii**2, axis=(1, 2, 3))
    best = np.zeros(len(rows))
    for start in _starts(chart.dim):
        v = np.repeat(start[None], len(rows), axis=0)
        for _ in range(ASCENT_STEPS if chart.dim > 1 else 0):
            bend = np.einsum("nabc,nb,nc->na", ii, v, v)
            v = np.einsum("nabc,na,nc->nb", ii, bend, v) + 3.0 * size[:, None] * v
            v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), NO_DIVISOR)
            v = np.where(size[:, None] > 0, v, start)
        best = np.maximum(best, np.linalg.norm(np.einsum("nabc,nb,nc->na", ii, v, v), axis=1))
    return best


def min_radius_of_curvature(manifold: Manifold, order: int = 33) -> float:
    """r_0 = min 1 / |gamma''(s)| over unit-speed geodesics gamma, looked for on `order` points per coordinate.

    A geodesic bends in R^m by II(v, v) alone, so r_0 = 1 / max |II(v, v)|; infinite on a flat piece of a plane.
    """
    bends = [float(largest_normal_curvature(chart, chart.domain.grid(order)).max()) for chart in manifold.charts]
    return 1.0 / max(bends) if max(bends) > STRAIGHT else float("inf")


def branch_separation(points: ArrayLike, geodesic: ArrayLike, min_radius: float) -> float:
    """s_0 of a sample: the largest s such that |x - y| < s implies d_M(x, y) < pi r_0.

    `geodesic` is the (n, n) matrix of d_M. It is the shortest chord among pairs with d_M >= pi r_0, infinite if none.
    """
    x, d = np.asarray(points, dtype=np.float64), np.asarray(geodesic, dtype=np.float64)
    if x.ndim != 2 or d.shape != (len(x), len(x)):
        raise InvalidInput(f"geodesic must be the (n, n) distances of the n points; got {d.shape} for {x.shape}")
    far_apart = np.pi * require_positive("min_radius", min_radius) * (1 - ANTIPODES)
    shortest = float("inf")
    for i in range(len(x)):
        far = d[i] >= far_apart
        if far.any():
            shortest = min(shortest, float(np.linalg.norm(x[far] - x[i], axis=1).min()))
    return shortest


def _starts(dim: int) -> list[Floats]:
    """Axes and diagonals, a little off: on an axis of symmetry the ascent would stay on a saddle."""
    axes = list(np.eye(dim))
    diagonals = [axes[i] + sign * axes[j] for i, j in itertools.combinations(range(dim), 2) for sign in (1.0, -1.0)]
    tilt = TILT * np.cos(np.arange(1.0, dim + 1.0))
    return [(v + tilt) / np.linalg.norm(v + tilt) for v in (*axes, *diagonals)]
