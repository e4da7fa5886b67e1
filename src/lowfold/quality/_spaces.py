"""Distances in blocks of rows, whatever they come from: points, a matrix, or shortest paths in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices, run_blocks, single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._cuda import arrived
from lowfold.graph._components import is_connected
from lowfold.graph._foreign import known_graph
from lowfold.graph._geodesics import geodesics
from lowfold.graph._minplus import PathFactor
from lowfold.graph._paths import path_factor
from lowfold.graph._reading import MetricLike, Params, read_complete, read_points
from lowfold.graph._source import Pairs, Points
from lowfold.graph._types import Graph, Neighbors

BLOCK = 2_000_000  # distances of one block: 16 MB, so that a few blocks on every thread stay small
ONE = Run(n_jobs=1)
GAPS = "where pairs are missing pass a Graph of the measured ones: its shortest paths stand for the rest"


class Space(Protocol):
    """n points with distances among them."""

    @property
    def n(self) -> int:
        """Number of points."""
        ...

    def rows(self, part: Ints) -> Floats:
        """Distances from the points `part` to all points."""
        ...

    def among(self, part: Ints) -> Floats:
        """Distances among the points `part`."""
        ...


@dataclass(frozen=True, eq=False)
class PointSpace:
    """Rows of coordinates with a metric."""

    source: Points

    @property
    def n(self) -> int:
        return self.source.n

    def rows(self, part: Ints) -> Floats:
        return self.source.rows(self.source.X[part])

    def among(self, part: Ints) -> Floats:
        return self.source.rows(self.source.X[part], part)


@dataclass(frozen=True, eq=False)
class MatrixSpace:
    """A full matrix of distances."""

    D: NDArray[np.floating]

    @property
    def n(self) -> int:
        return len(self.D)

    def rows(self, part: Ints) -> Floats:
        return np.asarray(self.D[part], dtype=np.float64)

    def among(self, part: Ints) -> Floats:
        return np.asarray(self.D[np.ix_(part, part)], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PathSpace:
    """Geodesic distances: shortest paths in a connected graph. Only the rows asked for are computed."""

    graph: Graph

    @property
    def n(self) -> int:
        return self.graph.n

    @cached_property
    def _factor(self) -> PathFactor | None:
        """Made once for all rows, where that is less work than searching for each."""
        g = self.graph
        return path_factor(g.indptr, g.indices, g.lengths, dtype=np.float64, n_rows=g.n, n_jobs=1)

    def rows(self, part: Ints) -> Floats:
        if self._factor is not None:
            return self._factor.distances(part, n_jobs=1)
        return np.asarray(geodesics(self.graph, part, dtype=np.float64, run=ONE))

    def among(self, part: Ints) -> Floats:
        if self._factor is not None:
            return self._factor.distances(part, part, n_jobs=1)
        return np.asarray(geodesics(self.graph, part, part, dtype=np.float64, run=ONE))


def read_space(X: Any, metric: MetricLike = "euclidean", metric_params: Params = None) -> Space:
    """Points with a metric, a matrix (metric="precomputed...") or, for a `Graph` or `Neighbors`, its shortest paths."""
    X = known_graph(X)
    if isinstance(X, (Graph, Neighbors)):
        X.check()
        graph = X if isinstance(X, Graph) else X.union()
        if not is_connected(graph):
            raise InvalidInput(
                "X is a graph in several pieces, between which there is no geodesic distance; use more neighbours, "
                "or the graph_ of a model fitted with on_disconnected='connect'"
            )
        return PathSpace(graph)
    source = read_complete(X, metric, metric_params, way_out=GAPS)
    return MatrixSpace(source.distances) if isinstance(source, Pairs) else PointSpace(source)


def read_coordinates(X: Any, name: str) -> Points:
    """A finite array, rows are points of Euclidean space."""
    return read_points(X, name, "euclidean", None)


def read_both(X: Any, Y: Any, metric: MetricLike, metric_params: Params) -> tuple[Space, PointSpace]:
    """The data and an embedding of it, of one length and at least three points."""
    X, Y = (arrived(array)[0] for array in (X, Y))
    space, image = read_space(X, metric, metric_params), PointSpace(read_coordinates(Y, "Y"))
    same_length(space.n, image.n)
    if space.n < 3:
        raise InvalidInput(f"X must have at least 3 points for its distances to be compared; got {space.n}")
    return space, image


def same_length(n: int, m: int, names: str = "X and Y") -> None:
    """Raise unless both have one row per point."""
    if n != m:
        raise InvalidInput(f"{names} must have one row per point; got {n} and {m} rows")


def by_rows(n: int, work: Callable[[int, Ints], None], n_jobs: int | None) -> None:
    """Call work(b, rows) for blocks of rows of n x n distances."""
    parts = block_slices(n, max(1, BLOCK // n))
    with single_threaded_blas():
        run_blocks(lambda b: work(b, np.arange(parts[b].start, parts[b].stop)), len(parts), n_jobs=n_jobs)


def row_step(n: int) -> int:
    """Rows of n distances that are ranked at once: four blocks, because reading the points anew costs as well."""
    return max(1, 4 * BLOCK // n)
