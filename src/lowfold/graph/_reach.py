"""One reach for all points, wide enough for the sparse ones: what a kernel needs whose density is to be taken out.

A kernel that is cut at the k-th neighbour is narrow where points are dense; its walk keeps the density, whatever it is
divided by afterwards. Cut at one distance it is the same kernel everywhere. Points farther than that from their k-th
neighbour have a longer reach of their own, else they would hang on a weight of zero: Berry & Harlim (2016),
doi:10.1016/j.acha.2015.01.001, let the width vary everywhere, which needs the dimension to take the density out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowfold._core.types import Floats
from lowfold._cuda._device import Array, Device, holding
from lowfold._cuda._tree import row_of_entry
from lowfold.graph._source import Measured, Pairs, Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._weights import Weights

REGULAR = 0.99  # share of the points that the common reach suffices for, where it is not too long for the others
UNEVEN = 2.5  # times the median that the reach of REGULAR is in an uneven sample; 1.6 in an even one of a surface:
NEARLY_ALL = 0.997  # share it then suffices for. A gap among few points turned a circle by 0.10, then by 0.06
MOST = 12  # times the neighbours asked for, that a point has on average: what the solve may cost
SHARE = 10  # one in so many of the points is near, at most: a third of the extent of a surface,
CURVE_SHARE = 3  # and of a curve. A reach cut shorter is longer again at sparse points: there the walk runs too fast
# Of a curve in all, where that is more: with a third of it circles of 6,000 points at density 20 to 1 were off by 0.2
CURVE_EDGES = 2_400_000
# Ratio of the distances to the k-th neighbour and to the one halfway: 2 on a curve, 1.41 on a surface; and of the
# points within the reach and within half of it: 2 on a curve, more from where the reach leads to another winding.
ON_CURVE, ONE_STRAND = 1.7, 2.2
# Share of curves that may be open where no point has neighbours on both sides of some gap: n / 2^k are by chance.
OPEN = 0.01
SAMPLE = 200  # points whose distances are looked at,
AMONG = 10_000  # to so many others: 240 near pairs of a million points with 120 neighbours, a root of 6%


def own_reach(near: Neighbors, k: int) -> Floats:
    """Distance of every point to its k-th neighbour, or to its last one where there are fewer; 0 without any."""
    if near.k:
        return np.ascontiguousarray(near.distances.reshape(near.n, near.k)[:, min(near.k, k) - 1])
    last = near.indptr[:-1] + np.minimum(near.counts, k) - 1
    return np.where(near.counts > 0, near.distances[np.maximum(last, 0)], 0.0)


def regular_reach(t: Floats) -> float:
    """The distance to the k-th neighbour (t) that REGULAR of the points have: for graphs that are cut at k anyway."""
    return _positive(float(np.quantile(t, REGULAR)), t)


def common_reach(source: Source | None, near: Neighbors, k: int) -> float:
    """The regular reach, of an uneven sample that of nearly all points; or that at which points have MOST k neighbours
    or one in SHARE of all points on average, if that is shorter; at least the median of the distances t to the k-th.

    A curve is open wherever two neighbours are farther apart than the reach, which k of them leave to chance; its reach
    is longer, as far as it stays on one winding.
    """
    n, t = near.n, own_reach(near, k)
    reach, some = regular_reach(t), _sampled(source, n)
    least = _positive(float(np.median(t)), t)
    if uneven := reach > UNEVEN * least:
        reach = _positive(float(np.quantile(t, NEARLY_ALL)), t)
    if len(some) and on_curve(near, k):
        most = min(max(MOST * k, CURVE_EDGES // n), n // CURVE_SHARE)
        wide = reach if uneven else reach * max(1.0, float(np.log2(n / OPEN)) / k)
        wide = max(min(wide, _reach_of(some, most, n)), least)
        if (some <= wide).sum() <= ONE_STRAND * (some <= wide / 2).sum():
            return wide
    return max(min(reach, _reach_of(some, min(MOST * k, max(n // SHARE, k)), n)), least)


def on_curve(near: Neighbors, k: int) -> bool:
    """Whether points have neighbours as those of a curve are."""
    t, half = own_reach(near, k), own_reach(near, max(1, k // 2))
    return bool((half > 0).all()) and float(np.median(t / half)) > ON_CURVE


def _sampled(source: Source | None, n: int) -> Floats:
    """Distances of some points to others; none where not all are known."""
    if source is None or isinstance(source, Measured):
        return np.empty(0)
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, m)).astype(np.int64)) for m in (SAMPLE, AMONG))
    if isinstance(source, Pairs):
        D = source.distances[np.ix_(rows, columns)].astype(np.float64)
    else:
        D = source.subset(columns).rows(source.subset(rows).X)
    return np.asarray(D[np.isfinite(D)])


def _reach_of(D: Floats, most: int, n: int) -> float:
    """The distance within which points have `most` of n others on average; inf where all may be near."""
    return float(np.quantile(D, (most + 1) / n)) if len(D) and most < n - 1 else np.inf


def _positive(reach: float, t: Floats) -> float:
    """Where most points are repeated, the longest distance; 1 where all are one point."""
    return reach if reach > 0 else float(t.max(initial=0.0)) or 1.0


def lengths_in_widths(device: Device, graph: Graph, local: Floats | None) -> Array:
    """The lengths of `in_widths` on the device that has the graph."""
    lengths = device.put(graph.lengths)
    if local is None:
        return lengths
    width, columns = device.put(local), device.put(graph.indices)
    rows = row_of_entry(device.xp, device.put(graph.indptr), len(columns))
    return lengths / device.xp.maximum(width[rows], width[columns])


def in_widths(graph: Graph, local: Floats | None) -> Graph:
    """The graph with lengths in units of the wider of the two widths at their ends; itself for None."""
    if local is None:
        return graph
    device = holding(graph.lengths)
    if device is not None:
        return Graph(graph.indptr, graph.indices, device.remembered(lengths_in_widths(device, graph, local)))
    joint = np.maximum(local[graph.rows()], local[graph.indices])
    return Graph(graph.indptr, graph.indices, graph.lengths / joint)


def one_way_shares(lengths: Floats, first: Floats, second: Floats, share: float) -> Floats:
    """`share` for an edge longer than the reach of one of its ends; 1 within both, and beyond both (a bridge)."""
    return np.where((lengths <= first) == (lengths <= second), 1.0, share)


def with_one_way(W: Weights, graph: Graph, reach: Floats | None, share: float) -> Weights:
    """The weights of a graph, its lengths as measured, with the share of one-way edges; all of them without a reach."""
    if reach is None or share == 1:
        return W
    return replace(
        W, values=np.asarray(W.values) * one_way_shares(graph.lengths, reach[graph.rows()], reach[graph.indices], share)
    )
