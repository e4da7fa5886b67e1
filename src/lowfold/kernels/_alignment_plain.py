"""The merge of `_alignment_loops` in NumPy, for few points: the same sums in the same order without loading Numba."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats, Ints


def merged(indptr: Ints, members: Ints, factor: Floats, complement: bool, n: int) -> tuple[Floats, Ints, Ints]:
    """Values, columns and pointers of sum_i W_i, from all N K^2 products at once."""
    sizes = np.diff(indptr)
    width = np.repeat(sizes, sizes)  # each member meets the whole patch
    own = np.repeat(np.arange(len(members)), width)
    before = np.cumsum(width) - width
    other = np.arange(len(own)) - np.repeat(before - np.repeat(indptr[:-1], sizes), width)
    products = np.zeros(len(own))
    for c in range(factor.shape[1]):
        products += factor[own, c] * factor[other, c]
    if complement:
        products = -products
        products[own == other] += 1.0
    places, at = np.unique(members[own].astype(np.int64) * n + members[other], return_inverse=True)
    values: Floats = np.bincount(at, products, minlength=len(places)).astype(np.float64)  # in the order of the patches
    counts = np.bincount(places // n, minlength=n)
    return values, (places % n).astype(np.int32), np.concatenate([[0], np.cumsum(counts)])
