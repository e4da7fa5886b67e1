"""The dimension at which Isomap's residual variance stops falling."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.limits import Int, Null, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled
from lowfold.dimension._read import distinct, read_source
from lowfold.graph._components import components
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs, Points

FEWEST = 10  # points of a piece: with fewer, distances in one dimension explain those of any
FLOOR = 1e-3  # variance left that is below what geodesics of a graph can be trusted to
UNEXPLAINED = 0.1  # more than this left in every dimension is no elbow


def residual_elbow(
    X: Any,
    n_neighbors: int | None = None,
    *,
    max_dim: int = 8,
    max_points: int = 1000,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    n_resamples: int = 3,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """The elbow of the residual variance 1 - R^2(d_G, d_Y) of Isomap over d = 1..max_dim.

    The elbow is the point farthest below the line from (0, 1) to (max_dim, last value), with the variances on a
    logarithmic scale and none below 0.001. Tenenbaum, de Silva & Langford (2000), doi:10.1126/science.290.5500.2319.
    Of several pieces the largest is used, which `reason` says. Where more than 10% of the variance is left in every
    dimension tried there is no elbow. A closed surface has no chart: a sphere needs 3.

    Parameters
    ----------
    X : points with any metric, or a matrix of distances (metric="precomputed").
    n_neighbors : int or None, of Isomap's graph; None is min(10, n - 1).
    max_dim : largest dimension tried.
    max_points : beyond this many points a random sample is used.
    n_resamples : estimates on random halves for the interval; 0 for none.
    """
    values = {"n_neighbors": n_neighbors, "max_dim": max_dim, "max_points": max_points, "n_resamples": n_resamples}
    limits = {
        "n_neighbors": (Int(1), Null()),
        "max_dim": (Int(2),),
        "max_points": (Int(20),),
        "n_resamples": (Int(0),),
    }
    check_limits("residual_elbow", values, limits)
    source = read_source(X, metric, metric_params)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, max_points, rng)
    source = source.subset(kept)
    k = default_neighbors(source.n) if n_neighbors is None else n_neighbors
    curve, share = _residuals(source, k, max_dim, n_jobs)
    if curve is None:
        return cannot_tell("residual_elbow", "too few connected points, or all at one place", note=note)
    value, reason = _elbow(curve)
    if share < 1:
        pieces = f"the graph of {k} neighbours is in pieces; its largest, {share:.0%} of the points, was used"
        reason = pieces if reason is None else f"{reason}; {pieces}"

    def on_half(rows: Ints) -> float:
        half = _residuals(source.subset(rows), k, max_dim, n_jobs)[0]
        return float("nan") if half is None else _elbow(half)[0]

    return Estimate(
        "residual_elbow",
        value,
        half_samples(on_half, source.n, value, 0 if np.isnan(value) else n_resamples, rng, whole=True),
        used=(1.0, float(len(curve))),
        scales=np.arange(1.0, len(curve) + 1),
        curve=curve,
        axes=("components", "residual variance"),
        whole=True,
        reason=reason,
        note=note,
    )


def _residuals(source: Points | Pairs, k: int, max_dim: int, n_jobs: int | None) -> tuple[Floats | None, float]:
    """Residual variances of the largest piece, and its share of the points."""
    from lowfold.methods.isomap import Isomap

    if source.n <= k or source.n < FEWEST:
        return None, 1.0
    with single_threaded_blas():
        found = neighborhoods(source, n_neighbors=k, run=Run(n_jobs=n_jobs))
        inside = np.flatnonzero(components(found) == 0)
    if len(inside) < FEWEST:
        return None, len(inside) / source.n
    dims = np.arange(1, min(max_dim, len(inside) - 2) + 1)
    model = Isomap(1, n_jobs=n_jobs).fit(found.restrict(inside))
    return model.residual_variance(dims), len(inside) / source.n


def _elbow(curve: Floats) -> tuple[float, str | None]:
    """The dimension farthest below the chord of the logarithms, and what speaks against it."""
    logs = np.log(np.maximum(np.concatenate([[1.0], curve]), FLOOR))
    chord = np.linspace(logs[0], logs[-1], len(logs))
    value = float(max(1, int(np.argmax(chord - logs))))
    if curve.min() > UNEXPLAINED:
        return float("nan"), f"{curve.min():.0%} of the variance of distances is left in {len(curve)} dimensions"
    return value, None
