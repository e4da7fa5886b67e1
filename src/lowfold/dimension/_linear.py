"""Linear dimension, of all points and of neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Limits, Null, Real, check_limits
from lowfold._core.parallel import COPIED, block_slices, run_blocks, single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import singular_values, stacked_svd
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled
from lowfold.dimension._read import distinct, only, read_points, read_source
from lowfold.dimension._scales import by_scale
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._source import Points
from lowfold.metrics._resolve import resolve_metric

RULES = ("exact", "energy", "gap")
ROUNDED = 8 * np.finfo(np.float64).eps  # of a coordinate: taking off the mean and an SVD, each a few roundings
WIDEST, SCALES, NARROWEST = 8, 8, 4  # times k, the largest neighbourhoods of the curve; how many; the smallest
CENTERS = 200  # points at which the curve over the scales is measured
SECOND = 0.2  # share of the points that makes a second local dimension worth a word
FEWEST = 10  # points with neighbourhoods
FAINT_GAP = 2.0  # a ratio of neighbouring variances below this is no gap


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The smallest hyperplane x = U y + origin that holds the data: U (D, s) orthonormal, origin orthogonal to U.

    coordinates  (n, s) y = U'(x - origin): all distances are kept
    residual     largest distance of a point from the hyperplane
    """

    U: Floats
    origin: Floats
    coordinates: Floats
    residual: float

    __repr__ = brief

    @property
    def dim(self) -> int:
        """s."""
        return int(self.U.shape[1])


def hyperplane(X: Any, *, tol: float = 1e-8) -> Hyperplane:
    """The hyperplane of smallest dimension that holds all points; directions below `tol` of the longest are left out.

    Wang (2012), Section 1.4: s is the linear intrinsic dimension; `origin` is the point of the hyperplane nearest to
    zero. Equal points give s = 0.

    >>> hyperplane([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0]]).dim
    2
    """
    check_limits("hyperplane", {"tol": tol}, {"tol": (Real(0, 1, open_high=True),)})
    points = read_points(X)
    mean = points.mean(axis=0)
    with single_threaded_blas():
        _, s, Vt = stacked_svd(points - mean)
        U = Vt[_above(s, tol, points)].T
        origin = mean - U @ (U.T @ mean)
        Y = (points - origin) @ U
        off = np.linalg.norm(points - origin - Y @ U.T, axis=1)
    return Hyperplane(U, origin, Y, float(off.max()))


def _above(s: Floats, tol: float, points: Floats) -> NDArray[np.bool_]:
    """Singular values that are neither below tol of the largest nor rounding of the points themselves."""
    rounding = ROUNDED * float(np.abs(points).max()) * np.sqrt(points.size)
    return np.asarray(s > max(tol * s[0], rounding))


def linear(
    X: Any,
    *,
    rule: str = "energy",
    share: float = 0.95,
    tol: float = 1e-8,
    n_resamples: int = 20,
    random_state: object = 0,
) -> Estimate:
    """Dimension of the hyperplane that holds the data, or nearly all of its variance.

    With variances lambda_1 >= lambda_2 >= ...: rule="exact" counts singular values above `tol` of the largest;
    "energy" is the smallest d with sum_{i<=d} lambda_i >= share sum lambda_i; "gap" is the d with the largest ratio
    lambda_d / lambda_{d+1}. The curve is what the rule looks at: singular values over the largest, the explained share,
    or lambda_d / sum lambda_i. A curved manifold needs more linear directions than it has dimensions: "exact" is an
    upper bound. The others leave out what is small, so that a strip with a twentieth of the variance across counts as a
    line. n points lie in n - 1 directions whatever they are, which `reason` says.
    """
    values = {"rule": rule, "share": share, "tol": tol, "n_resamples": n_resamples}
    limits: Limits = {
        "rule": (Choice(RULES),),
        "share": (Real(0, 1, open_low=True),),
        "tol": (Real(0, 1, open_high=True),),
        "n_resamples": (Int(0),),
    }
    check_limits("linear", values, limits)
    points = read_points(X)
    name = f"linear_{rule}"
    with single_threaded_blas():
        s = singular_values(points - points.mean(axis=0))
        spanned = int(_above(s, tol, points).sum())
        if spanned == 0:
            one = "a single point lies everywhere" if len(points) == 1 else None
            return Estimate(name, 0.0, axes=("components", "explained share"), bound=True, reason=one)
        value, reason = _count(s, spanned, rule, share)
        if spanned < points.shape[1] and value > spanned / 2 and spanned == len(np.unique(points, axis=0)) - 1:
            reason = f"{spanned + 1} points always lie in {spanned} directions: too few to tell {value:g}"

        def on_half(rows: Ints) -> float:
            half = singular_values(points[rows] - points[rows].mean(axis=0))
            kept = int(_above(half, tol, points[rows]).sum())
            return _count(half, kept, rule, share)[0] if kept else 0.0

        interval = half_samples(on_half, len(points), value, n_resamples, generator(random_state), whole=True)
    variance = s**2 / (s**2).sum()
    curve = {"exact": s / s[0], "energy": np.cumsum(variance), "gap": variance}[rule]
    words = {"exact": "singular value over the largest", "energy": "explained share", "gap": "share of the variance"}
    return Estimate(
        name,
        value,
        interval,
        used=(1.0, float(spanned)),
        scales=np.arange(1.0, len(s) + 1),
        curve=curve,
        axes=("components", words[rule]),
        bound=rule == "exact",
        whole=rule != "exact",
        reason=reason,
    )


