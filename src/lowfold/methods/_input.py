"""From what the user passes as X to `Data`, with errors in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from lowfold._core.errors import InvalidInput
from lowfold.graph._source import PRECOMPUTED, Measured, Pairs, Points, read_matrix
from lowfold.graph._types import Graph, Neighbors
from lowfold.methods._fit import Data
from lowfold.metrics._resolve import resolve_metric

LARGEST, SMALLEST = 1e70, 1e-70  # fourth powers of distances and sums over points stay inside float64


def read_points(estimator: Any, X: Any, *, reset: bool, min_samples: int = 1) -> NDArray[np.floating]:
    """A finite float32 or float64 array with rows as points; float32 is kept, whatever is not float becomes float64."""
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        order="C",
        ensure_min_samples=min_samples,
        ensure_all_finite=True,
    )
    check_range(checked)
    return np.asarray(checked)


def check_range(X: NDArray[np.floating]) -> None:
    """Refuse values whose distances cannot be squared and summed without overflow or underflow."""
    if X.size == 0 or X.dtype.itemsize <= 4:  # float32 ends at 3e38 and 1e-45
        return
    high, low = X.max(axis=0), X.min(axis=0)
    size, spread = float(max(high.max(), -low.min())), float((high - low).max())
    if size > LARGEST or 0.0 < spread < SMALLEST:
        raise InvalidInput(
            f"X has values up to {size:.3g} and a spread of {spread:.3g}; between {SMALLEST:g} and {LARGEST:g} squared "
            "distances can be summed; multiply X by a constant first"
        )


def read_data(estimator: Any, X: Any, metric: Any, metric_params: Any) -> Data:
    """Training input: points, a matrix of distances, or a ready graph."""
    if isinstance(X, (Graph, Neighbors)):
        X.check()
        estimator.n_features_in_ = X.n
        if X.n < 2:
            raise InvalidInput(f"a graph of {X.n} sample cannot be embedded; at least 2 are needed")
        return Data(None, neighbors=X) if isinstance(X, Neighbors) else Data(None, graph=X)
    if isinstance(metric, str) and metric in PRECOMPUTED:
        return Data(_read_matrix(estimator, X, metric, reset=True))
    if issparse(X):
        raise InvalidInput(
            "X is sparse; a sparse matrix is used with metric='precomputed' (distances) only. Reduce sparse features "
            "first (RandomProjection takes sparse input), or pass X.toarray()"
        )
    points = read_points(estimator, X, reset=True, min_samples=2)
    return Data(Points(points, resolve_metric(metric, metric_params, points)))


def _read_matrix(estimator: Any, X: Any, metric: str, *, reset: bool) -> Pairs | Measured:
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_min_samples=2 if reset else 1,
        ensure_all_finite=False,
    )
    return read_matrix(checked, metric, square=reset)


def read_queries(estimator: Any, X: Any, metric: Any, trained: Any) -> NDArray[np.floating] | Pairs | Measured:
    """New points: rows of features, or rows of distances to the training points."""
    if trained is None:
        raise InvalidInput(
            f"{type(estimator).__name__} was fitted on a graph, which says nothing about new points; fit it on points "
            "or on a matrix of distances"
        )
    if isinstance(metric, str) and metric in PRECOMPUTED:
        return _as_trained(_read_matrix(estimator, X, metric, reset=False), trained)
    if issparse(X):
        raise InvalidInput("X is sparse; pass X.toarray()")
    return read_points(estimator, X, reset=False)


def _as_trained(queries: Pairs | Measured, trained: Any) -> Pairs | Measured:
    """Rows of distances in the form of the training matrix: sparse for sparse, dense (NaN is unmeasured) for dense."""
    if isinstance(trained, Measured) and isinstance(queries, Pairs):
        D = queries.distances
        rows, columns = np.nonzero(np.isfinite(D))
        order = np.lexsort((columns, D[rows, columns], rows))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(D)))])
        return Measured(Neighbors(indptr, columns[order], D[rows, columns][order].astype(np.float64), int(D.shape[1])))
    if isinstance(trained, Pairs) and isinstance(queries, Measured):
        pairs = queries.pairs
        D = np.full((pairs.n, pairs.n_points), np.nan)
        D[pairs.rows(), pairs.indices] = pairs.distances
        return Pairs(D)
    return queries
