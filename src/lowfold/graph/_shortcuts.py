"""Shortcuts: edges that join points which are far apart along the data.

On a surface two neighbours have neighbours in common; the ends of an edge between sheets have few or none. So edges
are ranked by what their ends share, which costs one merge of two rows each, and the doubtful ones are put to the test
that decides: how long is the way without them?
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.parallel import COPIED, TABLED, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._components import components
from lowfold.graph._types import Graph, Neighbors

Mask = NDArray[np.bool_]


DETOUR = 3.0  # ends so many times farther apart along the edges beyond doubt: perhaps a shortcut
SURE = 4.0  # and so many times along all other edges, in points where the tangent planes agree: a shortcut
BLIND = 8.0  # without coordinates there are no tangent planes, and gaps of a sample reach 6
SHARED = 0.35  # ends that share less than this of their neighbours are doubtful; those of bundled shortcuts reach 1/3
DOUBTFUL = 0.1  # at most this part of the near edges is set aside: the rest must still lead everywhere
SPARED = 4  # a vertex' shortest edges are not doubtful: they hold narrow places together
NEAR = 10  # a vertex' shortest edges, among which shortcuts are few; longer ones are measured along these
SAMPLE = 500  # doubtful edges tested at first; only where one is a shortcut all are
SETTLED = 4000  # vertices after which a search gives up: the way is long, or the dimension high
FLAT = 0.866  # cosine of 30 degrees: an edge that close to a tangent plane of its ends crosses a gap
THIN = 0.15  # directions less than this times the widest hardly occur in a neighbourhood: a curve is no plane
ROWS = 20_000  # rows of a block of work
AT_ONCE = 128  # ways that one thread looks for with one array of labels


@dataclass(frozen=True, eq=False)
class Shortcuts:
    """Edges (i, j), i < j, whose ends are more than DETOUR times farther apart without them."""

    edges: Ints
    tested: int

    @classmethod
    def none(cls, tested: int = 0) -> Shortcuts:
        return cls(np.empty((0, 2), dtype=np.int64), tested)

    def __len__(self) -> int:
        return len(self.edges)


def find_shortcuts(graph: Graph, X: AnyFloats | None = None, *, d: int = 2, run: Run | None = None) -> Shortcuts:
    """Doubtful edges whose ends are more than SURE times farther apart without them and their like, measured by their
    length or, where that is more, the usual one of an end.

    Edges that alone hold pieces together are none: there is no way without them to compare with. Where the points X are
    given, edges that lie in the tangent planes (of dimension d at most) of their ends are none either: they cross a
    gap of the sample.
    """
    if graph.n_edges == 0:
        return Shortcuts.none()
    run = run or Run()
    sure, doubtful, tails = _doubts(graph, run)
    first = doubtful[:SAMPLE]
    long = first[_long_way(graph, sure, first, DETOUR, run)]
    if len(long) == 0 or (X is not None and not _steep(graph, sure, X, long, d).any()):
        return Shortcuts.none(len(first))  # all cross gaps of the sample: a bundle of shortcuts would not
    around = np.zeros(graph.n, dtype=bool)
    around[_ends(graph, long)] = True
    around[graph.indices[_entries(graph, np.flatnonzero(around))]] = True  # a bundle is joined to what was found of it
    others = doubtful[SAMPLE:]
    others = others[around[tails[SAMPLE:]] | around[graph.indices[others]]]
    beside = others[_long_way(graph, sure, others, DETOUR, run)]
    tested = len(first) + len(others)
    if len(_confirmed(graph, np.concatenate([long, beside]), X, d, run)) == 0:
        return Shortcuts.none(tested)
    found = doubtful[_long_way(graph, sure, doubtful, DETOUR, run)]
    return Shortcuts(_ends(graph, _confirmed(graph, found, X, d, run)), len(doubtful))


def _doubts(graph: Graph, run: Run) -> tuple[Mask, Ints, NDArray[np.integer]]:
    """Which entries are beyond doubt; the others, an edge once, those that share least first; and their rows."""
    all_near = graph.degrees().min() <= NEAR and np.median(graph.degrees()) <= 1.5 * NEAR
    if run.device != "cpu":
        from lowfold.graph._on_device import doubts_on_device

        found = doubts_on_device(graph, 0 if all_near else NEAR, SPARED, SHARED, DOUBTFUL, run)
        if found is not None:
            return found
    near = np.ones(len(graph.indices), dtype=bool) if all_near else _near(graph)
    share = _shares(graph, run)
    among = share if near.all() else _shares(_part(graph, near), run)
    sure = near.copy()
    sure[near] = among > _limit(among)
    doubtful = np.flatnonzero(~sure)
    tails = _tails(graph, doubtful)
    once = tails < graph.indices[doubtful]
    doubtful, tails = doubtful[once], tails[once]
    order = np.argsort(share[doubtful], kind="stable")
    return sure, doubtful[order], tails[order]


def _confirmed(graph: Graph, found: Ints, X: AnyFloats | None, d: int, run: Run) -> Ints:
    """Those of the found entries that have a way without all of them, and a long one.

    Setting aside all doubtful edges lengthens ways in thin places too; this puts back those that are in order.
    """
    kept = np.ones(len(graph.indices), dtype=bool)
    while len(found):
        kept[:] = True
        kept[found] = kept[_mirrored(graph, found)] = False
        still = _long_way(graph, kept, found, BLIND if X is None else SURE, run)
        if still.all():
            break
        found = found[still]
    if len(found) == 0:
        return found
    found = found if X is None else found[_steep(graph, kept, X, found, d)]
    if len(found) == 0:
        return found
    ends = _labels(graph, kept, run)[_ends(graph, found)]
    return np.asarray(found[ends[:, 0] == ends[:, 1]])


def _labels(graph: Graph, kept: Mask, run: Run) -> NDArray[np.integer]:
    """The same number for vertices that the kept entries join."""
    if run.device != "cpu":
        from lowfold.graph._on_device import labels_on_device

        found = labels_on_device(graph, kept, run)
        if found is not None:
            return found
    return components(_part(graph, kept))


def _steep(graph: Graph, kept: Mask, X: AnyFloats, edges: Ints, d: int) -> Mask:
    """Edges at more than 30 degrees to the tangent planes of both ends, which the kept entries span."""
    ends = _ends(graph, edges)
    steep = np.empty(len(edges), dtype=bool)
    for part in block_slices(len(edges), max(1, COPIED // (d * X.shape[1]))):
        step = X[ends[part, 1]].astype(np.float64) - X[ends[part, 0]].astype(np.float64)
        planes = [_planes(graph, kept, X, ends[part, e], d) for e in (0, 1)]
        inside = [np.linalg.norm(plane @ step[:, :, None], axis=(1, 2)) for plane in planes]
        steep[part] = np.maximum(*inside) < FLAT * np.linalg.norm(step, axis=1)
    return steep


def _planes(graph: Graph, kept: Mask, X: AnyFloats, where: Ints, d: int) -> Floats:
    """(m, d, D) directions of the differences to the kept neighbours, orthonormal; 0 for those that hardly occur."""
    D, degrees = X.shape[1], graph.degrees()[where]
    planes = np.zeros((len(where), d, D))
    most = int(degrees.max(initial=1))
    for part in block_slices(len(where), max(1, TABLED // (most * D))):
        column = np.arange(most) < degrees[part, None]
        entry = np.where(column, graph.indptr[where[part], None] + np.arange(most), 0)
        near, column = graph.indices[entry], column & kept[entry]
        spokes = (X[near].astype(np.float64) - X[where[part], None].astype(np.float64)) * column[:, :, None]
        sizes, directions = stacked_svd(spokes)[1:]
        occurs = sizes[:, :d] > THIN * sizes[:, :1]
        planes[part, : occurs.shape[1]] = directions[:, :d] * occurs[:, :, None]
    return planes


def _limit(share: Floats) -> float:
    rank = int(DOUBTFUL * len(share))
    return min(SHARED, float(np.partition(share, rank)[rank]))


def _near(graph: Graph) -> Mask:
    """Entries among the NEAR shortest of either end."""
    near = np.zeros(len(graph.indices))
    loops = compiled("lowfold.graph._shortcut_loops")
    loops.mark_shortest(graph.indptr, graph.lengths, NEAR, near)
    loops.mirror(graph.indptr, graph.indices, near)
    return near > 0


def _part(graph: Graph, kept: Mask) -> Graph:
    """The graph of the kept entries, which are kept in both rows or in none."""
    if kept.all():
        return graph
    indptr = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    return Graph(indptr, graph.indices[kept], graph.lengths[kept])


def _tails(graph: Graph, entries: Ints) -> Ints:
    return np.asarray(np.searchsorted(graph.indptr, entries, side="right") - 1)


def _entries(graph: Graph, vertices: Ints) -> Ints:
    """The entries of some rows."""
    counts = graph.degrees()[vertices]
    before = np.cumsum(counts) - counts
    return np.repeat(graph.indptr[vertices] - before, counts) + np.arange(counts.sum())


def _mirrored(graph: Graph, entries: Ints) -> Ints:
    """Where (j, i) stands for the entries (i, j)."""
    out = np.empty(len(entries), dtype=np.int64)
    ends = _ends(graph, entries)
    compiled("lowfold.graph._shortcut_loops").places(graph.indptr, graph.indices, ends[:, 1], ends[:, 0], out)
    return out


def _shares(graph: Graph, run: Run) -> Floats:
    """What the ends of every entry share of their neighbours; 1 for the shortest edge of a vertex."""
    loops = compiled("lowfold.graph._shortcut_loops")
    share = np.zeros(len(graph.indices))
    loops.mark_shortest(graph.indptr, graph.lengths, SPARED, share)
    loops.mirror(graph.indptr, graph.indices, share)
    blocks = block_slices(graph.n, ROWS)
    run_blocks(
        lambda b: loops.shared_neighbors(graph.indptr, graph.indices, blocks[b].start, blocks[b].stop, SHARED, share),
        len(blocks),
        n_jobs=run.n_jobs,
    )
    loops.mirror(graph.indptr, graph.indices, share)
    return share


def _long_way(graph: Graph, kept: Mask, edges: Ints, factor: float, run: Run) -> Mask:
    """Whether the ends of each entry are more than DETOUR times its length apart along the kept entries."""
    loops = compiled("lowfold.graph._shortcut_loops")
    ends, usual = _ends(graph, edges), np.empty((len(edges), 2))
    loops.mean_lengths(graph.indptr, graph.lengths, ends, usual)
    reach = factor * np.maximum(graph.lengths[edges], usual.max(axis=1))
    rows = graph.indptr, graph.indices, graph.lengths, kept
    short = np.zeros(len(edges), dtype=bool)
    loops.short_ways(*rows, ends[:, 0], ends[:, 1], reach, short)
    rest = np.flatnonzero(~short)
    way, parts = np.empty(len(rest)), block_slices(len(rest), AT_ONCE)

    def work(b: int) -> None:
        now = rest[parts[b]]
        loops.detours(*rows, ends[now, 0], ends[now, 1], reach[now], SETTLED, way[parts[b]])

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    long = np.zeros(len(edges), dtype=bool)
    long[rest] = np.isinf(way)
    return long


def _ends(graph: Graph, entries: Ints) -> Ints:
    return np.column_stack([_tails(graph, entries), graph.indices[entries]]).astype(np.int64)


def without_edges(graph: Graph, edges: Ints) -> Graph:
    """The graph without these edges."""
    rows = graph.rows()
    once = rows < graph.indices
    pairs, lengths = np.column_stack([rows[once], graph.indices[once]]), graph.lengths[once]
    kept = ~_listed(pairs, edges, graph.n)
    return Graph.from_edges(graph.n, pairs[kept], lengths[kept])


def without_neighbors(neighbors: Neighbors, edges: Ints) -> Neighbors:
    """The neighbourhoods without these pairs, in either direction."""
    rows = neighbors.rows()
    pairs = np.sort(np.column_stack([rows, neighbors.indices]), axis=1)
    kept = ~_listed(pairs, edges, neighbors.n_points)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=neighbors.n))])
    return replace(neighbors, indptr=indptr, indices=neighbors.indices[kept], distances=neighbors.distances[kept])


def _listed(pairs: Ints, edges: Ints, n: int) -> Mask:
    """Which pairs (i < j) stand in a list of edges (i < j)."""
    return np.isin(pairs[:, 0].astype(np.int64) * n + pairs[:, 1], edges[:, 0] * n + edges[:, 1])
