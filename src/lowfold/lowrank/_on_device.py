"""Scatter matrices on a device, rows sent some at a time where they do not all fit."""

from __future__ import annotations

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._device import SHARE, active, on_cpu
from lowfold.lowrank._scatter import Scatter

BLOCK = 2**27  # numbers of the centred rows, or columns, that are multiplied together: 1 GB in float64


def scatter_bytes(side: int, size: int) -> float:
    """Of the sum and one term of it, and two copies of the rows of a block; `size` numbers are all the rows."""
    return 8.0 * (2 * float(side) ** 2 + 2 * min(BLOCK, size))


def scatter_on_device(scatter: Scatter, run: Run) -> Floats | None:
    """`Scatter.dense` in float64 by the run's device; None where the CPU has to make it."""
    device = active(run)
    if device is None:
        return None
    if not isinstance(scatter.X, np.ndarray):
        on_cpu("a scatter matrix", "the device takes dense rows")
        return None
    X, side, axis = scatter.X, scatter.n, 1 if scatter.dual else 0
    if not device.has_room(scatter_bytes(side, X.size), f"a scatter matrix of {side} x {side}"):
        return None
    xp = device.xp
    whole = device.put(X) if X.nbytes <= 0.5 * SHARE * device.free_bytes() else None
    mean = device.put(scatter.mean)
    root = None if scatter.weights is None else xp.sqrt(device.put(scatter.weights))[:, None]
    C = xp.zeros((side, side))
    for part in block_slices(X.shape[axis], max(1, BLOCK // X.shape[1 - axis])):
        cut = (slice(None), part) if scatter.dual else (part, slice(None))
        block = device.put(X[cut]) if whole is None else whole[cut]
        block = block.astype(np.float64) - mean[cut[1]]
        if root is not None:
            block *= root[cut[0]]
        C += block @ block.T if scatter.dual else block.T @ block
    return np.asarray(device.get(C / scatter.divisor))
