"""The two values that pass between stages: `Neighbors` (directed) and `Graph` (symmetric).

Both own plain read-only arrays. SciPy matrices are made on demand and are never the storage: SciPy drops zero-length
edges in `maximum` and `+`, and coincident points have such edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import loops_for
from lowfold._core.types import Floats
from lowfold._cuda._device import holding, kept_on_device, on_cpu
from lowfold._cuda._union import UNION_BYTES, union_rows

Indices = NDArray[np.integer[Any]]  # int32 once inside
Pointers = NDArray[np.integer[Any]]  # int64 once inside

LOOPS = "lowfold.graph._union_loops"


def _freeze(owner: object, **arrays: NDArray[Any]) -> None:
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        object.__setattr__(owner, name, array)


def _check_rows(what: str, indptr: Any, indices: Any, values: Any, n_columns: int) -> None:
    if holding(indices) is not None:  # looked through where they were made
        indptr, indices, values = (kept_on_device(array) for array in (indptr, indices, values))
    if indptr.ndim != 1 or len(indptr) == 0 or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        raise InvalidInput(f"indptr of {what} must start at 0 and never fall")
    if len(indices) != indptr[-1] or len(values) != indptr[-1]:
        raise InvalidInput(
            f"{what}: indptr promises {indptr[-1]} entries, indices has {len(indices)}, lengths {len(values)}"
        )
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise InvalidInput(f"{what}: indices must lie in 0..{n_columns - 1}")
    if np.isnan(values).any() or (len(values) and values.min() < 0):
        raise InvalidInput(f"{what}: distances must be 0 or more, and not NaN; leave unmeasured pairs out")


def _shown_recall(recall: float) -> str:
    """An exact search has nothing to say of it."""
    return "" if recall == 1.0 else f", recall {recall:.3f}"


def _scipy(data: Floats, indices: Indices, indptr: Pointers, shape: tuple[int, int]) -> csr_array:
    """A matrix with arrays of its own; 32-bit pointers where they suffice, which SciPy's graph routines want."""
    small = len(indices) < 2**31
    return csr_array((data, indices, indptr.astype(np.int32) if small else indptr), shape=shape, copy=True)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Directed neighbourhoods: row i lists the neighbours of point i, nearest first, ties by index, never i itself.

    indptr     (rows + 1) where each row starts
    indices    neighbours, row after row; rows may have different lengths
    distances  to them, float64
    n_points   size of the set that indices point into; equals the number of rows except for queries
    recall     share of true neighbours found, measured on a sample; 1.0 for an exact search

    >>> N = Neighbors.from_lists([[1, 2], [0, 2], [1, 0]], [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0]])
    >>> N
    Neighbors(3 points, 2 each)
    >>> N.union().edges().tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    indptr: Pointers
    indices: Indices
    distances: Floats
    n_points: int
    recall: float = 1.0

    def __post_init__(self) -> None:
        _freeze(
            self,
            indptr=np.asarray(self.indptr, dtype=np.int64),
            indices=np.asarray(self.indices, dtype=np.int32),
            distances=np.asarray(self.distances, dtype=np.float64),
        )
        _check_rows("Neighbors", self.indptr, self.indices, self.distances, self.n_points)

    @classmethod
    def from_lists(cls, indices: list[list[int]], distances: list[list[float]]) -> Neighbors:
        """From one list of neighbours and one of distances per point; rows are sorted by distance, then index."""
        counts = np.array([len(row) for row in indices])
        rows = np.repeat(np.arange(len(indices)), counts)
        flat = np.array([j for row in indices for j in row], dtype=np.int32)
        lengths = np.array([d for row in distances for d in row], dtype=np.float64)
        if np.any(flat == rows):
            raise InvalidInput("a point is never its own neighbour; remove it from its list")
        order = np.lexsort((flat, lengths, rows))
        return cls(np.concatenate([[0], np.cumsum(counts)]), flat[order], lengths[order], len(indices))

    def __repr__(self) -> str:
        counts = self.counts
        low, high = (int(counts.min()), int(counts.max())) if self.n else (0, 0)
        rows = f"{self.n} points" if self.n == self.n_points else f"{self.n} rows among {self.n_points} points"
        each = f"{low}" if low == high else f"{low} to {high}"
        return f"Neighbors({rows}, {each} each{_shown_recall(self.recall)})"

    def check(self) -> None:
        """Raise unless these are neighbourhoods of the points themselves, rows sorted by distance, itself left out."""
        rows = self.rows()
        if self.n != self.n_points:
            raise InvalidInput(f"Neighbors of {self.n} queries among {self.n_points} points are no graph of the points")
        if np.any(rows == self.indices):
            raise InvalidInput("a point is never its own neighbour; use Neighbors.from_lists or graph.find_neighbors")
        if np.any(np.diff(self.distances)[np.diff(rows) == 0] < 0):
            raise InvalidInput("rows of Neighbors are sorted by distance; use Neighbors.from_lists")

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of neighbours of each row (out-degree)."""
        return np.diff(self.indptr)

    @property
    def k(self) -> int | None:
        """The common number of neighbours, or None where rows differ."""
        counts = self.counts
        return int(counts[0]) if len(counts) and (counts == counts[0]).all() else None

    def rows(self) -> NDArray[np.int64]:
        """The row of every entry."""
        return np.repeat(np.arange(self.n), self.counts)

    def row(self, i: int) -> tuple[Indices, Floats]:
        """Neighbours of point i and the distances to them."""
        part = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[part], self.distances[part]

    def kth_distance(self) -> Floats:
        """Distance to the last neighbour of each row; 0 where there is none."""
        if self.k:
            return np.ascontiguousarray(self.distances.reshape(self.n, self.k)[:, -1])
        last = np.zeros(self.n)
        full = self.counts > 0
        last[full] = self.distances[self.indptr[1:][full] - 1]
        return last

    def take(self, rows: ArrayLike) -> Neighbors:
        """Some rows only, pointing into the same points."""
        rows = np.asarray(rows)
        counts = self.counts[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        flat = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][rows] - indptr[:-1], counts)
        return Neighbors(indptr, self.indices[flat], self.distances[flat], self.n_points, self.recall)

    def restrict(self, points: NDArray[np.int64]) -> Neighbors:
        """The neighbourhoods among `points`, renumbered in their order; neighbours outside are left out."""
        place = np.full(self.n_points, -1, dtype=np.int64)
        place[points] = np.arange(len(points))
        part = self.take(points)
        kept = place[part.indices] >= 0
        counts = np.bincount(part.rows()[kept], minlength=len(points))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        renumbered = place[part.indices[kept]].astype(np.int32)
        return Neighbors(indptr, renumbered, part.distances[kept], len(points), self.recall)

    def to_scipy(self) -> csr_array:
        """Sparse matrix of distances; coincident neighbours are stored zeros."""
        return _scipy(self.distances, self.indices, self.indptr, (self.n, self.n_points))

    def union(self) -> Graph:
        """i ~ j when either is a neighbour of the other. The default."""
        return self._symmetric("union")

    def mutual(self) -> Graph:
        """i ~ j when each is a neighbour of the other."""
        return self._symmetric("mutual")

    def average(self) -> Graph:
        """Wang (2012), Section 3.1 as printed: squared lengths (d_ij^2 + d_ji^2) / 2 with 0 for a missing direction.

        It shortens every one-way edge by sqrt(2); for comparison with printed results only.
        """
        return self._symmetric("average")

    def _symmetric(self, rule: str) -> Graph:
        if self.n != self.n_points:
            raise InvalidInput("neighbours of queries cannot be made a graph; only those of the points themselves")
        device = holding(self.indices)
        if device is not None and rule != "union":
            on_cpu(f"the {rule} of neighbourhoods", "only their union has a twin on the device")
            device = None
        if device is not None and device.has_room(UNION_BYTES * len(self.indices), "the union of neighbourhoods"):
            return Graph(*union_rows(device, self.indptr, self.indices, self.distances))
        rows = self.indptr, self.indices, self.distances
        if rule == "union":
            return Graph(*loops_for(LOOPS, self.n).union(*rows))
        from lowfold.graph import _union_plain

        return Graph(*getattr(_union_plain, rule)(*rows))


@dataclass(frozen=True, eq=False)
class Graph:
    """A symmetric graph with edge lengths; every edge stands in both rows; rows are sorted by index; no self-edges.

    >>> G = Graph.from_edges(3, [[0, 1], [1, 2]], [1.0, 2.0])
    >>> G
    Graph(3 points, 2 edges, lengths 1 to 2)
    >>> G.degrees().tolist(), G.n_edges
    ([1, 2, 1], 2)
    """

    indptr: Pointers
    indices: Indices
    lengths: Floats

    def __post_init__(self) -> None:
        _freeze(
            self,
            indptr=np.asarray(self.indptr, dtype=np.int64),
            indices=np.asarray(self.indices, dtype=np.int32),
            lengths=np.asarray(self.lengths, dtype=np.float64),
        )
        _check_rows("Graph", self.indptr, self.indices, self.lengths, self.n)

    @classmethod
    def from_edges(cls, n: int, edges: ArrayLike, lengths: ArrayLike | None = None) -> Graph:
        """From pairs (i, j), each edge once or in both directions; the shorter length counts where they differ."""
        pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        d = np.ones(len(pairs)) if lengths is None else np.asarray(lengths, dtype=np.float64)
        if len(d) != len(pairs):
            raise InvalidInput(f"lengths must have one entry per edge; got {len(d)} for {len(pairs)} edges")
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= n):
            raise InvalidInput(f"edges must join vertices 0..{n - 1}; got {pairs.min()}..{pairs.max()}")
        if np.any(pairs[:, 0] == pairs[:, 1]):
            raise InvalidInput("a graph has no edge from a vertex to itself; self-loops belong to the kernel's weights")
        i, j = np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])
        d = np.concatenate([d, d])
        order = np.lexsort((d, j, i))
        i, j, d = i[order], j[order], d[order]
        first = np.ones(len(i), dtype=bool)
        first[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(i[first], minlength=n))])
        return cls(indptr, j[first], d[first])

    def __repr__(self) -> str:
        lengths = f", lengths {self.lengths.min():.4g} to {self.lengths.max():.4g}" if len(self.lengths) else ""
        return f"Graph({self.n} points, {self.n_edges} edges{lengths})"

    def check(self) -> None:
        """Raise unless rows are sorted by index without repeats or self-edges and every edge stands in both rows."""
        rows = self.rows()
        inside = np.diff(rows) == 0
        if np.any(rows == self.indices) or np.any(np.diff(self.indices.astype(np.int64))[inside] <= 0):
            raise InvalidInput("a Graph's rows are sorted by index, without repeats or self-edges; use from_edges")
        order = np.lexsort((rows, self.indices))
        if not (np.array_equal(self.indices[order], rows) and np.array_equal(rows[order], self.indices)):
            raise InvalidInput("a Graph has every edge in both rows; make one with Graph.from_edges or Neighbors.union")
        if not np.array_equal(self.lengths[order], self.lengths):
            raise InvalidInput("an edge of a Graph has the same length in both rows; use Graph.from_edges")

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return len(self.indices) // 2

    def rows(self) -> NDArray[np.int64]:
        """The row of every entry."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))

    def row(self, i: int) -> tuple[Indices, Floats]:
        """Vertices joined to i and the lengths of the edges."""
        part = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[part], self.lengths[part]

    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each vertex."""
        return np.diff(self.indptr)

    def edges(self) -> NDArray[np.int64]:
        """Every edge once, as rows (i, j) with i < j."""
        rows = self.rows()
        kept = rows < self.indices
        return np.column_stack([rows[kept], self.indices[kept]])

    def subgraph(self, vertices: NDArray[np.int64]) -> Graph:
        """The edges among `vertices`, renumbered in their order."""
        place = np.full(self.n, -1, dtype=np.int64)
        place[vertices] = np.arange(len(vertices))
        rows = self.rows()
        kept = (place[rows] >= 0) & (place[self.indices] >= 0)
        i, j, d = place[rows[kept]], place[self.indices[kept]], self.lengths[kept]
        order = np.lexsort((j, i))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=len(vertices)))])
        return Graph(indptr, j[order].astype(np.int32), d[order])

    def with_edges(self, edges: ArrayLike, lengths: ArrayLike) -> Graph:
        """The graph with more edges."""
        rows = self.rows()
        once = rows < self.indices
        pairs = np.concatenate([np.column_stack([rows[once], self.indices[once]]), np.asarray(edges).reshape(-1, 2)])
        return Graph.from_edges(self.n, pairs, np.concatenate([self.lengths[once], np.asarray(lengths)]))

    def to_scipy(self, values: Floats | None = None) -> csr_array:
        """Sparse matrix of lengths, or of other values in the order of the entries."""
        data = self.lengths if values is None else values
        return _scipy(data, self.indices, self.indptr, (self.n, self.n))

    def neighbors(self) -> Neighbors:
        """The same edges as neighbourhoods, each row sorted by length, then index."""
        order = np.lexsort((self.indices, self.lengths, self.rows()))
        return Neighbors(self.indptr, self.indices[order], self.lengths[order], self.n)
