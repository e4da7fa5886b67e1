"""Bundles of shortcuts: many side by side, each of which has a short way over the next.

Where sheets are as near as neighbours reach, edges between them are many, and no test of one edge against all others
tells them. Here ways lead over edges that lie in the local planes of both ends alone: these stay on their sheet.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.jit import loops_for
from lowfold._core.parallel import COPIED, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Ints
from lowfold.graph._components import components
from lowfold.graph._detours import (
    LOOPS,
    NEAR,
    Mask,
    ends_of,
    entries_of,
    long_way,
    mirrored,
    near_entries,
    steep,
    within_pieces,
)
from lowfold.graph._local_planes import plane_dimension
from lowfold.graph._near_planes import near_planes, rise_from, rises
from lowfold.graph._types import Graph

# Times the median height above a plane, of one edge among thousands: of noisy sheets without shortcuts the edges that
# passed all else were at 3 to 5.6, of noisy rolls the shortcuts at 7.5 and more.
FAR_ABOVE = 5.5
AT_ONCE = 100  # edges whose ends' planes are made together: 13 MB of images of 64 x 64
BUNDLE = 10  # edges side by side that are not chance: noise and thin places leave up to 6


def bundled(graph: Graph, X: AnyFloats, d: int, factor: float, run: Run) -> Ints:
    """Entries (i, j), i < j, whose ends are `factor` times farther apart along edges that stay in the local planes.

    Edges in the planes of their ends may be long; they join where a way is short, in rounds. Others never do: next to
    the bend of a sheet an edge across is no shortcut, and over it the one behind would have a short way, and so on.
    """
    out = _rising(graph, X, d, run)
    kept = near_entries(graph) & ~out
    once = graph.rows() < graph.indices
    flat = np.flatnonzero(once & ~kept & ~out)
    while len(flat):
        long = long_way(graph, kept, flat, factor, run)
        if long.all():
            break
        kept[flat[~long]] = kept[mirrored(graph, flat[~long])] = True
        flat = flat[long]
    left = np.flatnonzero(once & ~kept)
    left = left[long_way(graph, kept, left, factor, run)]
    if len(left) == 0:
        return left
    return within_pieces(graph, kept, left[_steep_or_beside(graph, left, steep(graph, kept, X, left, d))], run)


def _steep_or_beside(graph: Graph, edges: Ints, steeply: Mask) -> Mask:
    """The steep ones, and those whose ends both touch steep ones: where a sheet bends, one in many lies in a plane."""
    ends = ends_of(graph, edges)
    touched = np.zeros(graph.n, dtype=bool)
    touched[ends[steeply]] = True
    touched[graph.indices[entries_of(graph, np.flatnonzero(touched))]] = True
    return np.asarray(steeply | touched[ends].all(axis=1))


def rising(graph: Graph, X: AnyFloats, d: int, pairs: Ints) -> Mask:
    """Whether the line between each pair rises from the plane of either end, by more than noise ever does."""
    d = plane_dimension(d, X.shape[1], NEAR)
    out = np.zeros(len(pairs), dtype=bool)
    for part in block_slices(len(pairs), AT_ONCE):
        ends = pairs[part]
        points, places = np.unique(ends, return_inverse=True)
        around = near_planes(graph, X, points, d)
        sides = zip(ends.T, ends.T[::-1], places.reshape(ends.shape).T)
        there, back = (rise_from(X, a, b, around, row, graph.n, FAR_ABOVE) for a, b, row in sides)
        out[part] = there | back
    return out


def largest_bundle(graph: Graph, found: Ints) -> int:
    """The most found entries that hang together, over their ends and edges between these."""
    ends = ends_of(graph, found)
    touched = np.zeros(graph.n, dtype=bool)
    touched[ends] = True
    rows = graph.rows()
    beside = touched[rows] & touched[graph.indices] & (rows < graph.indices)
    pairs = np.column_stack([rows[beside], graph.indices[beside]])
    labels = components(Graph.from_edges(graph.n, pairs))
    return int(np.bincount(labels[ends[:, 0]]).max(initial=0))


def _rising(graph: Graph, X: AnyFloats, d: int, run: Run) -> Mask:
    """Entries that rise from the plane which the shortest entries of either end span, by more than noise does."""
    d = plane_dimension(d, X.shape[1], NEAR)
    rise = np.zeros(len(graph.indices))
    parts = block_slices(graph.n, max(1, COPIED // (NEAR * X.shape[1])))

    def work(b: int) -> None:
        vertices = np.arange(parts[b].start, parts[b].stop)
        around = near_planes(graph, X, vertices, d)
        near = around.entries[around.real]
        rise[near] = rises(around.length, around.height, around.noise[:, None])[around.real]
        rest = np.ones(graph.indptr[parts[b].stop] - graph.indptr[parts[b].start], dtype=bool)
        rest[near - graph.indptr[parts[b].start]] = False
        row = np.repeat(np.arange(len(vertices)), np.diff(graph.indptr[parts[b].start : parts[b].stop + 1]))[rest]
        entries = graph.indptr[parts[b].start] + np.flatnonzero(rest)
        rise[entries] = rise_from(X, vertices[row], graph.indices[entries], around, row, graph.n)

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    loops_for(LOOPS, graph.n).mirror(graph.indptr, graph.indices, rise)
    return np.asarray(rise > 0)
