"""Neighbourhoods that follow the data, after Gering (2002): cut where the manifold bends, or kept inside clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Int
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Ints
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._search import trim
from lowfold.graph._source import Points, Source
from lowfold.graph._types import Neighbors
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.methods._neighborhood import hung_on_first


@dataclass(frozen=True)
class Clusters:
    """None, a number of clusters, or one label per point."""

    def allows(self, value: object) -> bool:
        if value is None or Int(1).allows(value):
            return True
        return isinstance(value, (np.ndarray, list, tuple)) and np.ndim(value) == 1 and len(value) > 0

    def words(self) -> str:
        return "None, an int of at least 1, or an array with one label per point"

    def kind(self) -> str:
        return "int, array of labels or None"


def flat_neighborhoods(source: Source, neighbors: Neighbors, d: int, flatness: float) -> Neighbors:
    """Each row cut to its longest beginning of d + 2 or more neighbours with little energy off the best d directions.

    share(k) = 1 - (sum of the d largest eigenvalues of C) / tr(C) <= flatness, C the Gram matrix of the k nearest
    differences x_j - x_i. Where points are sparse or the manifold bends, the beginning is short.
    """
    keep = neighbors.counts.copy()
    patches = Patches.around(neighbors)
    geometry = geometry_of(source, neighbors)
    for rows, index, _ in patches.groups(geometry.cost):
        C = geometry.spokes(index[:, 0].astype(np.int64), index[:, 1:])
        chosen = np.full(len(rows), min(d + 2, C.shape[1]))
        for k in range(d + 3, C.shape[1] + 1):
            values = stacked_eigh(C[:, :k, :k])[0]
            total = np.maximum(values.sum(axis=1), np.finfo(float).tiny)
            chosen[1.0 - values[:, -d:].sum(axis=1) / total <= flatness] = k
        keep[rows] = chosen
    return trim(neighbors, keep)


def cluster_neighborhoods(
    source: Source, clusters: Any, k: int | Ints | None, radius: float | None, search: str, run: Run
) -> Neighbors:
    """The at most k nearest points of each point's own cluster."""
    labels = _labels(source, clusters)
    counts = np.zeros(source.n, dtype=np.int64)
    parts: list[tuple[Ints, Neighbors]] = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            continue
        own = None if k is None else np.broadcast_to(k, (source.n,))[rows]
        found = _inside(source.subset(rows), own, radius, search, run)
        counts[rows] = found.counts
        parts.append((rows, found))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, distances = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
    for rows, found in parts:
        places = np.repeat(indptr[:-1][rows] - found.indptr[:-1], found.counts) + np.arange(len(found.indices))
        indices[places], distances[places] = rows[found.indices], found.distances
    return Neighbors(indptr, indices, distances, source.n)


def _inside(source: Source, k: Ints | None, radius: float | None, search: str, run: Run) -> Neighbors:
    """Neighbourhoods of one cluster, at most k; repeated points hang on the first of them."""

    def among(heads: Ints) -> Neighbors:
        part = source.subset(heads)
        if part.n == 1:
            return Neighbors(np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0), 1)
        own = None if k is None else np.minimum(k[heads], part.n - 1)
        return neighborhoods(part, n_neighbors=own, radius=radius, search=search, run=run)

    return hung_on_first(among(np.arange(source.n)), among)


def _labels(source: Source, clusters: Any) -> Ints:
    if np.ndim(clusters) == 1:
        if len(clusters) != source.n:
            raise InvalidInput(
                f"clusters must have one label per point; got {len(clusters)} labels for {source.n} points"
            )
        return np.unique(np.asarray(clusters), return_inverse=True)[1]
    if clusters > source.n:
        raise InvalidInput(f"clusters must be at most the number of points, {source.n}; got {clusters}")
    if not isinstance(source, Points) or source.metric.feature_map is None:
        raise InvalidInput("K-means needs points; with distances pass clusters as one label per point")
    from sklearn.cluster import KMeans

    means = KMeans(int(clusters), n_init=4, random_state=0)
    return np.asarray(means.fit_predict(source.features()), dtype=np.int64)
