"""Sums over all pairs of a layout on a device, for descents."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold._cuda._device import Array, Device

COLUMNS = 3
TILE = 256
ROWS = TILE // 32  # of a block that takes a warp for each
PARTS = 64  # sums of a point that are made side by side, at most


def student_sums(device: Device, Y: Floats) -> tuple[Floats, Floats]:
    """sum_j w_ij^2 (y_i - y_j) and sum_j w_ij with Student's w, j != i, for layouts of up to three columns."""
    found = _sums(device, "student_sums", 4, Y)
    return _columns(found, Y), found[:, 3]


def gaussian_masses(device: Device, Y: Floats) -> Floats:
    """sum_{j != i} exp(-|y_i - y_j|^2)."""
    return _sums(device, "gaussian_masses", 1, Y)[:, 0]


def gaussian_repulsion(device: Device, Y: Floats, factors: Floats) -> Floats:
    """sum_j (f_i + f_j) exp(-|y_i - y_j|^2) (y_i - y_j)."""
    return _columns(_sums(device, "gaussian_repulsion", 3, Y, factors=device.put(factors)), Y)


def attraction_sums(device: Device, P: Array, Y: Floats, student: bool) -> tuple[Floats, Floats]:
    """sum_j p_ij w_ij (y_i - y_j) and -sum_j p_ij log w_ij for a symmetric matrix P on the device."""
    found = _sums(device, "attraction", 4, Y, int(student), first=P)
    return _columns(found, Y), found[:, 3]


def sparse_attraction_sums(
    device: Device, indptr: Array, indices: Array, P: Array, Y: Floats, student: bool
) -> tuple[Floats, Floats]:
    """The same for a sparse P by rows."""
    n, columns = Y.shape
    out = device.xp.empty((n, 4))
    grid, rows = (-(-n // TILE),), (indptr, indices, P)
    device.launch("descend", "sparse_attraction", grid, TILE, *rows, device.put(Y), n, columns, student, out)
    found = device.get(out)
    return _columns(found, Y), found[:, 3]


def stress_sums(device: Device, delta: Array, Y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """B(Y) Y and, per point, rho, eta and stress, for a symmetric matrix of dissimilarities on the device."""
    found = _sums(device, f"stress_sums_f{8 * delta.dtype.itemsize}", 6, Y, first=delta)
    rho, eta, stress = (np.ascontiguousarray(found[:, c]) for c in (3, 4, 5))
    return _columns(found, Y), rho, eta, stress


def heat_moments(device: Device, S: Array, rows: Array, near: Array, beta: Array) -> Floats:
    """(rows, 3) sums of w, w e and w e^2 over a row of squared distances, e = s - near, w = exp(-beta e); inf is left
    out. near and beta belong to the rows asked for.
    """
    m = len(rows)
    out = device.xp.empty((m, 3))
    grid = (max(1, -(-m // ROWS)),)
    device.launch("descend", "heat_moments", grid, TILE, S, rows, near, beta, m, S.shape[1], out)
    return np.asarray(device.get(out))


def _sums(
    device: Device, kernel: str, width: int, Y: Floats, *options: int, first: Array = None, factors: Array = None
) -> Floats:
    """(n, width) sums over the pairs of every point, their parts added in order."""
    n, columns = Y.shape
    blocks, parts, span = _shape(n)
    out = device.xp.empty((parts, n, width))
    arrays = [array for array in (first, device.put(Y), factors) if array is not None]
    device.launch("descend", kernel, (blocks, parts), TILE, *arrays, n, columns, span, *options, out)
    return np.asarray(device.get(out.sum(axis=0)))


def _columns(found: Floats, Y: Floats) -> Floats:
    return np.ascontiguousarray(found[:, : Y.shape[1]])


def _shape(n: int) -> tuple[int, int, int]:
    """Blocks of points, parts of the pairs of a point, and the pairs of a part: enough blocks for a large GPU."""
    blocks = -(-n // TILE)
    parts = max(1, min(PARTS, 1056 // blocks))
    span = -(-n // (parts * TILE)) * TILE
    return blocks, -(-n // span), span
