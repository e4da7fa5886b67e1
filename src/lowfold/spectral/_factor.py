"""Sparse factorisations, counted before they are made.

A symmetric matrix is dissected, the tree of its fronts is walked, and the size of the factor is known before a byte of
it is allocated. Small ones are factored by SuperLU, which needs no loops to be loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from lowfold._core.config import get_config
from lowfold._core.errors import SolverFailed
from lowfold._core.jit import SMALL
from lowfold._core.types import Floats
from lowfold.graph._dissection import Tree, dissect
from lowfold.spectral._cholesky import cholesky

DIRECT_FLOPS = 2e12  # beyond this a factor, at 10 to 20 GFlop/s, takes longer than the iterative solvers
SHARE = 0.8  # of the memory budget may go into one factor


@dataclass(frozen=True, eq=False)
class Fill:
    """What a factorisation will cost: entries of the factor, bytes with its working memory, floating-point operations.

    `tree` is the dissection that was counted; None where counting ended because the factor cannot fit, and for a small
    matrix, whose factor is at most a full triangle.
    """

    entries: float
    bytes: float
    flops: float
    tree: Tree | None

    @property
    def feasible(self) -> bool:
        """Within most of the memory budget, and a sensible time."""
        return self.bytes < SHARE * get_config().memory and self.flops < DIRECT_FLOPS


def count_fill(matrix: csr_array) -> Fill:
    """The size of the factor in nested-dissection order, exactly, zeros inside its fronts included."""
    n = float(matrix.shape[0])
    if n <= SMALL:
        return Fill(entries=n * n / 2, bytes=12 * n * n, flops=n**3 / 3, tree=None)
    limit = SHARE * get_config().memory / 8
    tree = dissect(matrix.indptr, matrix.indices, most_entries=limit, most_work=DIRECT_FLOPS)
    if tree is None:
        return Fill(entries=np.inf, bytes=np.inf, flops=np.inf, tree=None)
    front, stack = tree.room(0, len(tree.start) - 1)
    entries = float(tree.place[-1])
    return Fill(entries=entries, bytes=8 * (entries + 2 * front + stack), flops=float(tree.work.sum()), tree=tree)


def factorise(matrix: csr_array, shift: float, fill: Fill, *, n_jobs: int | None = None) -> Callable[[Floats], Floats]:
    """A function b -> (A + shift I)^-1 b for a symmetric positive semidefinite A; shift > 0."""
    if not fill.feasible:
        size = "would not fit" if np.isinf(fill.bytes) else f"would have {fill.entries:.2g} entries, too many"
        raise SolverFailed(f"the factor {size} for the memory budget or a sensible time; use another solver")
    if fill.tree is None:
        return _by_superlu(matrix, shift)
    return cholesky(matrix, shift, fill.tree, n_jobs=n_jobs)


def _by_superlu(matrix: csr_array, shift: float) -> Callable[[Floats], Floats]:
    """The same for a small matrix; without pivoting, as a positive definite one needs none."""
    shifted = csc_array(matrix + shift * eye_array(matrix.shape[0], format="csr"))
    shifted.indices, shifted.indptr = shifted.indices.astype(np.int32), shifted.indptr.astype(np.int32)
    try:
        factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError as error:  # a pivot of exactly 0
        raise SolverFailed(f"SuperLU found the shifted matrix singular ({error}); try another solver") from error
    return lambda B: np.asarray(factor.solve(np.ascontiguousarray(B)))
