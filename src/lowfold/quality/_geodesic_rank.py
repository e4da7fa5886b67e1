"""What embeddings are ranked by where nobody knows the truth: neighbours along the data, up to a linear map.

A chart of a strip ten times as long as wide is as good when its axes have one length, as those of the alignment methods
have; its Euclidean neighbours are others, though. So the linear map is taken first that fits the lengths of edges best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._components import components
from lowfold.graph._connect import find_bridges
from lowfold.graph._types import Graph
from lowfold.quality._neighborhood_view import FEWEST, NeighborhoodView


def reference_graph(view: NeighborhoodView, run: Run) -> tuple[Graph, Ints]:
    """A graph that geodesics are taken from, without shortcuts as far as they are seen, and the pieces it had before
    bridges joined them.
    """
    graph = view.graph if view.n >= FEWEST else view.neighbors(view.k).union()
    pieces = components(graph)
    if pieces.any():
        bridges = find_bridges(view.source, pieces, run=run)
        graph = graph.with_edges(bridges.edges, bridges.lengths)
    return graph, pieces


def fitted_to_edges(Y: NDArray[np.floating], graph: Graph) -> Floats:
    """Y mapped linearly so that |y_i - y_j| = length on the edges: the metric M of dy^T M dy by least squares of
    relative errors, negative directions left out. A coordinate that tells nothing of lengths gets none.

    Errors are relative to length^2 + median^2: two points that nearly coincide, and lie a little apart in a picture
    that is right everywhere else, would outweigh all other edges.
    """
    edges = graph.edges()
    squares = np.square(graph.lengths[graph.rows() < graph.indices])
    size = Y.std(axis=0)
    Z = np.asarray(Y, dtype=np.float64) / np.where(size > 0, size, 1.0)
    step = Z[edges[:, 0]] - Z[edges[:, 1]]
    d = Z.shape[1]
    a, b = np.triu_indices(d)
    terms = step[:, a] * step[:, b] * np.where(a == b, 1.0, 2.0)
    unit = squares + np.median(squares)
    unit = np.where(unit > 0, unit, 1.0)  # where most points coincide
    M = np.zeros((d, d))
    M[a, b] = M[b, a] = np.linalg.lstsq(terms / unit[:, None], squares / unit, rcond=None)[0]
    values, vectors = stacked_eigh(M)
    return np.asarray(Z @ (vectors * np.sqrt(np.maximum(values, 0.0))))
