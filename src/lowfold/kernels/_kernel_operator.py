"""The Gram matrix of a kernel as an operator, in tiles of its upper triangle: kept in float32, or made anew.

Nothing N x N is ever held in one piece. Each tile serves both its rows and its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lowfold._core.memory import fits
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats
from lowfold.kernels._functions import Mercer

TILE = 1024  # points on a side: 8 MB, a product long beside its overhead and short beside Ctrl-C
# Exponents are cut where exp is all but 0 in float32: an underflow takes a hundred times longer. What comes out below
# the smallest number with full digits, 1.2e-38, or near it, is set to 0: products with denormal numbers are slow too.
UNDERFLOW, NEGLIGIBLE = -103.0, 1e-37
EXACT = 5_000  # up to so many points tiles are kept in float64
GROUPS = 16  # of tiles, each with sums of its own: fixed, so that the number of threads changes no bit
AT_ONCE = 128  # columns of a product with kept tiles: each group sums all rows of them


@dataclass(frozen=True, eq=False)
class KernelOperator:
    """K_ij = k(x_i, x_j), or H K H with H = I - 11'/n where `center` is set.

    `X` is centred for kernels of differences, which do not see it. `tiles` holds the upper triangle, or is empty: then
    every multiplication computes it again.
    """

    X: AnyFloats
    mean: Floats
    kernel: Mercer
    center: bool
    tiles: tuple[NDArray[np.floating], ...] = ()
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    def tile(self, number: int) -> NDArray[np.floating]:
        """One tile, kept or computed; above 5,000 points in float32, exponentials included."""
        if self.tiles:
            return self.tiles[number]
        rows, columns = self.place(number)
        A = shifted_rows(self.X[rows], self.mean)
        B = A if rows == columns else shifted_rows(self.X[columns], self.mean)
        if self.n <= EXACT:
            return self.kernel(A, B)
        if self.kernel.name == "rbf" and not isinstance(A, SparseRows):
            return _gaussian_single(A, B, self.kernel.gamma)
        return self.kernel(A, B).astype(np.float32)

    def place(self, number: int) -> tuple[slice, slice]:
        """Rows and columns of a tile; tiles are numbered along the rows of the upper triangle."""
        side = -(-self.n // TILE)
        row = 0
        while number >= side - row:
            number -= side - row
            row += 1
        column = row + number
        return _part(row, self.n), _part(column, self.n)

    @property
    def count(self) -> int:
        """Number of tiles."""
        side = -(-self.n // TILE)
        return side * (side + 1) // 2

    def apply(self, V: Floats) -> Floats:
        if not self.center:
            return self.multiply(V)
        out = self.multiply(V - V.mean(axis=0))
        return cast("Floats", out - out.mean(axis=0))

    def multiply(self, V: Floats) -> Floats:
        """K V, uncentred; sums in float64."""
        groups = min(GROUPS, self.count)
        width = V.shape[1]
        if self.tiles and width > AT_ONCE:
            return np.hstack([self.multiply(V[:, part]) for part in block_slices(width, AT_ONCE)])
        V = np.pad(V, ((0, 0), (0, -width % 8)))  # BLAS is a third faster on whole registers
        sums = np.zeros((groups, *V.shape))

        def work(g: int) -> None:
            for number in range(g, self.count, groups):
                rows, columns = self.place(number)
                T = self.tile(number).astype(np.float64, copy=False)
                sums[g, rows] += T @ V[columns]
                if rows != columns:
                    sums[g, columns] += (np.ascontiguousarray(V[rows].T) @ T).T

        run_blocks(work, groups, n_jobs=self.n_jobs)
        return np.asarray(sums.sum(axis=0)[:, :width])

    def row_means(self) -> Floats:
        """Mean of k(x_i, .) over all points."""
        return self.multiply(np.ones((self.n, 1)))[:, 0] / self.n

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues; with the row means at hand this costs nothing."""
        whole = float(self.kernel.diagonal(shifted_rows(self.X, self.mean)).sum())
        if not self.center:
            return whole
        return whole - float((self.row_means() if row_means is None else row_means).sum())

    def columns(self, index: NDArray[np.int64]) -> Floats:
        """K[:, index], or the same of H K H, which needs the row means: one pass over K."""
        A = np.subtract(self.X, self.mean, dtype=np.float64)
        C = self.kernel(A, A[index])
        if self.center:
            means = self.row_means()
            C += means.mean() - means[:, None] - means[index]
        return C

    def column_squares(self) -> Floats:
        """Squared length of each column: sum_i (K_ij - means_i - means_j + grand mean)^2."""
        means = self.row_means() if self.center else np.zeros(self.n)
        grand = float(means.mean())
        sums = np.zeros((min(GROUPS, self.count), self.n))

        def work(g: int) -> None:
            for number in range(g, self.count, len(sums)):
                rows, columns = self.place(number)
                T = self.tile(number) - means[rows, None] - (means[columns] - grand)
                sums[g, rows] += np.einsum("ij,ij->i", T, T)
                if rows != columns:
                    sums[g, columns] += np.einsum("ij,ij->j", T, T)

        run_blocks(work, len(sums), n_jobs=self.n_jobs)
        return np.asarray(sums.sum(axis=0))

    def diagonal(self) -> Floats:
        """K_ii, or the same of H K H."""
        own = self.kernel.diagonal(np.subtract(self.X, self.mean, dtype=np.float64))
        if not self.center:
            return own
        means = self.row_means()
        return np.asarray(own - 2 * means + means.mean())

    def dense(self) -> Floats:
        """The matrix itself. The caller asks the memory budget first."""
        K = np.empty((self.n, self.n))
        for number in range(self.count):
            rows, columns = self.place(number)
            K[rows, columns] = self.tile(number)
            K[columns, rows] = K[rows, columns].T
        if self.center:
            means = K.mean(axis=1)
            K += means.mean() - means[:, None] - means[None, :]
        return K


