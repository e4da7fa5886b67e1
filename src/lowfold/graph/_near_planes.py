"""Planes that most of the shortest entries of a vertex lie in, and what rises from them.

What lies on another sheet loses its say, as in `_local_planes.robust_planes`, whose plane it is where there is one;
but steps of the power method and new weights take turns: a fifth of the time in space, a ninth in 64 columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import loops_for
from lowfold._core.types import AnyFloats, AnyInts, Floats, Ints
from lowfold.graph._detours import NEAR
from lowfold.graph._local_planes import ABOVE, TILTED, medians
from lowfold.graph._local_planes import WEAK as WEAK_SIZE
from lowfold.graph._types import Graph

LOOPS = "lowfold.graph._plane_loops"
LINEARITY = 0.7  # sine of the angle to a local plane above which an edge leaves its sheet, as in LocallyLinearIsomap
# Steps with the nearer half alone, and with all: twice as many raise the weights of ten noisy points by 0.03 in all.
BEGINNING, REWEIGHTED = 8, 12
# A plane that a step turns by no more of any squared sine is taken: surfaces need two or three steps of each. With 1e-2
# bundles of thousands of edges on sparse spirals lost up to a third.
SETTLED = 1e-3
STIFF = TILTED**-4  # of the fourth power of the sine, in the weight 1 / (1 + (sine / TILTED)^4)
WEAK = WEAK_SIZE**2  # a pivot of products, which are squares of sizes, below which a direction is lost in rounding


@dataclass(frozen=True)
class NearPlanes:
    """Of each of some vertices the entries (m, k), which of them are real, the length of each and its height above the
    plane (d, D), and the median of the heights.
    """

    entries: Ints
    real: NDArray[np.bool_]
    length: Floats
    height: Floats
    planes: Floats
    noise: Floats


def near_planes(graph: Graph, X: AnyFloats, vertices: Ints, d: int) -> NearPlanes:
    """The planes of some vertices, through the NEAR shortest entries of each."""
    loops = loops_for(LOOPS, max(graph.n, X.shape[1]))
    counts = np.empty(len(vertices), dtype=np.int64)
    entries = np.zeros((len(vertices), NEAR), dtype=np.int64)
    loops.nearest_entries(graph.indptr, graph.lengths, vertices, entries, counts)
    length, height = np.empty((2, *entries.shape))
    planes = np.empty((len(vertices), d, X.shape[1]))
    near = graph.indices[entries].astype(np.int64)
    loops.near_planes(X, vertices, near, counts, planes, length, height)
    real = np.arange(NEAR) < counts[:, None]
    return NearPlanes(entries, real, length, height, planes, medians(height, real))


def rises(length: Floats, height: Floats, noise: Floats, above: float = ABOVE) -> NDArray[np.bool_]:
    """Whether lines rise steeply from a plane, and `above` times the noise there."""
    return (height > LINEARITY * length) & (height > above * noise)


def rise_from(
    X: AnyFloats, i: AnyInts, j: AnyInts, around: NearPlanes, row: Ints, n: int, above: float = ABOVE
) -> NDArray[np.bool_]:
    """Whether x_j - x_i rises from the plane of i, which is that of this row."""
    length, height = np.empty((2, len(row)))
    loops_for(LOOPS, max(n, X.shape[1])).heights(X, i, j, around.planes, row, length, height)
    return rises(length, height, around.noise[row], above)
