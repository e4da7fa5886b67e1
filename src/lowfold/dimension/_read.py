"""From what the user passes as X to points or distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.types import Floats, Ints
from lowfold.graph._reading import MetricLike, Params, read_complete, read_rows
from lowfold.graph._source import Pairs, Points

TYPICAL = 300  # points between which the median distance is taken: their 45,000 pairs tell a scale well enough


def read_points(X: Any) -> Floats:
    """Rows of finite numbers in float64."""
    return np.asarray(read_rows(X, dtype=np.float64))


def read_source(X: Any, metric: MetricLike, metric_params: Params) -> Points | Pairs:
    """Points with a metric, or a full matrix of distances, in float64."""
    gaps = "fill the gaps by geodesics first"
    return read_complete(X, metric, metric_params, way_out=gaps, dtype=np.float64)


def distinct(source: Points | Pairs) -> Ints:
    """Rows of the first of every set of points that are equal, or at distance 0 in a matrix."""
    if isinstance(source, Pairs):
        first = np.argmin(source.distances, axis=1)  # of a row's zeros the first; its own is one of them
        return np.flatnonzero((first == np.arange(source.n)) | (source.distances.min(axis=1) > 0))
    return np.sort(np.unique(source.X, axis=0, return_index=True)[1])


def only(source: Points | Pairs, kept: Ints) -> Points | Pairs:
    """The source with these rows alone."""
    return source if len(kept) == source.n else source.subset(kept)


def typical_distance(source: Points | Pairs, rng: np.random.Generator) -> float:
    """Median distance between two points, from at most 300 of them."""
    rows = np.sort(rng.choice(source.n, min(source.n, TYPICAL), replace=False))
    D = source.distances[np.ix_(rows, rows)] if isinstance(source, Pairs) else source.rows(source.X[rows], rows)
    return float(np.median(np.asarray(D, dtype=np.float64)[np.triu_indices(len(rows), 1)]))


def distance_rows(source: Points | Pairs, rows: Ints) -> Floats:
    """Distances from some points to all."""
    if isinstance(source, Pairs):
        return np.asarray(source.distances[rows], dtype=np.float64)
    return source.rows(source.X[rows])
