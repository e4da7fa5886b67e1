"""The neighbourhood stage: from data and declared facts to neighbourhoods that hang together.

    data --search--> neighbourhoods --rule--> graph --what must hang together?--> pieces --bridges--> `Connected`

A method says what it needs as a value, `Needs`; what the user asked for is `Asked`. Nothing here asks which method it
serves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lowfold._core.errors import Disconnected, DisconnectedWarning, InvalidInput, RepairWarning, ShortcutWarning
from lowfold._core.rounding import UNEVEN
from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold._core.warn import warn
from lowfold.graph._components import by_size, components
from lowfold.graph._connect import MOST_K, Bridges, connecting_k, find_bridges
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._radius import refuse_empty
from lowfold.graph._refill import cleared
from lowfold.graph._shortcuts import DETOUR, HINTS, SURE, crossings, find_shortcuts
from lowfold.graph._source import Blocks, Measured, Pairs, Source, euclidean_rows
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._patches import Patches, twins
from lowfold.methods._closed_classes import closed_class_labels
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.metrics._dissimilarity import asymmetry

FEW = 10  # a neighbourhood that the default has grown to is at most one in so many of the points
FEWEST = 50  # points below which a gap of the sample cannot be told from one of the data

Search = Callable[[Source, "int | Ints | None", Run], Neighbors]


@dataclass(frozen=True, eq=False)
class Asked:
    """What the user asked of the neighbourhoods, and in whose name errors are told."""

    method: str
    n_components: int
    n_neighbors: int | Ints | None
    radius: float | None
    search: str
    on_disconnected: str
    on_shortcut: str = "ignore"
    per_component: int = 0  # neighbours that a default has for every component

    def k(self, n: int, least: int) -> int | Ints | None:
        """n_neighbors with its default filled in, at least what the method needs; None for a radius alone."""
        if self.n_neighbors is None:
            usual = min(self.per_component * self.n_components, n // FEW)
            return None if self.radius is not None else min(n - 1, max(default_neighbors(n), usual, least))
        return int(self.n_neighbors) if np.ndim(self.n_neighbors) == 0 else np.asarray(self.n_neighbors)

    def takes_all(self, source: Source | None) -> bool:
        """A sparse matrix is a graph already: all its entries count unless some are asked for."""
        return isinstance(source, Measured) and self.n_neighbors is None and self.radius is None

    def nearest(self, source: Source, k: int | Ints | None, run: Run) -> Neighbors:
        """The plain search."""
        if isinstance(source, Measured) and self.takes_all(source):
            return source.pairs
        found = neighborhoods(source, n_neighbors=k, radius=self.radius, search=self.search, run=run)
        if self.radius is not None and len(found.indices) == 0:
            refuse_empty(source, self.radius, run)
        return found


class Hangs(Protocol):
    """What must hang together for a method's null space to be right."""

    def labels(self, near: Connected) -> Ints:
        """The piece of every point; 0 is the largest."""
        ...

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        """What was found, and what would connect it."""
        ...


@dataclass(frozen=True, eq=False)
class Needs:
    """What a method needs of its neighbourhoods, declared as data.

    least      the fewest neighbours that say anything
    symmetrize how directed neighbourhoods become a graph
    hangs      what must hang together
    distinct   repeated points hang on the first of them, and neighbourhoods are those of the distinct points
    capped     a bridge in the graph is no longer than its longest edge: for weights, not paths
    apart      pieces are wanted, so no bridge is built
    search     in place of the nearest points
    graph      in place of symmetrising
    widen      further edges of the graph, None for no more; shortcuts are looked for before, where edges are few
    second     further neighbourhoods of a method that has two kinds
    otherwise  what it means for the method that pieces do not hang together
    one_more   a query looks at one neighbour more: its nearest training point stands for itself
    corner     the embedding of a piece too small for the method, or None where it is large enough
    """

    least: int = 1
    symmetrize: str = "union"
    hangs: Hangs | None = None
    distinct: bool = False
    capped: bool = False
    apart: bool = False
    search: Search | None = None
    graph: Callable[[Connected, Run], Graph | None] | None = None
    widen: Callable[[Connected, Run], Graph | None] | None = None
    second: Callable[[Connected, int | Ints | None, Run], Neighbors] | None = None
    otherwise: str = ""
    one_more: bool = False
    corner: Callable[[Connected], Fit | None] | None = None

    def query_neighbors(self, asked: Asked, source: Source | None, n: int) -> int | None:
        """How many neighbours a new point has."""
        k = asked.k(n, self.least)
        if k is None or asked.takes_all(source):
            return None if k is None else n
        return min(int(np.median(k)) + 1, n) if self.one_more else int(np.median(k))


