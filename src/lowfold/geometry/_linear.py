"""Subspaces, hyperplanes and orthogonal projections: Wang (2012), Section 2.1, doi:10.1007/978-3-642-27497-8."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats

ORTHONORMAL = 1e-10  # what a QR factorisation or an SVD leaves, in float64, and a basis typed by hand does not


def column_basis(X: ArrayLike) -> Floats:
    """Orthonormal basis Q of the column space of X, shape (m, r), by a QR factorisation with pivoting.

    The rank r is the number of diagonal entries of R above max(m, n) eps |R_11|.
    """
    from scipy.linalg import qr

    a = _matrix(X)
    q, r, _ = qr(a, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.asarray(q[:, size > max(a.shape) * np.finfo(np.float64).eps * size.max(initial=0.0)])


def column_projector(X: ArrayLike) -> Floats:
    """Orthogonal projector on the column space, Q Q' = X X^+; also when columns depend on each other."""
    q = column_basis(X)
    return np.asarray(q @ q.T)


def row_projector(X: ArrayLike) -> Floats:
    """Orthogonal projector on the row space, X^+ X."""
    return column_projector(_matrix(X).T)


def hyperplane_coordinates(x: ArrayLike, origin: ArrayLike, basis: ArrayLike) -> Floats:
    """Coordinates B'(x - a) of rows x in the hyperplane a + span(B), B with orthonormal columns."""
    return np.asarray((np.asarray(x, dtype=np.float64) - np.asarray(origin, dtype=np.float64)) @ _orthonormal(basis))


def hyperplane_points(y: ArrayLike, origin: ArrayLike, basis: ArrayLike) -> Floats:
    """Points a + B y of the hyperplane, for rows y: an isometry."""
    return np.asarray(np.asarray(origin, dtype=np.float64) + np.asarray(y, dtype=np.float64) @ _orthonormal(basis).T)


def _matrix(X: ArrayLike) -> Floats:
    a = np.asarray(X, dtype=np.float64)
    if a.ndim != 2:
        raise InvalidInput(f"X must be a matrix; got {a.ndim} axes; pass a two-dimensional array")
    return a


def _orthonormal(basis: ArrayLike) -> Floats:
    b = _matrix(basis)
    if not np.allclose(b.T @ b, np.eye(b.shape[1]), atol=ORTHONORMAL):
        raise InvalidInput("basis must have orthonormal columns, basis' basis = I; got others; use column_basis")
    return b
