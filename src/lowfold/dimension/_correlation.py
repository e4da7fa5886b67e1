"""Correlation dimension.

Grassberger & Procaccia (1983), doi:10.1016/0167-2789(83)90298-1; Wang (2012), Section 1.4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.limits import Int, check_limits
from lowfold._core.parallel import COPIED, block_slices, run_blocks, single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import (
    COVERAGE,
    Estimate,
    Interval,
    cannot_tell,
    edge_shortfall,
    judged,
    sampled,
    slope,
)
from lowfold.dimension._linear import require_range
from lowfold.dimension._read import distance_rows, distinct, only, read_source, typical_distance
from lowfold.dimension._scales import by_scale
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs, Points

N_RADII = 16  # of the fit, evenly spaced in their logarithm
FEWEST = 30  # points: with fewer, sixteen radii hold a handful of pairs each
CENTERS = 200  # points whose distances to all others tell the range of the radii
# Neighbours of a point within the smallest radius, on average, and within the largest: so many, or one in so many of
# the points, but never more than a fifth of them, where the curve bends over.
NEAR, MANY, MANY_PART, MOST_PART = 5.0, 50.0, 100, 5
BENT = 0.25  # slopes of the two halves that differ by more than this share are no straight line


def correlation(
    X: Any,
    *,
    radii: tuple[float, float] | None = None,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    max_centers: int = 2000,
    n_resamples: int = 200,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Slope of log C(r) over log r, C(r) the share of pairs of points at a distance below r.

    C(r) = (1 / (n (n - 1))) #{(i, j), i != j: d(i, j) < r}. Assumes even sampling: uneven sampling lowers it severely.
    The curve is C over the radii; `reason` says when it is not straight, or when points are too few for so many
    dimensions. Local: the slope of one centre's counts, NaN at points that are no centre. Repeated points are left out.

    Parameters
    ----------
    X : points with any metric, or a matrix of distances (metric="precomputed").
    radii : (low, high) or None, the range of the fit. None: where a point has on average from 5 neighbours to
        max(50, n / 100), at most n / 5.
    max_centers : pairs are counted from at most so many points, drawn at random, to all others.
    n_resamples : bootstrap draws of centres for the interval; a pair depends on both of its ends, so that deviations
        are doubled.
    """
    values = {"max_centers": max_centers, "n_resamples": n_resamples}
    check_limits("correlation", values, {"max_centers": (Int(2),), "n_resamples": (Int(0),)})
    require_range("radii", radii)
    source = read_source(X, metric, metric_params)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, source.n, rng)
    given, n = source.n, len(kept)
    source = only(source, kept)
    if n < FEWEST:
        return cannot_tell("correlation", f"{n} different points are too few; at least {FEWEST}")
    centers = np.sort(rng.choice(n, max_centers, replace=False)) if n > max_centers else np.arange(n)
    with single_threaded_blas():
        low, high = _range(source, rng) if radii is None else radii
        if not 0 < low < high:
            return cannot_tell("correlation", f"distances to near and far neighbours do not differ ({low:g}, {high:g})")
        grid = np.geomspace(low, high, N_RADII)
        counts = _counts(source, centers, grid, n_jobs)
    C = counts.mean(axis=0) / (n - 1)
    seen = C > 0
    if seen.sum() < 4:
        return cannot_tell("correlation", "fewer than 4 radii have a pair within them; use larger radii")
    x = np.log(grid[seen])
    value = slope(x, np.log(C[seen]))
    middle = len(x) // 2
    lower, upper = (slope(x[part], np.log(C[seen][part])) for part in (slice(0, middle), slice(middle, None)))
    bent = abs(upper - lower) > BENT * abs(value)
    local = np.full(given, np.nan)
    local[kept[centers]] = _local(counts[:, seen], x)
    found = Estimate(
        "correlation",
        value,
        _interval(counts[:, seen], x, value, n_resamples, rng),
        used=(float(grid[seen][0]), float(high)),
        scales=grid,
        curve=C,
        axes=("radius r", "share of pairs within r"),
        log=True,
        local=local,
        drift=max(abs(lower - value), abs(upper - value)),
        reason=f"not straight: slope {lower:.2f} at small and {upper:.2f} at large radii" if bent else None,
        note=note,
    )
    found = by_scale(found, source, float(high), rng)
    return found if radii is not None else judged(found, edge_shortfall(float(high), typical_distance(source, rng)))


def _local(counts: Floats, x: Floats) -> Floats:
    """Slope of log counts over x = log r for every centre, from the radii with a neighbour; NaN below 4 of them."""
    out = np.full(len(counts), np.nan)
    for i, row in enumerate(counts):
        seen = row > 0
        if seen.sum() >= 4:
            out[i] = slope(x[seen], np.log(row[seen]))
    return out


def _range(source: Points | Pairs, rng: np.random.Generator) -> tuple[float, float]:
    """Radii within which a point has, on average, 5 and max(50, n / 100) neighbours, but not more than n / 5."""
    n = source.n
    rows = rng.choice(n, min(n, CENTERS), replace=False)
    D = distance_rows(source, rows)
    D[np.arange(len(rows)), rows] = np.inf  # the point itself
    many = min(max(MANY, n / MANY_PART), n / MOST_PART)
    low, high = np.quantile(D[np.isfinite(D)], [min(NEAR, many / 2) / (n - 1), many / (n - 1)])
    return float(low), float(high)


def _counts(source: Points | Pairs, centers: Ints, grid: Floats, n_jobs: int | None) -> Floats:
    """Number of other points closer than each radius, for each centre."""
    counts = np.empty((len(centers), len(grid)))
    parts = block_slices(len(centers), max(1, COPIED // source.n))

    def work(b: int) -> None:
        D = distance_rows(source, centers[parts[b]])
        # searchsorted on the right: d == r is not below r
        for i, row in zip(range(parts[b].start, parts[b].stop), D, strict=True):
            bins = np.bincount(np.searchsorted(grid, row, side="right"), minlength=len(grid) + 1)
            counts[i] = np.cumsum(bins[:-1]) - 1.0  # without the point itself, which is at 0

    run_blocks(work, len(parts), n_jobs=n_jobs)
    return counts


def _interval(counts: Floats, x: Floats, value: float, times: int, rng: np.random.Generator) -> Interval | None:
    if times == 0:
        return None
    m = len(counts)
    drawn = []
    for _ in range(times):
        total = counts[rng.integers(0, m, m)].sum(axis=0)
        if (total > 0).all():
            drawn.append(slope(x, np.log(total)))
    if len(drawn) < 2:
        return None
    low, high = 2.0 * np.quantile(np.array(drawn) - value, COVERAGE)
    return float(value - high), float(value - low)