def check_neighbors(data: Data, asked: Asked, needs: Needs) -> None:
    """Refuse a number of neighbours that the points do not have or the method cannot use."""
    k = asked.k(data.n, needs.least)
    if k is None or data.source is None or asked.takes_all(data.source):
        return
    if np.max(k) > data.n - 1:
        raise InvalidInput(
            f"n_neighbors of {asked.method} must be at most {data.n - 1} for n_samples = {data.n}; got {np.max(k)}"
        )
    if np.min(k) < needs.least:
        raise InvalidInput(
            f"n_neighbors of {asked.method} must be at least {needs.least} for n_components = {asked.n_components}; "
            f"got {np.min(k)} for n_samples = {data.n}; use more neighbours (and points), or fewer n_components"
        )


def connect(data: Data, asked: Asked, needs: Needs, run: Run) -> Connected:
    """Neighbourhoods as asked and needed; where they fall apart they are joined, or left apart with their labels."""
    k = None if asked.takes_all(data.source) else asked.k(data.n, needs.least)
    near = _found(data, asked, needs, k, run)
    by_neighbors = needs.graph is None and not isinstance(needs.hangs, Always)
    if asked.on_shortcut != "ignore" and by_neighbors and not needs.apart:
        near = without_shortcuts(near, asked, run)
    removed = asked.on_shortcut == "remove" and len(near.shortcuts) > 0
    if needs.widen is not None and not removed:  # a longer reach would bring them back
        wide = needs.widen(near, run)
        if wide is not None and asked.on_shortcut != "ignore" and len(near.shortcuts) == 0:  # else they are told
            _tell_crossings(wide, near, asked, run)
        near = replace(near, edges=wide or near.edges)
    if needs.graph is not None:
        near = replace(near, edges=needs.graph(near, run))
    if needs.second is not None:
        near = replace(near, second=needs.second(near, k, run))
    hangs = needs.hangs or ByGraph()
    near = replace(near, labels=hangs.labels(near))
    if near.labels.max(initial=0) == 0 or needs.apart or asked.on_disconnected in ("largest", "separate"):
        return near
    words = hangs.words(near, near.labels, asked, k, run)
    if asked.on_disconnected == "raise":
        raise Disconnected("; ".join(filter(None, [words, needs.otherwise, "on_disconnected='connect' joins them"])))
    return _joined(near, words, run)


def _found(data: Data, asked: Asked, needs: Needs, k: int | Ints | None, run: Run) -> Connected:
    if data.graph is not None or data.neighbors is not None:
        used = None if data.neighbors is None else data.neighbors.k
        near = Connected(None, data.neighbors, data.graph, needs.symmetrize, n_neighbors=used)
        return replace(near, capped=needs.capped, y=data.labels)
    if data.source is None:
        raise InvalidInput(f"{asked.method} needs points, distances or a graph")
    if isinstance(data.source, Pairs):
        _tell_asymmetry(data.source, run)
    search = needs.search or asked.nearest
    found = search(data.source, k, run)
    if needs.distinct and needs.search is None:
        found = distinct_neighborhoods(data.source, found, asked, needs.least, run)
    edges = getattr(found, needs.symmetrize)() if needs.hangs is None and needs.graph is None else None
    near = Connected(data.source, found, edges, needs.symmetrize, n_neighbors=k)
    return replace(near, capped=needs.capped, y=data.labels)


def without_shortcuts(near: Connected, asked: Asked, run: Run) -> Connected:
    """The same with its shortcuts listed, and left out if asked to; a graph that the user gave is not doubted."""
    if near.source is None or near.found is None or near.n < FEWEST:
        return near
    found = find_shortcuts(near.unbridged, euclidean_rows(near.source), d=asked.n_components, run=run)
    if len(found) == 0:
        return near
    left, edges, words = near.found, near.edges, "use on_shortcut='remove', or fewer n_neighbors"
    if asked.on_shortcut == "remove":
        rule, fill = near.symmetrize, near.n_neighbors is not None
        left, found = cleared(near.source, left, found.edges, asked.n_components, run, symmetrize=rule, fill=fill)
        more = f", but {found.hints} others may be shortcuts: use fewer n_neighbors, or more points"
        words = "they were left out" + (more if found.hints else "")
        edges = None if edges is None else getattr(left, rule)()
    warn(
        f"{len(found)} of {near.unbridged.n_edges} edges of the neighbourhood graph (shortcuts_) join points that are "
        f"more than {SURE:g} times farther apart without them; {words}",
        ShortcutWarning,
    )
    return replace(near, shortcuts=found.edges, edges=edges, found=left)


