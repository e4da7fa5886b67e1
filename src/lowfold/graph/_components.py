"""Pieces of a graph: weak components, strong components, closed classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lowfold._core.types import Ints
from lowfold.graph._foreign import as_graph
from lowfold.graph._types import Neighbors


def by_size(labels: NDArray[np.integer]) -> Ints:
    """Renumber so that component 0 is the largest; ties go to the one with the smaller first vertex."""
    sizes = np.bincount(labels)
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[labels])


def components(graph: Any) -> Ints:
    """Weak components of a graph (`as_graph`): directions are ignored. Component 0 is the largest.

    >>> from lowfold.graph import Graph
    >>> components(Graph.from_edges(4, [[0, 1], [2, 3]])).tolist()
    [0, 0, 1, 1]
    """
    return by_size(connected_components(as_graph(graph).to_scipy(), directed=True, connection="weak")[1])


def strong_components(neighbors: Neighbors) -> Ints:
    """Two points share a component when there are directed paths both ways. Component 0 is the largest."""
    return by_size(connected_components(neighbors.to_scipy(), directed=True, connection="strong")[1])


def closed_classes(neighbors: Neighbors) -> list[NDArray[np.int64]]:
    """Strong components that no arc leaves, largest first. Several of them give LLE several null vectors."""
    labels = strong_components(neighbors)
    rows = neighbors.rows()
    leaves = np.zeros(labels.max(initial=-1) + 1, dtype=bool)
    leaves[labels[rows[labels[rows] != labels[neighbors.indices]]]] = True
    return [np.flatnonzero(labels == c) for c in np.flatnonzero(~leaves)]


def is_connected(graph: Any) -> bool:
    """Whether a graph (`as_graph`) has one weak component."""
    graph = as_graph(graph)
    return graph.n == 0 or bool((components(graph) == 0).all())
