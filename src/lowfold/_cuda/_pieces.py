"""Which vertices of a graph hang together, and how many steps they are apart, on a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._cuda._device import Array, Device

ROUNDS, HOOKS = 16, 4  # of steps and of labels, between two looks at whether anything still changes
SOURCES = 32  # searches at once, a bit each


def piece_labels(device: Device, indptr: Array, indices: Array, kept: Array | None = None) -> Array:
    """The smallest vertex of every vertex's piece; `kept` (bool) leaves entries out, an edge in both its rows."""
    xp, n = device.xp, len(indptr) - 1
    masked = kept is not None
    mask = xp.zeros(1, np.int8) if kept is None else kept.astype(np.int8)
    now, changed = xp.arange(n, dtype=np.int32), xp.zeros(1, np.int32)
    while True:
        changed[0] = 0
        for _ in range(HOOKS):
            after = now.copy()
            device.launch(
                "pieces", "hook_labels", (-(-n // 32),), 256, indptr, indices, mask, masked, n, now, after, changed
            )  # fmt: skip
            now = after
        if not int(changed[0]):
            return now


def all_reach(device: Device, indptr: Array, indices: Array) -> bool:
    """Whether a directed path leads from every vertex to vertex 0."""
    steps = steps_from(device, indptr, indices, np.zeros(1, np.int64))
    return bool(device.xp.isfinite(steps[:, 0]).all())


def steps_from(device: Device, indptr: Array, indices: Array, sources: NDArray[np.int64]) -> Array:
    """(n, 32) float32: along how few edges each vertex is reached from up to 32 sources; inf where it is not."""
    xp, n = device.xp, len(indptr) - 1
    steps, now, after = xp.full((n, SOURCES), np.inf, np.float32), xp.zeros(n, np.uint32), xp.empty(n, np.uint32)
    changed, lanes = xp.zeros(1, np.int32), np.arange(len(sources))
    steps[xp.asarray(sources), xp.asarray(lanes)] = 0
    now[xp.asarray(sources)] = xp.asarray((1 << lanes).astype(np.uint32))
    done = 0
    while True:
        for _ in range(ROUNDS):
            done += 1
            device.launch(
                "pieces", "spread_bits", (-(-n // 32),), 256, indptr, indices, n, done, now.view(np.int32),
                after.view(np.int32), steps, changed,
            )  # fmt: skip
            now, after = after, now
        if int(changed[0]) < done:
            return steps
