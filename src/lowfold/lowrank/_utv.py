"""Two-sided orthogonal decompositions A = U T V' with a triangular T that shows the rank, and can be updated.

Stewart (1993), doi:10.1137/0614034 (updating ULV); (1999), doi:10.1137/S1064827597319519 (pivoted QLP); Fierro & Hansen
(1997), doi:10.1023/A:1019254318361 (low-rank ULV); Wang (2012), Section 15.1, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.memory import require
from lowfold._core.types import Floats
from lowfold.lowrank._check import matrix, threshold
from lowfold.lowrank._pivoted import pivoted_qr
from lowfold.lowrank._results import SVD

SMALL = 32  # rows up to which a full SVD is as quick as an iteration for one vector
VECTOR = 1e-8  # relative precision of the leading singular value: what is left of it elsewhere is of this size
NEW_DIRECTION = 1e-12  # share of a column's length below which its part outside the columns so far is rounding


@dataclass(frozen=True, eq=False)
class URV:
    """A = U R V', R = [R_d F; 0 G] upper triangular; d singular values of A lie above tau."""

    U: Floats
    R: Floats
    V: Floats
    d: int
    tau: float

    __repr__ = brief

    def dense(self, d: int | None = None) -> Floats:
        """A itself, or the truncation U_d R_d V_d'."""
        return np.asarray(self.U[:, :d] @ self.R[:d, :d] @ self.V[:, :d].T)

    def svd(self) -> SVD:
        """The rank-d approximate SVD, from that of the small R_d."""
        return _small_svd(self.U[:, : self.d], self.R[: self.d, : self.d], self.V[:, : self.d])


@dataclass(frozen=True, eq=False)
class ULV:
    """A = U L V', L = [L_d 0; H E] with a lower triangular L_d (d, d); d singular values of A lie above tau.

    U (m, r) and L (r, n) have r = n, all of L being triangular; from `lulv_cold` r = m, and H and E are full.
    """

    U: Floats
    L: Floats
    V: Floats
    d: int
    tau: float

    __repr__ = brief

    def dense(self, d: int | None = None) -> Floats:
        """A itself, or the truncation U_d L_d V_d'."""
        return np.asarray(self.U[:, :d] @ self.L[:d, :d] @ self.V[:, :d].T)

    def svd(self) -> SVD:
        """The rank-d approximate SVD, from that of the small L_d."""
        return _small_svd(self.U[:, : self.d], self.L[: self.d, : self.d], self.V[:, : self.d])

    def insert_row(self, a: ArrayLike) -> ULV:
        """The decomposition of A with a row more at its end: of the order of m n operations, not m n^2."""
        new = self._row(a, self.V.shape[0])
        L, Ut, Vt = self._working()
        x, last = new @ self.V, np.zeros(Ut.shape[1] + 1)
        last[-1] = 1.0
        Ut = np.ascontiguousarray(np.pad(Ut, ((0, 0), (0, 1))))
        _loops().absorb(L, np.ascontiguousarray(x), Ut, last)
        return _refined(L, Ut, Vt, self.d, self.tau)

    def insert_column(self, c: ArrayLike) -> ULV:
        """The decomposition of A with a column more at its end."""
        m, n = self.U.shape[0], self.V.shape[0]
        if m == n:
            raise InvalidInput(f"a matrix of {m} rows and columns has no room for a column; insert a row first")
        new = self._row(c, m)
        L, Ut, Vt = self._working()
        y, q, size = _outside(Ut, new)
        row = np.zeros(n)
        corner = _loops().sweep(L, y, row, Ut, q, size)
        L = np.pad(L, ((0, 1), (0, 1)))
        L[n, :n], L[n, n] = row, corner
        Vt = np.pad(Vt, ((0, 1), (0, 1)))
        Vt[n, n] = 1.0
        return _refined(L, np.vstack([Ut, q]), Vt, self.d, self.tau)

    def delete_row(self, i: int) -> ULV:
        """The decomposition of A without its row i."""
        m, n = self.U.shape[0], self.V.shape[0]
        if not 0 <= i < m:
            raise InvalidInput(f"row must be one of 0..{m - 1}; got {i!r}")
        if m == n:
            raise InvalidInput(f"a matrix of {m} rows and columns would become wide; decompose it anew")
        L, Ut, Vt = self._working()
        unit = np.zeros(m)
        unit[i] = 1.0
        y, q, size = _outside(Ut, unit)
        row = np.zeros(n)  # after the sweep q is e_i, and this is the deleted row of U L
        _loops().sweep(L, y, row, Ut, q, size)
        return _refined(L, np.delete(Ut, i, axis=1), Vt, self.d, self.tau)

    def _row(self, a: ArrayLike, length: int) -> Floats:
        new = matrix(np.atleast_2d(np.asarray(a, dtype=np.float64)), "the new row or column").ravel()
        if len(new) != length:
            raise InvalidInput(f"{length} numbers are needed; got {len(new)}")
        return new

    def _working(self) -> tuple[Floats, Floats, Floats]:
        """Copies of L, U', V' with L square and triangular."""
        L, U = self.L, self.U
        if L.shape[0] > L.shape[1]:  # from a cold start: H and E fold into n rows
            Q, L = _ql(L)
            U = U @ Q
        return np.ascontiguousarray(L).copy(), np.ascontiguousarray(U.T), np.ascontiguousarray(self.V.T)