def kernel_operator(X: AnyFloats, kernel: Mercer, *, center: bool = True, run: Run | None = None) -> KernelOperator:
    """The operator of `kernel` on the rows of X; its tiles are kept where they fit into a third of the memory budget.

    A function of pairs is evaluated once for each pair, so its tiles are always kept.
    """
    mean = X.mean(axis=0, dtype=np.float64) if kernel.differences else np.zeros(X.shape[1])
    if run is not None and run.device != "cpu":
        from lowfold.kernels._tiles_on_device import kernel_on_device

        found = kernel_on_device(X, mean, kernel, center, run)
        if found is not None:
            return found
    op = KernelOperator(X, mean, kernel, center, n_jobs=None if run is None else run.n_jobs)
    size = (8 if op.n <= EXACT else 4) * 0.5 * float(op.n) * (op.n + TILE)
    if not fits(size, share=1 / 3) and kernel.name != "callable":
        return op
    tiles: list[NDArray[np.floating]] = [np.empty((0, 0))] * op.count

    def work(number: int) -> None:
        tiles[number] = op.tile(number)

    run_blocks(work, op.count, n_jobs=op.n_jobs)
    return KernelOperator(X, mean, kernel, center, tuple(tiles), n_jobs=op.n_jobs)


def shifted_rows(X: AnyFloats, mean: Floats) -> Any:
    """X - mean in float64, for kernels of differences; sparse rows as they are."""
    return X if isinstance(X, SparseRows) else np.subtract(X, mean, dtype=np.float64)


def _part(index: int, n: int) -> slice:
    return slice(index * TILE, min((index + 1) * TILE, n))


def _gaussian_single(A: Floats, B: Floats, gamma: float) -> NDArray[np.float32]:
    """exp(-gamma d^2): distances in float64, the exponential in float32, rounded by at most 1e-6 d^2 of itself."""
    U = A @ B.T
    U *= 2.0 * gamma
    U -= gamma * np.square(A).sum(axis=1)[:, None]
    U -= gamma * np.square(B).sum(axis=1)[None, :]
    single = U.astype(np.float32)
    np.minimum(single, 0.0, out=single)
    np.maximum(single, UNDERFLOW, out=single)
    np.exp(single, out=single)
    single[single < NEGLIGIBLE] = 0.0
    return single
