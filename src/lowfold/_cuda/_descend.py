"""Sums over all pairs of a layout on a device, for descents."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold._cuda._device import Array, Device

COLUMNS = 3
TILE = 256


def student_sums(device: Device, Y: Floats) -> tuple[Floats, Floats]:
    """sum_j w_ij^2 (y_i - y_j) and sum_j w_ij with Student's w, j != i, for layouts of up to three columns."""
    n, columns = Y.shape
    blocks, parts, span = _shape(n)
    out = device.xp.empty((parts, n, 4))
    device.launch("descend", "student_sums", (blocks, parts), TILE, device.put(Y), n, columns, span, out)
    found = device.get(out.sum(axis=0))
    return np.ascontiguousarray(found[:, :columns]), found[:, 3]


def stress_sums(device: Device, delta: Array, Y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """B(Y) Y and, per point, rho, eta and stress, for a symmetric matrix of dissimilarities on the device."""
    n, columns = Y.shape
    blocks, parts, span = _shape(n)
    out = device.xp.empty((parts, n, 6))
    kernel = f"stress_sums_f{8 * delta.dtype.itemsize}"
    device.launch("descend", kernel, (blocks, parts), TILE, delta, device.put(Y), n, columns, span, out)
    found = device.get(out.sum(axis=0))
    rho, eta, stress = (np.ascontiguousarray(found[:, c]) for c in (3, 4, 5))
    return np.ascontiguousarray(found[:, :columns]), rho, eta, stress


def _shape(n: int) -> tuple[int, int, int]:
    """Blocks of points, parts of the pairs of a point, and the pairs of a part: enough blocks for a large GPU."""
    blocks = -(-n // TILE)
    parts = max(1, min(64, 1056 // blocks))
    span = -(-n // (parts * TILE)) * TILE
    return blocks, -(-n // span), span
