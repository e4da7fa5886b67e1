"""Every estimator on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.dimension._capacity import capacity
from lowfold.dimension._correlation import correlation
from lowfold.dimension._elbow import residual_elbow
from lowfold.dimension._estimate import Estimate, Estimates, cannot_tell
from lowfold.dimension._linear import linear, local_pca
from lowfold.dimension._multiscale import multiscale_svd
from lowfold.dimension._nearest import maximum_likelihood, two_nearest
from lowfold.dimension._read import read_source
from lowfold.dimension._scikit_dimension import PREFIX, scikit_dimension
from lowfold.dimension._unfolding import mvu_spectrum
from lowfold.graph._reading import MetricLike, Params
from lowfold.graph._source import Pairs

NAMES = (
    "linear_exact",
    "linear_energy",
    "linear_gap",
    "local_pca",
    "correlation",
    "capacity_packing",
    "capacity_covering",
    "capacity_box",
    "multiscale_svd",
    "mle",
    "two_nn",
    "residual_elbow",
    "mvu_spectrum",
)
ANY_METRIC = {
    "correlation": correlation,
    "mle": maximum_likelihood,
    "two_nn": two_nearest,
    "residual_elbow": residual_elbow,
    "mvu_spectrum": mvu_spectrum,
}


def _one(name: str, X: Any, metric: dict[str, Any], coordinates: bool, seed: object, n_jobs: int | None) -> Estimate:
    if name in ANY_METRIC:
        return ANY_METRIC[name](X, random_state=seed, n_jobs=n_jobs, **metric)  # type: ignore[operator, no-any-return]
    if name in ("capacity_packing", "capacity_covering"):
        kind = name.removeprefix("capacity_")
        return capacity(X, method=kind, random_state=seed, max_points=2000, n_resamples=4, **metric)
    if not coordinates:
        return cannot_tell(name, "needs coordinates with Euclidean distances")
    if name.startswith(PREFIX):
        return scikit_dimension(X, name, random_state=seed)
    if name.startswith("linear_"):
        return linear(X, rule=name.removeprefix("linear_"), random_state=seed)
    if name == "capacity_box":
        return capacity(X, method="box", random_state=seed, max_points=2000, n_resamples=4)
    local = local_pca if name == "local_pca" else multiscale_svd
    return local(X, random_state=seed, n_jobs=n_jobs)


def estimate_all(
    X: Any,
    names: Sequence[str] = NAMES,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> Estimates:
    """All estimators, or those named, with their defaults (capacity on at most 2,000 points).

    They answer different questions: the rank ("linear_exact") bounds the dimension from above; energy and gap count
    what a plane takes for most of the variance, which a narrow strip makes fewer; local PCA, maximum likelihood and two
    neighbours look at the smallest scale, which noise fills; correlation and capacity at a middle one; multiscale SVD
    tells the scales apart; the elbow and the unfolded spectrum count what one chart needs. A name as "skdim:DANCo" is
    one of `scikit_dimension`. With another metric, or with a matrix of distances (metric="precomputed"), those that
    need coordinates say that they cannot tell.

    >>> import numpy as np
    >>> t = np.random.default_rng(0).random((400, 2))
    >>> X = np.column_stack([t, t[:, 0] ** 2])
    >>> found = estimate_all(X, ("linear_exact", "local_pca", "mle"))
    >>> found["linear_exact"].value, found["local_pca"].value
    (3.0, 2.0)
    """
    for name in names:
        if name not in NAMES and not name.startswith(PREFIX):
            raise InvalidInput(f"names must be among {', '.join(NAMES)}, or as {PREFIX}DANCo; got {name!r}")
    source = read_source(X, metric, metric_params)
    if isinstance(source, Pairs):
        given: Any = source.distances
        how: dict[str, Any] = {"metric": "precomputed"}
    else:
        given, how = source.X, {"metric": source.metric}
    coordinates = not isinstance(source, Pairs) and source.metric.name == "euclidean"
    return Estimates(tuple(_one(name, given, how, coordinates, random_state, n_jobs) for name in names))
