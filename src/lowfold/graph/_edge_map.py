"""The linear map of coordinates that fits the lengths of a graph's edges best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.finite import finite_rows
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._types import Graph

EDGES = 200_000  # looked at, at about even places: far more than the d (d + 1) / 2 numbers of a metric need


def edge_map(Y: NDArray[np.floating], graph: Graph) -> Floats:
    """T (d, d) with |(y_i - y_j) T| = length on the edges: the metric M = TT' by least squares of relative errors,
    negative directions left out. A coordinate that tells nothing of lengths gets none. Rows of NaN are not looked at.

    Errors are relative to length^2 + median^2: two points that nearly coincide, and lie a little apart in a picture
    that is right everywhere else, would outweigh all other edges.
    """
    Z: Floats = np.asarray(Y, dtype=np.float64)
    edges, lengths = _placed_edges(Z, graph)
    size = np.nanstd(Z, axis=0)
    size = np.where(size > 0, size, 1.0)
    step = (Z[edges[:, 0]] - Z[edges[:, 1]]) / size
    a, b = np.triu_indices(len(size))
    terms = step[:, a] * step[:, b] * np.where(a == b, 1.0, 2.0)
    squares = np.square(lengths)
    unit = squares + np.median(squares)
    unit = np.where(unit > 0, unit, 1.0)  # where most points coincide
    M = np.zeros((len(size), len(size)))
    M[a, b] = M[b, a] = np.linalg.lstsq(terms / unit[:, None], squares / unit, rcond=None)[0]
    values, vectors = stacked_eigh(M)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)) / size[:, None])


def _placed_edges(Y: Floats, graph: Graph) -> tuple[NDArray[np.int64], Floats]:
    """Edges, each once, whose ends have coordinates, and their lengths; of many a part."""
    edges, lengths = graph.edges(), graph.lengths[graph.rows() < graph.indices]
    every = max(1, len(edges) // EDGES)
    edges, lengths = edges[::every], lengths[::every]
    placed = finite_rows(Y)[edges].all(axis=1)
    return edges[placed], lengths[placed]
