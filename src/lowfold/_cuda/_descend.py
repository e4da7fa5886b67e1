"""Sums over all pairs of a layout on a device, for descents."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold._cuda._device import Device

COLUMNS = 3
TILE = 256


def student_sums(device: Device, Y: Floats) -> tuple[Floats, Floats]:
    """sum_j w_ij^2 (y_i - y_j) and sum_j w_ij with Student's w, j != i, for layouts of up to three columns."""
    xp, (n, columns) = device.xp, Y.shape
    blocks = -(-n // TILE)
    parts = max(1, min(64, 1056 // blocks))  # enough blocks for a large GPU
    span = -(-n // (parts * TILE)) * TILE
    parts = -(-n // span)
    out = xp.empty((parts, n, 4))
    device.launch("descend", "student_sums", (blocks, parts), TILE, device.put(Y), n, columns, span, out)
    found = device.get(out.sum(axis=0))
    return np.ascontiguousarray(found[:, :columns]), found[:, 3]
