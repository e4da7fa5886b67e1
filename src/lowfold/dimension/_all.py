"""Every estimator on one data set."""

from __future__ import annotations

from typing import Any

from lowfold._core.errors import InvalidInput
from lowfold.dimension._capacity import capacity
from lowfold.dimension._correlation import correlation
from lowfold.dimension._elbow import residual_elbow
from lowfold.dimension._estimate import Estimate, Estimates
from lowfold.dimension._linear import linear, local_pca
from lowfold.dimension._multiscale import multiscale_svd
from lowfold.dimension._nearest import maximum_likelihood, two_nearest
from lowfold.dimension._read import read_points

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
)


def _one(name: str, X: Any, seed: object, n_jobs: int | None) -> Estimate:
    family, _, kind = name.partition("_")
    if family == "linear":
        return linear(X, rule=kind, random_state=seed)
    if family == "capacity":
        return capacity(X, method=kind, random_state=seed, max_points=2000, n_resamples=4)
    others = {
        "local_pca": local_pca,
        "correlation": correlation,
        "multiscale_svd": multiscale_svd,
        "mle": maximum_likelihood,
        "two_nn": two_nearest,
        "residual_elbow": residual_elbow,
    }
    return others[name](X, random_state=seed, n_jobs=n_jobs)  # type: ignore[operator, no-any-return]


def estimate_all(
    X: Any, names: tuple[str, ...] = NAMES, *, random_state: object = 0, n_jobs: int | None = None
) -> Estimates:
    """All estimators, or those named, with their defaults (capacity on at most 2,000 points).

    They answer different questions: linear ones bound the dimension from above; local PCA, maximum likelihood and two
    neighbours look at the smallest scale, which noise fills; correlation and capacity at a middle one; multiscale SVD
    tells the scales apart.

    >>> import numpy as np
    >>> t = np.random.default_rng(0).random((400, 2))
    >>> X = np.column_stack([t, t[:, 0] ** 2])
    >>> found = estimate_all(X, ("linear_exact", "local_pca", "mle"))
    >>> found["linear_exact"].value, found["local_pca"].value
    (3.0, 2.0)
    """
    points = read_points(X)
    for name in names:
        if name not in NAMES:
            raise InvalidInput(f"names must be among {', '.join(NAMES)}; got {name!r}")
    return Estimates(tuple(_one(name, points, random_state, n_jobs) for name in names))
