"""Principal axes of sparse rows: the mean is taken off inside every product, so that nothing becomes dense.

(X - 1 m')'(X - 1 m') V = X'(XV - 1 m'V) - m 1'(XV - 1 m'V), and likewise on the side of the points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from lowfold._core.memory import require
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.lowrank._principal import Axes
from lowfold.spectral._doors import largest
from lowfold.spectral._types import NEGLIGIBLE, Eigenpairs, fix_signs


@dataclass(frozen=True, eq=False)
class SparseScatter:
    """Xc'Xc / divisor, or with `dual` Xc Xc' / divisor, Xc the rows less their mean, row i times `root`_i if given."""

    X: SparseRows
    mean: Floats
    divisor: float
    dual: bool = False
    psd: bool = True
    bound: float | None = None
    root: Floats | None = None

    @property
    def n(self) -> int:
        return self.X.shape[0 if self.dual else 1]

    def forth(self, V: Floats) -> Floats:
        """Xc V."""
        return self._weighted(np.asarray(self.X @ V - self.mean @ V))

    def back(self, U: Floats) -> Floats:
        """Xc'U."""
        U = self._weighted(U)
        return np.asarray(self.X.csr.T @ U - np.outer(self.mean, U.sum(axis=0)))

    def apply(self, V: Floats) -> Floats:
        return (self.forth(self.back(V)) if self.dual else self.back(self.forth(V))) / self.divisor

    def dense(self) -> Floats:
        """The matrix itself."""
        require(3 * 8.0 * self.n**2, f"a {self.n} x {self.n} matrix", "ask for fewer components")
        A = self.X.csr.astype(np.float64)
        m = self.mean
        if not self.dual:
            A = A if self.root is None else csr_array(diags_array(self.root) @ A)
            ones = np.ones(A.shape[0]) if self.root is None else self.root
            cross = np.outer(A.T @ ones, m)
            return np.asarray((A.T @ A).toarray() - cross - cross.T + (ones @ ones) * np.outer(m, m)) / self.divisor
        G, c = np.asarray((A @ A.T).toarray()), np.asarray(A @ m)
        return self._weighted(self._weighted(G - c[:, None] - c[None, :] + m @ m).T) / self.divisor

    def _weighted(self, U: Floats) -> Floats:
        return U if self.root is None else U * self.root[:, None]


def sparse_axes(X: SparseRows, mean: Floats, k: int, *, run: Run) -> Axes:
    """The k leading principal axes of sparse rows about `mean`, on the smaller side: variances divide by n - 1."""
    n, D = X.shape
    scatter = SparseScatter(X, mean, float(max(n - 1, 1)), dual=n < D)
    route = run.solver if run.solver in ("auto", "krylov", "dense") else "auto"
    with run.stage("principal axes (sparse)"):
        pairs = largest(scatter, k, negligible=NEGLIGIBLE, run=replace(run, solver=route))
        V = pairs.vectors
        if scatter.dual:
            V = np.linalg.qr(scatter.back(V))[0]  # of zero variance: some direction orthogonal to the others
    V = fix_signs(V)
    total = float(X.squares().sum() - n * (mean @ mean)) / scatter.divisor
    values = np.maximum(pairs.values, 0.0)
    return Axes(V, Eigenpairs(values, V, pairs.residual, pairs.gap, pairs.solver, pairs.iterations), total)
