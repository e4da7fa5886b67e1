"""Loops and detours: what shortest paths tell of the shape as a whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from lowfold._core.types import Floats
from lowfold.graph._components import components
from lowfold.graph._consistency import shortcut_edges
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors


def loops(D: Floats) -> Floats:
    """(m, 2) birth and death of the loops in the Vietoris-Rips complex of a distance matrix, longest-lived first.

    Persistent cohomology over Z/2 in dimension 1 (de Silva, Morozov & Vejdemo-Johansson 2011,
    doi:10.1088/0266-5611/27/12/124003): edges from the longest down, the coboundary of each reduced by those before it;
    edges of the spanning tree end components and are left out. Loops filled at their birth are not listed. For up to
    about 150 points; larger sets need a package of their own.

    >>> square = np.array([[0, 1, 1.5, 1], [1, 0, 1, 1.5], [1.5, 1, 0, 1], [1, 1.5, 1, 0]])
    >>> loops(square).tolist()
    [[1.0, 1.5]]
    """
    n = len(D)
    a, b = np.triu_indices(n, 1)
    order = np.argsort(D[a, b], kind="stable")
    a, b = a[order], b[order]
    rank = np.zeros((n, n), dtype=np.int64)
    rank[a, b] = rank[b, a] = np.arange(len(a))
    tree = csr_array(minimum_spanning_tree(rank + 1.0)).data.astype(np.int64) - 1
    negative = np.zeros(len(a), dtype=bool)
    negative[tree] = True
    others = np.arange(n)

    def coboundary(e: int) -> NDArray[np.int64]:
        """Triangles on edge e as (rank of the longest edge) * n + the vertex opposite to it: sorted by size."""
        i, j = a[e], b[e]
        v = others[(others != i) & (others != j)]
        ranks = np.stack([np.full(len(v), e), rank[i, v], rank[j, v]])
        longest = ranks.argmax(axis=0)
        return np.asarray(ranks.max(axis=0) * n + np.choose(longest, [v, j, i]))

    owner: dict[int, NDArray[np.int64]] = {}
    found = []
    for e in np.flatnonzero(~negative)[::-1]:
        column = coboundary(int(e))
        if int(column.min(initial=n**3)) in owner:
            left = set(column.tolist())
            while left and min(left) in owner:
                left.symmetric_difference_update(owner[min(left)].tolist())
            column = np.fromiter(left, np.int64, len(left))
        if len(column) == 0:
            found.append((D[a[e], b[e]], np.inf))
            continue
        pivot = int(column.min())
        owner[pivot] = column
        death = pivot // n
        if D[a[death], b[death]] > D[a[e], b[e]]:
            found.append((D[a[e], b[e]], D[a[death], b[death]]))
    bars = np.array(found, dtype=np.float64).reshape(-1, 2)
    return np.asarray(bars[np.argsort(bars[:, 0] - bars[:, 1], kind="stable")])


def without_steep_edges(points: Points, neighbors: Neighbors, d: int) -> tuple[Graph, float]:
    """The graph without the edges that leave the tangent planes of both ends, and their share of all edges.

    Those that alone hold pieces together stay, the shortest of them first.
    """
    graph = neighbors.union()
    edges = graph.edges()
    lengths = graph.lengths[graph.rows() < graph.indices]
    steep = shortcut_edges(points, neighbors, d)
    bad = np.isin(edges[:, 0] * graph.n + edges[:, 1], steep[:, 0] * graph.n + steep[:, 1])
    if not bad.any():
        return graph, 0.0
    labels = components(Graph.from_edges(graph.n, edges[~bad], lengths[~bad]))
    share = float(bad.mean())
    for e in np.flatnonzero(bad)[np.argsort(lengths[bad], kind="stable")]:
        first, second = labels[edges[e]]
        if first != second:
            labels[labels == second] = first
            bad[e] = False
    return Graph.from_edges(graph.n, edges[~bad], lengths[~bad]), share
