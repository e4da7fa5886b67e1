"""Reference shortest paths: Dijkstra in its textbook forms and Floyd-Warshall, in plain Python.

Written to be read and to check the engine in `_paths`; the forms are those of Wang (2012), Section 8.3,
doi:10.1007/978-3-642-27497-8: from a point to a set of targets, from a set to a set in any directed graph, and
forwards and backwards in an undirected graph. Graphs are compressed rows of out-edges; a stored zero is an edge of
length zero.
"""

from __future__ import annotations

import heapq
import math
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats, Ints


@overload
def dijkstra(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    source: int,
    targets: ArrayLike | None = ...,
    *,
    predecessors: Literal[False] = ...,
) -> Floats: ...
@overload
def dijkstra(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    source: int,
    targets: ArrayLike | None = ...,
    *,
    predecessors: Literal[True],
) -> tuple[Floats, Ints]: ...
def dijkstra(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    source: int,
    targets: ArrayLike | None = None,
    *,
    predecessors: bool = False,
) -> Floats | tuple[Floats, Ints]:
    """Distances from `source` to `targets` (all vertices if None), inf where there is no path.

    The vertex with the smallest tentative distance is final; its edges may shorten the distances of its neighbours. The
    search ends once all targets are final. Negative lengths are taken on a graph without cycles, where the vertices are
    treated in topological order instead, and refused on any other.

    With `predecessors` also, for every vertex of the graph, the one before it on the path found (-1: none, or not
    final).

    Examples
    --------
    >>> dijkstra([0, 1, 3, 4], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0], source=2)
    array([3., 2., 0.])
    """
    graph = _checked(indptr, indices, lengths)
    n = len(graph[0]) - 1
    wanted = np.arange(n) if targets is None else checked_vertices(targets, n, "targets")
    start = int(checked_vertices([source], n, "source")[0])
    distance, before = _search(graph, start, wanted)
    if predecessors:
        return distance[wanted], before
    return distance[wanted]


def dijkstra_matrix(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
) -> Floats:
    """Distances from each source (rows) to each target (columns) in a directed graph; None is all vertices.

    Negative lengths as in `dijkstra`.
    """
    graph = _checked(indptr, indices, lengths)
    n = len(graph[0]) - 1
    rows = np.arange(n) if sources is None else checked_vertices(sources, n, "sources")
    columns = np.arange(n) if targets is None else checked_vertices(targets, n, "targets")
    result = np.empty((len(rows), len(columns)))
    for row, source in zip(result, rows, strict=True):
        row[:] = _search(graph, int(source), columns)[0][columns]
    return result


def symmetric_dijkstra(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    sources: ArrayLike | None = None,
    *,
    all_columns: bool = False,
) -> tuple[Floats, Ints]:
    """Distances between the `sources` of an undirected graph, about half the searching of one Dijkstra each.

    Forwards: source i searches the graph without the sources before it. Backwards: a shortest path that meets an
    earlier source r has length D(r, i) + D(r, j), and row r is known: D(i, j) = min(forward, min_{r<i} D(r, i) + D(r,
    j)).

    Returns the distances and the vertices of the columns: the sources, then, with `all_columns`, the other vertices in
    their order.
    """
    graph = _checked(indptr, indices, lengths)
    n = len(graph[0]) - 1
    rows = np.arange(n) if sources is None else checked_vertices(sources, n, "sources")
    if len(np.unique(rows)) < len(rows):
        raise InvalidInput("sources must be different vertices; got some more than once; pass each once")
    _check_symmetric(graph)
    others = np.setdiff1d(np.arange(n), rows) if all_columns else np.empty(0, np.int64)
    full = np.empty((len(rows), n))
    removed = np.zeros(n, dtype=bool)
    for i, source in enumerate(rows):
        full[i], _ = _search(graph, int(source), np.arange(n), removed)
        if i:
            full[i] = np.minimum(full[i], (full[:i, source, None] + full[:i]).min(axis=0))
        removed[source] = True
    columns = np.concatenate([rows, others])
    return full[:, columns], columns


