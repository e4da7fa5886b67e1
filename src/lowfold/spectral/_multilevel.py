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

from lowfold._core.jit import compiled
from lowfold._core.operators import multiply
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.types import Floats
from lowfold.spectral._factor import count_fill, factorise

LOW, HIGH, STEPS = 0.07, 2.0, 5  # the smoother's part of the spectrum of D^-1 A, and its multiplications
# Of the largest diagonal entry, added to the coarse matrix: a component's constant is in its null space, where a factor
# would divide by rounding. A preconditioner need not be exact: above that rounding, as small as can be.
RIDGE = 1e-10


@dataclass(frozen=True, eq=False)
class TwoLevel:
    """`precondition` approximates the inverse on the complement of the null vector; `start` gives a coarse solution."""

    precondition: Callable[[Floats], Floats]
    start: Callable[[Floats], Floats]


def near_order(matrix: csr_array) -> NDArray[np.int32]:
    """An order with neighbours near one another (reverse Cuthill-McKee), so that products find them in the cache."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = csr_array((matrix.data, narrow(matrix.indices), narrow(matrix.indptr)), shape=matrix.shape)
    return np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True), dtype=np.int32)


def narrow(index: NDArray[np.integer]) -> NDArray[np.int32]:
    """Indices in 32 bits, as SciPy's graph routines want them and products read them soonest; no copy if they are."""
    return index.astype(np.int32, copy=False)


def two_level(matrix: csr_array, null: Floats, *, n_jobs: int | None = None) -> TwoLevel:
    """Build the preconditioner of a psd matrix with non-positive off-diagonal entries and null vector `null` > 0."""
    n = int(matrix.shape[0])
    loops = compiled("lowfold.spectral._order_loops")
    label, count = loops.aggregate(narrow(matrix.indptr), narrow(matrix.indices))
    weight = np.sqrt(np.bincount(label, null**2, minlength=count))
    tentative = csr_array((null / weight[label], label, np.arange(n + 1)), shape=(n, count))
    diagonal = matrix.diagonal()
    inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
    step = (2.0 / 3.0) * inverse  # 4/3 over the spectral radius of D^-1 A, which is at most 2
    prolong = csr_array(tentative - diags_array(step, format="csr") @ (matrix @ tentative))
    restrict = csr_array(prolong.T)
    coarse = csr_array(restrict @ matrix @ prolong)
    coarse = csr_array((coarse + coarse.T) / 2)
    solve = factorise(coarse, shift=RIDGE * float(diagonal.max()), fill=count_fill(coarse), n_jobs=n_jobs)

    smooth = _chebyshev(matrix, inverse, n_jobs)

    def precondition(R: Floats) -> Floats:
        X = smooth(R, np.zeros_like(R))
        X += prolong @ solve(np.ascontiguousarray(restrict @ (R - multiply(matrix, X, n_jobs=n_jobs))))
        return smooth(R, X)

    mass = csr_array(restrict @ prolong)
    constant = weight[:, None] / np.sqrt(weight @ (mass @ weight))  # prolongs to the null vector

    def start(block: Floats) -> Floats:
        U = restrict @ block
        for _ in range(4):  # inverse iteration on the aggregates costs a few milliseconds
            U = U - constant @ (constant.T @ (mass @ U))
            U, _ = np.linalg.qr(solve(np.ascontiguousarray(mass @ U)))
        return np.asarray(prolong @ U)

    return TwoLevel(precondition, start)


def _chebyshev(matrix: csr_array, inverse: Floats, n_jobs: int | None) -> Callable[[Floats, Floats], Floats]:
    """Chebyshev smoothing of the upper part of the spectrum of D^-1 A, from a first guess X.

    The wanted vectors lie far below, where the graph of aggregates takes over; multiplications are cheap beside the
    orthogonalisation of an outer iteration, so a strong smoother pays.
    """
    loops = compiled("lowfold._core._product_loops")
    indptr, indices = narrow(matrix.indptr), narrow(matrix.indices)
    rows = block_slices(int(matrix.shape[0]), -(-int(matrix.shape[0]) // 4))
    centre, half = (HIGH + LOW) / 2, (HIGH - LOW) / 2

    def smooth(R: Floats, X: Floats) -> Floats:
        P, spare = np.zeros_like(R), np.empty_like(R)
        alpha, beta = 1.0 / centre, 0.0
        for step in range(STEPS):
            if step > 0:
                beta = (half * alpha) ** 2 / (2 if step == 1 else 4)
                alpha = 1.0 / (centre - beta / alpha)

            def work(i: int, X: Floats = X, out: Floats = spare, alpha: float = alpha, beta: float = beta) -> None:
                a, b = rows[i].start, rows[i].stop
                loops.smoothing_step(indptr, indices, matrix.data, inverse, R, X, P, alpha, beta, a, b, out)

            run_blocks(work, len(rows), n_jobs=n_jobs)
            X, spare = spare, X
        return X

    return smooth