def _tell_crossings(wide: Graph, near: Connected, asked: Asked, run: Run) -> None:
    """Warn where a reach leads to other sheets of the data: a shorter one rarely helps, points are too few there."""
    X = None if near.source is None else euclidean_rows(near.source)
    if X is None or near.n < FEWEST:
        return
    found, tested = crossings(wide, near.unbridged, X, d=asked.n_components, run=run)
    if found > HINTS:
        warn(
            f"{found} of {tested} long edges within the reach of {asked.method} join points that are more than "
            f"{DETOUR:g} times farther apart along shorter ones: parts of the data are hardly farther from each other "
            "than neighbours are, and coordinates may mix them; use more points, or n_neighbors",
            ShortcutWarning,
        )


def _tell_asymmetry(source: Pairs, run: Run) -> None:
    """Neighbours are those of each row; of two lengths of one edge the shorter counts."""
    uneven = asymmetry(source.distances, n_jobs=run.n_jobs)
    if uneven > UNEVEN * np.max(source.distances, initial=0.0, where=np.isfinite(source.distances)):
        warn(
            f"the distances are not symmetric (up to {uneven:.3g}): neighbours are taken from each row, and of the two "
            "lengths of an edge the shorter; pass (D + D.T) / 2 for the mean",
            RepairWarning,
        )


def _in_words(bridges: Bridges) -> str:
    low, high = bridges.lengths.min(), bridges.lengths.max()
    one = f"a bridge of length {low:.4g}"
    return one if len(bridges) == 1 else f"{len(bridges)} bridges of length {low:.4g} to {high:.4g}"


def _joined(near: Connected, words: str, run: Run) -> Connected:
    if near.source is None:
        raise Disconnected(
            f"{words}, and without points there is no distance between them; use on_disconnected='largest' or "
            "'separate', or pass a connected graph"
        )
    bridges = find_bridges(near.source, near.labels, run=run)
    warn(
        f"{words}; joined by {_in_words(bridges)} (bridges_)",
        DisconnectedWarning,
    )
    return replace(near, bridges=bridges)


# What must hang together ----------------------------------------------------------------------------------------------


def sizes_in_words(labels: Ints) -> str:
    """The number of pieces and the sizes of the first few."""
    sizes = np.bincount(labels)
    return f"{len(sizes)} components of {', '.join(map(str, sizes[:5]))}{', ...' if len(sizes) > 5 else ''} points"


@dataclass(frozen=True)
class ByGraph:
    """The symmetric graph."""

    def labels(self, near: Connected) -> Ints:
        return components(near.unbridged)

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        words = f"the neighbourhood graph has {sizes_in_words(labels)}"
        if near.source is None or near.symmetrize != "union" or (k is not None and asked.radius is not None):
            return words
        if isinstance(near.source, Blocks):  # no search eight times as wide is made only to tell
            return words
        if k is None:
            try:
                longest = find_bridges(near.source, labels, run=run).lengths.max()
            except Disconnected:  # nothing was measured between them
                return words
            return words + f"; a radius of {np.nextafter(longest, np.inf):.6g} would connect it"
        most = int(np.max(k))
        enough = connecting_k(near.source, most, run=run)
        if enough is None:
            return words + f"; n_neighbors up to {min(MOST_K * most, near.n - 1)} would not connect it"
        return words + f"; n_neighbors={enough} would connect it"


@dataclass(frozen=True)
class ByPatches:
    """Patches with more than d + 1 members; a point in no such patch is alone."""

    d: int
    include_self: bool = True

    def labels(self, near: Connected) -> Ints:
        few = (near.neighbors.counts <= self.d) & ~twins(near.neighbors)
        if self.include_self and near.symmetrize == "union" and not few.any():
            return components(near.unbridged)  # every patch joins a point with its neighbours
        return patch_components(Patches.around(near.neighbors, include_self=self.include_self), self.d)

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        words = f"the patches fall into {sizes_in_words(labels)}"
        missing = near.n - len(np.unique(Patches.around(near.neighbors, include_self=self.include_self).members))
        if missing:
            return words + f"; {missing} points are in no patch (no other point has them among its neighbours)"
        if k is None or asked.radius is not None or np.ndim(k) > 0 or near.source is None:
            return words
        enough = connecting_k(near.source, int(k), run=run)
        if enough is None:
            return words + f"; n_neighbors up to {8 * int(k)} would not connect them"
        return words + f"; n_neighbors={enough} would connect them"


