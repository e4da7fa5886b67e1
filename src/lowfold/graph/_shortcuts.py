"""Shortcuts: edges that join points which are far apart along the data.

On a surface two neighbours have neighbours in common; the ends of an edge between sheets have few or none. So edges
are ranked by what their ends share, which costs one merge of two rows each, and the doubtful ones are put to the test
that decides: how long is the way without them? Where many lie side by side, `_bundles` tells them; where a point has
many of its neighbours on another sheet, `_stars`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.jit import loops_for
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._device import without_twin
from lowfold.graph._bundles import BUNDLE, bundled, largest_bundle, rising
from lowfold.graph._detours import (
    LOOPS,
    NEAR,
    Mask,
    ends_of,
    entries_of,
    long_way,
    longer_way,
    mirrored,
    mth_lengths,
    near_entries,
    part_of,
    steep,
    steep_pairs,
    tails_of,
    within_pieces,
)
from lowfold.graph._stars import stars
from lowfold.graph._types import Graph, Neighbors

DETOUR = 3.0  # ends so many times farther apart along the edges beyond doubt: perhaps a shortcut
SURE = 4.0  # and so many times along all other edges, in points where the tangent planes agree: a shortcut
BLIND = 8.0  # without coordinates there are no tangent planes, and gaps of a sample reach 6
SHARED = 0.35  # ends that share less than this of their neighbours are doubtful; those of bundled shortcuts reach 1/3
DOUBTFUL = 0.1  # at most this part of the near edges is set aside: the rest must still lead everywhere
SPARED = 4  # a vertex' shortest edges are not doubtful: they hold narrow places together
SAMPLE = 500  # doubtful edges tested at first; only where one is a shortcut all are
# Steep edges with a long way in that sample: then bundles are looked for, whose edges hide each other; a bundle with so
# many of them may be small, as where a sample grows thin towards the side of a roll
HINTS = 3
# Share of some hints that rise from the planes which the nearest neighbours of their ends span. Of bundles of shortcuts
# on rolls in 3 and 50 columns, with noise, 0.85 and more do; of those that noise or more directions leave 0.32 at most.
RISEN, LOOKED = 0.5, 100
LONGEST = 1000  # points, and of the longer half of their edges within a reach, that are looked at
ROWS = 20_000  # rows of a block of work


@dataclass(frozen=True, eq=False)
class Shortcuts:
    """Edges (i, j), i < j, whose ends are more than DETOUR times farther apart without them.

    `hints` counts steep edges of the first sample with a long way around: where some are left, so are shortcuts.
    """

    edges: Ints
    tested: int
    hints: int = 0

    __repr__ = brief

    @classmethod
    def none(cls, tested: int = 0, hints: int = 0) -> Shortcuts:
        return cls(np.empty((0, 2), dtype=np.int64), tested, hints)

    def __len__(self) -> int:
        return len(self.edges)


def find_shortcuts(graph: Graph, X: AnyFloats | None = None, *, d: int = 2, run: Run | None = None) -> Shortcuts:
    """Doubtful edges whose ends are more than SURE times farther apart without them and their like, measured by their
    length or, where that is more, the usual one of an end.

    Edges that alone hold pieces together are none: there is no way without them to compare with. Where the points X are
    given, edges that lie in the tangent planes (of dimension d at most) of their ends are none either: they cross a
    gap of the sample. Without points, of many shortcuts side by side only those are found that do not hide each other.
    """
    if graph.n_edges == 0:
        return Shortcuts.none()
    run = run or Run()
    spared, middle = mth_lengths(graph, SPARED, max(1, graph.n_edges // graph.n))
    sure, doubtful, tails = _doubts(graph, spared, run)
    without_twin(run, "the search for ways around doubtful edges", "there are few")
    first = doubtful[:SAMPLE]
    long = _long(graph, sure, first, run)
    hints = long if X is None or len(long) == 0 else long[steep(graph, sure, X, long, d)]
    told = 0 if X is None else len(hints)
    across = long[:0] if X is None else stars(graph, X, d, middle, run)
    if len(hints) == 0 and len(across) == 0:
        return Shortcuts.none(len(first))  # all cross gaps of the sample: a bundle of shortcuts would not
    others, beside = doubtful[SAMPLE:], _beside(graph, long, doubtful[SAMPLE:], tails[SAMPLE:])
    found = np.concatenate([long, _long(graph, sure, others[beside], run)])
    few = np.union1d(_confirmed(graph, found, X, d, run), across)
    many = few[:0]
    if X is not None and (len(few) or (len(hints) >= HINTS and _rise(graph, X, d, hints))):
        many = bundled(graph, X, d, SURE, run)
    if len(few) == 0 and len(np.intersect1d(many, hints)) < HINTS and largest_bundle(graph, many) < BUNDLE:
        return Shortcuts.none(len(first), told)
    found = np.concatenate([found, _long(graph, sure, others[~beside], run)])
    found = np.union1d(_confirmed(graph, found, X, d, run), np.union1d(many, across))
    return Shortcuts(ends_of(graph, found), len(doubtful), told)


def crossings(wide: Graph, near: Graph, X: AnyFloats, *, d: int, run: Run) -> tuple[int, int]:
    """How many of some long edges of a `wide` graph lead from sheet to sheet, and how many were looked at.

    In a graph of all pairs within a reach every point has so many neighbours that edges across share them, and none is
    doubtful. Here some of the longer half are measured along the `near` graph's: across are those whose ends are more
    than DETOUR times farther apart there, and which leave the tangent planes.
    """
    rows = np.unique(np.linspace(0, wide.n - 1, min(wide.n, LONGEST)).astype(np.int64))
    entries = entries_of(wide, rows)
    ends = np.column_stack([np.repeat(rows, wide.degrees()[rows]), wide.indices[entries]]).astype(np.int64)
    order = np.argsort(wide.lengths[entries], kind="stable")[len(entries) // 2 :]
    if len(order) == 0:
        return 0, 0
    some = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), LONGEST)).astype(np.int64))]
    kept, ends = near_entries(near), ends[some]
    across = ends[longer_way(near, kept, ends, wide.lengths[entries[some]], DETOUR, run)]
    return int((steep_pairs(near, kept, X, across, d) & rising(near, X, d, across)).sum()), len(some)


def _rise(graph: Graph, X: AnyFloats, d: int, hints: Ints) -> bool:
    """Whether enough of some of the hints rise as shortcuts do."""
    some = hints[np.unique(np.linspace(0, len(hints) - 1, min(len(hints), LOOKED)).astype(np.int64))]
    return bool(rising(graph, X, d, ends_of(graph, some)).mean() >= RISEN)


def _long(graph: Graph, sure: Mask, edges: Ints, run: Run) -> Ints:
    return edges[long_way(graph, sure, edges, DETOUR, run)]


def _beside(graph: Graph, long: Ints, others: Ints, tails: NDArray[np.integer]) -> Mask:
    """Which others touch the long entries or their neighbours: a few shortcuts side by side."""
    around = np.zeros(graph.n, dtype=bool)
    around[ends_of(graph, long)] = True
    around[graph.indices[entries_of(graph, np.flatnonzero(around))]] = True
    return np.asarray(around[tails] | around[graph.indices[others]])


def _doubts(graph: Graph, spared: Floats, run: Run) -> tuple[Mask, Ints, NDArray[np.integer]]:
    """Which entries are beyond doubt; the others, an edge once, those that share least first; and their rows.

    An edge of at most the `spared` length of an end is none.
    """
    degrees = graph.degrees()
    all_near = degrees.min() <= NEAR and 2 * np.count_nonzero(degrees <= 1.5 * NEAR) > graph.n
    if run.device != "cpu":
        from lowfold.graph._on_device import doubts_on_device

        found = doubts_on_device(graph, 0 if all_near else NEAR, SPARED, SHARED, DOUBTFUL, run)
        if found is not None:
            return found
    share = _shares(graph, spared, run)
    if all_near:
        sure, doubtful, tails = _beyond_doubt(graph, share)
    else:
        sure = near_entries(graph)
        near = part_of(graph, sure)
        sure[sure] = _beyond_doubt(near, _shares(near, mth_lengths(near, SPARED)[0], run))[0]
        doubtful = np.flatnonzero(~sure)
        tails = tails_of(graph, doubtful)
        once = tails < graph.indices[doubtful]
        doubtful, tails = doubtful[once], tails[once]
    order = np.argsort(share[doubtful], kind="stable")
    return sure, doubtful[order], tails[order]


def _confirmed(graph: Graph, found: Ints, X: AnyFloats | None, d: int, run: Run) -> Ints:
    """Those of the found entries that leave the tangent planes, and have a way without all of them, and a long one.

    They rise from the planes farther than noise does: of thousands of noisy edges some look like shortcuts in all else.
    Setting aside all doubtful edges lengthens ways in thin places too; this puts back those that are in order, and over
    those that cross a gap of the sample others may have a short way.
    """
    kept, rise = np.ones(len(graph.indices), dtype=bool), None
    while len(found):
        kept[:] = True
        kept[found] = kept[mirrored(graph, found)] = False
        still = long_way(graph, kept, found, BLIND if X is None else SURE, run)
        if X is None and still.all():
            return within_pieces(graph, kept, found, run)
        if X is not None and still.all():
            rise = rising(graph, X, d, ends_of(graph, found)) if rise is None else rise
            if not rise.any():
                return found[:0]  # whichever of them leave the planes
            still = steep(graph, kept, X, found, d)
            if still.all():
                return within_pieces(graph, kept, found[rise], run)
        found, rise = found[still], rise if rise is None else rise[still]
    return found


def _beyond_doubt(graph: Graph, share: Floats) -> tuple[Mask, Ints, Ints]:
    """Which entries are beyond doubt by what their ends share; the others, an edge once, and their rows."""
    entries, others, tails = np.empty((3, len(share) // 2), dtype=np.int64)
    n = loops_for(LOOPS, graph.n).low_entries(graph.indptr, graph.indices, share, SHARED, entries, others, tails)
    found, most = np.arange(n), int(DOUBTFUL * len(share)) // 2
    if n > most:
        # Shares have few values; that of a place is found faster by sorting than by parting, which ties slow down
        low = share[entries[:n]]
        found = np.flatnonzero(low <= np.sort(low)[most])
    sure = np.ones(len(share), dtype=bool)
    sure[entries[found]] = sure[others[found]] = False
    return sure, entries[found], tails[found]


def _shares(graph: Graph, spared: Floats, run: Run) -> Floats:
    """What the ends of every entry (i, j), i < j, share of their neighbours; 1 for edges of spared lengths."""
    loops = loops_for(LOOPS, graph.n)
    share = np.zeros(len(graph.indices))
    blocks = block_slices(graph.n, ROWS)
    rows = graph.indptr, graph.indices, graph.lengths

    def work(b: int) -> None:
        loops.shared_neighbors(*rows, blocks[b].start, blocks[b].stop, SHARED, spared, share)

    run_blocks(work, len(blocks), n_jobs=run.n_jobs)
    return share


def without_neighbors(neighbors: Neighbors, edges: Ints) -> Neighbors:
    """The neighbourhoods without these pairs, in either direction."""
    rows = neighbors.rows()
    pairs = np.sort(np.column_stack([rows, neighbors.indices]), axis=1)
    kept = ~listed(pairs, edges, neighbors.n_points)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=neighbors.n))])
    return replace(neighbors, indptr=indptr, indices=neighbors.indices[kept], distances=neighbors.distances[kept])


def listed(pairs: Ints, edges: Ints, n: int) -> Mask:
    """Which pairs (i < j) stand in a list of edges (i < j)."""
    return np.isin(pairs[:, 0].astype(np.int64) * n + pairs[:, 1], edges[:, 0] * n + edges[:, 1])
