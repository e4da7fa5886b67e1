"""From what the user passes as X to points or distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import PRECOMPUTED, Measured, Pairs, Points, read_matrix
from lowfold.metrics._metric import Metric
from lowfold.metrics._points import as_points
from lowfold.metrics._resolve import resolve_metric

MetricLike = str | Callable[..., Any] | Metric
Params = Mapping[str, Any] | None

LARGEST = 1e70  # fourth powers of distances, summed over points, stay inside float64


def read_points(X: Any) -> Floats:
    """Rows of finite numbers in float64."""
    points = np.ascontiguousarray(as_points(X, "X"), dtype=np.float64)
    size, spread = float(np.abs(points).max()), float(np.ptp(points, axis=0).max())
    if size > LARGEST or 0 < spread < 1 / LARGEST:
        raise InvalidInput(
            f"X has values up to {size:.3g} and a spread of {spread:.3g}; between {1 / LARGEST:g} and {LARGEST:g} "
            "squared distances can be summed; multiply X by a constant first"
        )
    return points


def read_source(X: Any, metric: MetricLike, metric_params: Params) -> Points | Pairs:
    """Different points with a metric, or a full matrix of distances. Repeated points say nothing about dimension."""
    if isinstance(metric, str) and metric in PRECOMPUTED:
        source = read_matrix(X if hasattr(X, "tocsr") else np.asarray(X), metric)
        if isinstance(source, Measured) or not np.isfinite(source.distances).all():
            raise InvalidInput(
                "X must have a measured, finite distance for every pair; fill the gaps by geodesics first"
            )
        return Pairs(np.asarray(source.distances, dtype=np.float64))
    points = read_points(X)
    return Points(points, resolve_metric(metric, metric_params, points))


def distinct(source: Points | Pairs) -> Ints:
    """Rows of the first of every set of points that are equal, or at distance 0 in a matrix."""
    if isinstance(source, Pairs):
        first = np.argmin(source.distances, axis=1)  # of a row's zeros the first; its own is one of them
        return np.flatnonzero((first == np.arange(source.n)) | (source.distances.min(axis=1) > 0))
    return np.sort(np.unique(source.X, axis=0, return_index=True)[1])


def typical_distance(source: Points | Pairs, rng: np.random.Generator) -> float:
    """Median distance between two points, from at most 300 of them."""
    rows = np.sort(rng.choice(source.n, min(source.n, 300), replace=False))
    D = source.distances[np.ix_(rows, rows)] if isinstance(source, Pairs) else source.rows(source.X[rows], rows)
    return float(np.median(np.asarray(D, dtype=np.float64)[np.triu_indices(len(rows), 1)]))


def distance_rows(source: Points | Pairs, rows: Ints) -> Floats:
    """Distances from some points to all."""
    if isinstance(source, Pairs):
        return np.asarray(source.distances[rows], dtype=np.float64)
    return source.rows(source.X[rows])
