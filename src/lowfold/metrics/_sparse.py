"""Distances of sparse rows: products of sparse matrices, with close pairs computed again by direct differences."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from lowfold._core.errors import InvalidInput
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.metrics._metric import Metric

CLOSE = 1e-4  # of |x|^2 + |y|^2: above, the product keeps 1e-12 of the squared distance
PAIRS = 2**16  # differences of rows made at once


def euclidean_block(A: SparseRows, B: SparseRows) -> Floats:
    """d_ij = |a_i - b_j|; rows that are equal get exactly 0."""
    size = A.squares()[:, None] + B.squares()[None, :]
    squared = np.maximum(size - 2 * A.products(B), 0.0)
    i, j = np.nonzero(squared <= CLOSE * size)
    for start in range(0, len(i), PAIRS):
        some = slice(start, start + PAIRS)
        squared[i[some], j[some]] = _squared_differences(A.csr[i[some]], B.csr[j[some]])
    return np.asarray(np.sqrt(squared))


def euclidean_matched(A: SparseRows, B: SparseRows) -> Floats:
    """|a_i - b_i| of matching rows."""
    return np.asarray(np.sqrt(_squared_differences(A.csr, B.csr)))


def cosine_block(A: SparseRows, B: SparseRows) -> Floats:
    """1 - cos of the angle between rows, half the squared distance of rows of length 1."""
    return np.asarray(euclidean_block(_unit(A), _unit(B)) ** 2 / 2)


def cosine_matched(A: SparseRows, B: SparseRows) -> Floats:
    """1 - cos of matching rows."""
    return np.asarray(euclidean_matched(_unit(A), _unit(B)) ** 2 / 2)


def _squared_differences(A: csr_array, B: csr_array) -> Floats:
    difference = csr_array(A.astype(np.float64, copy=False) - B.astype(np.float64, copy=False))
    return np.asarray(difference.multiply(difference).sum(axis=1), dtype=np.float64).ravel()


def _unit(A: SparseRows) -> SparseRows:
    length = np.sqrt(A.squares())
    if (length == 0).any():
        row = int(np.argmin(length))
        raise InvalidInput(f"row {row} of X is all zero and has no direction; metric 'cosine' cannot take it: drop it")
    return SparseRows(csr_array(diags_array(1.0 / length, format="csr") @ A.csr.astype(np.float64, copy=False)))


SPARSE_METRICS = {
    "euclidean": Metric("euclidean", block=euclidean_block, matched=euclidean_matched),  # type: ignore[arg-type]
    "cosine": Metric("cosine", block=cosine_block, matched=cosine_matched),  # type: ignore[arg-type]
}


def sparse_metric(name: object) -> Metric:
    """The metric of that name for sparse rows."""
    if name not in SPARSE_METRICS:
        raise InvalidInput(
            f"sparse rows are compared by metric='euclidean' or 'cosine'; got {name!r}: use one of these, or reduce "
            "the rows first (PCA takes sparse ones)"
        )
    return SPARSE_METRICS[str(name)]
