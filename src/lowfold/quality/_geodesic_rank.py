"""What embeddings are ranked by where nobody knows the truth: neighbours along the data, up to a linear map.

A chart of a strip ten times as long as wide is as good when its axes have one length, as those of the alignment methods
have; its Euclidean neighbours are others, though. So the linear map is taken first that fits the lengths of edges best.
"""

from __future__ import annotations

from lowfold._core.run import Run
from lowfold._core.types import Ints
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
