"""Symmetric rank-revealing decompositions A = V S V', S = L' Omega L; Hansen & Yalamov (2001),
SIAM J. Matrix Anal. Appl. 23; Wang (2012), Section 15.1, doi:10.1007/978-3-642-27497-8.

The printed algorithm leaves parts of L and Omega behind when it restores the triangle; here they follow, so that
V L' Omega L V' = A holds at every step. Omega keeps the inertia of A but not its diagonal form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.brief import brief
from lowfold._core.types import Floats
from lowfold.lowrank._check import symmetric, threshold
from lowfold.lowrank._pivoted import pivoted_cholesky
from lowfold.lowrank._utv import SMALL, VECTOR, _householder, _ql, _reflect


@dataclass(frozen=True, eq=False)
class VSV:
    """A = V S V' with S = L' Omega L = [S11 S12; S12' S22]; d eigenvalues of A exceed tau in magnitude.

    L is lower triangular; Omega is orthogonal and symmetric with as many negative eigenvalues as A has (None: the
    identity, for definite A).
    """

    V: Floats
    L: Floats
    omega: Floats | None
    d: int
    tau: float

    __repr__ = brief

    @property
    def S(self) -> Floats:
        """L' Omega L; its leading d x d block has nearly the d leading eigenvalues of A."""
        return np.asarray(self.L.T @ (self.L if self.omega is None else self.omega @ self.L))

    def dense(self, d: int | None = None) -> Floats:
        """A itself, or the truncation V_d S11 V_d'."""
        return np.asarray(self.V[:, :d] @ self.S[:d, :d] @ self.V[:, :d].T)


def vsv(A: ArrayLike, tau: float, *, definite: bool = False) -> VSV:
    """The low-rank VSV decomposition of a symmetric matrix: eigenvectors of the largest |lambda| are reflected to the
    front, one after the other, until none above tau is left.

    `definite=True` takes a positive semidefinite A by its Cholesky factor, half the work and no Omega.

    >>> vsv(np.diag([2.0, -3.0, 1e-9]), 1e-6).d
    2
    """
    A, tau = symmetric(A), threshold(tau)
    n = len(A)
    B, signs = _definite_root(A) if definite else _root(A)
    Q, L = _ql(B)
    omega = None if definite else Q.T @ (signs[:, None] * Q)
    V, d = np.eye(n), 0
    while d < n:
        size, w = _leading(L[d:, d:], None if omega is None else omega[d:, d:], tau)
        if size <= tau:
            break
        v = _householder(w)
        _reflect(V[:, d:], v)
        Q, T = _triangular_again(L[d:, d:], v)
        L[d:, d:] = T
        L[d:, :d] = Q.T @ L[d:, :d]
        if omega is not None:
            omega[d:] = Q.T @ omega[d:]
            omega[:, d:] = omega[:, d:] @ Q
        d += 1
    return VSV(V, L, omega, d, tau)


def _definite_root(A: Floats) -> tuple[Floats, Floats]:
    """B (n, n) with A = B' B."""
    L = pivoted_cholesky(A).L
    return np.vstack([L.T, np.zeros((len(A) - L.shape[1], len(A)))]), np.ones(len(A))


def _root(A: Floats) -> tuple[Floats, Floats]:
    """B and signs with A = B' diag(signs) B, by Bunch-Kaufman: A = M D M', D of blocks of one or two."""
    M, D, _ = scipy.linalg.ldl(A)
    values, W = _blocks(np.asarray(D, dtype=np.float64))
    return np.sqrt(np.abs(values))[:, None] * (M @ W).T, np.where(values < 0, -1.0, 1.0)


def _blocks(D: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and vectors of a block diagonal matrix with blocks of one or two."""
    n = len(D)
    values, W = np.diagonal(D).copy(), np.eye(n)
    for i in np.flatnonzero(np.diagonal(D, -1)):
        values[i : i + 2], W[i : i + 2, i : i + 2] = np.linalg.eigh(D[i : i + 2, i : i + 2])
    return values, W


def _leading(L: Floats, omega: Floats | None, tau: float) -> tuple[float, Floats]:
    """The largest |eigenvalue| of L' Omega L and its vector."""
    n = len(L)
    if np.linalg.norm(L) ** 2 <= tau:  # ||L' Omega L|| <= ||L||^2
        return 0.0, np.zeros(n)

    def apply(x: Floats) -> Floats:
        y = L @ x
        return np.asarray(L.T @ (y if omega is None else omega @ y))

    if n <= SMALL:
        values, W = np.linalg.eigh(apply(np.eye(n)))
        at = int(np.argmax(np.abs(values)))
        return float(abs(values[at])), np.ascontiguousarray(W[:, at])
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = apply(L[int(np.argmax(np.square(L).sum(axis=1)))])
    op = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    values, W = eigsh(op, 1, which="LM", tol=VECTOR, v0=start)
    return float(abs(values[0])), np.ascontiguousarray(W[:, 0])


def _triangular_again(L: Floats, v: Floats) -> tuple[Floats, Floats]:
    """L (I - 2 v v') = Q T with T lower triangular: a change of rank one, so n^2 operations suffice."""
    n = len(L)
    u = -2.0 * (L @ v)
    Q, R = scipy.linalg.qr_update(np.eye(n), np.ascontiguousarray(L[::-1, ::-1]), u[::-1].copy(), v[::-1].copy())
    return np.asarray(Q[::-1, ::-1], dtype=np.float64), np.tril(R[::-1, ::-1]).astype(np.float64)
