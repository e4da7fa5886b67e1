"""From a user's array straight to `Neighbors` or to a consistency report."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.run import Run
from lowfold.graph._consistency import Consistency, check_consistency
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._reading import MetricLike, Params, is_precomputed, read_points, read_source, read_sparse
from lowfold.graph._search import SEARCHES
from lowfold.graph._types import Neighbors


def find_neighbors(
    X: ArrayLike,
    n_neighbors: int | NDArray[np.int64] | None = None,
    *,
    radius: float | None = None,
    metric: MetricLike = "euclidean",
    metric_params: Params = None,
    search: str = "auto",
    n_jobs: int | None = None,
) -> Neighbors:
    """Neighbourhoods of the rows of X, dense or sparse, by the rules of every method, which take the result as X.

    With search="faiss" (extra `ann`) the answer is approximate and its `recall` is measured on a sample.

    >>> find_neighbors([[0.0], [1.0], [3.0]], 1).indices.tolist()
    [1, 0, 1]
    """
    if search not in SEARCHES:
        raise InvalidInput(f"search must be one of {', '.join(SEARCHES)}; got {search!r}")
    with single_threaded_blas():
        return neighborhoods(
            read_sparse(X, metric)
            if issparse(X) and not is_precomputed(metric)
            else read_source(X, metric, metric_params),
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
    return check_consistency(read_points(X, "X", "euclidean", None), found, n_components)
