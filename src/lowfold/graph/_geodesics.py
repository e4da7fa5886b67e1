"""Graph distances d_G: shortest paths along edges, asked of a `Graph` or of directed `Neighbors`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._core.memory import fits, pretty_bytes, require
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats
from lowfold.graph._apart import ROOM, FrontsApart, Slabs, Workers
from lowfold.graph._dijkstra import floyd_warshall
from lowfold.graph._foreign import as_graph
from lowfold.graph._geodesic_gram import Unheld
from lowfold.graph._minplus import PathFactor
from lowfold.graph._paths import Table, path_factor, path_table, seeded_paths, shortest_paths
from lowfold.graph._types import Graph, Neighbors

BESIDE = 1.05  # of the matrix's bytes: what searches and batches hold beside it
FLOAT32_FROM = 5_000  # above this many points geodesics are stored in float32
PATIENCE = 5e13  # additions of one product without the matrix, some twenty minutes on two cores; beyond, landmarks
# Additions per pair up to which three products that make the distances again take no longer than filling the matrix and
# reading it three times; surfaces have 50 to 85, solids 200 and more.
AGAIN = 100.0
AGAIN_FROM = 8_000  # points; a smaller matrix is quick to fill


def geodesic_dtype(n: int) -> type[np.floating[Any]]:
    """float64 up to 5,000 points, float32 above, with rounding to 2e-9 of the longest distance."""
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

    `graph` is a `Graph`, `Neighbors`, or what `as_graph` makes one of. Paths of `Neighbors` are directed; Isomap by the
    shorter of both directions, the other rule of Wang (2012), Section 8.2, is
    `ClassicalMDS(metric="precomputed").fit(np.minimum(D, D.T))`.

    >>> geodesics(Graph.from_edges(3, [[0, 1], [1, 2]], [1.0, 2.0]))[0].tolist()
    [0.0, 1.0, 3.0]
    >>> one_way = Neighbors(np.array([0, 1, 2, 3]), np.array([1, 0, 1]), np.array([1.0, 1.0, 2.0]), 3)
    >>> geodesics(one_way).tolist()
    [[0.0, 1.0, inf], [1.0, 0.0, inf], [3.0, 2.0, 0.0]]
    """
    run, graph = run or Run(), as_graph(graph)
    n = graph.n
    rows = n if sources is None else len(np.atleast_1d(np.asarray(sources)))
    columns = n if targets is None else len(np.atleast_1d(np.asarray(targets)))
    dtype = np.dtype(dtype or geodesic_dtype(n))
    require(
        BESIDE * rows * columns * dtype.itemsize,
        f"a matrix of {rows} x {columns} geodesic distances",
        "use landmarks, or a method with a sparse kernel such as LaplacianEigenmaps",
    )
    lengths = graph.lengths if isinstance(graph, Graph) else graph.distances
    if method == "floyd_warshall":
        everything = floyd_warshall(_dense(graph, lengths))
        return everything[np.ix_(_all(sources, n), _all(targets, n))].astype(dtype)
    if run.device != "cpu" and method == "auto":
        from lowfold.graph._on_device import geodesic_rows

        turned = columns < rows  # an undirected graph is searched from the fewer
        first, last = (targets, sources) if turned else (sources, targets)
        found = geodesic_rows(graph, None if first is None else _all(first, n), dtype, run)
        if found is not None:
            found = found if last is None else found[:, _all(last, n)]
            return np.ascontiguousarray(found.T) if turned else found
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


def all_geodesics(
    graph: Graph,
    *,
    method: str = "auto",
    few_products: bool = True,
    workers: Workers | None = None,
    run: Run | None = None,
) -> AnyFloats | Unheld:
    """Distances of all pairs of a connected graph: their matrix, or the fronts from which products make them again.

    The fronts, for `centred_gram`, are O(N^1.5) numbers on a surface. They are taken where the matrix does not fit the
    memory budget, and where a few products with them end before the matrix is filled. In many dimensions they do not
    fit either, or products with them would take hours: then the error about the matrix says what to do. With a device,
    the distances stay there; with workers, fronts or slabs of the matrix are theirs.
    """
    run = run or Run()
    n = graph.n
    dtype = np.dtype(geodesic_dtype(n))
    if run.device != "cpu" and method == "auto":
        from lowfold.graph._on_device import distances_on_device

        found = distances_on_device(graph, dtype, run)
        if found is not None:
            return cast("AnyFloats", found)  # for `centred_gram`; it stays on the device
    if workers is not None and method == "auto":
        return _geodesics_apart(graph, dtype, few_products, workers, run)
    most = most_additions(n, few_products=few_products)
    if method in ("auto", "eliminate") and most > 0:
        factor = _fronts(graph, dtype, most, run)
        if factor is not None:
            return factor
    return geodesics(graph, method=method, run=run)


