"""Dimension from distances to nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.limits import Int, Limits, Real, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, bootstrap, cannot_tell, edge_shortfall, half_samples, judged, sampled
from lowfold.dimension._read import distinct, only, read_source, typical_distance
from lowfold.dimension._scales import by_scale
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs, Points

FEWEST = 20  # points, and half as many ratios mu: a slope through fewer is chance
HALVINGS = 8  # scales of the curve, each on half of the points of the last
UNSTEADY = 0.3  # a value that moves by more than this share over the scales has no plateau
UNEQUAL = 1.3  # inverses at points that spread by more than this factor beyond chance are of several dimensions


def maximum_likelihood(
    X: Any,
    n_neighbors: tuple[int, int] = (10, 20),
    *,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    n_resamples: int = 20,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Maximum likelihood for neighbours that arrive as a Poisson process.

    1 / d_k(x) = (1 / (k - 1)) sum_{j<k} log(T_k / T_j), T_j the distance from x to its j-th neighbour: unbiased, so
    that these inverses, and not the d_k(x), are averaged over points; then values over k = n_neighbors[0] ..
    n_neighbors[1]. The curve is the value for each k from 3 to 2 n_neighbors[1]. Local: from the inverses averaged over
    the k used; `reason` says when they spread more than one dimension explains. Repeated points are left out.
    Levina & Bickel (2004), https://papers.nips.cc/paper/2577.

    Any metric; `metric="precomputed"` takes a matrix of distances. The interval is from `n_resamples` random halves.
    """
    first, last = n_neighbors
    values = {"n_neighbors[0]": first, "n_neighbors[1]": last, "n_resamples": n_resamples}
    limits = {"n_neighbors[0]": (Int(2),), "n_neighbors[1]": (Int(int(first)),), "n_resamples": (Int(0),)}
    check_limits("maximum_likelihood", values, limits)
    source = read_source(X, metric, metric_params)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, source.n, rng)
    if len(kept) < last + 2:
        return cannot_tell("mle", f"{len(kept)} different points are too few for {last} neighbours")
    ks = np.arange(first, last + 1)
    shown = np.arange(min(3, first), min(2 * last, len(kept) - 1) + 1)
    T, inverses = _inverses(source, kept, shown, n_jobs)
    inverse = inverses[:, (shown >= first) & (shown <= last)]
    good = np.isfinite(inverse[:, 0])
    if good.sum() < 2:
        return cannot_tell("mle", "every point has a neighbour at distance 0")
    means = inverses[good].mean(axis=0)
    curve = np.where(means > 0, 1.0 / np.where(means > 0, means, 1.0), np.nan)
    used = curve[(shown >= first) & (shown <= last)]
    if not np.isfinite(used).all():
        return cannot_tell("mle", "all neighbours are at one distance")
    value = float(used.mean())
    drift = float(used.max() - used.min()) / value
    mean_inverse = inverse.mean(axis=1)
    local = np.full(source.n, np.nan)
    local[kept] = np.where(mean_inverse > 0, 1.0 / np.where(mean_inverse > 0, mean_inverse, 1.0), np.nan)

    def on_half(rows: Ints) -> float:
        if len(rows) < last + 2:
            return float("nan")
        half = _inverses(source, kept[rows], ks, n_jobs)[1]
        half = half[np.isfinite(half[:, 0])]
        mean = half.mean(axis=0) if len(half) else np.zeros(1)
        return float((1.0 / mean).mean()) if (mean > 0).all() else float("nan")

    lengths = float(np.median(T[good, first - 1])), float(np.median(T[good, last - 1]))
    found = Estimate(
        "mle",
        value,
        half_samples(on_half, len(kept), value, n_resamples, rng),
        used=(float(first), float(last)),
        scales=shown.astype(np.float64),
        curve=curve,
        axes=("neighbours k", "dimension"),
        lengths=lengths,
        local=local,
        drift=_spread(curve[(shown >= first / 2) & (shown <= 2 * last)], value),
        reason=f"changes by {drift:.0%} with k: no plateau" if drift > UNSTEADY else _unequal(mean_inverse[good], ks),
        note=note,
    )
    found = by_scale(found, only(source, kept), lengths[1], rng)
    return judged(found, edge_shortfall(lengths[1], typical_distance(source, rng)))


def _spread(curve: Floats, value: float) -> float:
    """The largest distance of a curve's finite values from the value."""
    seen = curve[np.isfinite(curve)]
    return float(np.abs(seen - value).max(initial=0.0))


