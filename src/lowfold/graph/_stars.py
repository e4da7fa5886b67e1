"""Points with many neighbours on another sheet: where the sample is thin, they have as many edges across as along.

Such edges share neighbours, so that none is doubtful by itself, and each has a short way over the next; they are too
few for a bundle. But they are long for the sheet that they reach, and leave its planes.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.jit import SMALL, loops_for
from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._detours import LOOPS, Mask, long_way, mirrored, steep, within_pieces
from lowfold.graph._types import Graph

# Times the usual length of the denser end: edges to another sheet had 1.6 and more, one in five along a sheet has it.
LONG = 1.7
LOOKED_AT = 50_000  # points at most whose edges are looked at first: enough to see that there are some
AT_FIRST = 200  # of these edges, the longest, are looked at; all where some of them are steep
AT_ONCE = 25  # of them: on noisy data these are enough
# Ends so many times farther apart without the steep edges: gaps of a sample reach 6. Stars on rolls had 5 to 17 such
# edges; on 996 clean graphs, noisy ones among them, there were fewer than 4.
FAR = 8.0
FEWEST = 4


def stars(graph: Graph, X: AnyFloats, d: int, middle: Floats, run: Run) -> Ints:
    """Entries (i, j), i < j, that are long, leave the tangent planes and have a long way around; none if only a few.

    `middle` is the length of every vertex' middle edge.
    """
    none = np.empty(0, dtype=np.int64)
    edges, times = _long_edges(graph, middle, -(-graph.n // LOOKED_AT))
    some = edges[np.argpartition(times, -AT_FIRST)[-AT_FIRST:]] if len(edges) > AT_FIRST else edges
    if not _some_leave(graph, X, some, d):
        return none
    if graph.n > LOOKED_AT:
        edges = _long_edges(graph, middle, 1)[0]
    kept = _without(graph, edges)
    few = graph.n <= SMALL  # where ways are SciPy's, longer to look for than planes are to make
    across = edges[steep(graph, kept, X, edges, d)] if few else edges
    across = across[long_way(graph, kept, across, FAR, run)]
    if len(across) < FEWEST:
        return none
    across = across if few else across[steep(graph, kept, X, across, d)]
    kept = _without(graph, across)
    across = within_pieces(graph, kept, across, run)
    found = across[long_way(graph, kept, across, FAR, run)]
    return found if len(found) >= FEWEST else none


def _some_leave(graph: Graph, X: AnyFloats, edges: Ints, d: int) -> bool:
    """Whether FEWEST of the edges are at more than 30 degrees to the tangent planes of both ends, which others span."""
    kept, n = _without(graph, edges), 0
    for part in block_slices(len(edges), AT_ONCE):
        n += int(steep(graph, kept, X, edges[part], d).sum())
        if n >= FEWEST:
            return True
    return False


def _long_edges(graph: Graph, middle: Floats, step: int) -> tuple[Ints, Floats]:
    """Entries (i, j), i < j, more than LONG times as long as the middle edge of the denser end, and how many times; of
    every `step`-th point i.
    """
    edges, times = np.empty(len(graph.indices), dtype=np.int64), np.empty(len(graph.indices))
    rows = graph.indptr, graph.indices, graph.lengths
    n = loops_for(LOOPS, graph.n).long_edges(*rows, middle, step, LONG, edges, times)
    return edges[:n], times[:n]


def _without(graph: Graph, edges: Ints) -> Mask:
    kept = np.ones(len(graph.indices), dtype=bool)
    kept[edges] = kept[mirrored(graph, edges)] = False
    return kept
