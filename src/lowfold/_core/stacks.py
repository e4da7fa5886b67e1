"""Stacks of small dense problems (k x k or D x D), many at once; N-sized eigenproblems go through `lowfold.spectral`"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import SolverFailed
from lowfold._core.parallel import STACKED, block_slices
from lowfold._core.types import AnyFloats, AnyInts, Floats, Ints


def equal_rows(counts: AnyInts, cost: int, *, numbers: int = STACKED) -> Iterator[tuple[Ints, int]]:
    """Blocks of rows that have the same count k > 0: their numbers, and k.

    A row takes k max(k, cost) numbers, a block about `numbers`.
    """
    for k in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == k)
        for part in block_slices(len(rows), max(1, numbers // int(k * max(k, cost)))):
            yield rows[part], int(k)


def stacked_eigh(A: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of each symmetric matrix of a stack (..., k, k)."""
    try:
        return np.linalg.eigh(A)
    except np.linalg.LinAlgError as error:
        raise SolverFailed(f"a small eigenproblem did not converge ({error}); look for huge or tiny values") from error


def stacked_eigvalsh(A: NDArray[np.floating]) -> Floats:
    """Eigenvalues, ascending, of each symmetric matrix of a stack."""
    try:
        return np.asarray(np.linalg.eigvalsh(A), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise SolverFailed(f"a small eigenproblem did not converge ({error}); look for huge or tiny values") from error


def stacked_svd(A: NDArray[np.floating]) -> tuple[Floats, Floats, Floats]:
    """Thin singular value decompositions U, s, V' of a stack (..., m, n)."""
    try:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise SolverFailed(f"a small SVD did not converge ({error}); look for huge or tiny values") from error
    return U, s, Vt


def singular_values(A: NDArray[np.floating]) -> Floats:
    """Singular values, descending, of each matrix of a stack."""
    try:
        return np.asarray(np.linalg.svd(A, compute_uv=False))
    except np.linalg.LinAlgError as error:
        raise SolverFailed(f"a small SVD did not converge ({error}); look for huge or tiny values") from error


def spokes(X: AnyFloats, index: NDArray[np.integer], centres: AnyFloats) -> Floats:
    """x_j - c_i, (m, k, D), in float64, of the rows `index` (m, k) and a centre for each m; copied once."""
    V = X[index].astype(np.float64, copy=False)
    V -= centres[:, None, :]
    return np.asarray(V)
