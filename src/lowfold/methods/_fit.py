"""What a method's `_embed` takes and returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._connect import Bridges
from lowfold.graph._source import Measured, Pairs, Points, Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.spectral._types import Eigenpairs

Queries = NDArray[np.floating] | Pairs | Measured


@dataclass(frozen=True, eq=False)
class Data:
    """Checked input: a source of distances, a ready graph, or both; and what was found out about it on the way."""

    source: Source | None
    neighbors: Neighbors | None = None
    graph: Graph | None = None
    bridges: Bridges = field(default_factory=Bridges.none)

    @property
    def n(self) -> int:
        part = self.source or self.neighbors or self.graph
        assert part is not None
        return part.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the input, which the output keeps."""
        if isinstance(self.source, Points):
            return self.source.X.dtype
        return self.source.distances.dtype if isinstance(self.source, Pairs) else np.dtype(np.float64)

    def points(self) -> Points:
        """The source, where it must be points."""
        if not isinstance(self.source, Points):
            raise InvalidInput("this needs the points themselves; the input was a matrix of distances or a graph")
        return self.source

    def subset(self, rows: NDArray[np.int64]) -> Data:
        return Data(
            None if self.source is None else self.source.subset(rows),
            None if self.neighbors is None else self.neighbors.restrict(rows),
            None if self.graph is None else self.graph.subgraph(rows),
        )

    def joined(self, bridges: Bridges) -> Data:
        """The same with bridges added to the graph."""
        assert self.graph is not None
        return replace(self, graph=self.graph.with_edges(bridges.edges, bridges.lengths), bridges=bridges)


@dataclass(frozen=True, eq=False)
class Trained:
    """What a fitted model keeps of its training data, to place new points: O(N (D + k + d))."""

    source: Source | None
    graph: Graph | None
    coordinates: Floats
    n_neighbors: int | None
    radius: float | None
    search: str


class Extension(Protocol):
    """Places new points among the trained ones, in natural coordinates."""

    @property
    def neighbors(self) -> bool:
        """Whether `place` uses the query's neighbours by the rules of the fit; else only the nearest is looked up."""
        ...

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats: ...


class Inverse(Protocol):
    """Leads from natural coordinates back to data space."""

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]: ...


@dataclass(frozen=True, eq=False)
class Fit:
    """The whole result of a method: where the points are, what it rests on, and the maps to and fro.

    `extra` holds the method's own fitted attributes, by name.
    """

    coordinates: Floats
    pairs: Eigenpairs | None
    graph: Graph | None
    extend: Extension
    invert: Inverse
    extra: dict[str, Any] = field(default_factory=dict)
