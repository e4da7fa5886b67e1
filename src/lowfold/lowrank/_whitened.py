"""Rows turned to their principal axes and scaled to Z'M Z = I, and the way back from the axes to the features.

Sparse rows never become dense: what is solved is the scatter matrix of the smaller side, or its leading end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._principal import LOST, range_basis
from lowfold.lowrank._sparse_axes import SparseScatter
from lowfold.spectral._doors import largest
from lowfold.spectral._types import NEGLIGIBLE

WHOLE = 4_000  # points or terms up to which all axes of sparse rows are computed: a dense matrix of that side
LEADING = 300  # axes beyond it; topics of texts are counted in tens


@dataclass(frozen=True, eq=False)
class Whitened:
    """Z (n, r) with Z'M Z = I; singular values s (r,) of the weighted rows; `lift` takes (r, d) on the axes to (D, d).

    `total` is the sum of squares of all rows.
    """

    Z: Floats
    s: Floats
    total: float
    lift: Callable[[Floats], Floats]

    def count(self, energy: float) -> int:
        """How many leading axes hold that share of the sum of squares; all where they do not."""
        if energy >= 1 or not len(self.s):
            return len(self.s)
        enough = np.cumsum(self.s**2) >= (energy - ROUNDING) * self.total
        return int(np.argmax(enough)) + 1 if enough.any() else len(self.s)

    def leading(self, r: int) -> Whitened:
        """The first r axes alone."""
        rest = len(self.s) - r
        return replace(self, Z=self.Z[:, :r], s=self.s[:r], lift=lambda B: self.lift(np.pad(B, ((0, rest), (0, 0)))))

    @property
    def share(self) -> float:
        """Of the sum of squares that these axes hold."""
        return min(float(np.sum(self.s**2)) / self.total, 1.0) if self.total > 0 else 1.0


def whitened(X: AnyFloats | SparseRows, mean: Floats, *, weights: Floats | None = None, run: Run) -> Whitened:
    """All axes of the rows less `mean`, times the roots of the weights; of many sparse rows the first 300."""
    if isinstance(X, SparseRows):
        return _sparse(X, mean, weights, run)
    V, s = range_basis(X, mean, weights=weights, run=run)
    to_axes = V / s
    Z = np.empty((len(X), len(s)))
    for part in block_slices(len(X), max(256, 2**20 // X.shape[1])):
        Z[part] = np.subtract(X[part], mean, dtype=np.float64) @ to_axes
    return Whitened(Z, s, float(np.sum(s**2)), lambda B: np.asarray(to_axes @ B))


def _sparse(X: SparseRows, mean: Floats, weights: Floats | None, run: Run) -> Whitened:
    """With S = sqrt(M) Xc = U s V': Z = U / sqrt(M) on the side of the points, Xc V / s on that of the features."""
    n, D = X.shape
    root = np.ones(n) if weights is None else np.sqrt(weights)
    S = SparseScatter(X, mean, 1.0, dual=n < D, root=root)
    if min(n, D) <= WHOLE:
        values, vectors = stacked_eigh(S.dense())
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        pairs = largest(S, LEADING, negligible=NEGLIGIBLE, run=replace(run, solver="auto", verbose=False))
        values, vectors = pairs.values, pairs.vectors
    kept = int((values > LOST**2 * max(float(values[0]), np.finfo(float).tiny)).sum())
    values, vectors = values[:kept], np.ascontiguousarray(vectors[:, :kept])
    s = np.sqrt(values)
    total = float(root**2 @ X.squares() - 2 * mean @ (X.csr.T @ root**2) + np.sum(root**2) * (mean @ mean))
    if S.dual:
        return Whitened(vectors / root[:, None], s, total, lambda B: S.back(vectors @ (B / values[:, None])))
    to_axes = vectors / s
    return Whitened(S.forth(to_axes) / root[:, None], s, total, lambda B: np.asarray(to_axes @ B))
