"""Sums of outer products over the rows of a data matrix, by fixed blocks: scatter matrices and triangular factors.

Every sum is cut into blocks and groups whose number depends on the shape of X only, so that `n_jobs` never changes
bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats

# Numbers of a block of rows: of a product with a few vectors, 2 MB that stay in the cache; of one with itself, where
# the product takes the time; and of one in float32, whose sums lose digits with their length.
THIN, SQUARE, SINGLE = 2**19, 2**20, 2**21
GROUP_NUMBERS, GROUPS = 2**25, (2, 16)  # numbers of all groups' sums together, 256 MB; groups, at least and at most
BY_COLUMN = 4  # vectors at most that a block of rows is multiplied with one after the other
# Rows of a block that is factored, at least, and in columns; factors side by side.
TALL, TALL_COLUMNS, FACTORS = 1024, 4, 8


@dataclass(frozen=True, eq=False)
class Scatter:
    """The symmetric operator Xc'Xc / divisor (D x D), or Xc Xc' / divisor (n x n) with `dual=True`; Xc = X - mean.

    Neither Xc nor the product is stored. With `weights` w_i the rows are multiplied by sqrt(w_i).
    """

    X: AnyFloats
    mean: Floats
    divisor: float = 1.0
    dual: bool = False
    weights: Floats | None = None
    psd: bool = True
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0 if self.dual else 1])

    def rows(self, part: slice) -> Floats:
        """A block of centred, weighted rows in float64."""
        return centred(self.X, self.mean, part, self.weights)

    def apply(self, V: Floats) -> Floats:
        if not self.dual:
            return self._sum(lambda block, _: product_and_back(block, V)[1], (self.n, V.shape[1])) / self.divisor
        Z = self._sum(lambda block, part: block.T @ V[part], (self.X.shape[1], V.shape[1]))
        out = np.empty((self.n, V.shape[1]))
        parts = self._parts()

        def work(i: int) -> None:
            out[parts[i]] = self.rows(parts[i]) @ Z

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return out / self.divisor

    def scores_and_product(self, V: Floats) -> tuple[Floats, Floats]:
        """Xc V and Xc'Xc V / divisor, in one pass over the rows."""
        scores = np.empty((self.X.shape[0], V.shape[1]))
        # Values known to 1e-7 are not centred but their products are: float64 has the digits to spare.
        plain = self.X.dtype == np.float32 and self.weights is None

        def term(part: slice) -> Floats:
            block = self.X[part].astype(np.float64) if plain else self.rows(part)
            scores[part], back = product_and_back(block, V, self.mean if plain else None)
            return back

        total = grouped_sum(self.X.shape[0], self._parts(), term, (self.n, V.shape[1]), self.n_jobs)
        return scores, total / self.divisor

    def _parts(self) -> list[slice]:
        return block_slices(self.X.shape[0], max(1, THIN // max(self.X.shape[1], 1)))

    def _sum(self, term: Callable[[Floats, slice], Floats], shape: tuple[int, int]) -> Floats:
        return grouped_sum(self.X.shape[0], self._parts(), lambda p: term(self.rows(p), p), shape, self.n_jobs)

    def dense(self) -> Floats:
        """The matrix itself. The caller asks the memory budget first."""
        size = (self.n, self.n)
        n, D = self.X.shape
        if not self.dual:
            parts = block_slices(n, max(1, SQUARE // max(D, 1)))

            def outer(part: slice) -> Floats:
                block = self.rows(part)
                return block.T @ block

            return grouped_sum(n, parts, outer, size, self.n_jobs) / self.divisor
        columns = block_slices(D, max(1, SQUARE // max(self.n, 1)))
        root = None if self.weights is None else np.sqrt(self.weights)[:, None]

        def term(part: slice) -> Floats:
            block = self.X[:, part] - self.mean[part]
            block = block if root is None else block * root
            return np.asarray(block @ block.T)

        return grouped_sum(D, columns, term, size, self.n_jobs) / self.divisor

    def dense_single(self) -> Floats:
        """The matrix with products in float32 inside a block of 2 million values, added in float64 between the blocks.

        Half the time of `dense`; for float32 rows the error is a few 1e-7 of the largest eigenvalue. Not weighted.
        """
        n, D = self.X.shape
        cut = block_slices(D if self.dual else n, max(1, SINGLE // max(n if self.dual else D, 1)))
        mean = self.mean.astype(np.float32)

        def term(part: slice) -> NDArray[np.float32]:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # values beyond 1e19: the caller looks
                block = self.X[:, part] - mean[part] if self.dual else self.X[part] - mean
                return np.asarray(block @ block.T if self.dual else block.T @ block)

        total = grouped_sum(cut[-1].stop, cut, term, (self.n, self.n), self.n_jobs)
        if not self.dual:  # about the mean in float32: n times the square of what that lacks is too much
            lacks = self.mean - mean
            total -= n * np.outer(lacks, lacks)
        return total / self.divisor

    def trace(self) -> float:
        """Sum of squares of Xc over the divisor: its energy."""
        parts = self._parts()
        sums = np.zeros(len(parts))

        def work(i: int) -> None:
            sums[i] = np.square(self.rows(parts[i])).sum()

        run_blocks(work, len(parts), n_jobs=self.n_jobs)
        return float(sums.sum() / self.divisor)


def product_and_back(block: Floats, V: Floats, mean: Floats | None = None) -> tuple[Floats, Floats]:
    """B V and B'B V, B the block minus `mean`. A few columns one by one: a product with two takes longer than two."""
    if V.shape[1] > BY_COLUMN:
        scores = block @ V
        scores -= 0.0 if mean is None else mean @ V
        back = block.T @ scores
    else:
        scores, back = np.empty((len(block), V.shape[1])), np.empty(V.shape)
        for j in range(V.shape[1]):
            scores[:, j] = block @ V[:, j]
            if mean is not None:
                scores[:, j] -= mean @ V[:, j]
            back[:, j] = scores[:, j] @ block
    if mean is not None:
        back -= np.outer(mean, scores.sum(axis=0))
    return scores, back


def column_mean(X: AnyFloats, n_jobs: int | None) -> Floats:
    """The mean of every column, summed in float64."""
    parts = block_slices(X.shape[0], max(1, SQUARE // max(X.shape[1], 1)))
    sums = np.zeros((len(parts), X.shape[1]))

    def work(i: int) -> None:
        sums[i] = X[parts[i]].sum(axis=0, dtype=np.float64)

    run_blocks(work, len(parts), n_jobs=n_jobs)
    return np.asarray(sums.sum(axis=0) / X.shape[0])


def centred(X: AnyFloats, mean: Floats, part: slice, weights: Floats | None = None) -> Floats:
    """Rows `part` of X minus the mean, times the root of their weights, in float64."""
    block = np.subtract(X[part], mean, dtype=np.float64)
    if weights is not None:
        block *= np.sqrt(weights[part])[:, None]
    return block


def grouped_sum(
    n: int, parts: list[slice], term: Callable[[slice], AnyFloats], shape: tuple[int, int], n_jobs: int | None
) -> Floats:
    """Sum of term(part): each of a few groups adds its own parts in order, the groups are added in order."""
    groups = int(np.clip(GROUP_NUMBERS // max(shape[0] * shape[1], 1), *GROUPS))
    groups = min(groups, max(len(parts), 1))
    sums = np.zeros((groups, *shape))

    def work(g: int) -> None:
        for part in parts[g::groups]:
            sums[g] += term(part)

    run_blocks(work, groups, n_jobs=n_jobs)
    return np.asarray(sums.sum(axis=0))


def triangular_factor(X: AnyFloats, mean: Floats, *, weights: Floats | None = None, run: Run | None = None) -> Floats:
    """R, upper triangular with at most D rows, with R'R = Xc'Xc (weighted): a QR factorisation without Q, by blocks.

    Its singular values are those of Xc to rounding, also the small ones; those of Xc'Xc lose half the digits.
    """
    n, D = X.shape
    parts = block_slices(n, max(TALL, TALL_COLUMNS * D))
    groups = max(1, min(FACTORS, len(parts)))
    factors: list[Floats] = [np.empty((0, D))] * groups

    def work(g: int) -> None:
        R = np.empty((0, D))
        for part in parts[g::groups]:
            R = np.asarray(np.linalg.qr(np.vstack([R, centred(X, mean, part, weights)]), mode="r"))
        factors[g] = R

    run_blocks(work, groups, n_jobs=None if run is None else run.n_jobs)
    return np.asarray(factors[0] if groups == 1 else np.linalg.qr(np.vstack(factors), mode="r"))
