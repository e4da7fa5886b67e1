"""Sparse rows of features that can be counted, sliced and taken like those of an array; they are never made dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.types import Floats


def canonical(matrix: Any) -> csr_array:
    """CSR with every place once, in order. SciPy sorts and sums in place when it likes: arrays of others are copied."""
    A = csr_array(matrix)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a CSR matrix."""

    csr: csr_array

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.csr.shape[0]), int(self.csr.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.csr.dtype)

    @property
    def ndim(self) -> int:
        return 2

    @property
    def nbytes(self) -> int:
        """Of what is stored."""
        return int(self.csr.data.nbytes + self.csr.indices.nbytes + self.csr.indptr.nbytes)

    def __len__(self) -> int:
        return int(self.csr.shape[0])

    def __getitem__(self, rows: slice | NDArray[Any]) -> SparseRows:
        return SparseRows(csr_array(self.csr[rows if isinstance(rows, slice) else np.atleast_1d(rows)]))

    def __matmul__(self, V: Floats) -> Floats:
        return np.asarray(self.csr @ V)

    def __rmatmul__(self, U: Floats) -> Floats:
        return np.asarray((self.csr.T @ U.T).T)

    __array_ufunc__ = None  # so that `U @ rows` of an array asks here

    def astype(self, dtype: Any, copy: bool = True) -> SparseRows:
        """In another floating type."""
        return SparseRows(self.csr.astype(dtype, copy=copy))

    def copy(self) -> SparseRows:
        """With arrays of its own."""
        return SparseRows(self.csr.copy())

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> Floats:
        """Of every column."""
        return np.asarray(self.csr.mean(axis=axis, dtype=dtype)).ravel()

    def squares(self) -> Floats:
        """Squared length of every row, in float64."""
        A = self.csr.astype(np.float64, copy=False)
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()

    def products(self, others: SparseRows) -> Floats:
        """Inner products with every row of another set, in float64."""
        return np.asarray((self.csr.astype(np.float64, copy=False) @ others.csr.astype(np.float64).T).toarray())