def _unequal(inverse: Floats, ks: Ints) -> str | None:
    """Whether 1 / d(x) spread more than by chance, which is by 1 / sqrt(k - 1) of their mean."""
    spread = float(inverse.std() / inverse.mean() * np.sqrt(ks.mean() - 1))
    if spread <= UNEQUAL:
        return None
    low, high = 1.0 / np.quantile(inverse, [0.9, 0.1])
    return f"differs from place to place, {low:.2g} to {high:.2g}: see the local values"


def _inverses(source: Points | Pairs, kept: Ints, ks: Ints, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Distances T (m, k), and 1 / d_k(x) for every point and k; NaN for points with a neighbour at distance 0."""
    T = _neighbor_distances(source, kept, int(ks[-1]), n_jobs)
    logs = np.log(np.where(T[:, :1] > 0, T, np.nan))
    sums = np.cumsum(logs, axis=1)
    return T, np.stack([((k - 1) * logs[:, k - 1] - sums[:, k - 2]) / (k - 1) for k in ks], axis=1)


def _neighbor_distances(source: Points | Pairs, kept: Ints, k: int, n_jobs: int | None) -> Floats:
    """(m, k) distances to the k nearest among the points `kept`."""
    with single_threaded_blas():
        found = neighborhoods(source.subset(kept), n_neighbors=k, run=Run(n_jobs=n_jobs))
    return np.asarray(found.distances.reshape(len(kept), k))


def two_nearest(
    X: Any,
    *,
    discard: float = 0.1,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    n_resamples: int = 200,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """From the two nearest neighbours alone: mu = r_2 / r_1 has the distribution P(mu > t) = t^-d.

    d is the slope, through the origin, of -log(1 - F(mu)) over log(mu), F the empirical distribution, without the
    `discard` largest mu. Sees the smallest scale, and so noise before shape: the curve shows the value on random
    1/2, 1/4, ... of the points, that is at larger scales; noise shows as a fall. Repeated points are left out.
    Facco et al. (2017), doi:10.1038/s41598-017-11873-y.

    Any metric; `metric="precomputed"` takes a matrix of distances.
    """
    values = {"discard": discard, "n_resamples": n_resamples}
    limits: Limits = {"discard": (Real(0, 1, open_high=True),), "n_resamples": (Int(0),)}
    check_limits("two_nearest", values, limits)
    source = read_source(X, metric, metric_params)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, source.n, rng)
    if len(kept) < FEWEST:
        return cannot_tell("two_nn", f"{len(kept)} different points are too few; at least {FEWEST}")
    curve: list[float] = []
    scales: list[float] = []
    part = kept
    log_mu = np.empty(0)
    while len(part) >= FEWEST and len(curve) < HALVINGS:
        r = _neighbor_distances(source, part, 2, n_jobs)
        r = r[r[:, 0] > 0]
        mu = np.log(r[:, 1] / r[:, 0])
        if len(mu) < FEWEST // 2 or not mu.any():
            break
        log_mu = mu if not curve else log_mu
        curve.append(_pareto_slope(mu, discard))
        scales.append(float(np.median(r[:, 1])))
        part = np.sort(rng.choice(part, len(part) // 2, replace=False))
    if not curve or not np.isfinite(curve[0]):
        return cannot_tell("two_nn", "first and second neighbours are at the same distance, as on a grid")

    def of(rows: Ints) -> float:
        return _pareto_slope(log_mu[rows], discard)

    value = curve[0]
    coarse = [d for d in curve[1:3] if np.isfinite(d)]
    drift = abs(float(np.mean(coarse)) - value) / value if coarse else 0.0
    found = Estimate(
        "two_nn",
        value,
        bootstrap(of, len(log_mu), value, n_resamples, rng),
        used=(scales[0], scales[0]),
        scales=np.array(scales),
        curve=np.array(curve),
        axes=("median distance to the second neighbour", "dimension"),
        drift=_spread(np.array(coarse), value),
        reason=f"changes by {drift:.0%} with the scale: noise, or too few points" if drift > UNSTEADY else None,
        note=note,
    )
    found = by_scale(found, only(source, kept), scales[0], rng)
    return judged(found, edge_shortfall(scales[0], typical_distance(source, rng)))


def _pareto_slope(log_mu: Floats, discard: float) -> float:
    """Slope through the origin of -log(1 - i/n) over the i-th smallest log(mu); inf where all kept are 0."""
    n = len(log_mu)
    last = min(max(2, int(np.floor(n * (1 - discard)))), n - 1)
    x = np.sort(log_mu)[:last]
    y = -np.log1p(-np.arange(1, last + 1) / n)
    size = float(x @ x)
    return float(x @ y) / size if size > 0 else float("inf")
