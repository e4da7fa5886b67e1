"""A two-level preconditioner for graph Laplacians: smooth, correct on the graph of aggregates, smooth.

The aggregates are neighbourhoods; prolongation is the null vector cut along them and smoothed once (smoothed
aggregation, Vanek, Mandel & Brezina 1996, doi:10.1007/BF02238511). The coarse matrix is small enough to be factored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lowfold._core.jit import kernels
from lowfold._core.operators import multiply
from lowfold.spectral._factor import count_fill, factorise

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoLevel:
    """`precondition` approximates the inverse on the complement of the null vector; `start` gives a coarse solution."""

    precondition: Callable[[Floats], Floats]
    start: Callable[[Floats], Floats]


def two_level(matrix: csr_array, null: Floats) -> TwoLevel:
    """Build the preconditioner of a psd matrix with non-positive off-diagonal entries and null vector `null` > 0."""
    n = int(matrix.shape[0])
    loops = kernels("lowfold.spectral._order_kernels")
    label, count = loops.aggregate(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))
    weight = np.sqrt(np.bincount(label, null**2, minlength=count))
    tentative = csr_array((null / weight[label], label, np.arange(n + 1)), shape=(n, count))
    diagonal = matrix.diagonal()
    inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
    step = (2.0 / 3.0) * inverse  # 4/3 over the spectral radius of D^-1 A, which is at most 2
    prolong = csr_array(tentative - diags_array(step, format="csr") @ (matrix @ tentative))
    restrict = csr_array(prolong.T)
    coarse = csr_array(restrict @ matrix @ prolong)
    coarse = csr_array((coarse + coarse.T) / 2)
    solve = factorise(coarse, shift=1e-10 * float(diagonal.max()), fill=count_fill(coarse))

    def precondition(R: Floats) -> Floats:
        X = smooth(R)
        X += prolong @ solve(np.ascontiguousarray(restrict @ (R - multiply(matrix, X))))
        X += smooth(R - multiply(matrix, X))
        return np.asarray(X)

    smooth = _chebyshev(matrix, inverse)
    mass = csr_array(restrict @ prolong)
    constant = weight[:, None] / np.sqrt(weight @ (mass @ weight))  # prolongs to the null vector

    def start(block: Floats) -> Floats:
        U = restrict @ block
        for _ in range(4):  # inverse iteration on the aggregates costs a few milliseconds
            U = U - constant @ (constant.T @ (mass @ U))
            U, _ = np.linalg.qr(solve(np.ascontiguousarray(mass @ U)))
        return np.asarray(prolong @ U)

    return TwoLevel(precondition, start)


def _chebyshev(matrix: csr_array, inverse: Floats) -> Callable[[Floats], Floats]:
    """Chebyshev smoothing of the upper part [1/4, 2] of the spectrum of D^-1 A; two multiplications.

    The wanted vectors lie far below, where the graph of aggregates takes over; multiplications are cheap beside the
    orthogonalisation of an outer iteration, so a strong smoother pays.
    """
    low, high = 0.25, 2.0
    centre, half = (high + low) / 2, (high - low) / 2

    def smooth(R: Floats) -> Floats:
        scale = inverse[:, None]
        P = scale * R / centre
        X = P.copy()
        alpha = 1.0 / centre
        for _ in range(2):
            beta = (half * alpha / 2) ** 2
            alpha = 1.0 / (centre - beta / alpha)
            P = alpha * scale * (R - multiply(matrix, X)) + beta * P
            X += P
        return np.asarray(X)

    return smooth
