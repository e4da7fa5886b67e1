"""V^+ of a weighted Laplacian: by a factor for a few thousand points, by conjugate gradients beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from lowfold._core.errors import SolverFailed
from lowfold._core.types import Floats


def factor_laplacian(V: Floats) -> Any:
    """Cholesky factor of V + c 11'/n: on centred vectors its inverse is V^+. V is overwritten."""
    n = len(V)
    V += np.trace(V) / n**2  # the constant vector gets an eigenvalue of the size of the others
    try:
        return scipy.linalg.cho_factor(V, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        raise SolverFailed(
            "the weights leave some points unconnected to the rest, so that their place is not determined; "
            "give every point enough pairs of positive weight"
        ) from error


def conjugate_gradients(
    apply: Callable[[Floats], Floats], diagonal: Floats, B: Floats, *, tol: float = 1e-9, max_iter: int = 1000
) -> Floats:
    """Columns of V^+ B for a Laplacian V with this diagonal; preconditioned by the diagonal, columns side by side."""
    D = np.where(diagonal > 0, diagonal, 1.0)[:, None]
    X = np.zeros_like(B)
    R = B - B.mean(axis=0)
    size = np.linalg.norm(R, axis=0)
    Z = R / D
    P = Z.copy()
    rz = np.einsum("nd,nd->d", R, Z)
    for _ in range(max_iter):
        if (np.linalg.norm(R, axis=0) <= tol * size).all():
            break
        Q = apply(P)
        curvature = np.einsum("nd,nd->d", P, Q)
        step = np.where(curvature > 0, rz / np.where(curvature > 0, curvature, 1.0), 0.0)
        X += step * P
        R -= step * Q
        R -= R.mean(axis=0)
        Z = R / D
        new = np.einsum("nd,nd->d", R, Z)
        P = Z + np.where(rz > 0, new / np.where(rz > 0, rz, 1.0), 0.0) * P
        rz = new
    return np.asarray(X - X.mean(axis=0))
