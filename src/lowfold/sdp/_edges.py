"""The pairs of a program as arrays, for products with a factor Y (n, r) that make no matrix of n x n or m x r."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.parallel import block_slices
from lowfold._core.types import Floats, Ints
from lowfold.sdp._program import Unfolding

# Numbers of one block of differences y_i - y_j: 2 MB, which stay in the cache between the passes that make and read
# them. 19,000 pairs in 60 columns take a third of the time that they take all at once.
CACHED = 250_000


@dataclass(frozen=True, eq=False)
class Edges:
    """Ends i, j of the pairs, and the pattern of L_w, which never changes: its entries are w in `order`."""

    n: int
    i: Ints
    j: Ints
    indptr: Ints
    indices: Ints
    order: Ints

    @property
    def m(self) -> int:
        return len(self.i)

    def degrees(self, w: Floats) -> Floats:
        """The diagonal of L_w."""
        return np.asarray(np.bincount(self.i, w, self.n) + np.bincount(self.j, w, self.n))

    def laplacian(self, w: Floats) -> csr_array:
        """L_w."""
        entries = np.concatenate([-w, -w, self.degrees(w)])[self.order]
        return csr_array((entries, self.indices, self.indptr), shape=(self.n, self.n))

    def squares(self, Y: Floats) -> Floats:
        """||y_i - y_j||^2 of every pair."""
        out = np.empty(self.m)
        for part in self._parts(Y):
            U = self.differences(Y, part)
            np.einsum("er,er->e", U, U, out=out[part])
        return out

    def along(self, Y: Floats, X: Floats) -> tuple[Floats, Floats]:
        """b and q in ||y_i - y_j + t (x_i - x_j)||^2 = ||y_i - y_j||^2 + t b + t^2 q, in float64 for any Y and X."""
        b, q = np.empty(self.m, Y.dtype), np.empty(self.m, Y.dtype)
        for part in self._parts(Y):
            U, V = self.differences(Y, part), self.differences(X, part)
            np.einsum("er,er->e", U, V, out=b[part])
            np.einsum("er,er->e", V, V, out=q[part])
        return 2.0 * b.astype(np.float64), q.astype(np.float64)

    def differences(self, Y: Floats, part: slice = slice(None)) -> Floats:
        """y_i - y_j."""
        out = np.take(Y, self.i[part], axis=0)
        out -= np.take(Y, self.j[part], axis=0)
        return out

    def _parts(self, Y: Floats) -> list[slice]:
        return block_slices(self.m, max(1, CACHED // Y.shape[1]))


def edges_of(program: Unfolding) -> Edges:
    n, (i, j) = program.n, np.ascontiguousarray(program.pairs.T)
    rows, columns = np.concatenate([i, j, np.arange(n)]), np.concatenate([j, i, np.arange(n)])
    order = np.lexsort((columns, rows))
    return Edges(n, i, j, np.searchsorted(rows[order], np.arange(n + 1)), columns[order], order)
