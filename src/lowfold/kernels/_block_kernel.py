"""The Gram matrix of rows that stay in blocks, as an operator: tiles are made and applied where the blocks are.

What moves are the columns that it is applied to, and the products: N x d numbers, never a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.rows import Rows
from lowfold._core.types import AnyFloats, Floats
from lowfold.kernels._functions import Mercer
from lowfold.metrics._metric import Metric

TILE = 1024  # rows and columns of a tile, as in memory
GROUPS = 8  # of tiles, each with a sum of its own


@dataclass(frozen=True, eq=False)
class MercerTile:
    """k(a, b) of a kernel; rows are shifted by `mean` where it sees differences alone."""

    kernel: Mercer
    mean: Floats

    def __call__(self, A: AnyFloats, B: AnyFloats) -> Floats:
        return self.kernel(np.subtract(A, self.mean, dtype=np.float64), np.subtract(B, self.mean, dtype=np.float64))

    def diagonal(self, A: AnyFloats) -> Floats:
        return self.kernel.diagonal(np.subtract(A, self.mean, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class DistanceTile:
    """-1/2 d(a, b)^2 of a metric: the kernel of classical MDS."""

    metric: Metric

    def __call__(self, A: AnyFloats, B: AnyFloats) -> Floats:
        D = np.asarray(self.metric.pairwise(A, B), dtype=np.float64)
        D *= D
        D *= -0.5
        return D

    def diagonal(self, A: AnyFloats) -> Floats:
        return np.zeros(len(A))


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """K, or H K H with `center`, for the kernel that `tile` computes between any rows; `apply` is one pass over pairs
    of blocks.
    """

    rows: Rows
    tile: MercerTile | DistanceTile
    center: bool = True
    psd: bool = False
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.rows.shape[0])

    def apply(self, V: Floats) -> Floats:
        if not self.center:
            return self.multiply(V)
        out = self.multiply(V - V.mean(axis=0))
        return np.asarray(out - out.mean(axis=0))

    def multiply(self, V: Floats) -> Floats:
        """K V, uncentred."""
        V = np.ascontiguousarray(V)
        return np.concatenate(list(self.rows.pairs(_products, add, self.tile, V, self.n_jobs)))

    def row_means(self) -> Floats:
        """Mean of k(x_i, .) over all points."""
        return self.multiply(np.ones((self.n, 1)))[:, 0] / self.n

    def trace(self, row_means: Floats | None = None) -> float:
        """Sum of the eigenvalues."""
        whole = float(self.rows.fold(_diagonal_sum, add, self.tile))
        if not self.center:
            return whole
        return whole - float((self.row_means() if row_means is None else row_means).sum())

    def dense(self) -> Floats:
        """The matrix itself. The caller asks the memory budget first."""
        return self.apply(np.eye(self.n))


def _products(
    A: AnyFloats, a: int, B: AnyFloats, b: int, tile: Callable[..., Floats], V: Floats, jobs: int | None
) -> tuple[Floats, Floats]:
    """K_AB V_B for the rows of A, and K_BA V_A for those of B."""
    rows, columns = block_slices(len(A), TILE), block_slices(len(B), TILE)
    groups = min(GROUPS, len(rows))
    mine = np.zeros((len(A), V.shape[1]))
    theirs = np.zeros((groups, len(B), V.shape[1]))
    VA, VB = V[a : a + len(A)], V[b : b + len(B)]

    def work(g: int) -> None:
        for part in rows[g::groups]:
            for other in columns:
                T = tile(A[part], B[other])
                mine[part] += T @ VB[other]
                if a != b:
                    theirs[g, other] += T.T @ VA[part]

    run_blocks(work, groups, n_jobs=jobs)
    return mine, theirs.sum(axis=0)


def _diagonal_sum(block: AnyFloats, start: int, tile: MercerTile | DistanceTile) -> float:
    return float(tile.diagonal(block).sum())


def block_products(rows: Rows, queries: AnyFloats, tile: Any, V: Floats) -> tuple[Floats, Floats]:
    """k(q, .) V and the sum of k(q, .) over all rows, for every query: one pass."""
    found: tuple[Floats, Floats] = rows.fold(_query_products, _both, queries, tile, V)
    return found


def _query_products(block: AnyFloats, start: int, queries: AnyFloats, tile: Any, V: Floats) -> tuple[Floats, Floats]:
    out, sums = np.zeros((len(queries), V.shape[1])), np.zeros(len(queries))
    for part in block_slices(len(queries), TILE):
        for other in block_slices(len(block), TILE):
            T = tile(queries[part], block[other])
            out[part] += T @ V[start + other.start : start + other.stop]
            sums[part] += T.sum(axis=1)
    return out, sums


def _both(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return a[0] + b[0], a[1] + b[1]
