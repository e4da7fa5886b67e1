"""Sparse Cholesky factors by dense fronts on the tree of a nested dissection.

The matrix is cut by separators, recursively (George 1973, doi:10.1137/0710032). Every separator and every leaf is one
node of a tree; its front holds its own columns and the later rows they touch. A front adds up the matrix's entries and
what its children left over, eliminates its own columns by dense algebra, and hands the rest to its parent (multifrontal
elimination, Duff & Reid 1983, doi:10.1145/356044.356047). Whole branches of the tree are independent: they run side by
side; the few large fronts of the trunk are cut into blocks instead. The cut does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.types import Floats, Ints

LEAF = 8, 64  # vertices of a leaf: two neighbourhoods, which are nearly full anyway, within these limits
BRANCHES = 32  # a branch holds at most this share of the work
WIDE = 128  # columns of a trunk front that are eliminated at a time
ROWS = 512  # rows, or columns, of a trunk front in one block of work


@dataclass(frozen=True, eq=False)
class Tree:
    """A dissection: elimination order, its nodes (children before parents), and the later rows each node touches."""

    order: Ints
    rank: NDArray[np.int32]  # where each vertex stands in the order
    start: Ints
    stop: Ints
    parent: Ints
    pointer: Ints
    rows: NDArray[np.int32]

    @cached_property
    def children(self) -> Ints:
        return np.bincount(self.parent[self.parent >= 0], minlength=len(self.start))

    @cached_property
    def widths(self) -> Ints:
        """Columns that a node eliminates."""
        return self.stop - self.start

    @cached_property
    def heights(self) -> Ints:
        """Rows below them."""
        return np.diff(self.pointer)

    @cached_property
    def place(self) -> Ints:
        """Where each node's columns begin in the factor."""
        return np.concatenate([[0], np.cumsum(self.widths * (self.widths + self.heights))])

    @cached_property
    def work(self) -> Floats:
        """Multiplications and additions of each node."""
        w, b = self.widths.astype(np.float64), self.heights.astype(np.float64)
        return w**3 / 3 + w * w * b + w * b * b

    @cached_property
    def first(self) -> Ints:
        """The first node of the branch under each node; a branch is a consecutive run of nodes."""
        first = np.arange(len(self.start))
        for node, parent in enumerate(self.parent):
            if parent >= 0:
                first[parent] = min(first[parent], first[node])
        return first

    def room(self, first: int, last: int) -> tuple[int, int]:
        """Entries of the largest front and of the stack of leftovers while the branch first..last is factored."""
        stack: list[int] = []
        now = most = 0
        for node in range(first, last + 1):
            for _ in range(self.children[node]):
                now -= stack.pop()
            stack.append(int(self.heights[node]) ** 2)
            now += stack[-1]
            most = max(most, now)
        return int(((self.widths + self.heights)[first : last + 1] ** 2).max(initial=0)), most

    def branches(self) -> list[int]:
        """The roots of the branches that are factored side by side: none has more than a share of the work."""
        before = np.concatenate([[0.0], np.cumsum(self.work)])
        total = before[1:] - before[self.first]
        share = float(self.work.sum()) / BRANCHES
        roots = []
        for node in range(len(self.start) - 1, -1, -1):
            whole_above = self.parent[node] >= 0 and total[self.parent[node]] <= share
            if total[node] <= share and not whole_above:
                roots.append(node)
        return roots[::-1]


def dissect(matrix: csr_array, *, most_entries: float, most_work: float) -> Tree | None:
    """The tree of a symmetric pattern; None where the factor would have more entries or take more work than allowed."""
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    leaf = int(np.clip(2 * len(indices) // max(len(indptr) - 1, 1), *LEAF))
    cut = compiled("lowfold.spectral._order_loops").dissect
    order, start, stop, parent = cut(indptr, indices, leaf, most_entries, most_work)
    if len(start) == 0 and len(order) > 0:
        return None
    by_start = np.argsort(start)  # which puts children before parents
    number = np.empty(len(start) + 1, np.int64)
    number[by_start], number[-1] = np.arange(len(start)), -1
    start, stop, parent = start[by_start], stop[by_start], number[parent[by_start]]
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    loops = compiled("lowfold.spectral._cholesky_loops")
    pointer, rows, entries, work = loops.boundaries(
        indptr, indices, order, rank, start, stop, parent, most_entries, most_work
    )
    if entries > most_entries or work > most_work:
        return None
    return Tree(order, rank, start, stop, parent, pointer, rows)


def cholesky(matrix: csr_array, shift: float, tree: Tree, *, n_jobs: int | None) -> Callable[[Floats], Floats]:
    """A function B -> (A + shift I)^-1 B for a symmetric positive semidefinite A with the tree's pattern.

    Pivots that rounding has pushed below 1e-16 of the largest diagonal entry are raised to it.
    """
    L = np.empty(int(tree.place[-1]))
    front = _Fronts(matrix, shift, tree, L, n_jobs)
    roots = tree.branches()
    left_over: dict[int, Floats] = {}

    def branch(i: int) -> None:
        left_over[roots[i]] = front.branch(roots[i])

    run_blocks(branch, len(roots), n_jobs=n_jobs)
    inside = np.zeros(len(tree.start), dtype=bool)
    for root in roots:
        inside[tree.first[root] : root + 1] = True
    for node in np.flatnonzero(~inside).tolist():
        children = np.flatnonzero(tree.parent[tree.first[node] : node] == node) + tree.first[node]
        left_over[node] = front.trunk(node, {child: left_over.pop(child) for child in children.tolist()})
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
        self.floor = 1e-16 * (float(np.abs(matrix.diagonal()).max(initial=0.0)) + shift)

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


__all__ = ["Tree", "cholesky", "dissect"]
