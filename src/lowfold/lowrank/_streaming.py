"""Mean and scatter of rows that arrive in blocks, one pass, in a form that loses no digits.

Kept are the count n, the mean, and either R with R'R = sum (x - mean)(x - mean)' (a QR factor, updated by Householder
reflections) or that sum itself. Chan, Golub & LeVeque (1983), doi:10.1080/00031305.1983.10483115, gives the change of
mean: two sets of n and m rows whose means differ by delta have together the scatter S_1 + S_2 + (n m / (n + m)) delta
delta'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._principal import Axes, thin_svd
from lowfold.lowrank._scatter import Scatter, triangular_factor
from lowfold.spectral._doors import largest
from lowfold.spectral._types import ZERO, Eigenpairs, fix_signs


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and scatter of the rows seen: `factor` is R (triangular) or, with `squared`, the matrix R'R."""

    count: int
    mean: Floats
    factor: Floats
    squared: bool = False

    @classmethod
    def none(cls, D: int, *, squared: bool = False) -> Moments:
        """Nothing seen yet, of D features."""
        require(8.0 * D * D * 4, f"a stream of {D} features", "reduce the blocks with RandomProjection first")
        return cls(0, np.zeros(D), np.zeros((D, D) if squared else (0, D)), squared)

    def add(self, block: AnyFloats, *, run: Run | None = None) -> Moments:
        """These moments and those of a block of rows together."""
        if len(block) == 0:
            return self
        mean = block.mean(axis=0, dtype=np.float64)
        if self.squared:
            factor = Scatter(block, mean, n_jobs=None if run is None else run.n_jobs).dense()
        else:
            factor = triangular_factor(block, mean, run=run)
        return self.joined(replace(self, count=len(block), mean=mean, factor=factor))

    def joined(self, other: Moments) -> Moments:
        """Of two sets of rows together."""
        n, m = self.count, other.count
        delta = other.mean - self.mean
        jump = np.sqrt(n * m / (n + m)) * delta[None, :]
        if self.squared:
            factor = self.factor + other.factor + jump.T @ jump
        else:
            factor = np.linalg.qr(np.vstack([self.factor, other.factor, jump]), mode="r")
        return replace(self, count=n + m, mean=self.mean + (m / (n + m)) * delta, factor=factor)

    def scatter(self) -> Floats:
        """sum (x - mean)(x - mean)'."""
        return self.factor if self.squared else self.factor.T @ self.factor

    def axes(self, k: int, *, run: Run | None = None) -> Axes:
        """The k leading principal axes of what was seen; variances divide by count - 1."""
        divisor = max(self.count - 1, 1)
        if self.squared:
            C = self.factor / divisor
            pairs = largest(
                DenseOperator(C, psd=True),
                k,
                negligible=ZERO,
                run=Run() if run is None else replace(run, solver="auto"),
            )
            pairs = replace(pairs, values=np.maximum(pairs.values, 0.0), solver="covariance")
            return Axes(pairs.vectors, pairs, float(np.trace(C)))
        s, Vt = thin_svd(self.factor)
        values = s**2 / divisor
        V = fix_signs(np.ascontiguousarray(Vt[:k].T))
        gap = float(values[k - 1] - values[k]) if len(values) > k else float("inf")
        return Axes(V, Eigenpairs(values[:k], V, 0.0, gap, "svd", 1), float(values.sum()))
