"""Capacity dimension: how the number of pieces of size r grows as r falls. Wang (2012), Section 1.4.3.

N(r) ~ r^-s, so that s = -lim log N(r) / log r (the minus sign is missing in print). Unlike the correlation dimension it
does not depend on how densely places are sampled. Kegl (2002), https://papers.nips.cc/paper/2290.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Limits, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled, slope
from lowfold.dimension._linear import require_range
from lowfold.dimension._read import distance_rows, distinct, read_source, typical_distance
from lowfold.dimension._scales import by_nearer_scale
from lowfold.graph._radius import within_radius
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs, Points

METHODS = ("packing", "covering", "box")
N_RADII = 8  # sizes of the fit, evenly spaced in their logarithm
FEWEST = 16  # pieces: fewer say more about the outline of the set than about its dimension
POINTS_PER_PIECE = 8  # at the smallest scale: with fewer the sample runs out before the set does
REPEATS = 4  # places of the boxes, or starts of the walk, whose numbers are averaged: each wanders by a few
AXES = ("size r", "pieces")
NARROW = 3.5  # sizes that differ by less than this factor see much of the edges of the set,
TOO_NARROW = 2.0  # and by less than this little else

# Share of the value that edges of the set take, for every median distance that the largest pieces measure, and at most:
# what cubes, balls, Gaussians, spheres and curves of 1 to 6 dimensions show.
EDGES, LOST = {"packing": 0.4, "covering": 0.4, "box": 0.25}, 0.5


def packing_radii(source: Points | Pairs, count: int, start: int) -> Floats:
    """delta_1 = inf >= delta_2 >= ...: distance of the m-th point of a farthest-first walk to those before it.

    The first m points are at least delta_m apart, and every point is within delta_{m+1} of one of them: one walk gives
    an r-packing that is also an r-cover for every r, of size #{m : delta_m >= r}.
    """
    return farthest_first(source, count, start)[1]


def farthest_first(source: Points | Pairs, count: int, start: int) -> tuple[Ints, Floats]:
    """`count` points, each the farthest from those before it, and how far that is (inf for the first)."""
    nearest = np.full(source.n, np.inf)
    rows, out = np.empty(count, dtype=np.int64), np.empty(count)
    at = start
    for m in range(count):
        rows[m], out[m] = at, nearest[at]
        np.minimum(nearest, distance_rows(source, np.array([at]))[0], out=nearest)
        at = int(np.argmax(nearest))
    return rows, out


def covering_number(source: Points | Pairs, radius: float) -> int:
    """Size of a cover by closed balls of `radius` about points: again and again the ball with most uncovered points."""
    inside = within_radius(source, radius)
    gain = inside.counts + 1
    uncovered = np.ones(source.n, dtype=bool)
    balls = 0
    while uncovered.any():
        center = int(np.argmax(gain))
        ball = np.append(inside.row(center)[0], center)
        fresh = ball[uncovered[ball]]
        uncovered[fresh] = False
        for j in fresh:  # every ball that held j has one less to win
            gain[inside.row(int(j))[0]] -= 1
        gain[fresh] -= 1
        balls += 1
    return balls


def box_number(X: Floats, side: float, offset: Floats) -> int:
    """Number of boxes of a grid of this side, moved by `offset` (in sides), that hold a point."""
    return len(np.unique(np.floor((X - X.min(axis=0)) / side + offset), axis=0))


def capacity(
    X: Any,
    *,
    method: str = "packing",
    radii: tuple[float, float] | None = None,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    max_points: int = 5000,
    n_resamples: int = 10,
    random_state: object = 0,
) -> Estimate:
    """Minus the slope of log N(r) over log r, N(r) the number of pieces of size r that the set takes.

    method="packing": points at least r apart (farthest-first walks from 4 random points, averaged); "covering": balls
    of radius r about points that cover the set (greedy); "box": boxes of side r that hold a point (averaged over 4
    shifts of the grid). The greedy numbers lie between bounds: M(2r) <= N(r) <= M(r) for the best packings M and covers
    N. Edges of the set make it too low, by less the more points there are; so do, for "box", pieces that lie askew to
    the grid. Beyond about three dimensions it takes more points than there usually are.

    Parameters
    ----------
    X : points with any metric, or a matrix of distances (metric="precomputed"); "box" needs coordinates.
    radii : (low, high) or None, the range of the fit. None: from 16 pieces to n / 8 pieces.
    max_points : beyond this many points a random sample is used.
    n_resamples : estimates on random halves for the interval; 0 for none.
    """
    values = {"method": method, "max_points": max_points, "n_resamples": n_resamples}
    limits: Limits = {"method": (Choice(METHODS),), "max_points": (Int(20),), "n_resamples": (Int(0),)}
    check_limits("capacity", values, limits)
    require_range("radii", radii)
    source = read_source(X, metric, metric_params)
    if method == "box" and (isinstance(source, Pairs) or source.metric.name != "euclidean"):
        raise InvalidInput("method='box' counts boxes of coordinates, Euclidean; use 'packing' for other distances")
    name = f"capacity_{method}"
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, max_points, rng)
    source = source.subset(kept)
    if source.n < 2 * FEWEST * POINTS_PER_PIECE:
        return cannot_tell(name, f"{source.n} different points are too few; at least {2 * FEWEST * POINTS_PER_PIECE}")
    with single_threaded_blas():
        low, high = _range(source, method, rng) if radii is None else radii
        if not 0 < low < high:
            most = source.n // POINTS_PER_PIECE
            return cannot_tell(name, f"there are no sizes at which there are from {FEWEST} to {most} pieces", note=note)
        grid = np.geomspace(low, high, N_RADII)
        counts = _numbers(source, method, grid, rng)
        value = -slope(np.log(grid), np.log(counts))

        def on_half(rows: Ints) -> float:
            return -slope(np.log(grid), np.log(_numbers(source.subset(rows), method, grid, rng)))

        interval = half_samples(on_half, source.n, value, n_resamples, rng)
    narrow = f"{source.n} points show sizes r to {high / low:.1f} r only, which the edges of the set fill"
    drift = max(abs(half - value) for half in _half_slopes(np.log(grid), np.log(counts)))
    lost = min(EDGES[method] * float(high) / max(typical_distance(source, rng), NO_DIVISOR), LOST)
    known = {
        "used": (float(low), float(high)),
        "scales": grid,
        "curve": counts,
        "axes": AXES,
        "log": True,
        "drift": drift,
        "missing": value * lost / (1.0 - lost),
    }
    if value <= 0:
        return cannot_tell(name, "the number of pieces does not change over these sizes", note=note, **known)
    if radii is None and high < TOO_NARROW * low:
        return cannot_tell(name, narrow, note=note, **known)
    reason = f"may be too low: {narrow}" if radii is None and high < NARROW * low else None
    found = Estimate(name, value, interval, reason=reason, note=note, **known)  # type: ignore[arg-type]
    return by_nearer_scale(found, source, float(low), rng)


def _half_slopes(x: Floats, y: Floats) -> tuple[float, float]:
    """Minus the slopes of the smaller and of the larger scales."""
    middle = len(x) // 2
    return -slope(x[:middle], y[:middle]), -slope(x[middle:], y[middle:])


def _range(source: Points | Pairs, method: str, rng: np.random.Generator) -> tuple[float, float]:
    """Sizes r at which there are n / 8 and 16 pieces."""
    most = source.n // POINTS_PER_PIECE
    delta = packing_radii(source, most, int(rng.integers(source.n)))
    low, high = float(delta[most - 1]), float(delta[FEWEST - 1])
    if method != "box" or not 0 < low < high:
        return low, high
    # A curved or tilted piece of a set meets more boxes than balls of the same size.
    assert isinstance(source, Points)
    X = np.asarray(source.X, dtype=np.float64)
    sides = np.geomspace(low / 4, 4 * high, 40)
    counts = np.array([box_number(X, side, np.full(X.shape[1], 0.5)) for side in sides])
    inside = sides[(counts >= FEWEST) & (counts <= most)]
    return (float(inside[0]), float(inside[-1])) if len(inside) else (high, high)


def _numbers(source: Points | Pairs, method: str, grid: Floats, rng: np.random.Generator) -> Floats:
    """Number of pieces at every size, at least 1."""
    if method == "covering":
        return np.array([covering_number(source, r) for r in grid], dtype=np.float64)
    if method == "box":
        assert isinstance(source, Points)
        X = np.asarray(source.X, dtype=np.float64)
        shifts = rng.random((REPEATS, X.shape[1]))
        return np.array([np.mean([box_number(X, r, shift) for shift in shifts]) for r in grid])
    # a walk from another point reaches the smallest size after about as many steps
    count = min(source.n, max(2 * (source.n // POINTS_PER_PIECE), FEWEST))
    walks = [packing_radii(source, count, int(start)) for start in rng.integers(0, source.n, REPEATS)]
    return np.asarray(np.mean([(walk[:, None] >= grid).sum(axis=0) for walk in walks], axis=0))
