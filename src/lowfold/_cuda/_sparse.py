"""Sparse symmetric matrices on a device, and their products with blocks of vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import SparseOperator
from lowfold._core.types import Floats
from lowfold._cuda._device import Array, Device
from lowfold._cuda._tree import row_of_entry

WIDTH = 8


class DeviceSparse(SparseOperator):
    """A symmetric matrix by rows on the device: indptr int64, indices int32, values float64.

    The host's `matrix` is fetched when a stage without a twin asks for it.
    """

    def __init__(
        self, device: Device, indptr: Array, indices: Array, values: Array, *, psd: bool = False,
        bound: float | None = None, laplacian: bool = False, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        facts = dict(psd=psd, bound=bound, laplacian=laplacian, n_jobs=n_jobs)
        self.__dict__.update(device=device, indptr=indptr, indices=indices, values=values, **facts)

    device: Device
    indptr: Array
    indices: Array
    values: Array

    @cached_property
    def matrix(self) -> csr_array:
        """The same on the host, kept from then on."""
        get = self.device.get
        pointers = get(self.indptr)
        pointers = pointers.astype(np.int32) if pointers[-1] < 2**31 else pointers
        return csr_array((get(self.values), get(self.indices), pointers), shape=(self.n, self.n), copy=True)

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    def apply(self, V: Any) -> Any:
        """A V, eight columns at a time; blocks come and go as arrays of either side."""
        return self._times("times_rows", V)

    def apply_twice_as_precisely(self, V: Any) -> Any:
        """A V, rounded once: where the rows of A cancel, a residual is then that of V."""
        return self._times("times_rows_twice", V)

    def _times(self, kernel: str, V: Any) -> Any:
        xp, host = self.device.xp, isinstance(V, np.ndarray)
        B, out = xp.asarray(V), xp.empty(V.shape)
        for c in range(0, V.shape[1], WIDTH):
            block = padded_block(xp, B[:, c : c + WIDTH])
            product = xp.empty_like(block)
            device_args = (self.indptr, self.indices, self.values, self.n, block, product)
            self.device.launch("sparse", kernel, (-(-self.n * WIDTH // 256),), 256, *device_args)
            out[:, c : c + WIDTH] = product[:, : B.shape[1] - c]
        return self.device.get(out) if host else out

    def diagonal(self) -> Floats:
        return np.asarray(self.device.get(self.own_entries))

    @cached_property
    def rows(self) -> Array:
        """The row of every entry."""
        return row_of_entry(self.device.xp, self.indptr, len(self.indices))

    @cached_property
    def own_entries(self) -> Array:
        """The entries (i, i) on the device, 0 where none is stored."""
        own = self.rows == self.indices
        out = self.device.xp.zeros(self.n)
        out[self.rows[own]] = self.values[own]
        return out

    def scaled(self, s: Floats) -> DeviceSparse:
        """diag(s) A diag(s)."""
        t = self.device.put(s)
        values = self.values * (t[self.rows] * t[self.indices])  # grouped so that rounding keeps the symmetry
        return DeviceSparse(
            self.device, self.indptr, self.indices, values, psd=self.psd, laplacian=self.laplacian, n_jobs=self.n_jobs
        )  # fmt: skip

    def flipped(self) -> DeviceSparse:
        """bound I - A."""
        if self.bound is None:
            raise InvalidInput("only an operator with a known bound of its spectrum can be flipped")
        off = self.off_diagonal()
        nonnegative = bool((self.values >= 0).all())
        rows = with_diagonal(self.device, off.indptr, off.indices, -off.values, self.bound - self.own_entries)
        return DeviceSparse(self.device, *rows, psd=True, laplacian=nonnegative, n_jobs=self.n_jobs)

    def norm(self) -> float:
        """The largest sum of absolute values in a row."""
        xp = self.device.xp
        return float(row_sums(self.device, self.indptr, xp.abs(self.values)).max())

    def off_diagonal(self) -> DeviceSparse:
        """The same without its diagonal."""
        xp = self.device.xp
        kept = self.rows != self.indices
        indptr = xp.zeros(self.n + 1, np.int64)
        indptr[1:] = xp.cumsum(xp.bincount(self.rows[kept], minlength=self.n))
        return DeviceSparse(self.device, indptr, self.indices[kept], self.values[kept])


def padded_block(xp: Any, block: Array) -> Array:
    """A block with zero columns up to eight."""
    if block.shape[1] == WIDTH:
        return xp.ascontiguousarray(block)
    out = xp.zeros((len(block), WIDTH))
    out[:, : block.shape[1]] = block
    return out


def row_sums(device: Device, indptr: Array, values: Array) -> Array:
    """The sum of every row, in the order of its entries."""
    n = len(indptr) - 1
    sums, perm = device.xp.empty(n), device.xp.arange(len(values), dtype=np.int64)
    device.launch("sparse", "add_segments", (-(-n // 256),), 256, indptr, perm, values, n, sums)
    return sums


def with_diagonal(
    device: Device, indptr: Array, indices: Array, values: Array, diagonal: Array
) -> tuple[Array, Array, Array]:
    """Rows (indptr, indices, values) of a matrix without diagonal, sorted, and a diagonal."""
    xp, n = device.xp, len(indptr) - 1
    row, own = row_of_entry(xp, indptr, len(indices)), xp.arange(n, dtype=np.int64)
    pointers = indptr + xp.arange(n + 1, dtype=np.int64)
    place = xp.arange(len(indices), dtype=np.int64) + row + (indices > row)  # each row before has one entry more
    at = pointers[:-1] + xp.bincount(row[indices < row], minlength=n)
    columns, entries = xp.empty(len(indices) + n, np.int32), xp.empty(len(indices) + n)
    columns[place], columns[at] = indices, own
    entries[place], entries[at] = values, diagonal
    return pointers, columns, entries


def block_rows(device: Device, indptr: Array, indices: Array, blocks: Array, own: Array) -> tuple[Array, Array, Array]:
    """Rows of the matrix whose entries are blocks (entries, d, d), with blocks `own` (n, d, d) on the diagonal."""
    xp, n, d = device.xp, len(indptr) - 1, own.shape[1]
    number = xp.arange(len(indices), dtype=np.float64)
    pointers, columns, source = with_diagonal(device, indptr, indices, number, -xp.arange(1.0, n + 1.0))
    source = source.astype(np.int64)  # the entry, or -1 - i for the diagonal
    all_blocks = xp.concatenate([blocks, own])[xp.where(source >= 0, source, len(indices) - 1 - source)]
    row = row_of_entry(xp, pointers, len(columns))
    begin, count = pointers[:-1], pointers[1:] - pointers[:-1]
    step, inside = (xp.arange(d)[None, :, None], xp.arange(d)[None, None, :])  # row and column in a block
    first = (d * d * begin[row] + d * (xp.arange(len(columns)) - begin[row]))[:, None, None]
    at = first + step * (d * count[row])[:, None, None] + inside
    values, names = xp.empty(d * d * len(columns)), xp.empty(d * d * len(columns), np.int32)
    values[at] = all_blocks
    names[at] = columns.astype(np.int32)[:, None, None] * d + inside
    starts = xp.empty(n * d + 1, np.int64)
    starts[:-1] = (d * d * begin[:, None] + xp.arange(d)[None, :] * (d * count)[:, None]).ravel()
    starts[-1] = len(values)
    return starts, names, values
