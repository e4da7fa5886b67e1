"""Geodesics, the exponential map and parallel transport: u'' + Gamma(u', u') = 0 and w' + Gamma(u', w) = 0.

Wang (2012), Section 2.2.4, doi:10.1007/978-3-642-27497-8; do Carmo (1992), Riemannian Geometry, Chapters 2-3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.types import Floats
from lowfold.geometry._chart import Chart, Manifold
from lowfold.geometry._closed import as_pair
from lowfold.geometry._curvature import christoffel, metric_tensor, orthonormal_frame, tangent_basis
from lowfold.geometry._derivatives import Field, as_rows, jacobian
from lowfold.geometry._domain import Disc

RTOL, ATOL = 1e-11, 1e-12  # of the ODE solver: two digits above the noise of differences in the Christoffel symbols

PATH_NODES = 17  # of a path that is only to lie near the geodesic, which is then found by shooting
# Of the parameter's range, at most 1: the step h of differences of eighth order along a curve, whose truncation, h^8,
# and rounding, 1e-16 / h, are both near 1e-15 there.
CURVE_STEP = 1e-2
RELAXED, RELAX_CALLS = 1e-6, 50  # of such a path: shooting, which follows, needs a start and no more
# Of the right-hand side: a geodesic that runs into a singular place of its chart would take steps for ever.
MAX_CALLS = 5_000


class Shot(NamedTuple):
    """Where geodesics arrive: coordinates, velocities, and vectors carried along in parallel."""

    coordinates: Floats
    velocity: Floats
    carried: Floats


def arc_length(curve: Field, start: float, stop: float, panels: int = 64) -> float:
    """int |gamma'(t)| dt of a smooth curve t (n, 1) -> (n, m), by Gauss-Legendre on equal panels of 16 nodes."""
    x, w = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(start, stop, panels + 1)
    half = 0.5 * np.diff(edges)
    t = (edges[:-1, None] + half[:, None] * (x + 1.0)).reshape(-1, 1)
    step = CURVE_STEP * min(1.0, abs(stop - start))
    speed = np.linalg.norm(jacobian(curve, t, step)[..., 0], axis=-1)
    return float(np.sum(np.outer(half, w).ravel() * speed))


def polyline_length(points: ArrayLike) -> float:
    """Sum of the lengths of the segments of a path of points, shape (n, m)."""
    return float(np.sum(np.linalg.norm(np.diff(np.asarray(points, dtype=np.float64), axis=0), axis=1)))


def shoot(chart: Chart, u: ArrayLike, v: ArrayLike, carry: ArrayLike | None = None, time: float = 1.0) -> Shot:
    """Follow the geodesics from u with velocity v (coordinates, (n, k)) for `time`, all in one chart.

    `carry` holds p tangent vectors per point, coordinates of shape (n, p, k); they come out transported in parallel.
    """
    start, velocity = as_rows("u", u, chart.dim), as_rows("v", v, chart.dim)
    n, k = start.shape
    vectors = np.zeros((n, 0, k)) if carry is None else np.asarray(carry, dtype=np.float64).reshape(n, -1, k)
    state = np.concatenate([start[:, None], velocity[:, None], vectors], axis=1)

    def rate(_: float, flat: Floats) -> Floats:
        now = flat.reshape(state.shape)
        turn = np.einsum("ncij,ni,npj->npc", christoffel(chart, now[:, 0]), now[:, 1], now[:, 1:], optimize=True)
        return np.concatenate([now[:, 1:2], -turn], axis=1).ravel()

    final = _integrate_ode(rate, (0.0, time), state.ravel()).reshape(state.shape)
    return Shot(final[:, 0], final[:, 1], final[:, 2:])


def exponential(chart: Chart, u: ArrayLike, v: ArrayLike) -> Floats:
    """exp_u(v): where the geodesic from u with velocity v is after time 1. Coordinates, (n, k)."""
    return shoot(chart, u, v).coordinates


