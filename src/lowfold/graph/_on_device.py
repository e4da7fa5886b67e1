"""Neighbours and geodesics on a device: what the doors of this folder call when a run has one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.run import Run
from lowfold._cuda._device import Array, Device, active, on_cpu
from lowfold._cuda._doubts import doubts
from lowfold._cuda._gram import DeviceMatrix, DevicePanels
from lowfold._cuda._minplus import Panels, all_distances, eliminate, padded
from lowfold._cuda._paths import reach, rows_from
from lowfold._cuda._pieces import piece_labels
from lowfold._cuda._search import can_search, nearest
from lowfold._cuda._tree import Tree, graph_coordinates, plan
from lowfold.graph._components import components
from lowfold.graph._path_task import Rows, units_of
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._units import FAR, Units

Floats = NDArray[np.float64]
RELAX_FROM = 2_000  # additions for a pair: beyond, in high dimension, relaxation is faster than elimination
SHARE = 0.85  # of the free memory may go into a matrix of distances
FRONT_BYTES = 12.0  # of an entry of the tree while it is eliminated: int32, once kept and twice at work
BESIDE = 1.1  # of the matrix's bytes: what relaxation holds beside it
RELAXED = 8192  # rows at a time: enough to fill a large GPU, little beside the matrix
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
    if not can_search(F.shape[1], k):
        on_cpu("the search for neighbours", f"{k} neighbours in {F.shape[1]} columns are more than the device sorts")
        return None
    queries = None if Q is None else device.put(Q, F.dtype)
    squared, index = nearest(device, device.put(F), queries, k)
    distances = device.xp.sqrt(squared) * float(np.ldexp(1.0, exponent))
    wrong = (distances[:, 1:] == distances[:, :-1]) & (index[:, 1:] < index[:, :-1])
    tied = device.xp.flatnonzero(wrong.any(axis=1))
    return device.remembered(distances), device.remembered(index), device.get(tied)


def distances_on_device(graph: Graph | Neighbors, dtype: Any, run: Run) -> Distances | None:
    """All geodesics of an undirected graph, held on the run's device or made panel by panel there; None on the CPU."""
    device = active(run)
    if device is None or not isinstance(graph, Graph) or graph.n < 2:
        return None
    indptr, indices, lengths = device.put(graph.indptr), device.put(graph.indices), device.put(graph.lengths)
    units = _units(device, graph, indptr, indices, lengths, np.dtype(dtype))
    with run.stage("geodesics on the device"):
        if units.dtype.kind == "f":
            return _relaxed(device, indptr, indices, lengths, units, np.float64)
        tree = plan(device, indptr, indices, graph_coordinates(device, indptr, indices))
        if (
            tree.sweep_work() > RELAX_FROM * graph.n**2 / 2
            or FRONT_BYTES * tree.entries() > SHARE * device.free_bytes()
        ):
            return _relaxed(device, indptr, indices, lengths, units, np.int32)
        return _eliminated(device, tree, indptr, indices, lengths, units)


def _units(device: Device, graph: Graph, indptr: Array, indices: Array, lengths: Array, dtype: np.dtype[Any]) -> Units:
    """Those of the CPU's geodesics, with their one search made on the device."""
    seeds = np.unique(components(graph), return_index=True)[1]
    rows, heads = graph.indptr.astype(np.int64, copy=False), graph.indices.astype(np.int32, copy=False)
    edges = Rows(rows, heads, graph.lengths)
    return units_of(
        edges, np.zeros(0), dtype, True, lambda _: reach(device, indptr, indices, lengths, seeds)
    )  # fmt: skip


def _whole(device: Device, lengths: Array, units: Units) -> Array:
    return device.xp.rint(lengths / units.unit)


def _relaxed(device: Device, indptr: Array, indices: Array, lengths: Array, units: Units, dtype: Any) -> DeviceMatrix:
    """The matrix by relaxation from every vertex: for graphs that elimination would fill."""
    xp, n = device.xp, len(indptr) - 1
    item = np.dtype(dtype).itemsize
    device.require(BESIDE * item * n * padded(n), f"a matrix of {n} x {n} geodesic distances", "use landmarks")
    D = xp.zeros((n, padded(n)), dtype)
    labels = _whole(device, lengths, units)
    for start in range(0, n, RELAXED):
        rows = rows_from(device, indptr, indices, labels, np.arange(start, min(start + RELAXED, n)))
        D[start : start + RELAXED, :n] = xp.where(xp.isfinite(rows), rows, FAR) if item == 4 else rows
    return DeviceMatrix(device, D, xp.arange(n), units.unit)


def _eliminated(device: Device, tree: Tree, indptr: Array, indices: Array, lengths: Array, units: Units) -> Distances:
    fronts = eliminate(device, tree, indptr, indices, _whole(device, lengths, units).astype(np.int32))
    if 4.0 * tree.n * padded(tree.n) <= SHARE * device.free_bytes():
        return DeviceMatrix(device, all_distances(device, fronts), tree.order, units.unit)

    def rows(chosen: NDArray[np.int64]) -> Floats:
        found = rows_from(device, indptr, indices, _whole(device, lengths, units), chosen)
        return np.asarray(device.get(found)) * units.unit

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
    indptr, indices, lengths = device.put(graph.indptr), device.put(graph.indices), device.put(graph.lengths)
    units = _units(device, graph, indptr, indices, lengths, dtype)
    rows = rows_from(device, indptr, indices, _whole(device, lengths, units), sources)
    return np.asarray(device.get(rows * units.unit), dtype=dtype)


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


__all__ = ["Distances", "distances_on_device", "doubts_on_device", "geodesic_rows", "labels_on_device", "search_on"]