def _count(s: Floats, spanned: int, rule: str, share: float) -> tuple[float, str | None]:
    """The dimension by a rule from singular values, of which the first `spanned` are not zero."""
    if rule == "exact":
        return float(spanned), None
    variance = s[:spanned] ** 2
    if rule == "energy":
        explained = np.cumsum(variance) / variance.sum()
        return float(min(int((explained < share - ROUNDING).sum()) + 1, spanned)), None
    if spanned < len(s):
        return float(spanned), None  # variance zero beyond: the ratio is infinite
    if spanned == 1:
        return 1.0, None
    ratios = variance[:-1] / variance[1:]
    best = int(np.argmax(ratios))
    faint = ratios[best] < FAINT_GAP
    return float(best + 1), f"no gap: the largest ratio of variances is {ratios[best]:.2f}" if faint else None


def local_pca(
    X: Any,
    n_neighbors: int | None = None,
    *,
    share: float = 0.95,
    average: str = "median",
    n_resamples: int = 10,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Dimension of the tangent plane at every point: directions that hold `share` of the variance of the neighbours.

    Neighbours and the point itself, about their mean. The value is the median (or the mean) of the local dimensions.
    Too few neighbours see too few directions, too many see the curvature: the curve is the mean local dimension, at up
    to 200 points, over 4 to 8 times the number of neighbours. Repeated points are left out. Wang (2012), Section 1.4.1.

    Parameters
    ----------
    X : points, Euclidean.
    n_neighbors : int or None; None is min(10, n - 1).
    share : how much of the local variance counts as all of it.
    average : {"median", "mean"} of the local dimensions.
    n_resamples : estimates on random halves for the interval; 0 for none.
    """
    values = {"n_neighbors": n_neighbors, "share": share, "average": average, "n_resamples": n_resamples}
    limits: Limits = {
        "n_neighbors": (Int(2), Null("min(10, n - 1)")),
        "share": (Real(0, 1, open_low=True),),
        "average": (Choice(("median", "mean")),),
        "n_resamples": (Int(0),),
    }
    check_limits("local_pca", values, limits)
    source = read_source(X, "euclidean", None)
    assert isinstance(source, Points)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, source.n, rng)
    points = np.asarray(source.X[kept], dtype=np.float64)
    n, D = points.shape
    if n < FEWEST:
        return cannot_tell("local_pca", f"{n} different points are too few for neighbourhoods; at least {FEWEST}")
    k = default_neighbors(n) if n_neighbors is None else n_neighbors
    explained, reach = _local_shares(points, k, n_jobs)
    local = _local_dimensions(explained, share)
    take = np.median if average == "median" else np.mean
    value = float(take(local))
    seen = _several(local)
    if value < D and k < 3 * (value + 1):
        seen = f"{k} neighbours are few to tell {value:g} directions; use at least {3 * (value + 1):.0f}"

    def on_half(rows: Ints) -> float:
        if len(rows) <= k:
            return float("nan")
        return float(take(_local_dimensions(_local_shares(points[rows], k, n_jobs)[0], share)))

    whole = average == "median"
    interval = half_samples(on_half, n, value, n_resamples, rng, whole=whole)
    ks = np.unique(np.geomspace(NARROWEST, min(WIDEST * k, n - 1), SCALES).astype(np.int64))
    everywhere = np.full(source.n, np.nan)
    everywhere[kept] = local
    found = Estimate(
        "local_pca",
        value,
        interval,
        used=(float(k), float(k)),
        scales=ks.astype(np.float64),
        curve=_by_scale(points, ks, share, rng, n_jobs),
        axes=("neighbours k", "dimension"),
        lengths=(reach, reach),
        local=everywhere,
        reason=seen,
        note=note,
    )
    return by_scale(found, only(source, kept), reach, rng)


def _several(local: Floats) -> str | None:
    """Which dimensions there are, where a second one holds at a fifth of the points."""
    values, counts = np.unique(local, return_counts=True)
    shares = counts / len(local)
    common = [f"{value:g} at {share:.0%}" for value, share in zip(values, shares) if share >= SECOND]
    return f"differs from place to place: {', '.join(common)} of the points" if len(common) > 1 else None


def _by_scale(points: Floats, ks: Ints, share: float, rng: np.random.Generator, n_jobs: int | None) -> Floats:
    """Mean local dimension at up to 200 points, for every number of neighbours."""
    n = len(points)
    centers = np.sort(rng.choice(n, min(n, CENTERS), replace=False))
    found = np.empty((len(centers), len(ks)))

    def work(i: int) -> None:
        distance = np.linalg.norm(points - points[centers[i]], axis=1)
        near = np.argpartition(distance, ks[-1])[: ks[-1] + 1]
        near = near[np.argsort(distance[near], kind="stable")]
        for j, k in enumerate(ks):
            patch = points[near[: k + 1]]
            found[i, j] = _local_dimensions(_shares(singular_values(patch - patch.mean(axis=0))[None]), share)[0]

    with single_threaded_blas():
        run_blocks(work, len(centers), n_jobs=n_jobs)
    return np.asarray(found.mean(axis=0))


def _shares(s: Floats) -> Floats:
    """Cumulated shares of the variance, from rows of singular values; NaN in rows without variance."""
    total = (s**2).sum(axis=1, keepdims=True)
    return np.where(total > 0, np.cumsum(s**2, axis=1) / np.where(total > 0, total, 1.0), np.nan)


def _local_shares(points: Floats, k: int, n_jobs: int | None) -> tuple[Floats, float]:
    """(n, m) shares of the variance of a point and its k neighbours in 1, 2, ... directions; median k-th distance."""
    n, D = points.shape
    explained = np.empty((n, min(k + 1, D)))
    with single_threaded_blas():
        source = Points(points, resolve_metric("euclidean", None, points))
        found = neighborhoods(source, n_neighbors=k, run=Run(n_jobs=n_jobs))
        index = found.indices.reshape(n, k)
        parts = block_slices(n, max(1, COPIED // (D * (k + 1))))

        def work(b: int) -> None:
            rows = np.arange(parts[b].start, parts[b].stop)
            patch = points[np.concatenate([rows[:, None], index[rows]], axis=1)]
            explained[rows] = _shares(singular_values(patch - patch.mean(axis=1, keepdims=True)))

        run_blocks(work, len(parts), n_jobs=n_jobs)
    return explained, float(np.median(found.distances.reshape(n, k)[:, -1]))


def _local_dimensions(explained: Floats, share: float) -> Floats:
    """Directions that hold `share`, at each point; 0 where all neighbours coincide."""
    counts = (explained < share - ROUNDING).sum(axis=1) + 1.0
    return np.asarray(np.where(np.isnan(explained[:, 0]), 0.0, counts))


def require_range(name: str, value: tuple[float, float] | None) -> None:
    """Raise unless a scale range is None or 0 < low < high."""
    if value is not None and not (len(value) == 2 and 0 < value[0] < value[1] < np.inf):
        raise InvalidInput(f"{name} must be None or (low, high) with 0 < low < high; got {value!r}")
