"""Graph distances d_G: shortest paths along edges, asked of a `Graph` or of directed `Neighbors`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.memory import require
from lowfold._core.run import Run
from lowfold.graph._dijkstra import floyd_warshall
from lowfold.graph._foreign import as_graph
from lowfold.graph._paths import seeded_paths, shortest_paths
from lowfold.graph._types import Graph, Neighbors

FLOAT32_FROM = 5_000  # above this many points geodesics are stored in float32


def geodesic_dtype(n: int) -> type[np.floating[Any]]:
    """float64 up to 5,000 points, float32 above: the sums' relative error, about 1e-6, is far below the graph's own."""
    return np.float64 if n <= FLOAT32_FROM else np.float32


def geodesics(
    graph: Any,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    *,
    dtype: Any = None,
    method: str = "auto",
    run: Run | None = None,
) -> NDArray[np.floating]:
    """Matrix of graph distances from sources (rows) to targets (columns), all by default; inf where there is no path.

    `graph` is a `Graph`, `Neighbors`, or what `as_graph` makes one of.

    >>> geodesics(Graph.from_edges(3, [[0, 1], [1, 2]], [1.0, 2.0]))[0].tolist()
    [0.0, 1.0, 3.0]
    """
    run, graph = run or Run(), as_graph(graph)
    n = graph.n
    rows = n if sources is None else len(np.atleast_1d(np.asarray(sources)))
    columns = n if targets is None else len(np.atleast_1d(np.asarray(targets)))
    dtype = np.dtype(dtype or geodesic_dtype(n))
    require(
        1.05 * rows * columns * dtype.itemsize,
        f"a matrix of {rows} x {columns} geodesic distances",
        "use landmarks, or a method with a sparse kernel such as LaplacianEigenmaps",
    )
    lengths = graph.lengths if isinstance(graph, Graph) else graph.distances
    if method == "floyd_warshall":
        everything = floyd_warshall(_dense(graph, lengths))
        return everything[np.ix_(_all(sources, n), _all(targets, n))].astype(dtype)
    with run.stage("geodesics") as progress:
        return shortest_paths(
            graph.indptr,
            graph.indices,
            lengths,
            sources,
            targets,
            dtype=dtype,
            method=method,  # type: ignore[arg-type]
            n_jobs=run.n_jobs,
            progress=progress,
        )


def _dense(graph: Graph | Neighbors, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix of edge lengths, inf where there is no edge, 0 on the diagonal."""
    require(2 * 8.0 * graph.n**2, f"a dense graph of {graph.n} points", "use paths='auto'")
    D = np.full((graph.n, graph.n), np.inf)
    D[graph.rows(), graph.indices] = lengths
    np.fill_diagonal(D, 0.0)
    return D


def _all(vertices: ArrayLike | None, n: int) -> NDArray[np.int64]:
    return np.arange(n) if vertices is None else np.atleast_1d(np.asarray(vertices))


def seeded_geodesics(graph: Graph, seeds: Neighbors, *, run: Run | None = None) -> NDArray[np.floating]:
    """Distances from outside points, attached through their neighbours `seeds`, to every vertex: one row per point."""
    run = run or Run()
    return seeded_paths(
        graph.indptr,
        graph.indices,
        graph.lengths,
        seeds.indptr,
        seeds.indices,
        seeds.distances,
        dtype=geodesic_dtype(graph.n),
        n_jobs=run.n_jobs,
    )