def exponential_map(manifold: Manifold, p: ArrayLike, vectors: ArrayLike, segments: int | None = None) -> Floats:
    """exp_p(V) for points p and tangent vectors V of R^m, (n, m), changing the chart on the way.

    The way is cut in `segments` (1 for one chart, else 16), and each is followed in the chart with the largest weight
    where it begins. Geodesics that cross a chart within one segment need more.
    """
    x, way = (np.atleast_2d(np.asarray(a, dtype=np.float64)).copy() for a in (p, vectors))
    count = segments if segments is not None else (1 if len(manifold.charts) == 1 else 16)
    if count < 1:
        raise InvalidInput(f"segments must be at least 1; got {segments}")
    for _ in range(count):
        best = manifold.best_chart(x)
        for j in np.unique(best):
            chart, rows = manifold.charts[j], best == j
            u = chart.coordinates(x[rows])
            alpha = np.einsum("nia,na->ni", np.linalg.pinv(tangent_basis(chart, u)), way[rows])
            end = shoot(chart, u, alpha, time=1.0 / count)
            x[rows] = chart.points(end.coordinates)
            way[rows] = np.einsum("nai,ni->na", tangent_basis(chart, end.coordinates), end.velocity)
    return x


def logarithm(chart: Chart, u: ArrayLike, v: ArrayLike, tol: float = 1e-8) -> Floats:
    """Initial velocities (n, k) of the shortest geodesics found from rows of u to rows of v: exp_u(log_u(v)) = v.

    The straight line of the coordinates, and on sides that wrap the line the other way round, is relaxed to a polyline
    of least energy; the shortest of these starts the boundary value problem u'' + Gamma(u', u') = 0. Beyond the
    injectivity radius several geodesics join two points, and one that no such line leads to is not seen.
    """
    start, end = np.broadcast_arrays(as_rows("u", u, chart.dim), as_rows("v", v, chart.dim))
    found = np.empty(start.shape)
    for i in range(len(start)):
        paths = [_relaxed(chart, start[i], copy) for copy in _copies(chart, start[i], end[i])]
        paths.sort(key=lambda path: polyline_length(chart.points(path)))
        answers = (_connect(chart, path, tol) for path in paths)
        best = next((a for a in answers if a is not None), None)
        if best is None:
            raise SolverFailed(
                f"no geodesic from {start[i]} to {end[i]} was found in this chart; "
                "take points that are nearer to each other, or a chart with both well inside"
            )
        found[i] = best
    return found


def geodesic_distance(manifold: Manifold, p: ArrayLike, q: ArrayLike, tol: float = 1e-8) -> Floats:
    """Geodesic distance between rows of points: the closed form of the manifold, or else |log_p(q)| computed in charts.

    The computed way is a geodesic of the surface that the chart describes, also beyond the edge of its domain: around a
    hole or along a boundary the true distance is longer.

    >>> from lowfold.geometry._manifolds import circle
    >>> print(np.round(geodesic_distance(circle(), [[1.0, 0.0]], [[0.0, 1.0]]) / np.pi, 6))
    [0.5]
    """
    x, y = np.broadcast_arrays(*(np.atleast_2d(a) for a in as_pair(p, q)))
    if manifold.distance is not None:
        return np.asarray(manifold.distance(x, y), dtype=np.float64)
    best = _shared_chart(manifold, x, y)
    out = np.empty(len(x))
    for j in np.unique(best):
        chart, rows = manifold.charts[j], best == j
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = chart.coordinates(x[rows]), chart.coordinates(y[rows])
        if not (np.isfinite(u).all() and np.isfinite(v).all()):
            raise SolverFailed(
                f"no chart of {manifold.name!r} holds both points of a pair, such as opposite poles; "
                "go through a point between them, or leave the pair out"
            )
        way = logarithm(chart, u, v, tol)
        out[rows] = np.sqrt(np.einsum("nij,ni,nj->n", metric_tensor(chart, u), way, way))
    return out


def transport(
    chart: Chart, path: Field, vectors: ArrayLike, start: float = 0.0, stop: float = 1.0, step: float | None = None
) -> Floats:
    """Parallel transport of tangent vectors (p, k) along a smooth curve t (n, 1) -> (n, k) of the chart.

    A path with corners is transported piece by piece. `path` is looked at a little beyond its ends.
    """
    w = np.atleast_2d(np.asarray(vectors, dtype=np.float64))
    h = step if step is not None else CURVE_STEP * min(1.0, abs(stop - start))

    def rate(t: float, flat: Floats) -> Floats:
        at = np.array([[t]])
        velocity = jacobian(path, at, h)[..., 0]
        gamma = christoffel(chart, path(at))[0]
        return np.asarray(-np.einsum("cij,i,pj->pc", gamma, velocity[0], flat.reshape(w.shape)).ravel())

    return _integrate_ode(rate, (start, stop), w.ravel()).reshape(w.shape)


