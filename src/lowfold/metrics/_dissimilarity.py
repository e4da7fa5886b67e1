"""Matrices of dissimilarities that did not come from points: several into one, similarities into distances.

A zero is a distance of zero, NaN is unmeasured, inf is no path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.types import AnyFloats
from lowfold.metrics._pairwise import pairwise

# Of k(x, x) + k(y, y), below 0: what k(x, x) + k(y, y) - 2 k(x, y) loses by cancellation in a kernel computed so.
ROUNDING = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}


def squared_distances(Y: object, X: object = None) -> AnyFloats:
    """s_ij = ||y_i - x_j||^2 for rows of Y and X (X = Y when left out): symmetric then, with a zero diagonal.

    Wang (2012), Section 3.1.2, eqs. (3.3) and (3.4), without their cancellation: close rows are computed directly.

    >>> squared_distances([[0.0, 0.0], [3.0, 4.0]], [[0.0, 1.0]])
    array([[ 1.],
           [18.]])
    """
    d = pairwise(Y, X)
    np.multiply(d, d, out=d)
    return d


def kernel_distance(K: AnyFloats, k_rows: AnyFloats, k_columns: AnyFloats, *, squared: bool = False) -> AnyFloats:
    """Distances in the feature space of a kernel: d_ij^2 = k(x_i, x_i) + k(y_j, y_j) - 2 k(x_i, y_j).

    K is (m, n); `k_rows` (m,) and `k_columns` (n,) hold each point's kernel with itself. A NaN stays NaN.
    """
    K = np.asarray(K)
    if K.dtype not in (np.float32, np.float64):
        K = K.astype(np.float64)
    rows, columns = np.asarray(k_rows, dtype=K.dtype), np.asarray(k_columns, dtype=K.dtype)
    if K.ndim != 2 or K.shape != (*rows.shape, *columns.shape):
        raise InvalidInput(
            f"K must have one row per entry of k_rows and one column per entry of k_columns; "
            f"got {K.shape}, {rows.shape}, {columns.shape}"
        )
    if np.isinf(K).any() or np.isinf(rows).any() or np.isinf(columns).any():
        raise InvalidInput("similarities must be finite, NaN where unmeasured; K holds infinity")
    d2 = rows[:, None] + columns[None, :] - 2 * K
    slack = ROUNDING[K.dtype] * (np.abs(rows)[:, None] + np.abs(columns)[None, :])
    wrong = np.argwhere(d2 < -slack)
    if len(wrong):
        i, j = (int(x) for x in wrong[0])
        raise InvalidInput(
            f"K is not a kernel: k_ii + k_jj - 2 k_ij = {d2[i, j]:.4g} < 0 for i = {i}, j = {j} ({len(wrong)} pairs); "
            "a similarity must be positive semidefinite: check it, or shift its diagonal"
        )
    d2 = np.maximum(d2, 0)
    return d2 if squared else np.sqrt(d2)


def similarity_to_distance(K: object, *, squared: bool = False) -> AnyFloats:
    """Distances from a matrix of similarities (covariance type): d_ij^2 = k_ii + k_jj - 2 k_ij.

    >>> similarity_to_distance([[1.0, 0.0], [0.0, 1.0]], squared=True)
    array([[0., 2.],
           [2., 0.]])
    """
    S = _matrix(K, "K")
    diagonal = np.diagonal(S)
    d = kernel_distance(S, diagonal, diagonal, squared=squared)
    np.fill_diagonal(d, np.where(np.isnan(diagonal), np.nan, 0))
    return d


def compose(
    matrices: Sequence[object],
    weights: Sequence[float] | None = None,
    normalize: Literal["mean", "max"] | None = None,
) -> NDArray[np.float64]:
    """One dissimilarity from several: d_ij = sum_k w_k d_ij^(k) / sum_k w_k, over those k that measured the pair.

    Mileage, price and flying time, known only where a direct flight exists, become one matrix: NaN (or an entry absent
    from a sparse matrix) is unmeasured and takes no part; a pair that no matrix measured is NaN. `normalize` first
    divides each matrix by the mean or the largest of its measured off-diagonal entries: units do not matter then.

    >>> import numpy as np
    >>> miles, hours = [[0.0, 100.0], [100.0, 0.0]], [[0.0, np.nan], [2.0, 0.0]]
    >>> compose([miles, hours], normalize="max")
    array([[0., 1.],
           [1., 0.]])
    """
    if normalize not in (None, "mean", "max"):
        raise InvalidInput(f"normalize must be None, 'mean' or 'max'; got {normalize!r}")
    stack = [_matrix(matrix, f"matrices[{k}]") for k, matrix in enumerate(matrices)]
    if not stack or any(len(matrix) != len(stack[0]) for matrix in stack):
        raise InvalidInput(
            f"matrices must be one or more square matrices of one size; got {[len(matrix) for matrix in stack]}"
        )
    w = np.ones(len(stack)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (len(stack),) or not np.isfinite(w).all() or not (w >= 0).all() or not w.any():
        raise InvalidInput(f"weights must be {len(stack)} numbers of at least 0, not all 0; got {weights!r}")
    total, weight = np.zeros(stack[0].shape), np.zeros(stack[0].shape)
    for k, (matrix, w_k) in enumerate(zip(stack, w, strict=True)):
        if (matrix < 0).any():
            raise InvalidInput(f"matrices[{k}] has a negative entry; dissimilarities are at least 0")
        measured = ~np.isnan(matrix) if w_k > 0 else np.zeros(matrix.shape, dtype=bool)
        total[measured] += w_k * _in_units(matrix, normalize, k)[measured]
        weight[measured] += w_k
    d = np.full(total.shape, np.nan)
    np.divide(total, weight, out=d, where=weight > 0)
    return d


def _in_units(matrix: AnyFloats, normalize: str | None, k: int) -> AnyFloats:
    """The matrix divided by its mean or largest measured off-diagonal entry."""
    if normalize is None:
        return matrix
    entries = matrix[~np.eye(len(matrix), dtype=bool)]
    entries = entries[np.isfinite(entries)]
    unit = float(entries.mean() if normalize == "mean" else entries.max()) if entries.size else 0.0
    if unit <= 0:
        raise InvalidInput(f"matrices[{k}] has no positive measured entry, so it cannot be normalised: leave it out")
    return matrix / unit


def _matrix(value: object, name: str) -> AnyFloats:
    """A square float64 (or float32) matrix; entries absent from a sparse one are NaN."""
    if hasattr(value, "tocoo"):
        sparse: Any = value.tocoo()
        dense = np.full(sparse.shape, np.nan)
        dense[sparse.row, sparse.col] = sparse.data
    else:
        dense = np.asarray(value)
        dense = dense if dense.dtype in (np.float32, np.float64) else dense.astype(np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise InvalidInput(f"{name} must be a square matrix; got shape {dense.shape}")
    return dense


def asymmetry(D: AnyFloats, *, n_jobs: int | None = 1) -> float:
    """max |D - D'| over pairs measured in both directions, by pairs of tiles that fit the cache.

    >>> asymmetry(np.array([[0.0, 1.0], [1.5, 0.0]]))
    0.5
    """
    tiles = block_slices(len(D), 256)
    worst = np.zeros(len(tiles))

    def work(i: int) -> None:
        for b in tiles[i:]:
            there, back = D[tiles[i], b], D[b, tiles[i]].T
            both = np.isfinite(there) & np.isfinite(back)
            uneven = np.subtract(there, back, where=both, out=np.zeros(there.shape))
            worst[i] = max(worst[i], float(np.abs(uneven).max()))

    run_blocks(work, len(tiles), n_jobs=n_jobs)
    return float(worst.max(initial=0.0))
