"""Neighbourhoods without shortcuts, filled up from along the data.

A point that lost its neighbours on another sheet has too few: patches of hardly more points than directions say
nothing, and one that lost them all is held by nothing. The next nearest that are near along the data take their place.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowfold._core.run import Run
from lowfold._core.types import AnyInts, Floats, Ints
from lowfold.graph._detours import Mask, long_way
from lowfold.graph._search import nearest, trim
from lowfold.graph._shortcuts import Shortcuts, find_shortcuts, listed, without_neighbors
from lowfold.graph._source import Points, Sheet, Source, euclidean_rows
from lowfold.graph._types import Graph, Neighbors

ROUNDS = 4  # many shortcuts hide a few others, and what is filled in may be one: so often is looked
WIDER = 4  # times the neighbours asked for, among which others are looked for: between sheets most lie across
ALONG = 2.0  # times its length that the way along the edges left may take to a neighbour that is filled in


def cleared(
    source: Source, found: Neighbors, gone: Ints, d: int, run: Run, *, symmetrize: str, fill: bool
) -> tuple[Neighbors, Shortcuts]:
    """The neighbourhoods without the edges `gone` (i, j), i < j, and those seen without them; and all these edges, with
    the hints at others in what is left.

    With `fill` every point has as many neighbours as before, as far as there are some along the data.
    """
    wanted, X = found.counts, euclidean_rows(source)
    left = without_neighbors(found, gone)
    for _ in range(ROUNDS):
        full = _filled(source, left, wanted, gone, run) if fill else left
        more = find_shortcuts(getattr(full, symmetrize)(), X, d=d, run=run)
        left = without_neighbors(full, more.edges)
        if len(more) == 0:
            break
        gone = np.unique(np.concatenate([gone, more.edges]), axis=0)
    return left, replace(more, edges=gone)


def _filled(source: Source, left: Neighbors, wanted: Ints, gone: Ints, run: Run) -> Neighbors:
    """Rows with fewer neighbours than wanted get the next nearest to which the edges left lead without a detour."""
    short = np.flatnonzero(left.counts < wanted)
    if len(short) == 0:
        return left
    near = _nearest_of(source, short, min(WIDER * int(wanted[short].max()), left.n - 1), run)
    i, j = short[near.rows()], near.indices.astype(np.int64)
    graph = left.union()
    new = (i != j) & ~_repeated(left)[j] & ~np.isin(_keys(i, j, left.n), _keys(left.rows(), left.indices, left.n))
    new &= ~listed(np.sort(np.column_stack([i, j]), axis=1), gone, left.n)
    i, j, length = i[new], j[new], near.distances[new]
    along = _along(graph, i, j, length, run)
    return trim(_with(left, i[along], j[along], length[along]), wanted)


def _nearest_of(source: Source, rows: Ints, k: int, run: Run) -> Neighbors:
    """The k nearest points of some; they may be among them."""
    if isinstance(source, Points) and not isinstance(source, Sheet):
        return nearest(source, k, queries=source.X[rows], run=run)
    return nearest(source, k, run=run).take(rows)


def _repeated(neighbors: Neighbors) -> Mask:
    """Points at the place of another one, which tell nothing more."""
    zero = np.zeros(neighbors.n, dtype=bool)
    zero[neighbors.rows()[neighbors.distances == 0]] = True
    return zero


def _keys(i: Ints, j: AnyInts, n: int) -> Ints:
    return np.asarray(i.astype(np.int64) * n + j)


def _along(graph: Graph, i: Ints, j: Ints, length: Floats, run: Run) -> Mask:
    """Whether the graph joins i and j, or leads from one to the other without a detour."""
    wide = graph.with_edges(np.column_stack([i, j]), length)
    keys = _keys(wide.rows(), wide.indices, wide.n)  # ascending, as rows are sorted
    kept = np.isin(keys, _keys(graph.rows(), graph.indices, graph.n))
    entries = np.searchsorted(keys, _keys(i, j, wide.n))
    return np.asarray(kept[entries] | ~long_way(wide, kept, entries, ALONG, run))


def _with(neighbors: Neighbors, i: Ints, j: Ints, length: Floats) -> Neighbors:
    """The neighbourhoods with j among those of i."""
    rows = np.concatenate([neighbors.rows(), i])
    indices, distances = np.concatenate([neighbors.indices, j]), np.concatenate([neighbors.distances, length])
    order = np.lexsort((indices, distances, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=neighbors.n))])
    return Neighbors(indptr, indices[order], distances[order], neighbors.n_points, neighbors.recall)
