"""Nested dissection of a sparse symmetric pattern, and elimination along its tree.

The graph is cut by separators, recursively (George 1973, doi:10.1137/0710032). Every separator and every leaf is one
node of a tree; its front holds its own vertices and the later ones they touch. A front gathers the pattern's entries
and what its children left over, eliminates its own vertices by dense algebra, and hands the rest to its parent
(multifrontal elimination, Duff & Reid 1983, doi:10.1145/356044.356047). Whole branches of the tree are independent:
they run side by side; the few large fronts of the trunk are cut into blocks instead. The cut does not depend on the
number of threads.

One tree serves two algebras: (+, x) for the Cholesky factors of `spectral`, (min, +) for geodesics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.parallel import run_blocks
from lowfold._core.types import Floats, Ints

LEAF = 8, 64  # vertices of a leaf: two neighbourhoods, which are nearly full anyway, within these limits
BRANCHES = 32  # a branch holds at most this share of the work


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
        """Vertices that a node eliminates."""
        return self.stop - self.start

    @cached_property
    def heights(self) -> Ints:
        """Later vertices that its front holds."""
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


def dissect(indptr: NDArray[Any], indices: NDArray[Any], *, most_entries: float, most_work: float) -> Tree | None:
    """The tree of a symmetric pattern; None where the factor would have more entries or take more work than allowed."""
    indptr, indices = indptr.astype(np.int64), indices.astype(np.int32)
    leaf = int(np.clip(2 * len(indices) // max(len(indptr) - 1, 1), *LEAF))
    loops = compiled("lowfold.graph._dissection_loops")
    order, start, stop, parent = loops.dissect(indptr, indices, leaf, most_entries, most_work)
    if len(start) == 0 and len(order) > 0:
        return None
    by_start = np.argsort(start)  # which puts children before parents
    number = np.empty(len(start) + 1, np.int64)
    number[by_start], number[-1] = np.arange(len(start)), -1
    start, stop, parent = start[by_start], stop[by_start], number[parent[by_start]]
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    pointer, rows, entries, work = loops.boundaries(
        indptr, indices, order, rank, start, stop, parent, most_entries, most_work
    )
    if entries > most_entries or work > most_work:
        return None
    return Tree(order, rank, start, stop, parent, pointer, rows)


def eliminate(
    tree: Tree,
    branch: Callable[[int], NDArray[Any]],
    trunk: Callable[[int, dict[int, NDArray[Any]]], NDArray[Any]],
    *,
    n_jobs: int | None,
) -> None:
    """Visit the whole tree, children first: `branch(root)` for branches side by side, then `trunk(node, left_over)`.

    Both return what they leave over for the parent; `left_over` is that of the node's children, by their numbers.
    """
    roots = tree.branches()
    left_over: dict[int, NDArray[Any]] = {}

    def work(i: int) -> None:
        left_over[roots[i]] = branch(roots[i])

    run_blocks(work, len(roots), n_jobs=n_jobs)
    inside = np.zeros(len(tree.start), dtype=bool)
    for root in roots:
        inside[tree.first[root] : root + 1] = True
    for node in np.flatnonzero(~inside).tolist():
        children = np.flatnonzero(tree.parent[tree.first[node] : node] == node) + tree.first[node]
        left_over[node] = trunk(node, {child: left_over.pop(child) for child in children.tolist()})


__all__ = ["Tree", "dissect", "eliminate"]
