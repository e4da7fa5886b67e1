"""Ways along some of a graph's edges, and whether an edge leaves the tangent planes of its ends: what tells a shortcut.

An entry is one direction of an edge, a place in `Graph.indices`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import loops_for
from lowfold._core.parallel import COPIED, TABLED, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.stacks import spokes
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._local_planes import directions_of_products
from lowfold.graph._types import Graph

Mask = NDArray[np.bool_]

NEAR = 10  # a vertex' shortest edges, among which shortcuts are few; longer ones are measured along these
SETTLED = 4000  # vertices around an end after which a search gives up: the dimension is high
FLAT = 0.866  # cosine of 30 degrees: an edge that close to a tangent plane of its ends crosses a gap
THIN = 0.15  # directions less than this times the widest hardly occur in a neighbourhood: a curve is no plane
LIKE = 1.2  # times: a cube grows by 1.7, and hubs of 100 neighbours need a dozen groups
AT_ONCE = 128  # ways that one thread looks for with one array of labels
LOOPS = "lowfold.graph._shortcut_loops"


def labels_along(graph: Graph, kept: Mask, run: Run) -> NDArray[np.integer]:
    """The same number for vertices that the kept entries join."""
    if run.device != "cpu":
        from lowfold.graph._on_device import labels_on_device

        found = labels_on_device(graph, kept, run)
        if found is not None:
            return found
    out = np.empty(graph.n, dtype=np.int64)
    loops_for(LOOPS, graph.n).labels(graph.indptr, graph.indices, kept, out)
    return out


def within_pieces(graph: Graph, kept: Mask, edges: Ints, run: Run) -> Ints:
    """Those entries between vertices that the kept ones join: others alone hold pieces together."""
    if len(edges) == 0:
        return edges
    ends = labels_along(graph, kept, run)[ends_of(graph, edges)]
    return np.asarray(edges[ends[:, 0] == ends[:, 1]])


def steep(graph: Graph, kept: Mask, X: AnyFloats, edges: Ints, d: int) -> Mask:
    """Edges at more than 30 degrees to the tangent planes of both ends, which the kept entries span.

    The planes of second ends are made only for those that leave the plane of the first: few do.
    """
    return steep_pairs(graph, kept, X, ends_of(graph, edges), d)


def steep_pairs(graph: Graph, kept: Mask, X: AnyFloats, ends: Ints, d: int) -> Mask:
    """The same of pairs of vertices, which need be no edges of the graph."""
    out = np.ones(len(ends), dtype=bool)
    for end in (0, 1):
        out[out] = _leaves(graph, kept, X, ends[out], end, d)
    return out


def _leaves(graph: Graph, kept: Mask, X: AnyFloats, ends: Ints, end: int, d: int) -> Mask:
    """Which pairs of vertices are at more than 30 degrees to the tangent plane of the first or the second one."""
    vertices, place = np.unique(ends[:, end], return_inverse=True)
    out = np.empty(len(ends), dtype=bool)
    at_once = max(1, COPIED // (d * X.shape[1]))
    for part in block_slices(len(vertices), at_once):
        planes = _planes(graph, kept, X, vertices[part], d)
        mine = np.flatnonzero((place >= part.start) & (place < part.stop))
        for some in block_slices(len(mine), at_once):
            now = mine[some]
            step = X[ends[now, 1]].astype(np.float64) - X[ends[now, 0]].astype(np.float64)
            within = np.linalg.norm(planes[place[now] - part.start] @ step[:, :, None], axis=(1, 2))
            out[now] = within < FLAT * np.linalg.norm(step, axis=1)
    return out


def _planes(graph: Graph, kept: Mask, X: AnyFloats, where: Ints, d: int) -> Floats:
    """(m, d, D) directions of the differences to the kept neighbours, orthonormal; 0 for those that hardly occur."""
    D, degrees = X.shape[1], graph.degrees()[where]
    planes = np.zeros((len(where), d, D))
    for rows in _of_like_size(degrees, D):
        most = int(degrees[rows].max(initial=1))
        for part in block_slices(len(rows), max(1, TABLED // (most * D))):
            now = rows[part]
            column = np.arange(most) < degrees[now, None]
            entry = np.where(column, graph.indptr[where[now], None] + np.arange(most), 0)
            near, column = graph.indices[entry], column & kept[entry]
            steps = spokes(X, near, X[where[now]])
            steps *= column[:, :, None]
            directions, sizes = directions_of_products(steps, d)
            occurs = sizes[:, :d] > THIN * sizes[:, :1]
            planes[now, : occurs.shape[1]] = directions.transpose(0, 2, 1) * occurs[:, :, None]
    return planes


def _of_like_size(degrees: NDArray[np.integer], D: int) -> list[Ints]:
    """Places of rows which are filled up to the longest among them: all of data in few columns; in many, where a row
    costs the cube of its length, those whose lengths differ by LIKE at most.
    """
    order = np.argsort(degrees, kind="stable")
    if D <= NEAR:
        return [order]
    groups = []
    while len(order):
        n = int(np.searchsorted(degrees[order], LIKE * degrees[order[0]], side="right"))
        groups.append(order[:n])
        order = order[n:]
    return groups


def near_entries(graph: Graph) -> Mask:
    """Entries among the NEAR shortest of either end, ties included."""
    reach = mth_lengths(graph, NEAR)[0]
    return np.asarray(graph.lengths <= np.maximum(reach[graph.rows()], reach[graph.indices]))


def mth_lengths(graph: Graph, *m: int) -> Floats:
    """(len(m), n) the m-th smallest lengths of every vertex; inf where there are fewer."""
    out = np.empty((len(m), graph.n))
    loops_for(LOOPS, graph.n).mth_lengths(graph.indptr, graph.lengths, np.array(m), out)
    return out


def part_of(graph: Graph, kept: Mask) -> Graph:
    """The graph of the kept entries, which are kept in both rows or in none."""
    if kept.all():
        return graph
    indptr = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    return Graph(indptr, graph.indices[kept], graph.lengths[kept])


def tails_of(graph: Graph, entries: Ints) -> Ints:
    return np.asarray(np.searchsorted(graph.indptr, entries, side="right") - 1)


def entries_of(graph: Graph, vertices: Ints) -> Ints:
    """The entries of some rows."""
    counts = graph.degrees()[vertices]
    before = np.cumsum(counts) - counts
    return np.repeat(graph.indptr[vertices] - before, counts) + np.arange(counts.sum())


def mirrored(graph: Graph, entries: Ints) -> Ints:
    """Where (j, i) stands for the entries (i, j)."""
    out = np.empty(len(entries), dtype=np.int64)
    ends = ends_of(graph, entries)
    loops_for(LOOPS, graph.n).places(graph.indptr, graph.indices, ends[:, 1], ends[:, 0], out)
    return out


def long_way(graph: Graph, kept: Mask, edges: Ints, factor: float, run: Run) -> Mask:
    """Whether the ends of each entry are `factor` times its length, or the usual one, apart along the kept entries."""
    return longer_way(graph, kept, ends_of(graph, edges), graph.lengths[edges], factor, run)


def longer_way(graph: Graph, kept: Mask, ends: Ints, lengths: Floats, factor: float, run: Run) -> Mask:
    """The same of pairs of vertices, which need be no edges of the graph."""
    loops = loops_for(LOOPS, graph.n)
    usual = np.empty((len(ends), 2))
    loops.mean_lengths(graph.indptr, graph.lengths, ends, usual)
    reach = factor * np.maximum(lengths, usual.max(axis=1))
    rows = graph.indptr, graph.indices, graph.lengths, kept
    short = np.zeros(len(ends), dtype=bool)
    loops.short_ways(*rows, ends[:, 0], ends[:, 1], reach, short)
    rest = np.flatnonzero(~short)
    beyond, parts = np.empty(len(rest), dtype=bool), block_slices(len(rest), AT_ONCE)

    def work(b: int) -> None:
        now = rest[parts[b]]
        loops.detours(*rows, ends[now, 0], ends[now, 1], reach[now], SETTLED, beyond[parts[b]])

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    long = np.zeros(len(ends), dtype=bool)
    long[rest] = beyond
    return long


def ends_of(graph: Graph, entries: Ints) -> Ints:
    return np.column_stack([tails_of(graph, entries), graph.indices[entries]]).astype(np.int64)