@dataclass(frozen=True)
class ByClosedClasses:
    """One closed class of the directed neighbourhoods, those of the second kind included."""

    second: bool = False

    def labels(self, near: Connected) -> Ints:
        arcs = near.neighbors if near.second is None or not self.second else _both(near.neighbors, near.second)
        return closed_class_labels(arcs)

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        return (
            f"the neighbourhoods fall into {sizes_in_words(labels)}, each with a closed class of its own (a set of "
            "points whose neighbours stay inside), which adds a null vector; more neighbours make them fewer"
        )


@dataclass(frozen=True)
class Always:
    """All pairs are joined."""

    def labels(self, near: Connected) -> Ints:
        return np.zeros(near.n, dtype=np.int64)

    def words(self, near: Connected, labels: Ints, asked: Asked, k: int | Ints | None, run: Run) -> str:
        return "all pairs are joined"


def patch_components(patches: Patches, d: int) -> Ints:
    """Weak components of points through patches that determine something: twins, and more than d + 1 members."""
    sizes = patches.sizes
    useful = np.repeat((sizes > d + 1) | patches.twin, sizes)
    hub = np.repeat(patches.members[np.minimum(patches.indptr[:-1], max(len(patches.members) - 1, 0))], sizes)
    i, j = hub[useful].astype(np.int64), patches.members[useful].astype(np.int64)
    kept = i != j
    # Rows need not be sorted: a hub may lead several patches; the format merges them.
    edges = csr_array((np.ones(int(kept.sum()), dtype=np.int8), (i[kept], j[kept])), shape=(patches.n_points,) * 2)
    return by_size(connected_components(edges, directed=True, connection="weak")[1])


def _both(first: Neighbors, second: Neighbors) -> Neighbors:
    """Arcs of either, for counting closed classes; lengths are not kept."""
    A, B = (csr_array((np.ones(len(x.indices)), x.indices, x.indptr), shape=(x.n, x.n)) for x in (first, second))
    arcs = csr_array(A + B)
    return Neighbors(arcs.indptr, arcs.indices, np.ones(arcs.nnz), first.n)


# Repeated points ------------------------------------------------------------------------------------------------------


def distinct_neighborhoods(source: Source, found: Neighbors, asked: Asked, least: int, run: Run) -> Neighbors:
    """Repeated points hang on the first of them; neighbourhoods are those of the distinct points."""

    def among(heads: Ints) -> Neighbors:
        return asked.nearest(source.subset(heads), _distinct_k(heads, source.n, asked, least), run)

    return hung_on_first(found, among)


def hung_on_first(found: Neighbors, among: Callable[[Ints], Neighbors]) -> Neighbors:
    """Neighbourhoods in which a repeated point has the first of its kind as only neighbour; `among` finds those of the
    distinct points.

    Otherwise a point repeated k times would have a neighbourhood without extent, and be alone in the kernel.
    """
    first = found.indptr[:-1][found.counts > 0]
    if not (found.distances[first] == 0).any():
        return found
    n = found.n
    zero = found.distances == 0
    pairs = csr_array((np.ones(int(zero.sum())), (found.rows()[zero], found.indices[zero])), shape=(n, n))
    group = connected_components(pairs, directed=False)[1]
    unique, head = np.unique(group, return_index=True)
    home = head[np.searchsorted(unique, group)]
    heads = np.unique(head)
    part = among(heads)
    counts = np.ones(n, dtype=np.int64)
    counts[heads] = part.counts
    indptr = np.concatenate([[0], np.cumsum(counts)])
    of_head = np.repeat(home == np.arange(n), counts)
    indices, distances = np.empty(indptr[-1], dtype=np.int64), np.zeros(indptr[-1])
    indices[of_head], distances[of_head] = heads[part.indices], part.distances
    indices[~of_head] = home[home != np.arange(n)]
    return Neighbors(indptr, indices, distances, found.n_points, found.recall)


def _distinct_k(heads: Ints, n: int, asked: Asked, least: int) -> int | Ints | None:
    """The neighbours asked for, where that many different points exist."""
    k, m = asked.k(n, least), len(heads)
    if k is None:
        return None
    k = k if np.ndim(k) == 0 else np.asarray(k)[heads]
    if np.max(k) <= m - 1:
        return k
    if asked.n_neighbors is None and m - 1 >= least:
        return m - 1
    raise InvalidInput(
        f"only {m} of the {n} points are different, so {asked.method} can use at most {m - 1} neighbours and needs "
        f"{least}; n_neighbors is {np.max(k)}"
    )
