"""Affinities of NetworkX graphs; lengths are read by `_foreign`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold.graph._types import Graph


def affinity_graph(G: Any, *, weight: str = "weight") -> Graph:
    """The `Graph` of a NetworkX graph whose edges have affinities: lengths are 1 / weight, 1 where there is none.

    Vertices are in the order of its nodes; an edge of affinity 0 is none, and self-loops are left out.
    """
    place = {node: i for i, node in enumerate(G)}
    edges = [(place[a], place[b], w) for a, b, w in G.edges(data=weight, default=1) if a != b]
    values = np.array([w for _, _, w in edges], dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise InvalidInput(f"{weight!r} of every edge must be a finite number of at least 0; some are not")
    pairs = np.array([(i, j) for i, j, _ in edges], dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(len(place), pairs[values > 0], 1.0 / values[values > 0])
