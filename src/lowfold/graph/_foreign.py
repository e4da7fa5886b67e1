"""Graphs of NetworkX and of SciPy, taken wherever a `Graph` is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from lowfold._core.errors import InvalidInput
from lowfold.graph._types import Graph, Neighbors

LENGTHS = ("length", "weight")  # edge attributes that are read as lengths; NetworkX's own shortest paths read "weight"


def as_graph(graph: Any) -> Graph | Neighbors:
    """A `Graph` from a NetworkX graph or a square SciPy sparse matrix of lengths; a `Graph` or `Neighbors` as it is.

    Vertices are numbered in NetworkX's own order, `list(graph)`. Lengths are the attribute "length" of the edges, else
    "weight", else 1; a matrix has them as stored entries, a stored zero being a length of zero. Where two directions or
    parallel edges differ the shortest counts; self-loops are left out, they belong to the kernel's weights.

    >>> from scipy.sparse import csr_array
    >>> as_graph(csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))).edges().tolist()
    [[0, 1], [1, 2]]
    """
    if isinstance(graph, (Graph, Neighbors)):
        return graph
    if is_networkx(graph):
        return _from_networkx(graph)
    if issparse(graph):
        return _from_sparse(graph)
    raise InvalidInput(
        f"a graph is a lowfold Graph or Neighbors, a NetworkX graph, or a SciPy sparse matrix of lengths; got "
        f"{type(graph).__name__}"
    )


def known_graph(X: Any) -> Any:
    """X with a NetworkX graph made a `Graph`; anything else as it is: a sparse matrix may be rows of features."""
    return _from_networkx(X) if is_networkx(X) else X


def is_networkx(X: Any) -> bool:
    """Whether X is a graph of NetworkX, which is not imported for this."""
    return any(cls.__module__.partition(".")[0] == "networkx" for cls in type(X).__mro__) and hasattr(X, "adj")


def _from_networkx(X: Any) -> Graph:
    place = {node: i for i, node in enumerate(X)}
    edges = [(place[u], place[v], data) for u, v, data in X.edges(data=True) if u != v]
    name = next((name for name in LENGTHS if edges and all(name in data for _, _, data in edges)), None)
    partial = [key for key in LENGTHS if name is None and any(key in data for _, _, data in edges)]
    if partial:
        raise InvalidInput(f"some edges of the NetworkX graph have {partial[0]!r} and some have not; give it to all")
    try:
        lengths = np.array([1.0 if name is None else float(data[name]) for _, _, data in edges])
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the attribute {name!r} of the edges must hold numbers: {error}") from error
    return Graph.from_edges(len(place), np.array([edge[:2] for edge in edges], dtype=np.int64), lengths)


def _from_sparse(matrix: Any) -> Graph:
    A = coo_array(matrix)
    if A.shape[0] != A.shape[1]:
        raise InvalidInput(f"the matrix of a graph is square; got shape {A.shape}")
    kept = A.row != A.col
    return Graph.from_edges(A.shape[0], np.column_stack([A.row[kept], A.col[kept]]), A.data[kept])
