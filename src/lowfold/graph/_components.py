"""Pieces of a graph: weak components, strong components, closed classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lowfold._core.types import Ints
from lowfold._cuda._device import holding
from lowfold._cuda._pieces import all_reach, piece_labels
from lowfold.graph._foreign import as_graph
from lowfold.graph._types import Graph, Neighbors


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
    found = as_graph(graph)
    device = holding(found.indices) if isinstance(found, Graph) else None
    if device is not None:
        labels = device.get(piece_labels(device, device.put(found.indptr), device.put(found.indices)))
        return _numbered(labels)
    return by_size(connected_components(found.to_scipy(), directed=True, connection="weak")[1])


def _numbered(labels: NDArray[np.integer]) -> Ints:
    """Components from the smallest vertex of each."""
    if not labels.any():
        return np.zeros(len(labels), dtype=np.int64)
    return by_size(np.unique(labels, return_inverse=True)[1])


def strong_components(neighbors: Neighbors) -> Ints:
    """Two points share a component when there are directed paths both ways. Component 0 is the largest."""
    return by_size(connected_components(neighbors.to_scipy(), directed=True, connection="strong")[1])


def all_reach_one(neighbors: Neighbors) -> bool:
    """Whether a device that holds the neighbourhoods finds that every point reaches point 0: one class is closed."""
    device = holding(neighbors.indices)
    return device is not None and all_reach(device, device.put(neighbors.indptr), device.put(neighbors.indices))


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
