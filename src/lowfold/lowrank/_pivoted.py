"""Factorisations by exchanging rows and columns: QR, LU, Cholesky.

Gu & Eisenstat (1996), doi:10.1137/0917055 (strong rank-revealing QR); Pan (2000), doi:10.1016/S0024-3795(00)00120-8
(rank-revealing LU); Harbrecht, Peters & Schneider (2012), doi:10.1016/j.apnum.2011.10.001 (pivoted Cholesky).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.types import Floats, Ints
from lowfold.lowrank._check import matrix, rank, symmetric
from lowfold.lowrank._results import Cholesky, PivotedLU, PivotedQR

NOT_PSD = 1e-6  # of the largest diagonal entry, below 0: subtracting a factor leaves less, by far, of a psd matrix
MOST_EXCHANGES = 1000  # each multiplies |det R11| by f > 1 at least: thousands would mean rounding, not progress


def rrqr(A: ArrayLike, k: int, f: float = 2.0) -> PivotedQR:
    """Strong rank-revealing QR: A[:, columns] = Q R with sigma_min(R11) and ||R22|| within sqrt(1 + f^2 k (n - k)) of
    sigma_k and sigma_(k+1), where R11 is the leading k x k block.

    Pivoted QR, then exchanges of a column of the first k with one of the others while one would enlarge |det R11| by
    more than f (above 1). The entries of R11^-1 R12 are at most f. Pivoting alone fails on Kahan's matrix.

    >>> found = rrqr(np.diag([1.0, 5.0, 3.0]), 2)
    >>> found.columns[:2].tolist(), bool(np.allclose(found.dense(), np.diag([1.0, 5.0, 3.0])))
    ([1, 2], True)
    """
    A = matrix(A)
    p = min(A.shape)
    k = rank(k, p)
    if not f > 1:
        raise InvalidInput(f"f must be above 1, by how much an exchange must enlarge the determinant; got {f!r}")
    Q0, R, columns = pivoted_qr(A)
    Q, count = np.eye(p), 0
    while k < A.shape[1] and count < MOST_EXCHANGES:
        i, j, gain = _best_exchange(R, k)
        if not gain > f:
            break
        Q, R, columns = _exchange(Q, R, columns, i, k + j, k)
        count += 1
    return PivotedQR(Q0 if count == 0 else Q0 @ Q, R, columns, k, count)


def pivoted_qr(A: Floats) -> tuple[Floats, Floats, Ints]:
    """A[:, columns] = Q R (thin), by LAPACK."""
    Q, R, columns = scipy.linalg.qr(A, mode="economic", pivoting=True)
    return np.asarray(Q, dtype=np.float64), np.asarray(R, dtype=np.float64), np.asarray(columns, dtype=np.int64)


def _best_exchange(R: Floats, k: int) -> tuple[int, int, float]:
    """Columns i < k and k + j whose exchange multiplies |det R11| the most, and by how much:
    sqrt((R11^-1 R12)_ij^2 + (||R22 e_j|| ||e_i' R11^-1||)^2).
    """
    diagonal = np.abs(np.diagonal(R)[:k])
    if diagonal.min() == 0:  # A has rank below k: nothing enlarges a determinant of zero
        return 0, 0, 0.0
    inverse = scipy.linalg.solve_triangular(R[:k, :k], np.eye(k))
    with np.errstate(over="ignore"):
        rows = np.linalg.norm(inverse, axis=1)
        gain = np.hypot(inverse @ R[:k, k:], rows[:, None] * np.linalg.norm(R[k:, k:], axis=0)[None, :])
    i, j = np.unravel_index(int(np.argmax(gain)), gain.shape)
    return int(i), int(j), float(gain[i, j])


def _exchange(Q: Floats, R: Floats, columns: Ints, i: int, j: int, k: int) -> tuple[Floats, Floats, Ints]:
    """Columns i < k <= j change sides; the triangle is restored by rotations."""
    order = np.arange(R.shape[1])
    order = np.concatenate([np.delete(order[:k], i), [j, i], np.delete(order[k:], j - k)])
    a, b = Q @ R[:, i], Q @ R[:, j]
    both = scipy.linalg.qr_delete(Q, R, j, which="col")
    both = scipy.linalg.qr_delete(*both, i, which="col")
    both = scipy.linalg.qr_insert(*both, b, k - 1, which="col")
    both = scipy.linalg.qr_insert(*both, a, k, which="col")
    return np.asarray(both[0], dtype=np.float64), np.triu(both[1]).astype(np.float64), columns[order]


def rrlu(A: ArrayLike, k: int, f: float = 2.0) -> PivotedLU:
    """Rank-revealing LU: A[rows][:, columns] = L U with a k x k block whose Schur complement S is of the size of
    sigma_(k+1): ||S|| <= sqrt((1 + f^2 k (n - k)) (1 + f^2 k (m - k))) sigma_(k+1).

    Columns are those of `rrqr`, rows those of `rrqr` of these columns; inside the block rows are exchanged as usual.

    >>> found = rrlu([[1.0, 2.0], [2.0, 4.0]], 1)
    >>> float(np.abs(found.S).max()) < 1e-15
    True
    """
    A = matrix(A)
    k = rank(k, min(A.shape))
    columns = rrqr(A, k, f).columns
    rows = rrqr(A[:, columns[:k]].T, k, f).columns
    B = A[np.ix_(rows, columns)]
    order, L11, U11 = scipy.linalg.lu(B[:k, :k], p_indices=True)
    inside = np.argsort(order)  # lu gives A = L[order] U
    rows = np.concatenate([rows[:k][inside], rows[k:]])
    B = A[np.ix_(rows, columns)]
    if np.abs(np.diagonal(U11)).min() == 0:
        raise InvalidInput(f"A has rank below k = {k}; ask for a smaller k")
    U12 = scipy.linalg.solve_triangular(L11, B[:k, k:], lower=True, unit_diagonal=True)
    L21 = scipy.linalg.solve_triangular(U11, B[k:, :k].T, trans="T").T
    return PivotedLU(np.vstack([L11, L21]), np.hstack([U11, U12]), B[k:, k:] - L21 @ U12, rows, columns)


def pivoted_cholesky(
    G: Any, k: int | None = None, *, tol: float | None = None, diagonal: ArrayLike | None = None
) -> Cholesky:
    """G ~ L L' of a psd matrix, the largest remaining diagonal entry first; trace(G - L L') is what remains of it.

    With k it stops after k columns (or at the rank), with `tol` when no remaining entry of the diagonal is above
    tol times the largest (None: n times rounding). A matrix is factored by LAPACK; of an operator with `columns` and
    `diagonal`, or of a function i -> column i with the `diagonal` given, only the chosen columns are ever computed.

    >>> pivoted_cholesky(np.diag([1.0, 4.0, 2.0]), 2).pivots.tolist()
    [1, 2]
    """
    if hasattr(G, "columns") and hasattr(G, "diagonal"):
        return _by_columns(lambda i: G.columns(np.array([i]))[:, 0], G.diagonal(), k, tol)
    if callable(G):
        if diagonal is None:
            raise InvalidInput("a function of columns needs diagonal=, the entries G_ii")
        return _by_columns(G, np.asarray(diagonal, dtype=np.float64), k, tol)
    G = symmetric(G)
    n = len(G)
    k = n if k is None else rank(k, n)
    if k < n // 4:  # k columns cost n k^2; LAPACK goes on to the full rank
        return _by_columns(lambda i: G[:, i], np.diagonal(G), k, tol)
    return _by_lapack(G, k, tol)


def _by_lapack(G: Floats, k: int, tol: float | None) -> Cholesky:
    n = len(G)
    largest = max(float(np.diagonal(G).max()), 0.0)
    if largest == 0.0:
        return Cholesky(np.zeros((n, 0)), np.empty(0, dtype=np.int64), _nonnegative(np.diagonal(G), G))
    stop = (n * np.finfo(float).eps if tol is None else tol) * largest
    C, order, found, info = scipy.linalg.lapack.dpstrf(G, tol=stop, lower=1)
    if info < 0:
        raise SolverFailed(f"LAPACK's pstrf refused its argument {-info}")
    r = min(int(found), k)
    L, pivots = np.zeros((n, r)), order.astype(np.int64) - 1
    L[pivots] = np.tril(C)[:, :r]
    remaining = np.diagonal(G) - np.square(L).sum(axis=1)
    return Cholesky(L, pivots[:r], _nonnegative(remaining, G))


def _by_columns(column: Callable[[int], Floats], diagonal: Floats, k: int | None, tol: float | None) -> Cholesky:
    """One column of G and one product with the columns so far per step: n k^2 operations, n k numbers."""
    n = len(diagonal)
    k = n if k is None else rank(k, n)
    left = np.array(diagonal, dtype=np.float64)
    stop = (n * np.finfo(float).eps if tol is None else tol) * max(float(left.max()), 0.0)
    L, pivots = np.zeros((n, k), order="F"), np.empty(k, dtype=np.int64)
    r = 0
    while r < k and left.max() > stop:
        i = int(np.argmax(left))
        new = np.asarray(column(i), dtype=np.float64) - L[:, :r] @ L[i, :r]
        L[:, r] = new / np.sqrt(new[i]) if new[i] > 0 else 0.0
        pivots[r] = i
        left = left - L[:, r] ** 2
        left[pivots[: r + 1]] = 0.0
        r += 1
    return Cholesky(L[:, :r].copy(), pivots[:r], _nonnegative(left, diagonal))


def _nonnegative(remaining: Floats, size: Floats) -> Floats:
    """Rounding below zero is zero; a large negative entry means that G is not positive semidefinite."""
    if remaining.min(initial=0.0) < -NOT_PSD * max(float(np.abs(size).max()), np.finfo(float).tiny):
        raise InvalidInput(
            f"G is not positive semidefinite: {remaining.min():.3g} is left on its diagonal; use vsv, or add a "
            "constant to the diagonal"
        )
    return np.maximum(remaining, 0.0)
