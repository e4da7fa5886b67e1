"""Shortest paths on a device by relaxation: from given sources, on any graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._cuda._device import Array, Device

LANES = 32
ROUNDS = 16  # between two looks at whether anything still changes
BATCH_BYTES = 2**30  # of labels that are relaxed together


def relax(
    device: Device, indptr: Array, indices: Array, lengths: Array, vertices: NDArray[Any], slots: NDArray[Any]
) -> Array:
    """Labels (batch, n, 32): distances along the graph from the vertices with each slot, batch * 32 + lane.

    inf where there is no path or a slot has no vertex. Lengths are float32 or float64; with whole numbers of a unit
    the sums are exact.
    """
    xp, n, dtype = device.xp, len(indptr) - 1, lengths.dtype
    batches = int(slots.max()) // LANES + 1
    labels, stamp = xp.full((batches, n, LANES), np.inf, dtype), xp.full((batches, n), -2, np.int32)
    v, slot = xp.asarray(vertices), xp.asarray(slots)
    labels[slot // LANES, v, slot % LANES] = 0
    stamp[slot // LANES, v] = 0
    changed = xp.zeros(1, np.int32)
    grid = (-(-n * LANES // 256), batches)
    now = 0
    while True:
        for _ in range(ROUNDS):
            now += 1
            device.launch(
                "paths", f"relax_f{8 * dtype.itemsize}", grid, 256,
                indptr, indices, lengths, n, now, labels, stamp, changed,
            )  # fmt: skip
        if int(changed[0]) < now:
            return labels


def rows_from(device: Device, indptr: Array, indices: Array, lengths: Array, sources: NDArray[Any]) -> Array:
    """Distances from every source to every vertex, (len(sources), n)."""
    xp, n = device.xp, len(indptr) - 1
    out = xp.empty((len(sources), n), lengths.dtype)
    step = LANES * max(1, BATCH_BYTES // (n * LANES * lengths.dtype.itemsize))
    for start in range(0, len(sources), step):
        group = sources[start : start + step]
        labels = relax(device, indptr, indices, lengths, group, np.arange(len(group)))
        out[start : start + len(group)] = labels.transpose(0, 2, 1).reshape(-1, n)[: len(group)]
    return out


def reach(device: Device, indptr: Array, indices: Array, lengths: Array, seeds: NDArray[Any]) -> float:
    """The longest distance of a vertex from the nearest of the seeds, one in each component."""
    labels = relax(device, indptr, indices, lengths, seeds, np.zeros(len(seeds), np.int64))[0, :, 0]
    return float(device.xp.where(device.xp.isfinite(labels), labels, 0).max())
