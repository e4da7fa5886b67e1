"""Sparse factorisations, counted before they are made.

A symmetric matrix is dissected, the tree of its fronts is walked, and the size of the factor is known before a byte of
it is allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.config import get_config
from lowfold._core.errors import SolverFailed
from lowfold._core.types import Floats
from lowfold.graph._dissection import Tree, dissect
from lowfold.spectral._cholesky import cholesky

DIRECT_FLOPS = 2e12  # beyond this a factor, at 10 to 20 GFlop/s, takes longer than the iterative solvers
SHARE = 0.8  # of the memory budget may go into one factor


@dataclass(frozen=True, eq=False)
class Fill:
    """What a factorisation will cost: entries of the factor, bytes with its working memory, floating-point operations.

    `tree` is the dissection that was counted; None where counting ended because the factor cannot fit.
    """

    entries: float
    bytes: float
    flops: float
    tree: Tree | None

    @property
    def feasible(self) -> bool:
        """Within most of the memory budget, and a sensible time."""
        return self.tree is not None and self.bytes < SHARE * get_config().memory and self.flops < DIRECT_FLOPS


def count_fill(matrix: csr_array) -> Fill:
    """The size of the factor in nested-dissection order, exactly, zeros inside its fronts included."""
    limit = SHARE * get_config().memory / 8
    tree = dissect(matrix.indptr, matrix.indices, most_entries=limit, most_work=DIRECT_FLOPS)
    if tree is None:
        return Fill(entries=np.inf, bytes=np.inf, flops=np.inf, tree=None)
    front, stack = tree.room(0, len(tree.start) - 1)
    entries = float(tree.place[-1])
    return Fill(entries=entries, bytes=8 * (entries + 2 * front + stack), flops=float(tree.work.sum()), tree=tree)


def factorise(matrix: csr_array, shift: float, fill: Fill, *, n_jobs: int | None = None) -> Callable[[Floats], Floats]:
    """A function b -> (A + shift I)^-1 b for a symmetric positive semidefinite A; shift > 0."""
    if fill.tree is None or not fill.feasible:
        size = "would not fit" if fill.tree is None else f"would have {fill.entries:.2g} entries, too many"
        raise SolverFailed(f"the factor {size} for the memory budget or a sensible time; use another solver")
    return cholesky(matrix, shift, fill.tree, n_jobs=n_jobs)
