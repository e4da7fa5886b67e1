"""Geodesics of all pairs on the workers of a cluster: only N x d blocks move.

Where the graph is dissected well its fronts go to every worker once, and tasks make panels of the matrix, multiply and
forget them. Elsewhere slabs of rows are made by sweeps and stay with the workers that made them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Any, Protocol, runtime_checkable

import numpy as np

from lowfold._core.rows import Merge
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._minplus import PathFactor
from lowfold.graph._paths import shortest_paths
from lowfold.graph._types import Graph

SLAB_BYTES = 64_000_000  # of distances that one task makes: half a second of sweeps or more
POWERED = 64  # rows of a slab that are raised to the power at a time
ROOM = 0.5  # of the workers' memory that slabs may fill: above 0.6 Dask writes to disk


@runtime_checkable
class Workers(Protocol):
    """Processes with memory of their own. An item is the first arguments of f; results that stay can be such."""

    @property
    def room(self) -> float:
        """Bytes of memory of all workers; 0 where the work is done in this process."""
        ...

    def sent(self, value: Any) -> Any:
        """A value put on every worker, for `shared` of many calls; it stays there as long as this is kept."""
        ...

    def each(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], *shared: Any) -> Sequence[Any]:
        """f(*item, *shared) of every item."""
        ...

    def merged(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], merge: Merge, *shared: Any) -> Any:
        """The same, merged two by two in a fixed tree."""
        ...

    def staying(self, f: Callable[..., Any], items: Sequence[tuple[Any, ...]], *shared: Any) -> Sequence[Any]:
        """The same, left where it was made."""
        ...


def workers_of(rows: object) -> Workers | None:
    """Those who work on the blocks of these rows, where they are other processes."""
    return rows if isinstance(rows, Workers) and rows.room > 0 else None


@dataclass(frozen=True, eq=False)
class FrontsApart:
    """Fronts that every worker has; `distances` of a few sources are made here."""

    factor: PathFactor
    workers: Workers

    @cached_property
    def sent(self) -> Any:
        return self.workers.sent(self.factor)

    @property
    def n(self) -> int:
        return self.factor.n

    def distances(self, sources: Ints, *, n_jobs: int | None = None) -> Floats:
        return self.factor.distances(sources, n_jobs=n_jobs)

    def times(self, V: Floats, power: int, shift: float, *, n_jobs: int | None = None) -> Floats:
        groups = [(group,) for group in self.factor.groups()]
        W = self.factor.by_rank(V)
        return self.factor.from_rank(self.workers.merged(_panels, groups, add, self.sent, W, power, shift), V.shape[1])


def _panels(panels: Ints, factor: PathFactor, W: Floats, power: int, shift: float) -> Floats:
    out = np.zeros_like(W)
    factor.add_panels(panels, W, power, shift, out)
    return out


@dataclass(frozen=True, eq=False)
class Slabs:
    """Rows starts[i] to starts[i + 1] of the distances stay with the worker that made them.

    `graph` is the one on the workers, from which a lost slab is made again.
    """

    slabs: Sequence[Any]
    graph: Any
    starts: Ints
    workers: Workers

    @classmethod
    def made(cls, graph: Graph, dtype: np.dtype[Any], workers: Workers) -> Slabs:
        rows = max(1, SLAB_BYTES // (dtype.itemsize * graph.n))
        starts = np.append(np.arange(0, graph.n, rows), graph.n)
        items = [(int(a), int(b)) for a, b in pairwise(starts)]
        there = workers.sent(graph)
        return cls(workers.staying(_slab, items, there, dtype.name), there, starts, workers)

    @property
    def n(self) -> int:
        return int(self.starts[-1])

    def distances(self, sources: Ints, *, n_jobs: int | None = None) -> Floats:
        home = np.searchsorted(self.starts, sources, side="right") - 1
        out = np.empty((len(sources), self.n))
        asked = [(int(i), np.flatnonzero(home == i)) for i in np.unique(home)]
        items = [(self.slabs[i], sources[places] - self.starts[i]) for i, places in asked]
        for (_, places), found in zip(asked, self.workers.each(_rows_of, items)):
            out[places] = found
        return out

    def times(self, V: Floats, power: int, shift: float, *, n_jobs: int | None = None) -> Floats:
        items = [(slab, int(start)) for slab, start in zip(self.slabs, self.starts)]
        return np.concatenate(self.workers.each(_slab_times, items, np.ascontiguousarray(V), power, shift))


def _slab(first: int, last: int, graph: Graph, dtype: str) -> AnyFloats:
    sources = np.arange(first, last)
    return shortest_paths(graph.indptr, graph.indices, graph.lengths, sources, dtype=dtype, method="sweep", n_jobs=1)


def _rows_of(slab: AnyFloats, rows: Ints) -> AnyFloats:
    return slab[rows]


def _slab_times(slab: AnyFloats, start: int, V: Floats, power: int, shift: float) -> Floats:
    out = np.empty((len(slab), V.shape[1]))
    for first in range(0, len(slab), POWERED):
        P = np.add(slab[first : first + POWERED], shift, dtype=np.float64)
        P[np.arange(len(P)), np.arange(start + first, start + first + len(P))] = 0.0
        out[first : first + POWERED] = np.power(P, power, out=P) @ V
    return out


__all__ = ["ROOM", "FrontsApart", "Slabs", "Workers", "workers_of"]
