"""Sums over rows that stay in blocks: moments, products with the scatter matrix, medians. Each is one pass or a few.

Sums of a block are those of the methods in memory; blocks are merged by the fixed tree of `Rows.fold`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np

from lowfold._core.memory import fits
from lowfold._core.rounding import ROUNDING
from lowfold._core.rows import Rows
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._principal import Axes
from lowfold.lowrank._robust import geometric_median, sign_rows
from lowfold.lowrank._scatter import Scatter
from lowfold.lowrank._streaming import Moments
from lowfold.spectral._doors import largest
from lowfold.spectral._types import ZERO

WIDE = 2_000  # columns from which a few leading axes are found by products, a pass each, in place of the D x D matrix
SAMPLE = 20_000  # rows from which a robust centre is started


def added(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums of two sets of rows together."""
    return tuple(x + y for x, y in zip(a, b))


def jobs_of(rows: Rows, run: Run) -> int | None:
    """Threads for the work on one block."""
    return run.n_jobs if rows.jobs is None else rows.jobs


def block_moments(rows: Rows, *, squared: bool, run: Run) -> Moments:
    """Count, mean and scatter of all rows, in one pass."""
    found: Moments = rows.fold(_moments, Moments.joined, squared, jobs_of(rows, run))
    return found


def _moments(block: AnyFloats, start: int, squared: bool, jobs: int | None) -> Moments:
    return Moments.none(block.shape[1], squared=squared).add(block, run=Run(n_jobs=jobs, stages=None))


def column_means(rows: Rows) -> Floats:
    """Means of all columns over the values that are there."""
    total, count = rows.fold(_sums, added)
    return np.asarray(total / count)


def _sums(block: AnyFloats, start: int) -> tuple[Floats, Floats]:
    return np.nansum(block, axis=0, dtype=np.float64), (~np.isnan(block)).sum(axis=0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class BlockScatter:
    """Xc'Xc / divisor as an operator, Xc = X - mean; with `signs` of the rows x / |x|. A product is one pass."""

    rows: Rows
    mean: Floats
    divisor: float = 1.0
    signs: bool = False
    psd: bool = True
    bound: float | None = None
    n_jobs: int | None = None

    @property
    def n(self) -> int:
        return int(self.rows.shape[1])

    def apply(self, V: Floats) -> Floats:
        return np.asarray(self.rows.fold(_product, add, V, self.mean, self.signs, self.n_jobs) / self.divisor)

    def dense(self) -> Floats:
        """The matrix itself. The caller asks the memory budget first."""
        return np.asarray(self.rows.fold(_outer, add, self.mean, self.signs, self.n_jobs) / self.divisor)

    def trace(self) -> float:
        """Sum of squares of Xc over the divisor."""
        return float(self.rows.fold(_squares, add, self.mean, self.signs) / self.divisor)


def _block_scatter(block: AnyFloats, mean: Floats, signs: bool, jobs: int | None) -> Scatter:
    if signs:
        return Scatter(sign_rows(np.subtract(block, mean, dtype=np.float64)), np.zeros(len(mean)), n_jobs=jobs)
    return Scatter(block, mean, n_jobs=jobs)


def _product(block: AnyFloats, start: int, V: Floats, mean: Floats, signs: bool, jobs: int | None) -> Floats:
    return _block_scatter(block, mean, signs, jobs).apply(V)


def _outer(block: AnyFloats, start: int, mean: Floats, signs: bool, jobs: int | None) -> Floats:
    return _block_scatter(block, mean, signs, jobs).dense()


def _squares(block: AnyFloats, start: int, mean: Floats, signs: bool) -> float:
    return _block_scatter(block, mean, signs, 1).trace()


def is_wide(D: int, k: int) -> bool:
    """Whether k axes of D columns are found by products: D x D is large, or does not fit."""
    return (D > WIDE and 20 * k <= D) or not fits(8.0 * D * D * 4)


def wide_axes(scatter: BlockScatter, k: int, run: Run) -> Axes:
    """The k leading axes by block Krylov, one pass over the rows for every product."""
    pairs = largest(scatter, k, negligible=ZERO, run=replace(run, solver="auto", verbose=False))
    pairs = replace(pairs, values=np.maximum(pairs.values, 0.0), solver="krylov")
    return Axes(pairs.vectors, pairs, scatter.trace())


def block_median(rows: Rows, run: Run, *, tol: float = 1e-10, max_iter: int = 500) -> Floats:
    """The geometric median of all rows, by Weiszfeld's iteration from that of a sample; one pass for every step."""
    n = rows.shape[0]
    sample = rows.take(np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False)))
    m = geometric_median(sample)
    size = float(np.abs(np.subtract(sample, m, dtype=np.float64)).max(initial=0.0)) or 1.0
    for _ in range(max_iter):
        total, weight = rows.fold(_pulled, added, m, ROUNDING * size)
        new = total / weight
        moved, m = float(np.abs(new - m).max()), new
        if moved <= tol * size:
            break
    return np.asarray(m)


def _pulled(block: AnyFloats, start: int, m: Floats, least: float) -> tuple[Floats, float]:
    distance = np.linalg.norm(np.subtract(block, m, dtype=np.float64), axis=1)
    w = 1.0 / np.maximum(distance, least)
    return w @ block, float(w.sum())
