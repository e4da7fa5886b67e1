"""Alignment kernels on a device: local tangents and the sum of patch matrices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._device import active, on_cpu
from lowfold._cuda._patches import MOST, align, tangents
from lowfold.kernels._patches import RANK_TOL, Coordinates, Geometry, Patches


def _common_size(patches: Patches) -> int | None:
    """The number of members that all patches have, if the device sorts so many."""
    sizes = patches.sizes
    size = int(sizes[0]) if len(sizes) else 0
    return size if 0 < size <= MOST and bool((sizes == size).all()) else None


def tangents_on_device(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Floats, Floats] | None:
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
    return device.remembered(G.reshape(-1, d + 1)), np.asarray(device.get(rest))


def align_on_device(patches: Patches, factor: Floats, complement: bool, run: Run) -> SparseOperator | None:
    """K on the host and, remembered, on the device; None where the CPU has to sum it."""
    device, K = active(run), _common_size(patches)
    if device is None:
        return None
    if K is None:
        on_cpu("an alignment kernel", f"the device takes patches of one size of at most {MOST}")
        return None
    n = patches.n_points
    members = device.put(patches.members).reshape(-1, K)
    B = device.put(np.ascontiguousarray(factor)).reshape(len(members), K, -1)
    try:
        rows = align(device, members, B, n, complement=complement)
    except MemoryBudgetExceeded as error:
        on_cpu("an alignment kernel", str(error))
        return None
    indptr, indices, values = (device.remembered(part) for part in rows)
    return SparseOperator(csr_array((values, indices, indptr), shape=(n, n)), psd=True, n_jobs=run.n_jobs)
