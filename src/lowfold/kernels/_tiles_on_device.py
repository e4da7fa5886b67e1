"""Gram matrices of Mercer kernels on a device: held there in the CPU's precision, or made anew for every product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats
from lowfold._cuda._device import SHARE, Array, Device, active, on_cpu
from lowfold._cuda._gram import times
from lowfold._cuda._minplus import padded
from lowfold.kernels._functions import Mercer
from lowfold.kernels._kernel_operator import EXACT, KernelOperator

TILE_BYTES = 2**31  # of the rows that are made together
PAIR_BYTES = 24.0  # of one of their entries: in float64, with its product and squares


@dataclass(frozen=True, eq=False)
class KernelOnDevice(KernelOperator):
    """The twin of `KernelOperator`: `rows` are the shifted points, `held` the matrix, its rows filled up, or None.

    Blocks come and go as arrays of either side.
    """

    device: Device = None  # type: ignore[assignment]
    rows: Array = None
    held: Array = None

    def multiply(self, V: Any) -> Any:
        """K V, uncentred; sums in float64."""
        B = self.device.xp.asarray(V)
        if self.held is not None:
            out = times(self.device, self.held, B, square=False)
        else:
            out = products(self.device, self.kernel, self.rows, self.rows, B)
        return self.device.get(out) if isinstance(V, np.ndarray) else out


def kernel_on_device(X: AnyFloats, mean: Floats, kernel: Mercer, center: bool, run: Run) -> KernelOnDevice | None:
    """The operator on the run's device; None where the CPU has to make it."""
    device = active(run)
    if device is None or not _has_twin(X, kernel):
        return None
    rows = device.put(X, np.float64) - device.put(mean)
    n = len(X)
    dtype = np.dtype(np.float64 if n <= EXACT else np.float32)
    held = None
    if dtype.itemsize * n * padded(n) <= SHARE * device.free_bytes() - tile_bytes(n):
        held = device.xp.zeros((n, padded(n)), dtype)
        for part in _parts(n, n):
            held[part, :n] = tile(device, kernel, rows[part], rows)
    return KernelOnDevice(X, mean, kernel, center, n_jobs=run.n_jobs, device=device, rows=rows, held=held)


def placed_on_device(kernel: Mercer, Q: AnyFloats, X: AnyFloats, V: Floats, run: Run) -> tuple[Floats, Floats] | None:
    """k(q, .) V and the sum of k(q, .) for new points, from the run's device; None where the CPU has to find them."""
    device = active(run)
    if device is None or not _has_twin(X, kernel):
        return None
    mean = X.mean(axis=0, dtype=np.float64) if kernel.differences else np.zeros(X.shape[1])
    A, B = (device.put(Z, np.float64) - device.put(mean) for Z in (Q, X))
    with_ones = device.put(np.column_stack([V, np.ones(len(V))]))
    found = np.asarray(device.get(products(device, kernel, A, B, with_ones)))
    return found[:, :-1], found[:, -1]


def products(device: Device, kernel: Mercer, A: Array, B: Array, V: Array) -> Array:
    """k(A, B) V, some rows of k at a time."""
    out = device.xp.empty((len(A), V.shape[1]))
    for part in _parts(len(A), len(B)):
        out[part] = tile(device, kernel, A[part], B) @ V
    return out


def tile(device: Device, kernel: Mercer, A: Array, B: Array) -> Array:
    """k(a_i, b_j) in float64."""
    xp = device.xp
    if kernel.name == "laplacian":
        apart = xp.zeros((len(A), len(B)))
        for c in range(A.shape[1]):
            apart += xp.abs(A[:, c][:, None] - B[:, c][None, :])
        return xp.exp(-kernel.gamma * apart)
    return kernel.of_products(A @ B.T, (A * A).sum(axis=1)[:, None], (B * B).sum(axis=1)[None, :])


def tile_bytes(n: int) -> float:
    """Of the rows of an n x n matrix that are made together."""
    return min(TILE_BYTES, PAIR_BYTES * n * n)


def _has_twin(X: AnyFloats, kernel: Mercer) -> bool:
    if kernel.name == "callable" or isinstance(X, SparseRows):
        on_cpu("a kernel matrix", "sparse rows and functions of two rows are evaluated there")
        return False
    return True


def _parts(m: int, n: int) -> list[slice]:
    return block_slices(m, max(1, TILE_BYTES // (int(PAIR_BYTES) * n)))