def floyd_warshall(weights: ArrayLike) -> Floats:
    """All distances of a dense weight matrix (inf: no edge) by D_ij = min(D_ij, D_ik + D_kj), k outermost.

    The order of the loops matters: with k innermost most answers are wrong. Negative weights are allowed, negative
    cycles refused.

    Examples
    --------
    >>> floyd_warshall([[0, 1, np.inf], [1, 0, 2], [np.inf, 2, 0]])
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    distance = np.array(weights, dtype=np.float64)
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
        raise InvalidInput(f"weights must be a square matrix; got shape {distance.shape}")
    if np.isnan(distance).any() or np.isneginf(distance).any():
        raise InvalidInput("weights must be numbers, inf where there is no edge; got NaN or -inf")
    np.fill_diagonal(distance, np.minimum(np.diagonal(distance), 0.0))
    for k in range(len(distance)):
        np.minimum(distance, distance[:, k, None] + distance[k], out=distance)
    if (np.diagonal(distance) < 0).any():
        raise InvalidInput("weights must have no cycle of negative length: paths around it have no shortest one")
    return distance


def smaller_of_both(distance: ArrayLike) -> Floats:
    """min(d(i, j), d(j, i)): directed distances made symmetric after the search.

    Never shorter than the distances of the graph made undirected first, and not always a metric: with edges a -> b and
    c -> b only, a and c are each joined to b but infinitely far apart. Wang (2012), Section 8.2.
    """
    directed = np.asarray(distance, dtype=np.float64)
    if directed.ndim != 2 or directed.shape[0] != directed.shape[1]:
        raise InvalidInput(f"distance must be a square matrix; got shape {directed.shape}")
    return np.minimum(directed, directed.T)


# --- One search -----------------------------------------------------------------------------------------------------


Graph = tuple[Ints, Ints, Floats]


def _search(graph: Graph, source: int, targets: Ints, removed: NDArray[np.bool_] | None = None) -> tuple[Floats, Ints]:
    """Distances and predecessors from `source`; `removed` vertices are not entered."""
    if len(graph[2]) and graph[2].min() < 0:
        return _acyclic_search(graph, source)
    indptr, indices, lengths = graph
    n = len(indptr) - 1
    distance = np.full(n, math.inf)
    before = np.full(n, -1)
    final = np.zeros(n, dtype=bool) if removed is None else removed.copy()
    missing = set(targets.tolist())
    distance[source] = 0.0
    queue = [(0.0, source)]
    while queue and missing:
        base, v = heapq.heappop(queue)
        if final[v]:
            continue
        final[v] = True
        missing.discard(v)
        for u, length in _row(indptr, indices, lengths, v):
            if not final[u] and base + length < distance[u]:
                distance[u] = base + length
                before[u] = v
                heapq.heappush(queue, (float(distance[u]), u))
    before[~final] = -1
    return distance, before


def _acyclic_search(graph: Graph, source: int) -> tuple[Floats, Ints]:
    """Any lengths, no cycles: when a vertex's turn comes in topological order, all its in-edges have been used."""
    indptr, indices, lengths = graph
    n = len(indptr) - 1
    distance = np.full(n, math.inf)
    before = np.full(n, -1)
    distance[source] = 0.0
    for v in _topological_order(indptr, indices):
        for u, length in _row(indptr, indices, lengths, v):
            if distance[v] + length < distance[u]:
                distance[u] = distance[v] + length
                before[u] = v
    return distance, before


def _topological_order(indptr: Ints, indices: Ints) -> list[int]:
    n = len(indptr) - 1
    waiting_for = np.bincount(indices, minlength=n)
    order = np.flatnonzero(waiting_for == 0).tolist()
    for v in order:  # grows while it is read
        for u in indices[indptr[v] : indptr[v + 1]].tolist():
            waiting_for[u] -= 1
            if waiting_for[u] == 0:
                order.append(u)
    if len(order) < n:
        raise InvalidInput(
            "lengths must be >= 0 on a graph with cycles (an undirected edge is one); got a negative length; "
            "negative lengths need a directed graph without cycles"
        )
    return order


def _row(indptr: Ints, indices: Ints, lengths: Floats, v: int) -> zip[tuple[int, float]]:
    here = slice(indptr[v], indptr[v + 1])
    return zip(indices[here].tolist(), lengths[here].tolist(), strict=True)


# --- Checks ---------------------------------------------------------------------------------------------------------


def _checked(indptr: ArrayLike, indices: ArrayLike, lengths: ArrayLike) -> Graph:
    pointers = np.asarray(indptr, dtype=np.int64)
    if pointers.ndim != 1 or not len(pointers) or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise InvalidInput("indptr must be one row of numbers that starts at 0 and never falls")
    heads = checked_vertices(indices, len(pointers) - 1, "indices")
    values = np.asarray(lengths, dtype=np.float64)
    if len(heads) != pointers[-1] or values.shape != heads.shape:
        raise InvalidInput(
            f"indices and lengths must have indptr[-1] = {pointers[-1]} entries; got {len(heads)} and {values.shape}"
        )
    if np.isnan(values).any() or np.isneginf(values).any():
        raise InvalidInput("lengths must be numbers; got NaN or -inf; leave out the entries of absent edges")
    return pointers, heads, values


def checked_vertices(vertices: ArrayLike, n: int, name: str) -> Ints:
    """A list of vertex numbers of a graph of n vertices, or an error that names the argument."""
    array = np.asarray(vertices)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InvalidInput(f"{name} must be vertex numbers; got shape {array.shape}, dtype {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= n):
        raise InvalidInput(
            f"{name} must be vertex numbers from 0 to {n - 1}; got values from {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def _check_symmetric(graph: Graph) -> None:
    indptr, heads, lengths = graph
    tails = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    here = np.lexsort((lengths, heads, tails))
    there = np.lexsort((lengths, tails, heads))
    same = (tails[here] == heads[there]) & (heads[here] == tails[there]) & (lengths[here] == lengths[there])
    if not same.all():
        raise InvalidInput(
            "the graph must be undirected: every edge stored in both rows with one length; use dijkstra_matrix"
        )
    if len(lengths) and lengths.min() < 0:
        raise InvalidInput(f"lengths must be >= 0 on an undirected graph; the smallest is {lengths.min()}")
