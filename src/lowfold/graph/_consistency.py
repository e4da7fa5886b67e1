"""Is this graph fit to stand for the manifold? Connection, local dimension, suspicious shortcuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.stacks import equal_rows, singular_values, spokes, stacked_svd
from lowfold._core.types import Floats, Ints
from lowfold.graph._components import components
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors


@dataclass(frozen=True, eq=False)
class Consistency:
    """What was found, with the offending vertices and edges.

    n_components     weak components of the graph (Wang 2012, Section 4.1.4: connection consistence)
    component_sizes  largest first
    flat_points      points whose neighbours span fewer than d directions (local dimension consistence)
    shortcuts        edges (i, j) that leave the tangent spaces of both their ends and are long
    """

    n_components: int
    component_sizes: Ints
    flat_points: Ints
    shortcuts: Ints

    def __repr__(self) -> str:
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
    for now, k in equal_rows(neighbors.counts, points.X.shape[1]):
        s = singular_values(_spokes(points, neighbors, now, k))
        dims[now] = (s > tol * np.maximum(s[:, :1], np.finfo(float).tiny)).sum(axis=1)
    return dims


def tangent_bases(points: Points, neighbors: Neighbors, d: int) -> NDArray[np.float64]:
    """(n, d, D) orthonormal tangent directions: local PCA of the nearer half of the neighbours, at least d + 1 points.

    The nearer half, because a shortcut is among the farther ones.
    """
    n, D = points.X.shape
    bases = np.zeros((n, d, D))
    counts = neighbors.counts
    used = np.minimum(counts, np.maximum(d + 1, counts // 2))
    for now, k in equal_rows(used, D):
        found = stacked_svd(_spokes(points, neighbors, now, k))[2][:, :d]
        bases[now, : found.shape[1]] = found
    return bases


def _spokes(points: Points, neighbors: Neighbors, rows: Ints, k: int) -> Floats:
    """x_j - x_i, (m, k, D), of the k nearest of each row."""
    index = neighbors.indices[neighbors.indptr[rows][:, None] + np.arange(k)]
    return spokes(points.X, index, points.X[rows])


def shortcut_edges(points: Points, neighbors: Neighbors, n_components: int = 2, *, factor: float = 1.0) -> Ints:
    """Edges that look like shortcuts: steeper than 45 degrees to the tangent spaces of both ends, and longer than
    `factor` times the median edge there.

    An edge inside a smooth manifold lies nearly in the tangent space of its ends; a jump between sheets does not.
    """
    graph = neighbors.union()
    bases = tangent_bases(points, neighbors, n_components)
    pairs = graph.edges()
    lengths = graph.lengths[graph.rows() < graph.indices]
    order = np.lexsort((graph.lengths, graph.rows()))
    degrees = graph.degrees()
    medians = np.zeros(graph.n)
    full = degrees > 0
    medians[full] = graph.lengths[order][(graph.indptr[:-1] + (degrees - 1) // 2)[full]]
    long = lengths > factor * np.maximum(medians[pairs[:, 0]], medians[pairs[:, 1]])
    pairs, lengths = pairs[long], lengths[long]
    difference = points.X[pairs[:, 1]].astype(np.float64) - points.X[pairs[:, 0]].astype(np.float64)
    inside = [np.linalg.norm(np.einsum("edi,ei->ed", bases[pairs[:, end]], difference), axis=1) for end in (0, 1)]
    steep = np.maximum(*inside) < np.sqrt(0.5) * np.linalg.norm(difference, axis=1)
    return np.asarray(pairs[steep])


def check_consistency(points: Points, neighbors: Neighbors, n_components: int = 2) -> Consistency:
    """The report for neighbourhoods that are to be embedded into `n_components` dimensions."""
    graph = neighbors.union()
    labels = components(graph)
    return Consistency(
        n_components=int(labels.max(initial=-1)) + 1,
        component_sizes=np.bincount(labels),
        flat_points=np.flatnonzero(local_dimensions(points, neighbors) < n_components),
        shortcuts=shortcut_edges(points, neighbors, n_components),
    )
