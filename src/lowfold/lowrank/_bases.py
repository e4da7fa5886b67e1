"""Bases for compression, Gering (2002), Section 2: how much is lost when only d coefficients of each row are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats

ORTHONORMAL = 1e-6  # of 1: what a basis stored in float32 may be off by
BASES = ("standard", "walsh", "cosine")


def orthonormal_basis(name: str, D: int) -> Floats:
    """A fixed orthonormal basis of R^D, one vector per column, coarse before fine.

    "standard" is the identity; "walsh" the Walsh-Hadamard functions in order of sign changes (D a power of two);
    "cosine" the discrete cosine transform.

    >>> (2 * orthonormal_basis("walsh", 4)).astype(int).T.tolist()
    [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, -1, 1], [1, -1, 1, -1]]
    """
    if name == "standard":
        return np.eye(D)
    if name == "walsh":
        if D < 1 or D & (D - 1):
            raise InvalidInput(f"the Walsh basis needs a power of two of features; got {D}; pad the rows with zeros")
        H = np.ones((1, 1))
        while len(H) < D:
            H = np.block([[H, H], [H, -H]])
        changes = (np.diff(H, axis=0) != 0).sum(axis=0)
        return np.asarray(H[:, np.argsort(changes, kind="stable")] / np.sqrt(D))
    if name == "cosine":
        rows, columns = np.arange(D)[:, None], np.arange(D)[None, :]
        B = np.cos(np.pi * (rows + 0.5) * columns / D) * np.sqrt(2.0 / D)
        B[:, 0] = 1 / np.sqrt(D)
        return np.asarray(B)
    raise InvalidInput(f"basis must be one of {', '.join(map(repr, BASES))} or a matrix; got {name!r}")


def compression_error(
    X: ArrayLike, basis: str | ArrayLike, terms: ArrayLike, *, mean: ArrayLike | float = 0.0
) -> Floats:
    """Mean squared error per row of X when its first d coefficients in the basis are kept, for d in `terms`.

    `basis` is a name of `orthonormal_basis` or a matrix with orthonormal columns. No basis does better than the
    principal axes (about their mean) on the data they were made from.
    """
    A = np.asarray(X, dtype=np.float64) - np.asarray(mean, dtype=np.float64)
    B = orthonormal_basis(basis, A.shape[1]) if isinstance(basis, str) else np.asarray(basis, dtype=np.float64)
    if B.ndim != 2 or B.shape[0] != A.shape[1] or np.abs(B.T @ B - np.eye(B.shape[1])).max(initial=0.0) > ORTHONORMAL:
        raise InvalidInput(f"basis must have {A.shape[1]} rows and orthonormal columns; got shape {B.shape}")
    d = np.atleast_1d(np.asarray(terms, dtype=np.int64))
    if d.min() < 0 or d.max() > B.shape[1]:
        raise InvalidInput(
            f"terms must lie between 0 and the {B.shape[1]} columns of the basis; got {d.min()} to {d.max()}"
        )
    energy = np.concatenate([[0.0], np.cumsum(np.square(A @ B).mean(axis=0))])
    return np.asarray(np.maximum(np.square(A).sum(axis=1).mean() - energy[d], 0.0))