def _loops() -> Any:
    return compiled("lowfold.lowrank._utv_loops")


def _small_svd(U: Floats, T: Floats, V: Floats) -> SVD:
    P, s, Qt = np.linalg.svd(T)
    return SVD(U @ P, s, V @ Qt.T)


def _outside(Ut: Floats, c: Floats) -> tuple[Floats, Floats, float]:
    """c = U y + size q with q a unit vector outside the columns of U; twice, as one subtraction leaves rounding."""
    length = max(float(np.linalg.norm(c)), np.finfo(float).tiny)
    y = Ut @ c
    q = c - y @ Ut
    again = Ut @ q
    y, q = y + again, q - again @ Ut
    size = float(np.linalg.norm(q))
    if size > NEW_DIRECTION * length:
        return y, q / size, size
    q = np.random.default_rng(0).standard_normal(len(c))  # c lies in the columns so far: any direction outside serves
    for _ in range(3):
        q = q - (Ut @ q) @ Ut
        q /= np.linalg.norm(q)
    return y, q, 0.0


def _ql(A: Floats) -> tuple[Floats, Floats]:
    """A = Q L with the triangle in the lower right corner of L (thin)."""
    Q, R = scipy.linalg.qr(A[:, ::-1], mode="economic")
    return np.asarray(Q[:, ::-1], dtype=np.float64), np.asarray(R[::-1, ::-1], dtype=np.float64)


def _tall(A: ArrayLike) -> Floats:
    A = matrix(A)
    if A.shape[0] < A.shape[1]:
        raise InvalidInput(
            f"A must have at least as many rows as columns; got {A.shape}; decompose A.T: its URV is a ULV of A"
        )
    return A


def ulv(A: ArrayLike, tau: float) -> ULV:
    """A = U L V' by pivoted QR and then pivoted LQ of the triangle (Stewart's QLP): the diagonal of L follows the
    singular values closely. d is the least with ||[H, E]|| <= tau.

    >>> ulv(np.diag([3.0, 1e-9]), 1e-6).d
    1
    """
    Q, L, W = _qlp(_tall(A))
    return ULV(Q, L, W, _least_rows(L, threshold(tau)), float(tau))


def urv(A: ArrayLike, tau: float) -> URV:
    """A = U R V' with one pivoted QR more than `ulv`. d is the least with ||[F; G]|| <= tau.

    >>> urv(np.diag([3.0, 1e-9]), 1e-6).d
    1
    """
    Q, L, W = _qlp(_tall(A))
    Q2, R, columns = pivoted_qr(L)
    return URV(Q @ Q2, R, W[:, columns], _least_rows(R.T, threshold(tau)), float(tau))


def _qlp(A: Floats) -> tuple[Floats, Floats, Floats]:
    Q, R, columns = pivoted_qr(A)
    W, Lt, rows = pivoted_qr(R.T)
    V = np.empty_like(W)
    V[columns] = W
    return Q[:, rows], Lt.T, V


