"""Symmetric rows of directed neighbourhoods by SciPy: the union of few points, the other rules of any number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.types import Floats

SUMS_IN_32_BITS = 2**30  # numbers of edges whose sum of two still fits

Rows = tuple[NDArray[Any], NDArray[Any], Floats]


def union(indptr: NDArray[Any], indices: NDArray[Any], distances: Floats) -> Rows:
    """Rows, sorted by index, of i ~ j when either is a neighbour of the other; of two lengths the shorter counts."""
    ends, columns, first, second, _ = _either(indptr, indices, distances)
    return ends, columns, np.minimum(first, second)


def mutual(indptr: NDArray[Any], indices: NDArray[Any], distances: Floats) -> Rows:
    """The same of i ~ j when each is a neighbour of the other."""
    ends, columns, first, second, back = _either(indptr, indices, distances)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(ends))[back]
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(indptr) - 1))])
    return ends, columns[back], np.minimum(first, second)[back]


def average(indptr: NDArray[Any], indices: NDArray[Any], distances: Floats) -> Rows:
    """The union, with the root of the mean of the squared lengths, 0 for a missing direction."""
    ends, columns, first, second, back = _either(indptr, indices, distances)
    return ends, columns, np.sqrt((first**2 + np.where(back, second, 0.0) ** 2) / 2)


def _either(
    indptr: NDArray[Any], indices: NDArray[Any], distances: Floats
) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats, NDArray[np.bool_]]:
    """Rows of the union, the two lengths of every entry, the same twice where there is one, and whether both exist."""
    n = len(indptr) - 1
    # Edges carry their own number, from 1, because SciPy would drop lengths that are zero.
    numbered = np.int32 if len(indices) < SUMS_IN_32_BITS else np.int64
    ids: NDArray[Any] = np.arange(1, len(indices) + 1, dtype=numbered)
    A = csr_array((ids, indices, indptr), shape=(n, n), copy=True)
    A.sort_indices()
    B = csr_array(A.T)
    B.sort_indices()
    either, both = csr_array(A.maximum(B)), csr_array(A + B)
    either.sort_indices()
    both.sort_indices()
    back = both.data - either.data  # the number of the opposite edge, 0 where there is none
    del A, B, both  # of ten million points they are gigabytes
    first = distances[either.data - 1]
    second = np.where(back > 0, distances[np.maximum(back - 1, 0)], first)
    return either.indptr.astype(np.int64), either.indices, first, second, back > 0
