"""From a user's array straight to `Neighbors` or to a consistency report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.run import Run
from lowfold.graph._consistency import Consistency, check_consistency
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._search import SEARCHES
from lowfold.graph._source import PRECOMPUTED, Points, Source, read_matrix
from lowfold.graph._types import Neighbors
from lowfold.metrics._metric import Metric
from lowfold.metrics._resolve import resolve_metric


def _source(X: Any, metric: str | Callable[..., Any] | Metric, metric_params: Mapping[str, Any] | None) -> Source:
    if isinstance(metric, str) and metric in PRECOMPUTED:
        return read_matrix(X if issparse(X) else np.asarray(X), metric)
    points = np.asarray(X)
    if points.ndim != 2 or points.dtype.kind not in "fiu":
        raise InvalidInput(f"X must be a two-dimensional array of numbers, rows are points; got shape {points.shape}")
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float64)
    if not np.isfinite(points).all():
        raise InvalidInput("X must be finite; it has NaN or inf: leave these rows out or fill them in (EMPCA)")
    points = np.ascontiguousarray(points)
    return Points(points, resolve_metric(metric, metric_params, points))


def find_neighbors(
    X: ArrayLike,
    n_neighbors: int | NDArray[np.int64] | None = None,
    *,
    radius: float | None = None,
    metric: str | Callable[..., Any] | Metric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    search: str = "auto",
    n_jobs: int | None = None,
) -> Neighbors:
    """Neighbourhoods of the rows of X, by the rules of every method; the result can be passed to methods as X.

    With search="faiss" (extra `ann`) the answer is approximate and its `recall` is measured on a sample.

    >>> find_neighbors([[0.0], [1.0], [3.0]], 1).indices.tolist()
    [1, 0, 1]
    """
    if search not in SEARCHES:
        raise InvalidInput(f"search must be one of {', '.join(SEARCHES)}; got {search!r}")
    with single_threaded_blas():
        return neighborhoods(
            _source(X, metric, metric_params),
            n_neighbors=n_neighbors,
            radius=radius,
            search=search,
            run=Run(n_jobs=n_jobs),
        )


def consistency(X: ArrayLike, neighbors: Neighbors | int | None = None, *, n_components: int = 2) -> Consistency:
    """Is the neighbourhood graph of X fit for an embedding into `n_components` dimensions?

    `neighbors` is a ready `Neighbors` or a number of them. Reports pieces, points whose neighbours span too few
    directions, and edges that look like shortcuts.
    """
    found = neighbors if isinstance(neighbors, Neighbors) else find_neighbors(X, neighbors)
    source = _source(X, "euclidean", None)
    assert isinstance(source, Points)
    return check_consistency(source, found, n_components)
