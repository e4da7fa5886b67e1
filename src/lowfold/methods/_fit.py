"""The values that pass between a method and its base class: `Data` in, `Fit` out; `Connected` for neighbourhoods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._connect import Bridges
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.spectral._types import Eigenpairs

Queries = NDArray[np.floating] | Pairs | Measured

NEEDS_POINTS = (
    "this needs the points themselves; the input was a matrix of distances or a graph, which Isomap, MetricMDS and "
    "LaplacianEigenmaps take"
)


def _points(source: Source | None) -> Points:
    if isinstance(source, Blocks):
        raise InvalidInput("this needs the rows in memory, and they are in blocks; fit on X.take(rows) of some of them")
    if not isinstance(source, Points):
        raise InvalidInput(NEEDS_POINTS)
    return source


def feature_rows(queries: Queries) -> NDArray[np.floating]:
    """New points as rows of features, where they must be."""
    if isinstance(queries, (Pairs, Measured)):
        raise InvalidInput("this needs rows of features; got distances to the training points")
    return queries


def known_source(source: Source | None) -> Source:
    """The source, where there must be one."""
    if source is None:
        raise InvalidInput("this model was fitted on a graph, or keeps no training rows; fit it on points or distances")
    return source


def _dtype(source: Source | None) -> np.dtype[Any]:
    if isinstance(source, Points):
        return np.dtype(source.X.dtype)
    if isinstance(source, Blocks):
        return np.dtype(source.rows.dtype)
    return np.dtype(source.distances.dtype if isinstance(source, Pairs) else np.float64)


@dataclass(frozen=True, eq=False)
class Data:
    """Checked input: a source of distances, ready neighbourhoods, a graph, or a matrix that a method takes itself.

    `labels` are the y of a supervised method; `given` is a kernel matrix or a stack of matrices; `kept` are fitted
    attributes that reading found out.
    """

    source: Source | None
    neighbors: Neighbors | None = None
    graph: Graph | None = None
    labels: NDArray[Any] | None = None
    given: NDArray[np.floating] | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of points."""
        for part in (self.source, self.neighbors, self.graph):
            if part is not None:
                return part.n
        return 0 if self.given is None else int(self.given.shape[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the input, which the output keeps."""
        return _dtype(self.source) if self.given is None else np.dtype(self.given.dtype)

    def points(self) -> Points:
        """The source, where it must be points."""
        return _points(self.source)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the points, in memory or in blocks."""
        return self.source.rows.shape if isinstance(self.source, Blocks) else self.points().X.shape

    def stack(self) -> Floats:
        """The matrices that a method takes itself."""
        if self.given is None:
            raise InvalidInput("this needs a matrix, or several; the input was points or a graph")
        return np.asarray(self.given, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Connected:
    """Neighbourhoods that hang together, by bridges where they have to: what a graph method embeds.

    `found` is None where X was a ready graph. `edges` is the symmetric graph where it was made already: given, or by a
    rule of the method. `labels` number the pieces that the points were found in; `rows` are those of the whole data
    where this is one piece of it. `second` holds further neighbourhoods of a method that has two kinds.
    """

    source: Source | None
    found: Neighbors | None
    edges: Graph | None = None
    symmetrize: str = "union"
    bridges: Bridges = field(default_factory=Bridges.none)
    capped: bool = False  # in the graph a bridge is no longer than the longest edge
    labels: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    second: Neighbors | None = None
    rows: Ints | None = None
    n_neighbors: int | Ints | None = None
    y: NDArray[Any] | None = None  # labels of a supervised method
    shortcuts: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    @property
    def n(self) -> int:
        """Number of points."""
        return self.found.n if self.found is not None else self.unbridged.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the input."""
        return _dtype(self.source)

    @cached_property
    def neighbors(self) -> Neighbors:
        """Directed neighbourhoods; of a ready graph, its edges."""
        return self.unbridged.neighbors() if self.found is None else self.found

    @cached_property
    def unbridged(self) -> Graph:
        """The symmetric graph of neighbours alone: bridges are as long as a gap and have no say in a scale."""
        if self.edges is not None:
            return self.edges
        if self.found is None:
            raise InvalidInput("neither neighbourhoods nor a graph were given")
        return getattr(self.found, self.symmetrize)()  # type: ignore[no-any-return]

    @cached_property
    def graph(self) -> Graph:
        """The symmetric graph, bridges included."""
        if not len(self.bridges):
            return self.unbridged
        lengths = self.bridges.lengths
        if self.capped:
            lengths = np.minimum(lengths, self.unbridged.lengths.max(initial=0.0) or np.inf)
        return self.unbridged.with_edges(self.bridges.edges, lengths)

    @property
    def kth_distance(self) -> Floats | None:
        """Distance to each point's last neighbour; None where none were searched."""
        return None if self.found is None else self.found.kth_distance()

    def points(self) -> Points:
        """The source, where it must be points."""
        return _points(self.source)

    def piece(self, rows: Ints) -> Connected:
        """Some rows by themselves."""
        place = np.full(self.n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        shortcuts = place[self.shortcuts]
        return replace(
            self,
            shortcuts=shortcuts[(shortcuts >= 0).all(axis=1)],
            source=None if self.source is None else self.source.subset(rows),
            found=None if self.found is None else self.found.restrict(rows),
            edges=None if self.edges is None else self.edges.subgraph(rows),
            bridges=Bridges.none(),
            labels=np.zeros(len(rows), dtype=np.int64),
            second=None if self.second is None else self.second.restrict(rows),
            rows=rows,
            y=None if self.y is None else self.y[rows],
        )


@dataclass(frozen=True)
class Rules:
    """By which a new point's neighbours are found: those of the fit."""

    n_neighbors: int | None = None
    radius: float | None = None
    search: str = "auto"


@dataclass(frozen=True, eq=False)
class Trained:
    """What a fitted model keeps of its training data, to place new points: O(N (D + k + d))."""

    source: Source | None
    graph: Graph | None
    coordinates: Floats
    n_neighbors: int | None
    radius: float | None
    search: str

    @property
    def points(self) -> Points:
        """The training points, where they must be there."""
        return _points(self.source)

    @property
    def edges(self) -> Graph:
        """The graph, where there must be one."""
        if self.graph is None:
            raise InvalidInput("this model keeps no graph; fit it on points with neighbours")
        return self.graph


@dataclass(frozen=True, eq=False)
class AsNew:
    """Where some training points would be if they were new.

    `nowhere` is where a point lands of which the training points know nothing; None where a map has no such place.
    """

    coordinates: Floats
    nowhere: Floats | None = None


Looks = Literal["nowhere", "nearest", "neighbors"]


class Extension(ABC):
    """Places new points among the trained ones, in natural coordinates.

    looks      what is searched for it beforehand: nothing, each query's nearest point, or its neighbours as in the fit
    recognise  whether a query at distance 0 from a training point is that point and not placed at all
    """

    looks: ClassVar[Looks] = "nearest"
    recognise: bool = True

    @abstractmethod
    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        """Natural coordinates of the queries; `found` is what was looked for, empty rows for nothing."""

    def as_new(self, coordinates: Floats, rows: Ints, points: Points, run: Run) -> AsNew:
        """Where these training points would be if they were new: as they are, where others hold each in its place."""
        return AsNew(coordinates[rows])


class Inverse(Protocol):
    """Leads from natural coordinates back to data space."""

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]: ...


@dataclass(frozen=True, eq=False)
class Fit:
    """The whole result of a method: where the points are, what it rests on, and the maps to and fro.

    `extra` holds the method's own fitted attributes, by name; `normal` is the output's linear map where it cannot be
    found from the coordinates, `lengths` the one in which edges have their lengths, where it was asked for. Without
    `keeps_rows` the map alone places new points: the rows were in blocks. `doubtful` is a fit of which something was
    told already.
    """

    coordinates: Floats
    pairs: Eigenpairs | None
    graph: Graph | None
    extend: Extension
    invert: Inverse
    extra: dict[str, Any] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    normal: Floats | None = None
    lengths: Floats | None = None
    keeps_rows: bool = True
    doubtful: bool = False

    def trained(self, source: Source | None) -> Trained:
        """What the model keeps of its data."""
        r = self.rules
        return Trained(source, self.graph, self.coordinates, r.n_neighbors, r.radius, r.search)

    def without_rows(self) -> Trained:
        """What a model keeps whose map alone places new points."""
        return Trained(None, None, np.empty((0, self.coordinates.shape[1])), None, None, "auto")