def _fronts(graph: Graph, dtype: np.dtype[Any], most: float, run: Run) -> PathFactor | None:
    with run.stage("fronts of the geodesics"):
        return path_factor(
            graph.indptr, graph.indices, graph.lengths, dtype=dtype, most_additions=most, n_jobs=run.n_jobs
        )


def _geodesics_apart(
    graph: Graph, dtype: np.dtype[Any], few_products: bool, workers: Workers, run: Run
) -> FrontsApart | Slabs:
    """Fronts on every worker where products with them are quick or the matrix does not fit; else slabs of it."""
    size = BESIDE * dtype.itemsize * float(graph.n) ** 2
    held = size <= ROOM * workers.room
    factor = None
    if few_products or not held:
        factor = _fronts(graph, dtype, AGAIN * graph.n if held else PATIENCE / graph.n, run)
    if factor is not None:
        return FrontsApart(factor, workers)
    if not held:
        raise MemoryBudgetExceeded(
            f"{graph.n} x {graph.n} geodesic distances need {pretty_bytes(size)}, and the workers have room for "
            f"{pretty_bytes(ROOM * workers.room)}; use landmarks, or more workers"
        )
    with run.stage("geodesics"):
        return Slabs.made(graph, dtype, workers)


def most_additions(n: int, *, few_products: bool = True) -> float:
    """Additions of a row up to which every product makes the geodesics of n points again; 0 where they are held."""
    if not fits(BESIDE * geodesic_dtype(n)(0).itemsize * float(n) ** 2):
        return PATIENCE / n
    return AGAIN * n if few_products and n >= AGAIN_FROM else 0.0


def _dense(graph: Graph | Neighbors, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix of edge lengths, inf where there is no edge, 0 on the diagonal."""
    require(2 * 8.0 * graph.n**2, f"a dense graph of {graph.n} points", "use paths='auto'")
    D = np.full((graph.n, graph.n), np.inf)
    D[graph.rows(), graph.indices] = lengths
    np.fill_diagonal(D, 0.0)
    return D


def _all(vertices: ArrayLike | None, n: int) -> NDArray[np.int64]:
    return np.arange(n) if vertices is None else np.atleast_1d(np.asarray(vertices))


def seeded_geodesics(
    graph: Graph, seeds: Neighbors, targets: NDArray[np.int64] | None = None, *, run: Run | None = None
) -> NDArray[np.floating]:
    """Distances from outside points, attached through their neighbours `seeds`, to the targets (None: every vertex)."""
    run = run or Run()
    if run.device != "cpu":
        from lowfold.graph._on_device import seeded_rows

        found = seeded_rows(graph, seeds, targets, np.dtype(geodesic_dtype(graph.n)), run)
        if found is not None:
            return found
    return seeded_paths(
        graph.indptr,
        graph.indices,
        graph.lengths,
        seeds.indptr,
        seeds.indices,
        seeds.distances,
        targets,
        dtype=geodesic_dtype(graph.n),
        n_jobs=run.n_jobs,
    )


def geodesic_table(graph: Graph, targets: NDArray[np.int64], *, run: Run | None = None) -> Table:
    """Geodesics from every vertex to the targets."""
    dtype = geodesic_dtype(graph.n)
    n_jobs = (run or Run()).n_jobs
    return path_table(graph.indptr, graph.indices, graph.lengths, targets, dtype=dtype, n_jobs=n_jobs)


def tabled_geodesics(table: Table, seeds: Neighbors, *, run: Run) -> NDArray[np.floating]:
    """`seeded_geodesics` to the targets of the table: nothing is searched any more."""
    dtype = geodesic_dtype(len(table.known))
    return table.seeded(seeds.indptr, seeds.indices, seeds.distances, dtype=dtype, n_jobs=run.n_jobs)
