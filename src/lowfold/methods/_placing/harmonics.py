"""New points of Laplacian eigenmaps: the Nystrom formula on their row of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._reach import in_widths, one_way_shares, own_reach, with_one_way
from lowfold.graph._types import Neighbors
from lowfold.graph._weights import Weights
from lowfold.kernels._diffusion import common_width
from lowfold.kernels._gaussian import weigh
from lowfold.methods._fit import Extension, Looks, Queries, Trained
from lowfold.methods._placing.walks import query_edges
from lowfold.spectral._nystrom import nystrom


@dataclass(frozen=True, eq=False)
class HarmonicRow(Extension):
    """Nystrom on the new point's row of weights: its own neighbours AND every point that would count it among its own.

    Without these reverse edges a training point would come back displaced by about one percent.
    """

    laplacian: str
    weights: Any
    scale: float
    loops: float
    symmetrize: str
    values: Floats
    kth_distance: Floats | None
    local: Floats | None = None
    tuning: int = 1  # the neighbour whose distance is a new point's own reach
    one_way: float = 1.0  # share of the weight of an edge that one end alone counts among its neighbours
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        edges = self._edges(trained, queries, found, run)
        w = self._weights(edges.distances / self._joint(found, edges)) * self._shares(trained, found, edges)
        rows = csr_array((w, edges.indices, edges.indptr), shape=(edges.n, edges.n_points))
        d = np.asarray(rows.sum(axis=1)).reshape(-1, 1) + self.loops
        F = trained.coordinates
        if self.laplacian == "unnormalized":
            return nystrom(rows, F, d - self.loops - self.values)
        if self.laplacian == "naive":
            W = self._trained_weights(trained).matrix()
            theta = (F * (W @ F)).sum(axis=0) / (F * F).sum(axis=0)
            return nystrom(rows, F, theta - self.loops)
        if self.laplacian == "random_walk":
            return nystrom(rows, F, d * (1 - self.values) - self.loops)
        root = np.sqrt(self._trained_weights(trained).volumes())  # symmetric: a = D^1/2 f
        return nystrom(rows, F / root[:, None], d * (1 - self.values) - self.loops) * np.sqrt(d)

    def _trained_weights(self, trained: Trained) -> Weights:
        W = weigh(in_widths(trained.edges, self.local), self.weights, self.scale, self.loops)
        reach = None if trained.n_neighbors is None else self.kth_distance
        return with_one_way(W, trained.edges, reach, self.one_way)

    def _joint(self, found: Neighbors, edges: Neighbors) -> Floats | float:
        """The wider of the widths at the ends of every edge; a new point's is that of its `tuning`-th neighbour."""
        if self.local is None:
            return 1.0
        own = np.maximum(1.0, own_reach(found, self.tuning) / common_width(self.scale))
        return np.maximum(own[edges.rows()], self.local[edges.indices])

    def _shares(self, trained: Trained, found: Neighbors, edges: Neighbors) -> Floats | float:
        if self.one_way == 1 or trained.n_neighbors is None or self.kth_distance is None:
            return 1.0
        own, theirs = found.kth_distance()[edges.rows()], self.kth_distance[edges.indices]
        return one_way_shares(edges.distances, own, theirs, self.one_way)

    def _weights(self, lengths: Floats) -> Floats:
        if self.weights == "affinity":
            return 1.0 / lengths
        if callable(self.weights):
            return np.asarray(self.weights(lengths**2), dtype=np.float64)
        return np.exp(-(lengths**2) / self.scale) if self.weights == "heat" else np.ones(len(lengths))

    def _edges(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Neighbors:
        """The edges that the new point would have in the symmetrised graph."""
        return query_edges(trained, queries, found, self.kth_distance, self.symmetrize, run)
