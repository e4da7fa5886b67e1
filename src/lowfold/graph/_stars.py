"""Points with many neighbours on another sheet: where the sample is thin, they have as many edges across as along.

Such edges share neighbours, so that none is doubtful by itself, and each has a short way over the next; they are too
few for a bundle. But they are long for the sheet that they reach, and leave its planes.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._detours import Mask, entries_of, long_way, mirrored, mth_lengths, steep, within_pieces
from lowfold.graph._types import Graph

# Times the usual length of the denser end: edges to another sheet had 1.6 and more, one in five along a sheet has it.
LONG = 1.7
LOOKED_AT = 50_000  # points at most whose edges are looked at first: enough to see that there are some
AT_FIRST = 200  # of these edges, the longest, are looked at; all where some of them are steep
# Ends so many times farther apart without the steep edges: gaps of a sample reach 6. Stars on rolls had 5 to 17 such
# edges; on 996 clean graphs, noisy ones among them, there were fewer than 4.
FAR = 8.0
FEWEST = 4


def stars(graph: Graph, X: AnyFloats, d: int, run: Run) -> Ints:
    """Entries (i, j), i < j, that are long, leave the tangent planes and have a long way around; none if only a few."""
    none = np.empty(0, dtype=np.int64)
    middle = mth_lengths(graph, max(1, len(graph.indices) // (2 * graph.n)))
    edges, times = _long_edges(graph, middle, -(-graph.n // LOOKED_AT))
    some = edges[np.argpartition(times, -AT_FIRST)[-AT_FIRST:]] if len(edges) > AT_FIRST else edges
    across = _leaving(graph, X, some, d)
    if len(across) < FEWEST:
        return none
    if len(some) < len(edges) or graph.n > LOOKED_AT:
        across = _leaving(graph, X, _long_edges(graph, middle, 1)[0], d)
    kept = _without(graph, across)
    found = within_pieces(graph, kept, across[long_way(graph, kept, across, FAR, run)], run)
    return found if len(found) >= FEWEST else none


def _long_edges(graph: Graph, middle: Floats, step: int) -> tuple[Ints, Floats]:
    """Entries (i, j), i < j, more than LONG times as long as the middle edge of the denser end, and how many times; of
    every `step`-th point i.
    """
    looked = np.arange(0, graph.n, step)
    rows = np.repeat(looked, graph.degrees()[looked])
    entries = entries_of(graph, looked) if step > 1 else np.arange(len(rows))
    first = np.flatnonzero(rows < graph.indices[entries])
    once = entries[first]
    usual = np.minimum(middle[rows[first]], middle[graph.indices[once]])
    long = graph.lengths[once] > LONG * usual
    edges, usual = once[long], usual[long]
    return edges, graph.lengths[edges] / np.maximum(usual, NO_DIVISOR)


def _leaving(graph: Graph, X: AnyFloats, edges: Ints, d: int) -> Ints:
    """Those at more than 30 degrees to the tangent planes of both ends, which all other edges span."""
    return np.asarray(edges[steep(graph, _without(graph, edges), X, edges, d)]) if len(edges) else edges


def _without(graph: Graph, edges: Ints) -> Mask:
    kept = np.ones(len(graph.indices), dtype=bool)
    kept[edges] = kept[mirrored(graph, edges)] = False
    return kept
