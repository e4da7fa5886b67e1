"""Sparse Cholesky factors by dense fronts on the tree of a nested dissection.

The elimination tree and the walk along it are `graph._dissection`'s; here a front eliminates its columns by dense
algebra in (+, x).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.rounding import PIVOT
from lowfold._core.types import Floats
from lowfold.graph._dissection import Tree, eliminate

WIDE = 128  # columns of a trunk front that are eliminated at a time
ROWS = 512  # rows, or columns, of a trunk front in one block of work


def cholesky(matrix: csr_array, shift: float, tree: Tree, *, n_jobs: int | None) -> Callable[[Floats], Floats]:
    """A function B -> (A + shift I)^-1 B for a symmetric positive semidefinite A with the tree's pattern.

    Pivots that rounding has pushed below 1e-16 of the largest diagonal entry are raised to it.
    """
    L = np.empty(int(tree.place[-1]))
    front = _Fronts(matrix, shift, tree, L, n_jobs)
    eliminate(tree, front.branch, front.trunk, n_jobs=n_jobs)
    loops = compiled("lowfold.spectral._cholesky_loops")
    parts = (tree.start, tree.stop, tree.pointer, tree.rows, tree.place, L)

    def solve(B: Floats) -> Floats:
        X = np.ascontiguousarray(B[tree.order].reshape(len(tree.order), -1), dtype=np.float64)
        loops.forward(*parts, X)
        loops.backward(*parts, X)
        out = np.empty_like(X)
        out[tree.order] = X
        return out.reshape(B.shape)

    return solve


class _Fronts:
    """The dense work of one factorisation."""

    def __init__(self, matrix: csr_array, shift: float, tree: Tree, L: Floats, n_jobs: int | None) -> None:
        self.tree, self.L, self.n_jobs = tree, L, n_jobs
        self.loops: Any = compiled("lowfold.spectral._cholesky_loops")
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        self.matrix = (indptr, indices, matrix.data.astype(np.float64, copy=False), shift, tree.order, tree.rank)
        self.floor = PIVOT * (float(np.abs(matrix.diagonal()).max(initial=0.0)) + shift)

    def branch(self, root: int) -> Floats:
        """Factor a whole branch; returns what its root leaves over."""
        t = self.tree
        first = int(t.first[root])
        left_over: Floats = self.loops.factor_branch(
            *self.matrix, t.start, t.stop, t.children, t.pointer, t.rows, t.place, self.L, first, root,
            *t.room(first, root), self.floor,
        )  # fmt: skip
        return left_over

    def trunk(self, node: int, left_over: dict[int, Floats]) -> Floats:
        """Factor one front, its blocks side by side; `left_over` is that of its children."""
        t, loops = self.tree, self.loops
        rows = t.rows[t.pointer[node] : t.pointer[node + 1]]
        width = int(t.widths[node])
        m = width + len(rows)
        F, where = np.empty((m, m)), np.empty(len(t.order), np.int32)
        loops.assemble(*self.matrix, t.start[node], t.stop[node], rows, where, F)
        for child, rest in left_over.items():
            loops.extend_add(rest, t.rows[t.pointer[child] : t.pointer[child + 1]], where, F)
        for first in range(0, width, WIDE):
            last = min(first + WIDE, width)
            loops.eliminate_square(F, first, last, self.floor)
            below = [slice(last + part.start, last + part.stop) for part in block_slices(m - last, ROWS)]

            def eliminate(i: int, first: int = first, last: int = last, below: list[slice] = below) -> None:
                loops.eliminate_rows(F, first, last, below[i].start, below[i].stop)

            def update(i: int, first: int = first, last: int = last, below: list[slice] = below) -> None:
                loops.update_columns(F, first, last, below[i].start, below[i].stop)

            run_blocks(eliminate, len(below), n_jobs=self.n_jobs)
            run_blocks(update, len(below), n_jobs=self.n_jobs)
        loops.store(F, width, self.L[t.place[node] : t.place[node + 1]])
        return np.ascontiguousarray(F[width:, width:])


__all__ = ["cholesky"]
