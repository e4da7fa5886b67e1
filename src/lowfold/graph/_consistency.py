"""Is this graph fit to stand for the manifold? Connection, local dimension, suspicious shortcuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import block_slices
from lowfold._core.stacks import singular_values
from lowfold.graph._components import components
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Consistency:
    """What was found, with the offending vertices and edges.

    n_components     weak components of the graph (Wang 2012, Section 4.1.4: connection consistence)
    component_sizes  largest first
    flat_points      points whose neighbours span fewer than d directions (local dimension consistence)
    shortcuts        edges (i, j) far longer than both ends' other edges AND whose ends have no common neighbour
    """

    n_components: int
    component_sizes: Ints
    flat_points: Ints
    shortcuts: Ints

    def __str__(self) -> str:
        pieces = f"{self.n_components} components of sizes {self.component_sizes[:5].tolist()}"
        lines = [
            "one connected piece" if self.n_components == 1 else pieces,
            f"{len(self.flat_points)} points whose neighbours span too few directions",
            f"{len(self.shortcuts)} suspicious shortcut edges",
        ]
        return "; ".join(lines)


def local_dimensions(points: Points, neighbors: Neighbors, *, tol: float = 1e-6) -> Ints:
    """Number of directions spanned by the differences x_j - x_i of each point's neighbours."""
    dims = np.zeros(neighbors.n, dtype=np.int64)
    counts = neighbors.counts
    for k in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == k)
        for part in block_slices(len(rows), max(1, 2_000_000 // int(k * points.X.shape[1]))):
            now = rows[part]
            index = neighbors.indices[neighbors.indptr[now][:, None] + np.arange(k)]
            difference = points.X[index].astype(np.float64) - points.X[now].astype(np.float64)[:, None]
            s = singular_values(difference)
            dims[now] = (s > tol * np.maximum(s[:, :1], np.finfo(float).tiny)).sum(axis=1)
    return dims


def shortcut_edges(graph: Graph, *, factor: float = 3.0) -> Ints:
    """Edges longer than `factor` times the median edge at both ends, whose ends share no neighbour.

    A true neighbour's neighbours overlap with one's own; the two sheets that a shortcut joins do not.
    """
    medians = np.array([np.median(graph.row(i)[1]) if len(graph.row(i)[1]) else 0.0 for i in range(graph.n)])
    pairs = graph.edges()
    rows = graph.rows()
    lengths = graph.lengths[rows < graph.indices]
    long = lengths > factor * np.maximum(medians[pairs[:, 0]], medians[pairs[:, 1]])
    pairs = pairs[long]
    alone = [len(np.intersect1d(graph.row(i)[0], graph.row(j)[0], assume_unique=True)) == 0 for i, j in pairs]
    return pairs[np.array(alone, dtype=bool)] if len(pairs) else pairs


def check_consistency(points: Points, neighbors: Neighbors, n_components: int = 2) -> Consistency:
    """The report for neighbourhoods that are to be embedded into `n_components` dimensions."""
    graph = neighbors.union()
    labels = components(graph)
    return Consistency(
        n_components=int(labels.max(initial=-1)) + 1,
        component_sizes=np.bincount(labels),
        flat_points=np.flatnonzero(local_dimensions(points, neighbors) < n_components),
        shortcuts=shortcut_edges(graph),
    )
