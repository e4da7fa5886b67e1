"""Shortest paths on a device by relaxation: from given sources, on any graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._cuda._device import Array, Device

LANES = 32
FAR = 2**30 - 1  # no path, in int32: the sum of two of them still fits
ROUNDS = 16  # between two looks at whether anything still changes
BATCH_BYTES = 2**30  # of labels that are relaxed together


def relax(
    device: Device, indptr: Array, indices: Array, lengths: Array, vertices: NDArray[Any], slots: NDArray[Any],
    starts: Any = 0,
) -> Array:  # fmt: skip
    """Labels (batch, n, 32): distances along the graph from the vertices with each slot, batch * 32 + lane, which start
    at `starts`.

    Where there is no path, or a slot has no vertex: inf, or FAR. Lengths are float64 or int32, whole numbers of a
    unit, so that sums are exact; int32 labels are half as many bytes to move.
    """
    xp, n, dtype = device.xp, len(indptr) - 1, lengths.dtype
    batches = int(slots.max(initial=0)) // LANES + 1
    labels = xp.full((batches, n, LANES), FAR if dtype.kind == "i" else np.inf, dtype)
    stamp = xp.full((batches, n), -2, np.int32)
    v, slot = xp.asarray(vertices), xp.asarray(slots)
    labels[slot // LANES, v, slot % LANES] = xp.asarray(starts, dtype)
    stamp[slot // LANES, v] = 0
    grid = (-(-n * LANES // 256), batches)
    _settle(device, "relax_i32" if dtype.kind == "i" else "relax_f64", grid, indptr, indices, lengths, labels, stamp)
    return labels


def _settle(
    device: Device, kernel: str, grid: tuple[int, ...], indptr: Array, indices: Array, lengths: Array, labels: Array,
    stamp: Array,
) -> None:  # fmt: skip
    """Rounds of relaxation until nothing changes."""
    changed, now, n = device.xp.zeros(1, np.int32), 0, len(indptr) - 1
    while True:
        for _ in range(ROUNDS):
            now += 1
            device.launch("paths", kernel, grid, 256, indptr, indices, lengths, n, now, labels, stamp, changed)
        if int(changed[0]) < now:
            return


def rows_from(device: Device, indptr: Array, indices: Array, lengths: Array, sources: NDArray[Any]) -> Array:
    """Distances from every source to every vertex, (len(sources), n)."""
    count = len(sources)
    return rows_from_seeds(device, indptr, indices, lengths, np.arange(count + 1), sources, np.zeros(count))


def rows_from_seeds(
    device: Device, indptr: Array, indices: Array, lengths: Array, pointers: NDArray[Any], seeds: NDArray[Any],
    starts: NDArray[Any],
) -> Array:  # fmt: skip
    """Row r: distances to every vertex from seeds[pointers[r]:pointers[r + 1]], each of which is `starts` away."""
    xp, n, count = device.xp, len(indptr) - 1, len(pointers) - 1
    out = xp.empty((count, n), lengths.dtype)
    step = LANES * max(1, BATCH_BYTES // (n * LANES * lengths.dtype.itemsize))
    for first in range(0, count, step):
        last = min(first + step, count)
        part = slice(int(pointers[first]), int(pointers[last]))
        slots = np.repeat(np.arange(last - first), np.diff(pointers[first : last + 1]))
        labels = relax(device, indptr, indices, lengths, seeds[part], slots, starts[part])
        out[first:last] = labels.transpose(0, 2, 1).reshape(-1, n)[: last - first]
    return out


def reach(device: Device, indptr: Array, indices: Array, lengths: Array, seeds: NDArray[Any]) -> float:
    """The longest distance of a vertex from the nearest of the seeds, one in each component."""
    xp, n = device.xp, len(indptr) - 1
    labels, stamp, v = xp.full(n, np.inf), xp.full(n, -2, np.int32), xp.asarray(seeds)
    labels[v], stamp[v] = 0, 0
    _settle(device, "relax_one", (-(-n // 256),), indptr, indices, lengths, labels, stamp)
    return float(device.xp.where(device.xp.isfinite(labels), labels, 0).max())
