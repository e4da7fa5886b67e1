"""Lengths in units of the local spacing, after which a conformal map of a flat region is one that keeps lengths."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold.graph._types import Graph, Neighbors


def conformal_factors(neighbors: Neighbors) -> Floats:
    """m_i, the mean distance from point i to its neighbours; the smallest positive one where all of them coincide with
    i.
    """
    total = np.bincount(neighbors.rows(), neighbors.distances, minlength=neighbors.n)
    return _positive(total / np.maximum(neighbors.counts, 1))


def _positive(m: Floats) -> Floats:
    positive = m > 0
    return np.where(positive, m, m[positive].min()) if positive.any() else np.ones(len(m))


def conformal_lengths(graph: Graph, factors: Floats | None) -> Graph:
    """The graph with edges of length d_ij / sqrt(m_i m_j); as it is without factors."""
    if factors is None:
        return graph
    product = factors[graph.rows()] * factors[graph.indices]
    return Graph(graph.indptr, graph.indices, graph.lengths / np.sqrt(product))