def normal_chart(chart: Chart, centre: ArrayLike, radius: float) -> Chart:
    """Normal coordinates about one point: x -> g(exp_centre(E x)) with an orthonormal frame E; surfaces only.

    There G = I - R x x / 3 + ..., the Christoffel symbols vanish at the origin, and rays from the origin are geodesics.
    """
    if chart.dim != 2:
        raise InvalidInput(f"chart must be a surface (dim 2); got dim {chart.dim}; use exponential directly")
    u0 = as_rows("centre", np.atleast_2d(np.asarray(centre, dtype=np.float64)), 2)
    frame = orthonormal_frame(chart, u0)[0]

    def points(x: Floats) -> Floats:
        return chart.points(exponential(chart, np.repeat(u0, len(x), axis=0), x @ frame.T))

    return Chart(points, Disc(radius))


def _integrate_ode(rate: Callable[[float, Floats], Floats], span: tuple[float, float], state: Floats) -> Floats:
    from scipy.integrate import solve_ivp

    calls = itertools.count()

    def counted(t: float, y: Floats) -> Floats:
        # Near a point that the chart sends to infinity the steps shrink without end and the solver would not return.
        if next(calls) > MAX_CALLS or not np.isfinite(y).all():
            raise SolverFailed(
                f"the geodesic equation could not be followed beyond time {t:.4g} of {span[1]:.4g}: "
                "the way leads to a singular point of the chart; use a shorter vector or another chart"
            )
        return rate(t, y)

    return np.asarray(solve_ivp(counted, span, state, method="DOP853", rtol=RTOL, atol=ATOL).y[:, -1], dtype=np.float64)


def _copies(chart: Chart, start: Floats, end: Floats) -> list[Floats]:
    """End points that are one on the manifold: on a wrapping side, the nearest copy on either side of the start."""
    choices = []
    for a, b, period in zip(start, end, chart.domain.periods, strict=True):
        ahead = a + np.remainder(b - a, period) if period else b
        choices.append((ahead, ahead - period) if period else (b,))
    return [np.array(c) for c in itertools.product(*choices)]


def _relaxed(chart: Chart, start: Floats, end: Floats) -> Floats:
    """The path of coordinates (nodes, k) with the least discrete energy sum |g(u_i+1) - g(u_i)|^2 between its ends."""
    from scipy.optimize import least_squares

    line = start + np.linspace(0.0, 1.0, PATH_NODES)[:, None] * (end - start)

    def path(flat: Floats) -> Floats:
        return np.vstack([line[:1], flat.reshape(-1, len(start)), line[-1:]])

    def gaps(flat: Floats) -> Floats:
        return np.diff(chart.points(path(flat)), axis=0).ravel()

    return path(least_squares(gaps, line[1:-1].ravel(), xtol=RELAXED, ftol=RELAXED, gtol=None, max_nfev=RELAX_CALLS).x)


def _connect(chart: Chart, path: Floats, tol: float) -> Floats | None:
    """Initial velocity of the geodesic with the ends of `path` and near it, or None."""
    from scipy.integrate import solve_bvp

    k, start, end = path.shape[1], path[0], path[-1]
    if np.array_equal(start, end):
        return np.zeros(k)

    def rate(_: Floats, y: Floats) -> Floats:
        turn = np.einsum("ncij,in,jn->cn", christoffel(chart, y[:k].T), y[k:], y[k:], optimize=True)
        return np.vstack([y[k:], -turn])

    def ends(a: Floats, b: Floats) -> Floats:
        return np.concatenate([a[:k] - start, b[:k] - end])

    t = np.linspace(0.0, 1.0, len(path))
    guess = np.vstack([path.T, np.gradient(path, t, axis=0).T])
    with np.errstate(all="ignore"):
        answer = solve_bvp(rate, ends, t, guess, tol=tol, max_nodes=5000)
    return np.asarray(answer.y[k:, 0], dtype=np.float64) if answer.success and np.isfinite(answer.y).all() else None


def _shared_chart(manifold: Manifold, x: Floats, y: Floats) -> NDArray[np.intp]:
    """The chart in which the smaller of the two weights is largest; where none holds both, that which stretches least.

    A chart goes on beyond its domain: two points on different sides are still joined in it, unless one is its far pole.
    """
    if len(manifold.charts) == 1:
        return np.zeros(len(x), dtype=np.intp)
    weight = np.minimum(manifold.weights(x), manifold.weights(y))
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = [[np.linalg.norm(c.coordinates(p), axis=1) for p in (x, y)] for c in manifold.charts]
    size = np.nan_to_num(np.max(sizes, axis=1).T, nan=np.inf)
    return np.asarray(np.lexsort((size, -weight), axis=-1)[:, 0])
