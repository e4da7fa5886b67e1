"""What one call for shortest paths asks for: edges, seeds and columns, with lengths in whole units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress
from lowfold._core.types import Floats, Ints
from lowfold.graph._units import Units, float_units, integer_units

Method = Literal["auto", "eliminate", "sweep", "dijkstra"]

# Of the edges' lengths, by which a short edge is measured: not the shortest, which between nearly coincident points may
# be as short as it likes.
SHORT = 0.1
FEW = 64  # below this many rows far apart, preparing batches costs more than it saves


class Rows(NamedTuple):
    """Compressed rows in the types that the loops are compiled for.

    As edges: row v holds the heads and lengths of the edges that leave v. As seeds: row r of the result starts from
    these vertices at these initial distances.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    lengths: NDArray[Any]


class Task(NamedTuple):
    """What one call asks for; lengths and `limit` in units."""

    edges: Rows
    seeds: Rows
    columns: NDArray[np.int32] | None
    units: Units
    limit: Any
    undirected: bool
    method: Method
    n_jobs: int | None
    progress: Progress | None


def make_task(
    edges: Rows,
    seeds: Rows,
    columns: NDArray[np.int32] | None,
    dtype: np.dtype[Any],
    limit: float,
    method: Method,
    n_jobs: int | None,
    progress: Progress | None,
) -> Task:
    """Lengths in units."""
    asked = dtype == np.float32 or method == "eliminate" or (method == "auto" and len(seeds.indptr) > FEW)
    undirected = asked and is_undirected(edges)
    if method == "eliminate" and not undirected:
        raise InvalidInput('method="eliminate" needs an undirected graph: every edge stored in both rows; use "auto"')
    units = units_of(edges, seeds.lengths, dtype, undirected)
    return Task(
        edges._replace(lengths=units.of(edges.lengths)),
        seeds._replace(lengths=units.of(seeds.lengths)),
        columns,
        units,
        units.limit(limit),
        undirected,
        method,
        n_jobs,
        progress,
    )


def units_of(
    edges: Rows,
    seed_lengths: Floats,
    dtype: np.dtype[Any],
    undirected: bool,
) -> Units:
    """The units in which distances of `dtype` are summed; they depend on the graph and the seeds, on nothing else."""
    used = edges.lengths[np.isfinite(edges.lengths)]
    farthest = float(seed_lengths[np.isfinite(seed_lengths)].max(initial=0.0))

    def sizes() -> tuple[float, float]:
        positive = used[used > 0]
        return float(np.quantile(positive, SHORT)) if len(positive) else 1.0, _eccentricity(edges)

    whole = sizes if dtype == np.float32 and undirected else None
    return chosen_units(len(edges.indptr) - 1, float(used.max(initial=0.0)), farthest, whole)


def chosen_units(n: int, longest: float, farthest: float, sizes: Callable[[], tuple[float, float]] | None) -> Units:
    """Units for edges of at most `longest` and seeds of at most `farthest`; `sizes` finds the length of short edges and
    the eccentricity, where whole numbers may suffice.
    """
    if sizes is not None:
        short, eccentricity = sizes()
        units = integer_units(n + 1, 2 * eccentricity + farthest, short)
        if units is not None:
            return units
    return float_units(n + 1, max(longest, farthest))


def _eccentricity(edges: Rows) -> float:
    """The longest distance from the first vertex of its component: at least half of the longest distance."""
    loops = compiled("lowfold.graph._heap_loops")
    n = len(edges.indptr) - 1
    if n == 0:
        return 0.0
    real = np.isfinite(edges.lengths)
    rows = np.repeat(np.arange(n), np.diff(edges.indptr))[real]
    pattern = csr_array((np.ones(len(rows), np.int8), (rows, edges.indices[real])), shape=(n, n))
    _, label = connected_components(pattern, directed=False)
    firsts = np.unique(label, return_index=True)[1].astype(np.int32)
    distance, order = np.empty(n), np.empty(n, np.int32)
    zeros, wanted, inf = np.zeros(len(firsts)), np.zeros(1, np.bool_), np.float64(np.inf)
    heap = loops.new_heap(n, edges.lengths)
    loops.settle(*edges, firsts, zeros, inf, inf, wanted, -1, distance, order, heap)
    return float(distance.max())


def columns_of(task: Task) -> NDArray[np.int32]:
    return np.arange(len(task.edges.indptr) - 1, dtype=np.int32) if task.columns is None else task.columns


def anchors(seeds: Rows) -> Ints:
    """For each row the seed at the smallest initial distance; vertex 0 for a row without seeds."""
    counts = np.diff(seeds.indptr)
    if (counts == 1).all():
        return seeds.indices.astype(np.int64)
    nearest_first = np.lexsort((seeds.lengths, np.repeat(np.arange(len(counts)), counts)))
    anchors = np.zeros(len(counts), np.int64)
    anchors[counts > 0] = seeds.indices[nearest_first[seeds.indptr[:-1][counts > 0]]]
    return anchors


def transpose(edges: Rows) -> Rows:
    """In-edges as compressed rows, sorted; duplicates and zero lengths are kept."""
    n = len(edges.indptr) - 1
    matrix = csr_array((edges.lengths, edges.indices, edges.indptr), shape=(n, n)).tocsc()
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def is_undirected(edges: Rows) -> bool:
    """Whether every edge stands in both rows with one length."""
    turned = transpose(edges)
    ordered = transpose(turned)
    if not (np.array_equal(turned.indptr, ordered.indptr) and np.array_equal(turned.indices, ordered.indices)):
        return False
    if np.array_equal(turned.lengths, ordered.lengths):
        return True
    rows = np.repeat(np.arange(len(edges.indptr) - 1), np.diff(turned.indptr))  # parallel edges have no order of theirs
    here, there = (np.lexsort((side.lengths, side.indices, rows)) for side in (turned, ordered))
    return np.array_equal(turned.lengths[here], ordered.lengths[there])
