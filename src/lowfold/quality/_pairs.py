"""Measures over all pairs of points: stress, correlations of distances, residual variance.

delta are the distances of the data (geodesic where X is a graph), d those of the embedding. Sums over pairs are taken
in blocks of rows; measures that need all pairs sorted (Spearman, nonmetric stress) use a sample of points beyond
`max_points`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, check_limits
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold.graph._reading import MetricLike
from lowfold.quality._ranks import compare_all
from lowfold.quality._score import Score
from lowfold.quality._spaces import Space, by_rows, read_both

CONSTANT = 1e-13  # of a sum of squares: a variance that is less is rounding of the difference of two such sums


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the other points, one per point: of delta, d, delta^2, d^2, delta d and (delta - d)^2.

    One pass gives every measure.

    Each pair is counted from both ends, which no measure here sees. `n_points` is the number of points where only some
    were looked at, whose sums these are; None where it is all.
    """

    delta: Floats
    d: Floats
    delta2: Floats
    d2: Floats
    cross: Floats
    error: Floats
    n_points: int | None = None

    @classmethod
    def of(cls, sums: Floats, n_points: int) -> PairSums:
        """From the rows of one array (6, rows), in this order."""
        delta, d, delta2, d2, cross, error = sums
        return cls(delta, d, delta2, d2, cross, error, n_points)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.d) if self.n_points is None else self.n_points

    def scale(self) -> float:
        """The factor s that brings s d nearest to delta: sum delta d / sum d^2."""
        d2 = float(self.d2.sum())
        return float(self.cross.sum()) / d2 if d2 > 0 else 1.0

    def stress(self, kind: str = "normalized", *, scaled: bool = False) -> Score:
        """See `lowfold.quality.stress`."""
        check_limits("stress", {"kind": kind}, {"kind": (Choice(("raw", "normalized")),)})
        s = self.scale() if scaled else 1.0
        # Through the sums a perfect fit has a stress of 1e-8, or slightly below zero; without a factor it is direct.
        squares = np.maximum(self.delta2 - 2 * s * self.cross + s * s * self.d2, 0.0) if scaled else self.error
        if kind == "raw":
            return Score("raw stress", float(squares.sum()) / 2, 0.0, squares)
        total = float(self.delta2.sum())
        if total == 0:
            raise InvalidInput("X has no two different points, so that stress has no unit; use kind='raw'")
        points = np.sqrt(squares / np.where(self.delta2 > 0, self.delta2, 1.0))
        return Score("normalized stress", float(np.sqrt(squares.sum() / total)), 0.0, points)

    def pearson(self) -> Score:
        """See `lowfold.quality.pearson`."""
        return Score("pearson", *self._correlations())

    def residual_variance(self) -> Score:
        """See `lowfold.quality.residual_variance`."""
        value, _, points = self._correlations()
        return Score("residual variance", 1.0 - value**2, 0.0, 1.0 - points**2)

    def _correlations(self) -> tuple[float, float, Floats]:
        """Pearson's r over all pairs, of which 1 is perfect, and over those of each point."""
        pairs = len(self.d) * (self.n - 1)
        sums = np.stack([self.delta, self.d, self.delta2, self.d2, self.cross])
        return float(_correlation(sums.sum(axis=1), pairs)), 1.0, _correlation(sums, self.n - 1)


def _correlation(sums: Floats, m: int) -> Floats:
    """Pearson's r from sums over m pairs of x, y, x^2, y^2, xy; NaN where one side does not vary."""
    sx, sy, sxx, syy, sxy = sums
    vx, vy, cov = sxx - sx * sx / m, syy - sy * sy / m, sxy - sx * sy / m
    varies = (vx > CONSTANT * sxx) & (vy > CONSTANT * syy)
    r = np.clip(cov / np.sqrt(np.where(varies, vx * vy, 1.0)), -1.0, 1.0)
    return np.asarray(np.where(varies, r, np.nan))


