"""Sparse symmetric matrices on a device, and their products with blocks of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._cuda._device import Array, Device
from lowfold._cuda._tree import row_of_entry

WIDTH = 8


@dataclass(frozen=True, eq=False)
class DeviceSparse:
    """A symmetric matrix by rows on the device: indptr int64, indices int32, values float64."""

    device: Device
    indptr: Array
    indices: Array
    values: Array
    psd: bool = False
    bound: float | None = None

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    def apply(self, V: Any) -> Any:
        """A V, eight columns at a time; blocks come and go as arrays of either side."""
        xp, host = self.device.xp, isinstance(V, np.ndarray)
        B, out = xp.asarray(V), xp.empty(V.shape)
        for c in range(0, V.shape[1], WIDTH):
            block = padded_block(xp, B[:, c : c + WIDTH])
            product = xp.empty_like(block)
            device_args = (self.indptr, self.indices, self.values, self.n, block, product)
            self.device.launch("sparse", "times_rows", (-(-self.n * WIDTH // 256),), 256, *device_args)
            out[:, c : c + WIDTH] = product[:, : B.shape[1] - c]
        return self.device.get(out) if host else out

    def diagonal(self) -> Array:
        """The entries (i, i), 0 where none is stored."""
        xp = self.device.xp
        row = row_of_entry(xp, self.indptr, len(self.indices))
        own = row == self.indices
        out = xp.zeros(self.n)
        out[row[own]] = self.values[own]
        return out

    def norm(self) -> float:
        """The largest sum of absolute values in a row."""
        xp = self.device.xp
        sums = xp.empty(self.n)
        perm = xp.arange(len(self.values), dtype=np.int64)
        sizes = xp.abs(self.values)
        self.device.launch(
            "sparse", "add_segments", (-(-self.n // 256),), 256, self.indptr, perm, sizes, self.n, sums
        )  # fmt: skip
        return float(sums.max())

    def off_diagonal(self) -> DeviceSparse:
        """The same without its diagonal."""
        xp = self.device.xp
        row = row_of_entry(xp, self.indptr, len(self.indices))
        kept = row != self.indices
        indptr = xp.zeros(self.n + 1, np.int64)
        indptr[1:] = xp.cumsum(xp.bincount(row[kept], minlength=self.n))
        return DeviceSparse(self.device, indptr, self.indices[kept], self.values[kept])


def padded_block(xp: Any, block: Array) -> Array:
    """A block with zero columns up to eight."""
    if block.shape[1] == WIDTH:
        return xp.ascontiguousarray(block)
    out = xp.zeros((len(block), WIDTH))
    out[:, : block.shape[1]] = block
    return out
