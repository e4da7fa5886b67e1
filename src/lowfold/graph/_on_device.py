"""Neighbours and geodesics on a device: what the doors of this folder call when a run has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._cuda._device import Array, Device, active, on_cpu
from lowfold._cuda._doubts import doubts
from lowfold._cuda._gram import DeviceMatrix, DevicePanels
from lowfold._cuda._minplus import Panels, all_distances, eliminate, padded
from lowfold._cuda._paths import reach, rows_from, rows_from_seeds
from lowfold._cuda._pieces import piece_labels
from lowfold._cuda._ranks import distances_between, row_distances
from lowfold._cuda._search import nearest, search_bytes
from lowfold._cuda._tree import Tree, graph_coordinates, plan, stable_order
from lowfold._cuda._within import within
from lowfold.graph._path_task import SHORT, chosen_units
from lowfold.graph._paths import through_seeds
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._units import FAR, Units

Floats = NDArray[np.float64]
RELAX_FROM = 2_000  # additions for a pair: beyond, in high dimension, relaxation is faster than elimination
SHARE = 0.85  # of the free memory may go into a matrix of distances
FRONT_BYTES = 12.0  # of an entry of the tree while it is eliminated: int32, once kept and twice at work
BESIDE = 1.1  # of the matrix's bytes: what relaxation, or a tile of float64, holds beside it
TILE_BYTES = 2**28  # of distances made together in float64
RELAXED = 8192  # rows at a time: enough to fill a large GPU, little beside the matrix
WIDENED = 1e-9  # share by which a radius is widened before the roots of squared distances are compared with it
UNEVEN = 1.3  # the widest panel over the mean: the halves of a dissection are not equal
PANEL_BYTES = 48e9  # of one panel and the distances above it: 8e9 was too little for a million points

Distances = DeviceMatrix | DevicePanels


def search_on(
    F: NDArray[np.floating[Any]], Q: NDArray[np.floating[Any]] | None, k: int, exponent: int, run: Run
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64] | None] | None:
    """Distances (times 2^exponent) and indices, which the device remembers, and rows whose ties the root put out of
    order; None where the search has no twin.
    """
    device = active(run)
    if device is None:
        return None
    count = max(len(F), 0 if Q is None else len(Q))
    if not device.has_room(search_bytes(count, F.shape[1], k), "the search for neighbours"):
        return None
    queries = None if Q is None else device.put(Q, F.dtype)
    squared, index = nearest(device, device.put(F), queries, k)
    distances = device.xp.sqrt(squared) * float(np.ldexp(1.0, exponent))
    wrong = (distances[:, 1:] == distances[:, :-1]) & (index[:, 1:] < index[:, :-1])
    tied = device.xp.flatnonzero(wrong.any(axis=1))
    return device.remembered(distances), device.remembered(index), device.get(tied)


def rows_of_distances(F: NDArray[np.floating[Any]], run: Run) -> Callable[[int], Floats] | None:
    """i -> distances from row i of F, centred, to all, by products in float64; None on the CPU."""
    device = active(run)
    if device is None or not device.has_room(16.0 * F.size, "distances from landmarks"):
        return None
    xp, X = device.xp, device.put(F, np.float64)
    norms = (X * X).sum(axis=1)
    return lambda i: np.asarray(device.get(xp.sqrt(xp.maximum(norms + norms[i] - 2 * (X @ X[i]), 0.0))))


def pairs_on_device(source: Points, dtype: Any, run: Run, *, filled: bool = True) -> DeviceMatrix | None:
    """All distances of points on the run's device, rows `filled` up with zeros; None where the CPU has to make them."""
    device, n = active(run), source.n
    if device is None or not _euclidean(source, "distances of all pairs"):
        return None
    size = np.dtype(dtype).itemsize * float(n) * padded(n)
    if not device.has_room(BESIDE * size + 8.0 * source.X.size, "distances of all pairs"):
        return None
    xp, F = device.xp, device.put(source.features(), np.float64)
    D = xp.zeros((n, padded(n) if filled else n), dtype)
    for part in block_slices(n, max(1, int(TILE_BYTES // (8 * n)))):
        D[part, :n] = row_distances(device, F, xp.arange(part.start, part.stop))
    return DeviceMatrix(device, D, xp.arange(n))


def squares_times(source: Points, queries: NDArray[np.floating[Any]], V: Floats, run: Run) -> Floats | None:
    """(d(x, i)^2) V for new points x and all i, by the run's device; None where the CPU has to sum."""
    device = active(run)
    if device is None or not _euclidean(source, "distances from new points"):
        return None
    tile = min(float(TILE_BYTES), 8.0 * len(queries) * source.n)
    if not device.has_room(8.0 * source.X.size + 3 * tile, "distances from new points"):
        return None
    F, Q, W = (device.put(A, np.float64) for A in (source.features(), source.features(queries), V))
    parts = block_slices(len(Q), max(1, int(TILE_BYTES // (8 * source.n))))
    products = [distances_between(device, Q[part], F) ** 2 @ W for part in parts]
    return np.asarray(device.get(device.xp.concatenate(products)))


def _euclidean(source: Points, what: str) -> bool:
    plain = source.metric.feature_map is not None and source.metric.finish is None
    if not plain:
        on_cpu(what, "the device takes points with Euclidean distances")
    return plain


def within_on(
    F: NDArray[np.floating[Any]], Q: NDArray[np.floating[Any]] | None, reach: Floats, limit: Floats, exponent: int,
    run: Run,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats] | None:  # fmt: skip
    """Rows (indptr, indices, distances) of all points at most `limit` of the point away, which the device remembers.

    Distances are times 2^exponent; `reach` is the limit in the unit of F. None where the CPU has to search.
    """
    device = active(run)
    if device is None:
        return None
    xp, m = device.xp, len(F) if Q is None else len(Q)
    queries = None if Q is None else device.put(Q, F.dtype)
    try:
        rows, columns, squared = within(device, device.put(F), queries, device.put(reach * (1 + WIDENED)))
    except MemoryBudgetExceeded as error:
        on_cpu("the search within a radius", str(error))
        return None
    distances = xp.sqrt(squared) * float(np.ldexp(1.0, exponent))
    kept = distances <= device.put(limit)[columns]
    rows, columns, distances = rows[kept], columns[kept], distances[kept]
    order = stable_order(xp, distances)  # pairs of a row came by column
    order = order[stable_order(xp, rows[order])]
    indptr = xp.searchsorted(rows[order], xp.arange(m + 1, dtype=np.int32)).astype(np.int64)
    return tuple(device.remembered(part) for part in (indptr, columns[order], distances[order]))  # type: ignore[return-value]


def distances_on_device(graph: Graph | Neighbors, dtype: Any, run: Run) -> Distances | None:
    """All geodesics of an undirected graph, held on the run's device or made panel by panel there; None on the CPU."""
    device = active(run)
    if device is None or not isinstance(graph, Graph) or graph.n < 2:
        return None
    indptr, indices, lengths = device.put(graph.indptr), device.put(graph.indices), device.put(graph.lengths)
    units = _units(device, indptr, indices, lengths, np.dtype(dtype))
    with run.stage("geodesics on the device"):
        if units.dtype.kind == "f":
            return _relaxed(device, indptr, indices, lengths, units)
        tree = plan(device, indptr, indices, graph_coordinates(device, indptr, indices))
        if (
            tree.sweep_work() > RELAX_FROM * graph.n**2 / 2
            or FRONT_BYTES * tree.entries() > SHARE * device.free_bytes()
        ):
            return _relaxed(device, indptr, indices, lengths, units)
        return _eliminated(device, tree, indptr, indices, lengths, units)


def _units(
    device: Device, indptr: Array, indices: Array, lengths: Array, dtype: np.dtype[Any], farthest: float = 0.0
) -> Units:
    """Those of the CPU's geodesics (`units_of`), found on the device."""
    xp = device.xp
    used = lengths[xp.isfinite(lengths)]

    def sizes() -> tuple[float, float]:
        positive = used[used > 0]
        seeds = device.get(xp.unique(piece_labels(device, indptr, indices)))
        short = float(xp.quantile(positive, SHORT)) if len(positive) else 1.0
        return short, reach(device, indptr, indices, lengths, seeds)

    longest = float(used.max()) if len(used) else 0.0
    return chosen_units(len(indptr) - 1, longest, farthest, sizes if dtype == np.float32 else None)


def _whole(device: Device, lengths: Array, units: Units) -> Array:
    """Lengths in whole units, of the units' type."""
    whole = device.xp.rint(lengths / units.unit)
    return device.xp.minimum(whole, FAR).astype(np.int32) if units.dtype.kind == "i" else whole


def _told(device: Device, labels: Array, units: Units) -> Array:
    """Distances from labels; inf where there is no path."""
    far = labels >= FAR if units.dtype.kind == "i" else ~device.xp.isfinite(labels)
    return device.xp.where(far, np.inf, labels * units.unit)


def _relaxed(device: Device, indptr: Array, indices: Array, lengths: Array, units: Units) -> DeviceMatrix:
    """The matrix by relaxation from every vertex: for graphs that elimination would fill."""
    xp, n = device.xp, len(indptr) - 1
    size = units.dtype.itemsize * n * padded(n)
    device.require(BESIDE * size, f"a matrix of {n} x {n} geodesic distances", "use landmarks")
    D = xp.zeros((n, padded(n)), units.dtype)
    labels = _whole(device, lengths, units)
    for start in range(0, n, RELAXED):
        sources = np.arange(start, min(start + RELAXED, n))
        D[start : start + RELAXED, :n] = rows_from(device, indptr, indices, labels, sources)
    return DeviceMatrix(device, D, xp.arange(n), units.unit)


def _eliminated(device: Device, tree: Tree, indptr: Array, indices: Array, lengths: Array, units: Units) -> Distances:
    labels = _whole(device, lengths, units)
    fronts = eliminate(device, tree, indptr, indices, labels)
    if 4.0 * tree.n * padded(tree.n) <= SHARE * device.free_bytes():
        return DeviceMatrix(device, all_distances(device, fronts), tree.order, units.unit)

    def rows(chosen: NDArray[np.int64]) -> Floats:
        return np.asarray(device.get(_told(device, rows_from(device, indptr, indices, labels, chosen), units)))

    panels = Panels(device, fronts, panel_level(tree, device))
    return DevicePanels(device, panels, tree.order, rows, units.unit)


def panel_level(tree: Tree, device: Device) -> int:
    """The level whose subtrees are panels: as high as a panel and the vertices above fit into their share."""
    room = min(PANEL_BYTES, SHARE * device.free_bytes() / 2)
    for top in range(1, tree.levels + 1):
        above = int(tree.host_start[2**top - 1])
        widest = UNEVEN * (tree.n - above) / 2**top
        if 4.0 * (tree.n * widest + above**2) <= room:
            return top
    device.require(np.inf, f"panels of geodesic distances of {tree.n} points", "use landmarks")
    return tree.levels


def geodesic_rows(
    graph: Graph | Neighbors, sources: NDArray[np.int64] | None, dtype: np.dtype[Any], run: Run
) -> NDArray[np.floating] | None:
    """Rows of geodesics on the host, from the run's device; None where the CPU has to make them."""
    device = active(run)
    if device is None:
        return None
    if not isinstance(graph, Graph):
        on_cpu("a search along directed edges", "only symmetric graphs are searched on the device")
        return None
    if sources is None:
        found = distances_on_device(graph, dtype, run)
        if isinstance(found, DeviceMatrix):
            return found.to_host(dtype, FAR)
        if found is not None:
            on_cpu("the matrix of geodesics", "it does not fit on the device")
        return None
    return _Sources(device, graph, dtype).rows(*_single(sources), dtype)


def _single(sources: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    return np.arange(len(sources) + 1), sources, np.zeros(len(sources))


def seeded_rows(
    graph: Graph, seeds: Neighbors, targets: NDArray[np.int64] | None, dtype: np.dtype[Any], run: Run
) -> NDArray[np.floating] | None:
    """`seeded_geodesics` by the run's device; None on the CPU."""
    device = active(run)
    if device is None:
        return None
    search = _Sources(device, graph, dtype, float(seeds.distances.max(initial=0.0)))
    if targets is None or len(targets) >= seeds.n:
        found = search.rows(seeds.indptr, seeds.indices, seeds.distances, dtype)
        return found if targets is None else found[:, targets]
    ends = np.unique(seeds.indices)
    known = np.ascontiguousarray(search.rows(*_single(targets), np.dtype(np.float64))[:, ends].T)
    starts = np.rint(seeds.distances / search.units.unit) * search.units.unit
    out = np.empty((seeds.n, len(targets)), dtype)
    return through_seeds(seeds.indptr, np.searchsorted(ends, seeds.indices), starts, known, out, n_jobs=run.n_jobs)


class _Sources:
    """A graph on a device, its lengths in the units of distances of `dtype`, for searches from some vertices."""

    def __init__(self, device: Device, graph: Graph, dtype: np.dtype[Any], farthest: float = 0.0) -> None:
        self.device, lengths = device, device.put(graph.lengths)
        self.edges = device.put(graph.indptr), device.put(graph.indices)
        self.units = _units(device, *self.edges, lengths, dtype, farthest)
        self.lengths = _whole(device, lengths, self.units)

    def rows(
        self, pointers: NDArray[Any], seeds: NDArray[Any], starts: Floats, dtype: np.dtype[Any]
    ) -> NDArray[np.floating]:
        started = np.rint(starts / self.units.unit)
        found = rows_from_seeds(self.device, *self.edges, self.lengths, pointers, seeds, started)
        return np.asarray(self.device.get(_told(self.device, found, self.units).astype(dtype)))


def doubts_on_device(
    graph: Graph, near: int, spared: int, shared: float, part: float, run: Run
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int32]] | None:
    """What may be a shortcut, see `_cuda._doubts.doubts`; None on the CPU."""
    device = active(run)
    if device is None:
        return None
    rows = device.put(graph.indptr), device.put(graph.indices), device.put(graph.lengths)
    sure, doubtful, tails = doubts(device, *rows, near=near, spared=spared, shared=shared, part=part)
    return device.get(sure), device.get(doubtful), device.get(tails)


def labels_on_device(graph: Graph, kept: NDArray[np.bool_], run: Run) -> NDArray[np.int32] | None:
    """The smallest vertex of every vertex's piece, along the kept entries; None on the CPU."""
    device = active(run)
    if device is None:
        return None
    return device.get(piece_labels(device, device.put(graph.indptr), device.put(graph.indices), device.put(kept)))


__all__ = [
    "Distances",
    "distances_on_device",
    "doubts_on_device",
    "geodesic_rows",
    "labels_on_device",
    "pairs_on_device",
    "rows_of_distances",
    "search_on",
    "seeded_rows",
    "squares_times",
    "within_on",
]
