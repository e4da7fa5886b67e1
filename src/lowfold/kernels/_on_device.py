"""Alignment kernels on a device: local tangents and the sum of patch matrices."""

from __future__ import annotations

import numpy as np

from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._device import Array, active, on_cpu
from lowfold._cuda._patches import MOST, align, tangents, weights
from lowfold._cuda._sparse import DeviceSparse
from lowfold.kernels._patches import RANK_TOL, Coordinates, Geometry, Patches
from lowfold.kernels._tangent import orthonormal_columns

LEAST_REG = 1e-9  # below, a Cholesky factor of a local Gram matrix may break down


def _common_size(patches: Patches) -> int | None:
    """The number of members that all patches have, if the device sorts so many."""
    sizes = patches.sizes
    size = int(sizes[0]) if len(sizes) else 0
    return size if 0 < size <= MOST and bool((sizes == size).all()) else None


def tangents_on_device(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Array, Floats] | None:
    """G = [1 / sqrt(K), V] of every member and the singular values left out; None where the CPU has to find them."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None or not isinstance(geometry, Coordinates) or d > min(K - 1, geometry.n_features):
        on_cpu("local tangents", f"the device takes coordinates in patches of one size of at most {MOST}")
        return None
    xp = device.xp
    members = device.put(patches.members).reshape(-1, K)
    V, rest = tangents(device, device.put(geometry.F, np.float64), members, d, RANK_TOL)
    G = xp.empty((len(members), K, d + 1))
    G[:, :, 0] = 1.0 / np.sqrt(K)
    G[:, :, 1:] = V
    return G.reshape(-1, d + 1), np.asarray(device.get(rest))


def hessians_on_device(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Array, Floats] | None:
    """Q of every member (`hessian_rows`) and the singular values left out; None where the CPU has to find them."""
    found = tangents_on_device(patches, geometry, d, run)
    device, K = active(run), _common_size(patches)
    if found is None or device is None or K is None:
        return None
    G = found[0].reshape(-1, K, d + 1)
    V = G[:, :, 1:]
    products = device.xp.concatenate([V[:, :, a : a + 1] * V[:, :, a:] for a in range(d)], axis=2)
    return orthonormal_columns(products, G).reshape(-1, d * (d + 1) // 2), found[1]


def weights_on_device(patches: Patches, geometry: Geometry, reg: float, run: Run) -> tuple[Array, Floats] | None:
    """B_i = e_i - w_i of every member and the residuals; None where the CPU has to find them."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None or K < 2 or not isinstance(geometry, Coordinates) or reg < LEAST_REG:
        on_cpu("reconstruction weights", f"the device takes coordinates, patches of one size up to {MOST}, and a ridge")
        return None
    members = device.put(patches.members).reshape(-1, K)
    B, error = weights(device, device.put(geometry.F, np.float64), members, reg)
    return B.reshape(-1, 1), np.asarray(device.get(error))


def align_on_device(patches: Patches, factor: Array, complement: bool, run: Run) -> DeviceSparse | None:
    """K, which stays on the device; None where the CPU has to sum it."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None:
        on_cpu("an alignment kernel", f"the device takes patches of one size of at most {MOST}")
        return None
    n = patches.n_points
    members = device.put(patches.members).reshape(-1, K)
    B = factor if not isinstance(factor, np.ndarray) else device.put(np.ascontiguousarray(factor))
    try:
        rows = align(device, members, B.reshape(len(members), K, -1), n, complement=complement)
    except MemoryBudgetExceeded as error:
        on_cpu("an alignment kernel", str(error))
        return None
    return DeviceSparse(device, *rows, psd=True, n_jobs=run.n_jobs)
