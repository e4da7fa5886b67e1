"""The graph of all weights above a threshold, for walks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold.graph._connect import find_bridges
from lowfold.graph._radius import within_radius
from lowfold.graph._types import Graph
from lowfold.methods._fit import Connected
from lowfold.methods._neighborhood import Asked, ByGraph, sizes_in_words


def joined_by_weight(near: Connected, reach: float, run: Run) -> Graph:
    """All pairs with a weight of at least the threshold, which is that at the reach."""
    if near.source is not None:
        return within_radius(near.source, reach, run=run).union()
    graph = near.unbridged
    kept = graph.lengths <= reach
    edges = np.column_stack([graph.rows(), graph.indices])[kept]
    return Graph.from_edges(near.n, edges, graph.lengths[kept])


@dataclass(frozen=True)
class ByThreshold(ByGraph):
    """The graph of weights above a threshold."""

    scale_of: Callable[[Connected, Run], float]

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        if near.source is None:
            return super().words(near, labels, asked, k, run)
        longest = float(find_bridges(near.source, labels, run=run).lengths.max())
        weight = np.exp(-(longest**2) / self.scale_of(near, run))
        return (
            f"the graph of weights has {sizes_in_words(labels)}; a threshold of {0.999 * weight:.3g} would connect it"
        )
