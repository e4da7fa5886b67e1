"""Joining the pieces of a graph with the fewest and shortest bridges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.errors import Disconnected, InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._block_search import nearest_outside_in_blocks
from lowfold.graph._components import components
from lowfold.graph._search import nearest, trim
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Graph, Neighbors

# Points of a component up to which all such are searched together, with that many neighbours and one; a search of its
# own for each would build a tree of all other points every time. Larger ones would ask for more neighbours than it
# saves.
TOGETHER = 64
MOST_K = 8  # times n_neighbors, up to which a number that would connect the graph is looked for, and told
WIDER = 1.1  # factor of the radius from one try to the next


@dataclass(frozen=True, eq=False)
class Bridges:
    """Edges that were added to join components: rows (i, j), and their lengths."""

    edges: Ints
    lengths: Floats

    __repr__ = brief

    @classmethod
    def none(cls) -> Bridges:
        return cls(np.empty((0, 2), dtype=np.int64), np.empty(0))

    def __len__(self) -> int:
        return len(self.edges)


def find_bridges(source: Source, labels: Ints, *, run: Run | None = None) -> Bridges:
    """The c - 1 edges of smallest total length that join c components: Boruvka's tree over the components.

    Wang (2012), Section 4.1.4 enlarges all neighbourhoods instead until the graph is connected (see `enlarge`); bridges
    leave every neighbourhood that was right as it was.
    """
    labels = labels.copy()
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    while labels.max(initial=0) > 0:
        i, j, d = _nearest_outside(source, labels, run or Run())
        # Shortest first, so that two components which chose each other are joined once.
        order = np.lexsort((j, i, d))
        label_of = np.arange(labels.max() + 1)
        for e in order:
            a, b = label_of[labels[i[e]]], label_of[labels[j[e]]]
            if a != b:
                label_of[label_of == max(a, b)] = min(a, b)
                edges.append((int(min(i[e], j[e])), int(max(i[e], j[e]))))
                lengths.append(float(d[e]))
        labels = np.unique(label_of[labels], return_inverse=True)[1]
    return Bridges(np.array(edges, dtype=np.int64).reshape(-1, 2), np.array(lengths))


def _nearest_outside(source: Source, labels: Ints, run: Run) -> tuple[Ints, Ints, Floats]:
    """For every component but the largest, its shortest pair with a point outside it."""
    sizes = np.bincount(labels)
    chosen = np.argsort(-sizes, kind="stable")[1:]
    if isinstance(source, Measured):
        i, j, d = source.pairs.rows(), source.pairs.indices.astype(np.int64), source.pairs.distances
        both = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([d, d])  # measured one way is measured
        return _shortest_each(*_across(*both, labels))
    if isinstance(source, Pairs):
        parts = [_shortest_in_rows(source.distances, np.flatnonzero(labels == c), labels) for c in chosen]
    else:
        small = chosen[sizes[chosen] <= TOGETHER]
        parts = [
            _points_outside(source, np.flatnonzero(labels == c), labels, run) for c in chosen if sizes[c] > TOGETHER
        ]
        if len(small):
            parts.append(_points_outside_small(source, np.flatnonzero(np.isin(labels, small)), labels, run))
    i, j, d = (np.concatenate(part) for part in zip(*parts, strict=True))
    if len(i) == 0:
        raise Disconnected(
            f"the graph has {labels.max() + 1} components and no pair between them was measured, so nothing can join "
            "them; measure such pairs, or use on_disconnected='largest' or 'separate'"
        )
    return _shortest_each(i, j, d, labels)


def _across(i: Ints, j: Ints, d: Floats, labels: Ints) -> tuple[Ints, Ints, Floats, Ints]:
    kept = (labels[i] != labels[j]) & np.isfinite(d)
    if not kept.any():
        raise Disconnected(
            f"the graph has {labels.max() + 1} components and no pair between them was measured, so nothing can join "
            "them; measure such pairs, or use on_disconnected='largest' or 'separate'"
        )
    return i[kept], j[kept], d[kept], labels


def _shortest_each(i: Ints, j: Ints, d: Floats, labels: Ints) -> tuple[Ints, Ints, Floats]:
    """The first pair by (length, i, j) of every component that occurs as labels[i]."""
    order = np.lexsort((j, i, d, labels[i]))
    first = np.unique(labels[i][order], return_index=True)[1]
    return i[order][first], j[order][first], d[order][first]


def _shortest_in_rows(D: NDArray[np.floating], members: Ints, labels: Ints) -> tuple[Ints, Ints, Floats]:
    others = np.flatnonzero(labels != labels[members[0]])
    block = np.asarray(D[np.ix_(members, others)], dtype=np.float64)
    finite = np.isfinite(block)
    if not finite.any():
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    a, b = np.unravel_index(np.argmin(np.where(finite, block, np.inf)), block.shape)
    return np.array([members[a]]), np.array([others[b]]), np.array([block[a, b]])


def _points_outside(source: Points | Blocks, members: Ints, labels: Ints, run: Run) -> tuple[Ints, Ints, Floats]:
    if isinstance(source, Blocks):
        return nearest_outside_in_blocks(source, members, labels, run)
    others = np.flatnonzero(labels != labels[members[0]])
    found = nearest(source.subset(others), 1, queries=source.X[members], run=run)
    best = int(np.argmin(found.distances))
    return members[[best]], others[found.indices[[best]]], found.distances[[best]]


def _points_outside_small(source: Points | Blocks, members: Ints, labels: Ints, run: Run) -> tuple[Ints, Ints, Floats]:
    """Components of at most TOGETHER points all at once: among one nearest point more, one is outside."""
    k = min(TOGETHER + 1, source.n)
    found = nearest(source, k, queries=source.subset(members).X, run=run)
    i, j = members[found.rows()], found.indices.astype(np.int64)
    kept = labels[i] != labels[j]
    return i[kept], j[kept], found.distances[kept]


def connecting_k(source: Source, k: int, *, most: int = MOST_K, run: Run | None = None) -> int | None:
    """The smallest n_neighbors up to most * k for which the union graph is connected; None where that is not enough."""
    limit = min(source.n - 1, most * k)
    wide = nearest(source, limit, run=run)
    if not (components(wide) == 0).all():
        return None
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        if (components(trim(wide, np.full(source.n, middle))) == 0).all():
            high = middle
        else:
            low = middle
    return high


def enlarge(
    source: Source, *, n_neighbors: int = 3, radius: float | None = None, run: Run | None = None
) -> tuple[Graph, int | float]:
    """Connect as Wang (2012), Section 4.1.4 intends: one neighbour more for every point, or the radius times 1.1.

    Goes on until the graph is connected. Returns the graph and the n_neighbors or radius it took.
    """
    from lowfold.graph._radius import within_radius

    several = np.ndim(n_neighbors) > 0
    if several or int(n_neighbors) != n_neighbors or n_neighbors < 1:
        given = f"an array of shape {np.shape(n_neighbors)}" if several else repr(n_neighbors)
        raise InvalidInput(
            "n_neighbors of enlarge must be one whole number of at least 1, which grows for all points alike; got "
            f"{given}"
        )
    if radius is not None:
        if not radius > 0:
            raise InvalidInput(f"radius must be above 0; got {radius!r}")
        longest = find_bridges(source, np.arange(source.n), run=run).lengths.max(initial=0.0)
        while True:
            graph = within_radius(source, radius, run=run).union()
            if radius >= longest or (components(graph) == 0).all():
                return graph, radius
            radius *= WIDER
    k = n_neighbors
    while True:
        found: Neighbors = nearest(source, min(k, source.n - 1), run=run)
        if (components(found) == 0).all():
            return found.union(), k
        if k >= source.n - 1:
            raise Disconnected("the measured pairs do not connect all points; measure more pairs")
        k += 1