def pair_sums(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> PairSums:
    """The sums from which stress, Pearson's correlation and residual variance follow."""
    space, image = read_both(X, Y, metric, metric_params)
    sums = np.empty((6, space.n))

    def work(_: int, rows: Ints) -> None:
        delta, d = space.rows(rows), image.rows(rows)
        sums[0, rows], sums[1, rows] = delta.sum(axis=1), d.sum(axis=1)
        error = delta - d
        for place, (a, b) in enumerate(((delta, delta), (d, d), (delta, d), (error, error)), start=2):
            sums[place, rows] = np.einsum("ij,ij->i", a, b)

    by_rows(space.n, work, n_jobs)
    return PairSums(*sums)


def stress(
    X: Any,
    Y: ArrayLike,
    *,
    kind: str = "normalized",
    scaled: bool = False,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """How far the distances of the embedding are from those of the data; 0 for an isometry.

    raw: sum_{i<j} (delta_ij - s d_ij)^2; normalized: sqrt(sum (delta - s d)^2 / sum delta^2). s = 1, or with `scaled`
    the factor that fits best, for methods whose output has no unit of length. Points: the sum over j alone.
    Kruskal (1964), doi:10.1007/BF02289565.

    Parameters
    ----------
    X : points, a matrix of distances (metric="precomputed"), or a `Graph`, whose shortest paths are taken (geodesic).
    Y : array (n, d), the embedding.
    kind : {"normalized", "raw"}
    scaled : bool, fit a common factor first.
    metric, metric_params, n_jobs : as in `trustworthiness`.

    >>> round(stress([[0.0], [1.0], [2.0]], [[0.0], [2.0], [4.0]]).value, 12)
    1.0
    >>> stress([[0.0], [1.0], [2.0]], [[0.0], [2.0], [4.0]], scaled=True).value
    0.0
    """
    return pair_sums(X, Y, metric=metric, metric_params=metric_params, n_jobs=n_jobs).stress(kind, scaled=scaled)


def pearson(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Pearson's correlation of the distances in X and in Y over all pairs; NaN where one side has no variation.

    Parameters as in `stress`.
    """
    return pair_sums(X, Y, metric=metric, metric_params=metric_params, n_jobs=n_jobs).pearson()


def residual_variance(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """1 - R^2 of the distances in X and in Y: the variance of distances that the embedding does not explain.

    With X a `Graph` the distances are geodesic, as in Tenenbaum, de Silva & Langford (2000),
    doi:10.1126/science.290.5500.2319. Parameters as in `stress`.
    """
    return pair_sums(X, Y, metric=metric, metric_params=metric_params, n_jobs=n_jobs).residual_variance()


@dataclass(frozen=True, eq=False)
class SampledPairs:
    """Distances delta and d of all pairs among some points, each pair once; `n` points, `whole` if they are all."""

    delta: Floats
    d: Floats
    n: int
    whole: bool

    def by_point(self, values: Floats) -> Floats:
        """Sums of a value of every pair over the pairs of each point."""
        first, second = np.triu_indices(self.n, 1)
        return np.asarray(np.bincount(first, values, self.n) + np.bincount(second, values, self.n))


def sampled_pairs(space: Space, image: Space, max_points: int, random_state: object) -> SampledPairs:
    """Pairs among at most `max_points` points, drawn at random where there are more."""
    check_limits("a measure of sorted pairs", {"max_points": max_points}, {"max_points": (Int(3),)})
    whole = space.n <= max_points
    chosen = np.arange(space.n)
    if not whole:
        chosen = np.sort(generator(random_state).choice(space.n, max_points, replace=False))
    upper = np.triu_indices(len(chosen), 1)
    with single_threaded_blas():
        return SampledPairs(space.among(chosen)[upper], image.among(chosen)[upper], len(chosen), whole)


def spearman(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_points: int = 3000,
    random_state: object = 0,
) -> Score:
    """Spearman's correlation of the distances in X and in Y: 1 if their order is kept, ties by mean ranks.

    Over all pairs of at most `max_points` points, drawn at random where there are more; the rest as in `stress`.
    Points: the same for the distances from one point, ties by index; None where points were drawn.
    """
    space, image = read_both(X, Y, metric, metric_params)
    pairs = sampled_pairs(space, image, max_points, random_state)
    points = compare_all(space, image, np.arange(space.n), 1, None).correlation if pairs.whole else None
    return spearman_score(pairs, points)


def spearman_score(pairs: SampledPairs, points: Floats | None) -> Score:
    """`spearman` for pairs that are known."""
    from scipy.stats import rankdata

    a, b = rankdata(pairs.delta), rankdata(pairs.d)
    value = _correlation(np.array([a.sum(), b.sum(), a @ a, b @ b, a @ b]), len(a))
    return Score("spearman", float(value), 1.0, points)


def nonmetric_stress(
    X: Any,
    Y: ArrayLike,
    *,
    ties: str = "primary",
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_points: int = 3000,
    random_state: object = 0,
) -> Score:
    """Kruskal's stress-1, sqrt(sum (d - dhat)^2 / sum d^2): 0 if the distances of Y rise with those of X.

    dhat are the values nearest to d that rise with delta (isotonic regression); equal delta may have different dhat
    (ties="primary") or not ("secondary"). Over at most `max_points` points, as in `spearman`. Points: the same sums
    over the pairs of one point; None where points were drawn. Kruskal (1964), doi:10.1007/BF02289565.
    """
    check_limits("nonmetric_stress", {"ties": ties}, {"ties": (Choice(("primary", "secondary")),)})
    space, image = read_both(X, Y, metric, metric_params)
    return nonmetric_score(sampled_pairs(space, image, max_points, random_state), ties)


def nonmetric_score(pairs: SampledPairs, ties: str) -> Score:
    """`nonmetric_stress` for pairs that are known."""
    from lowfold.optimize._isotonic import Ranking

    d = pairs.d
    size = float(d @ d)
    if size == 0:
        raise InvalidInput("Y has no two different points; nonmetric stress compares distances with their own size")
    left = d - Ranking.of(pairs.delta, ties).disparities(d)
    points = None
    if pairs.whole:
        sizes = pairs.by_point(d * d)
        points = np.sqrt(pairs.by_point(left * left) / np.where(sizes > 0, sizes, 1.0))
    return Score("nonmetric stress", float(np.sqrt(left @ left / size)), 0.0, points)
