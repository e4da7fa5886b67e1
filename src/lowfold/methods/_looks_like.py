"""What X looks like besides what it is read as: a graph, distances, affinities, one point, columns of several sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.warn import warn
from lowfold.graph._source import AFFINITY, Measured, Pairs
from lowfold.metrics._scales import tell_scales_of_fit

FEWEST_DISTANCES = 4  # points: of fewer, rows of features may well look like distances
ZEROS_LOOKED_AT = 100  # rows of a matrix of distances: half of them tell one of edges from one with repeated points


def tell_one_point(X: NDArray[np.floating]) -> None:
    """Coordinates of rows that are all the same are zeros, or whatever a method starts from."""
    if (X[-1] == X[0]).all() and (X[0] == X).all():
        from lowfold._core.errors import AccuracyWarning

        warn(
            f"all {len(X)} rows of X are the same, so that coordinates tell nothing of them; look whether the columns "
            "that differ were left out",
            AccuracyWarning,
        )


def refuse_no_class(labels: NDArray[Any]) -> None:
    """None, NaN and pandas' NA are no classes: they are unequal to themselves, or cannot be compared."""
    if labels.dtype.kind == "f":
        none = np.isnan(labels)
    elif labels.dtype.kind == "O":
        none = np.array([one is None or type(one).__name__ == "NAType" or one != one for one in labels.tolist()])
    else:
        return
    if none.any():
        first = int(np.argmax(none))
        raise InvalidInput(
            f"y names no class for {int(none.sum())} of {len(labels)} points, the first in row {first}; leave these "
            "rows out, and place them by transform"
        )


def tell_classes(method: Any, labels: NDArray[Any]) -> None:
    """Names and measurements are no classes: with one for each point none has another of its own."""
    if len(labels) > 1 and len(np.unique(labels)) == len(labels):
        warn(
            f"y has a class of its own for each of the {len(labels)} points, so that {type(method).__name__} learns "
            "nothing from it; pass classes that several points share",
            RepairWarning,
        )


def tell_graph(A: csr_array) -> None:
    """Rows of features are hardly ever square and symmetric, with nothing on the diagonal or negative; graphs are."""
    if A.shape[0] != A.shape[1] or A.diagonal().any() or A.data.min(initial=0.0) < 0 or (A - csr_array(A.T)).nnz:
        return
    warn(
        "X is a square symmetric sparse matrix without a diagonal, and is read as rows of features; if it is a graph, "
        f"pass metric='precomputed' (its values are lengths) or metric={AFFINITY!r} (they are weights)",
        RepairWarning,
    )


def tell_distances(method: Any, X: NDArray[np.floating]) -> None:
    """The same of a dense matrix, which is one of distances."""
    n = len(X)
    if X.shape != (n, n) or n < FEWEST_DISTANCES or X.diagonal().any() or (X < 0).any() or not np.array_equal(X, X.T):
        return
    metric = method.parameters.get("metric")
    takes = metric is not None and any(limit.allows("precomputed") for limit in metric.limits)
    way = "pass metric='precomputed'" if takes else "Isomap and ClassicalMDS take them, with metric='precomputed'"
    warn(
        f"X is a square symmetric matrix with zeros on its diagonal, and is read as {n} rows of features; if they are "
        f"distances, {way}",
        RepairWarning,
    )


def tell_scales(method: Any, X: NDArray[np.floating]) -> None:
    if method.by_size:
        names = getattr(method, "feature_names_in_", None)
        tell_scales_of_fit(X, None if names is None else list(names))


def refuse_two_orders(X: Any) -> None:
    """Refuse a table of distances whose columns are named as its rows are, in another order."""
    if not (hasattr(X, "columns") and hasattr(X, "index")):
        return
    rows, columns = list(X.index), list(X.columns)
    if rows != columns and len(set(rows)) == len(rows) == len(columns) and set(rows) == set(columns):
        raise InvalidInput(
            "X has the same names for its rows and its columns, in different orders, and distances stand in one "
            "order; pass X.loc[X.index, X.index]"
        )


def refuse_condensed(X: Any) -> None:
    """SciPy's `pdist` gives the half above the diagonal, row after row: n (n - 1) / 2 values."""
    pairs = len(X) if isinstance(X, np.ndarray) and X.ndim == 1 else 0
    n = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if pairs > 1 and n * (n - 1) // 2 == pairs:
        raise InvalidInput(
            f"X has {pairs} values in one row, as scipy.spatial.distance.pdist gives them of {n} points; pass the "
            "square matrix, scipy.spatial.distance.squareform(X)"
        )


def tell_affinity(matrix: Any, read: Pairs | Measured) -> None:
    """Distances have zeros on the diagonal; the largest value of every row there is what affinities have."""
    sparse = hasattr(matrix, "tocsr")
    diagonal = matrix.diagonal() if sparse else np.diagonal(matrix)
    diagonal = np.where(np.isfinite(diagonal), diagonal, 0.0)  # NaN and infinity keep a point out of its neighbours
    if not diagonal.any():
        if isinstance(read, Pairs):
            _tell_zeros(read.distances)
        return
    largest = matrix.max(axis=1).toarray().ravel() if sparse else np.fmax.reduce(matrix, axis=1)
    if (diagonal >= largest).all():
        warn(
            "every row's largest value stands on the diagonal: this looks like affinities, not distances; use "
            f"metric={AFFINITY!r} (LaplacianEigenmaps, SpectralClustering) or metric='precomputed_similarity'",
            RepairWarning,
        )


def _tell_zeros(D: Any) -> None:
    """Points at distance 0 have the same distances to all others; ends of what is no edge of a dense graph do not."""
    rows = np.unique(np.linspace(0, len(D) - 1, min(len(D), ZEROS_LOOKED_AT)).astype(np.int64))
    zero = D[rows] == 0
    zero[np.arange(len(rows)), rows] = False
    some = np.flatnonzero(zero.any(axis=1))
    if len(some) == 0:
        return
    i, j = rows[some], zero[some].argmax(axis=1)
    apart = np.nan_to_num(np.abs(D[i] - D[j]), nan=0.0, posinf=0.0).max(axis=1)
    size = np.nan_to_num(D[i], nan=0.0, posinf=0.0).max(axis=1)
    wrong = np.flatnonzero(apart > size / 2)
    if 2 * len(wrong) > len(rows):
        first = wrong[0]
        warn(
            f"points {i[first]} and {j[first]} are at distance 0, but their distances to another differ by "
            f"{apart[first]:.3g}: zeros are distances here; where they mean no edge, pass a sparse matrix, "
            f"whose absent entries are unmeasured, or metric={AFFINITY!r} (LaplacianEigenmaps, SpectralClustering)",
            RepairWarning,
        )
