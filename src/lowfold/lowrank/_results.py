"""What the factorisations give back: frozen values with `dense()`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.brief import brief
from lowfold._core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class SVD:
    """A ~ U diag(s) V' with orthonormal columns of U (m, k) and V (n, k)."""

    U: Floats
    s: Floats
    V: Floats

    __repr__ = brief

    def dense(self) -> Floats:
        """The approximation as a matrix."""
        return np.asarray((self.U * self.s) @ self.V.T)


@dataclass(frozen=True, eq=False)
class PivotedQR:
    """A[:, columns] = Q R with Q (m, p), R (p, n), p = min(m, n), revealing at index k; `exchanges` were made."""

    Q: Floats
    R: Floats
    columns: Ints
    k: int
    exchanges: int

    __repr__ = brief

    def dense(self, k: int | None = None) -> Floats:
        """A itself, or its approximation by the first k rows of R: Q_k R_k."""
        A = np.empty((self.Q.shape[0], self.R.shape[1]))
        A[:, self.columns] = self.Q[:, :k] @ self.R[:k]
        return A

    def coefficients(self) -> Floats:
        """P (k, n) with A ~ A[:, columns[:k]] P and P[:, columns[:k]] = I."""
        from scipy.linalg import solve_triangular

        P = np.empty((self.k, self.R.shape[1]))
        P[:, self.columns[: self.k]] = np.eye(self.k)
        P[:, self.columns[self.k :]] = solve_triangular(self.R[: self.k, : self.k], self.R[: self.k, self.k :])
        return P


@dataclass(frozen=True, eq=False)
class PivotedLU:
    """A[rows][:, columns] = [L11 0; L21 I] [U11 U12; 0 S]: L (m, k), U (k, n) and the Schur complement S."""

    L: Floats
    U: Floats
    S: Floats
    rows: Ints
    columns: Ints

    __repr__ = brief

    @property
    def k(self) -> int:
        """The index at which the factorisation reveals the rank."""
        return int(self.U.shape[0])

    def dense(self, *, whole: bool = True) -> Floats:
        """A itself, or with whole=False the rank-k part L U."""
        B = self.L @ self.U
        if whole:
            B[self.k :, self.k :] += self.S
        A = np.empty_like(B)
        A[np.ix_(self.rows, self.columns)] = B
        return A


@dataclass(frozen=True, eq=False)
class Cholesky:
    """G ~ L L' with L (n, r); `pivots` in the order they were taken, `remaining` = diag(G - L L') >= 0."""

    L: Floats
    pivots: Ints
    remaining: Floats

    __repr__ = brief

    @property
    def error(self) -> float:
        """trace(G - L L'), the nuclear norm of the error."""
        return float(self.remaining.sum())

    def dense(self) -> Floats:
        """The approximation as a matrix."""
        return np.asarray(self.L @ self.L.T)


@dataclass(frozen=True, eq=False)
class Interpolative:
    """A ~ B P: B = A[:, columns] (m, k), P (k, n) with P[:, columns] = I."""

    B: Floats
    P: Floats
    columns: Ints

    __repr__ = brief

    @property
    def k(self) -> int:
        """Number of columns taken."""
        return len(self.columns)

    def dense(self) -> Floats:
        """The approximation as a matrix."""
        return np.asarray(self.B @ self.P)


@dataclass(frozen=True, eq=False)
class Compressed:
    """G ~ U C U' with orthonormal U (n, k) and C = U' G U; `columns` of G span U, `weights` are the optimal ones."""

    U: Floats
    C: Floats
    columns: Ints
    weights: Floats

    __repr__ = brief

    def dense(self) -> Floats:
        """The approximation as a matrix."""
        return np.asarray(self.U @ self.C @ self.U.T)


@dataclass(frozen=True, eq=False)
class Nystrom:
    """G ~ V diag(values) V' from the rows and columns `columns` of G; with `orthogonal` the columns of V are."""

    values: Floats
    V: Floats
    columns: Ints
    orthogonal: bool

    __repr__ = brief

    def dense(self) -> Floats:
        """The approximation as a matrix."""
        return np.asarray((self.V * self.values) @ self.V.T)
