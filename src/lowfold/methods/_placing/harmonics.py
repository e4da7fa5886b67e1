"""New points of Laplacian eigenmaps: the Nystrom formula on their row of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
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
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        edges = self._edges(trained, queries, found, run)
        w = self._weights(edges.distances)
        rows = csr_array((w, edges.indices, edges.indptr), shape=(edges.n, edges.n_points))
        d = np.asarray(rows.sum(axis=1)).reshape(-1, 1) + self.loops
        F = trained.coordinates
        if self.laplacian == "unnormalized":
            return nystrom(rows, F, d - self.loops - self.values)
        if self.laplacian == "naive":
            W = weigh(trained.edges, self.weights, self.scale, self.loops).matrix()
            theta = (F * (W @ F)).sum(axis=0) / (F * F).sum(axis=0)
            return nystrom(rows, F, theta - self.loops)
        if self.laplacian == "random_walk":
            return nystrom(rows, F, d * (1 - self.values) - self.loops)
        root = np.sqrt(self._degrees(trained))  # symmetric: a = D^1/2 f
        return nystrom(rows, F / root[:, None], d * (1 - self.values) - self.loops) * np.sqrt(d)

    def _degrees(self, trained: Trained) -> Floats:
        return weigh(trained.edges, self.weights, self.scale, self.loops).volumes()

    def _weights(self, lengths: Floats) -> Floats:
        if self.weights == "affinity":
            return 1.0 / lengths
        if callable(self.weights):
            return np.asarray(self.weights(lengths**2), dtype=np.float64)
        return np.exp(-(lengths**2) / self.scale) if self.weights == "heat" else np.ones(len(lengths))

    def _edges(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Neighbors:
        """The edges that the new point would have in the symmetrised graph."""
        return query_edges(trained, queries, found, self.kth_distance, self.symmetrize, run)