def _least_rows(L: Floats, tau: float) -> int:
    """The least d with ||L[d:]|| <= tau; the norms fall with d, so halving finds it."""
    low, high = 0, len(L)
    while low < high:
        d = (low + high) // 2
        if np.linalg.norm(L[d:], 2) <= tau:
            high = d
        else:
            low = d + 1
    return low


def lulv_warm(A: ArrayLike, tau: float) -> ULV:
    """Low-rank ULV, warm start L-ULV(L): the QL factor of A is deflated, one leading left singular vector after the
    other rotated to the front, until none above tau is left. For A with few singular values above tau.

    >>> lulv_warm(np.diag([3.0, 1e-9]), 1e-6).d
    1
    """
    A = _tall(A)
    U, L = _ql(A)
    n = A.shape[1]
    return _deflated(np.ascontiguousarray(L), np.ascontiguousarray(U.T), np.eye(n), threshold(tau))


def lulv_cold(A: ArrayLike, tau: float) -> ULV:
    """Low-rank ULV, cold start L-ULV(A): Householder reflections on A itself, with no triangular factor at first.

    U is m x m, and H and E keep m - d rows. It costs d products with A; of use where d is small.

    >>> lulv_cold(np.diag([3.0, 1e-9]), 1e-6).d
    1
    """
    A, tau = _tall(A), threshold(tau)
    m, n = A.shape
    require(8.0 * m * (m + n), f"the cold low-rank ULV of {m} rows", "use lulv_warm")
    L, U, V = A.copy(), np.eye(m), np.eye(n)
    i = 0
    while i < n:
        sigma, u = _leading(L[i:, i:], tau)
        if sigma <= tau:
            break
        v = _householder(u)
        _reflect(L[i:].T, v)
        _reflect(U[:, i:], v)
        w = _householder(L[i, i:] / np.linalg.norm(L[i, i:]))
        _reflect(L[i:, i:], w)
        _reflect(V[:, i:], w)
        L[i, i + 1 :] = 0.0
        i += 1
    return ULV(U, L, V, i, tau)


def _deflated(L: Floats, Ut: Floats, Vt: Floats, tau: float) -> ULV:
    i, n = 0, len(L)
    while i < n:
        sigma, u = _leading(L[i:, i:], tau)
        if sigma <= tau:
            break
        _loops().to_front(L, Ut, Vt, u, i)
        i += 1
    return ULV(np.ascontiguousarray(Ut.T), L, np.ascontiguousarray(Vt.T), i, tau)


def _refined(L: Floats, Ut: Floats, Vt: Floats, d: int, tau: float) -> ULV:
    """After a change: as it is where L still shows d singular values above tau and no more, else deflated anew."""
    inside = np.linalg.svd(L[:d, :d], compute_uv=False).min(initial=np.inf) > tau
    if inside and np.linalg.norm(L[d:]) <= tau:
        return ULV(np.ascontiguousarray(Ut.T), L, np.ascontiguousarray(Vt.T), d, tau)
    return _deflated(L, np.ascontiguousarray(Ut), np.ascontiguousarray(Vt), tau)


def _leading(B: Floats, tau: float) -> tuple[float, Floats]:
    """The largest singular value of B and its left vector; nothing is computed where all of B is below tau."""
    if np.linalg.norm(B) <= tau:
        return 0.0, np.zeros(len(B))
    if min(B.shape) <= SMALL:
        U, s, _ = np.linalg.svd(B, full_matrices=False)
        return float(s[0]), np.ascontiguousarray(U[:, 0])
    from scipy.sparse.linalg import svds

    start = B @ (B.T @ B[:, int(np.argmax(np.square(B).sum(axis=0)))])  # leans to the leading vector already
    U, s, _ = svds(B, 1, tol=VECTOR, v0=start[: min(B.shape)], return_singular_vectors="u")
    return float(s[0]), np.ascontiguousarray(U[:, 0])


def _householder(u: Floats) -> Floats:
    """v with (I - 2 v v') u = +-e_1."""
    v = u.copy()
    v[0] += np.copysign(np.linalg.norm(u), u[0])
    return np.asarray(v / np.linalg.norm(v))


def _reflect(B: Floats, v: Floats) -> None:
    """B <- B (I - 2 v v'), in place."""
    B -= 2.0 * np.outer(B @ v, v)
