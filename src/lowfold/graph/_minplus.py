"""Shortest paths as a factorisation: nested dissection in the (min, +) algebra.

Eliminating a vertex of an undirected graph keeps the distances among the others once its neighbours are joined by
min(d_ij, d_ik + d_kj): Gaussian elimination with (min, +) for (+, x). Along the tree of a nested dissection the fronts
stay small, O(N^1.5) numbers on a surface, and a column of the distance matrix is a solve with the factor: up the tree
from its source, then down to every vertex, some 60 additions per pair on a surface, in dense blocks. Carre (1971),
doi:10.1093/imamat/7.3.273; Lipton, Rose & Tarjan (1979), doi:10.1137/0716027.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.config import get_config
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress, block_slices, run_blocks
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._dissection import Tree, dissect, eliminate
from lowfold.graph._path_task import Rows, anchors
from lowfold.graph._units import Units

Labels = NDArray[Any]  # int32 or float64

PAIRS = 4_000_000  # below so many distances the sweeps end before the fronts are made
EDGE = 16.0  # additions of the elimination in the time in which a sweep looks at one edge
DISSECTING = 200.0  # additions over n^1.5 in the time of a dissection: measured on sheets of 20,000 to 400,000 points
SHARE = 0.25  # of the memory budget may go into the fronts
ROWS = 256  # rows of a trunk front in one block of work
GROUPS = 16  # of panels, each with sums of its own: fixed, so that the number of threads changes no bit
# Batches of a block at most, so that Ctrl-C is heard; blocks at least, so that threads end together.
BATCHES, BLOCKS = 16, 8


class Work(NamedTuple):
    """Additions: once for the factor, and for each row of distances."""

    factor: float
    row: float


def count_work(tree: Tree) -> Work:
    """Counted on the tree: w (w + b)^2 for a front that eliminates w vertices and keeps b; w (w + b) up, w b down."""
    w, b = tree.widths.astype(np.float64), tree.heights.astype(np.float64)
    up = w * (w + b)
    for node in range(len(w) - 1, -1, -1):  # a row climbs through all ancestors
        if tree.parent[node] >= 0:
            up[node] += up[tree.parent[node]]
    return Work(float((w * (w + b) ** 2).sum()), float((w * b).sum() + (w * up).sum() / max(len(tree.order), 1)))


def factor_bytes(tree: Tree, itemsize: int) -> float:
    """What the fronts take: those that are kept, the largest at work, and what waits for its parent."""
    front, stack = tree.room(0, len(tree.start) - 1)
    return float(itemsize) * (float(tree.place[-1]) + 2 * front + stack)


def worthwhile(indptr: Ints, indices: NDArray[np.int32], n_rows: int, itemsize: int, *, any_cost: bool) -> Tree | None:
    """The tree, where elimination takes less time than sweeps for so many rows and its fronts fit; or at any cost."""
    n = len(indptr) - 1
    if n == 0 or (not any_cost and n_rows * n < PAIRS):
        return None
    entries = SHARE * get_config().memory / itemsize
    sweeps = EDGE * n_rows * len(indices)
    if not any_cost and sweeps < DISSECTING * n**1.5:
        return None
    tree = dissect(indptr, indices, most_entries=entries, most_work=np.inf if any_cost else sweeps)
    if tree is None or any_cost:
        return tree
    work = count_work(tree)
    return tree if work.factor + n_rows * work.row < sweeps else None


@dataclass(frozen=True, eq=False)
class PathFactor:
    """A graph eliminated: for each node distances through its own branch, among its vertices and to the later ones."""

    tree: Tree
    F: Labels
    units: Units

    @property
    def n(self) -> int:
        return len(self.tree.order)

    @cached_property
    def every(self) -> NDArray[np.int32]:
        return np.arange(len(self.tree.order), dtype=np.int32)

    @cached_property
    def node_of(self) -> NDArray[np.int32]:
        """The node of each rank."""
        return np.repeat(np.arange(len(self.tree.start), dtype=np.int32), self.tree.widths)

    @property
    def lanes(self) -> int:
        """Sources that share a batch."""
        return int(compiled("lowfold.graph._path_loops").lanes_of(self.units.dtype))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The tree for the compiled loops."""
        t = self.tree
        return t.start, t.stop, t.parent, t.pointer, t.rows, t.place

    def ancestors(self, ranks: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The nodes that hold these vertices, and all above them."""
        wanted = np.zeros(len(self.tree.start), np.bool_)
        wanted[self.node_of[ranks]] = True
        for node in range(len(wanted)):
            if wanted[node] and self.tree.parent[node] >= 0:
                wanted[self.tree.parent[node]] = True
        return wanted

    def solve(
        self,
        seeds: Rows,
        columns: NDArray[np.int32] | None,
        limit: Any,
        out: AnyFloats,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """out[r, j] = distance from the seed set r to the vertex columns[j] (None: all), inf beyond `limit`.

        Rows that begin close together in the tree share a batch; nodes without columns at or below them are left out.
        """
        tree, units, loops = self.tree, self.units, compiled("lowfold.graph._minplus_loops")
        seeds = seeds._replace(indices=tree.rank[seeds.indices])
        by_place = np.argsort(anchors(seeds), kind="stable")
        batches = np.full((-(-len(by_place) // self.lanes), self.lanes), -1, np.int64)
        batches.reshape(-1)[: len(by_place)] = by_place
        ranks = tree.rank if columns is None else tree.rank[columns]
        wanted = np.ones(len(tree.start), np.bool_) if columns is None else self.ancestors(ranks)
        blocks = block_slices(len(batches), max(1, min(BATCHES, len(batches) // BLOCKS)))
        fixed = (self.arrays, self.F, self.every, self.node_of, tuple(seeds))

        def work(i: int) -> None:
            labels = aligned((len(tree.order), self.lanes), units.dtype)
            loops.eliminated_batches(
                *fixed, batches[blocks[i]], ranks, wanted, limit, units.far, units.unit, labels, out
            )

        run_blocks(work, len(blocks), n_jobs=n_jobs, progress=progress)

    def distances(self, sources: Ints, targets: Ints | None = None, *, n_jobs: int | None = None) -> Floats:
        """Rows of distances in float64, from some vertices to some or all."""
        seeds = Rows(np.arange(len(sources) + 1), sources.astype(np.int32), np.zeros(len(sources), self.units.dtype))
        columns = None if targets is None else targets.astype(np.int32)
        out = np.empty((len(sources), len(self.tree.order) if targets is None else len(targets)))
        self.solve(seeds, columns, self.units.limit(np.inf), out, n_jobs=n_jobs)
        return out

    def times(self, V: Floats, power: int, shift: float, *, n_jobs: int | None = None) -> Floats:
        """P V for P = (D + shift)^power off the diagonal; distances are made and forgotten."""
        groups = self.groups()
        parts = np.zeros((len(groups), self.n, -(-V.shape[1] // 8) * 8))
        W = self.by_rank(V)

        def work(i: int) -> None:
            self.add_panels(groups[i], W, power, shift, parts[i])

        run_blocks(work, len(groups), n_jobs=n_jobs)
        return self.from_rank(parts.sum(axis=0), V.shape[1])

    def groups(self) -> list[Ints]:
        """Panels that are summed together: each holds the distances from `lanes` vertices to all that come later."""
        panels = -(-self.n // self.lanes)
        return [np.arange(group, panels, GROUPS) for group in range(min(GROUPS, panels))]

    def by_rank(self, V: Floats) -> Floats:
        """Rows in the order of the tree, columns filled up to whole blocks."""
        W = np.zeros((self.n, -(-V.shape[1] // 8) * 8))
        W[:, : V.shape[1]] = V[self.tree.order]
        return W

    def from_rank(self, W: Floats, columns: int) -> Floats:
        """The first columns, in the order of the vertices."""
        out = np.empty((self.n, columns))
        out[self.tree.order] = W[:, :columns]
        return out

    def add_panels(self, panels: Ints, W: Floats, power: int, shift: float, out: Floats) -> None:
        """Add the share of some panels in P W to `out`; rows by rank."""
        seeds = np.arange(self.n + 1), self.every, np.zeros(self.n, self.units.dtype)
        wanted = np.ones(len(self.tree.start), np.bool_)
        labels = aligned((self.n, self.lanes), self.units.dtype)
        compiled("lowfold.graph._minplus_loops").times_panels(
            self.arrays, self.F, self.every, self.node_of, seeds, wanted, panels, power, shift, self.units.unit,
            self.units.far, W, labels, out,
        )  # fmt: skip


def factorise(tree: Tree, edges: Rows, units: Units, *, n_jobs: int | None) -> PathFactor:
    """Eliminate every vertex of an undirected graph, (indptr, indices, lengths in units), along its tree."""
    factor = PathFactor(tree, np.empty(int(tree.place[-1]), units.dtype), units)
    fronts = _Fronts(factor, edges, n_jobs)
    eliminate(tree, fronts.branch, fronts.trunk, n_jobs=n_jobs)
    return factor


class _Fronts:
    """The dense work of one factorisation."""

    def __init__(self, factor: PathFactor, edges: Rows, n_jobs: int | None) -> None:
        self.factor, self.tree, self.n_jobs = factor, factor.tree, n_jobs
        self.loops: Any = compiled("lowfold.graph._minplus_loops")
        self.graph = (*edges, self.tree.order, self.tree.rank)

    def branch(self, root: int) -> Labels:
        """Eliminate a whole branch; returns what its root leaves over."""
        t, f = self.tree, self.factor
        first = int(t.first[root])
        largest = int((t.widths + t.heights)[first : root + 1].max())
        left_over: Labels = self.loops.factor_branch(
            *self.graph, t.start, t.stop, t.children, t.pointer, t.rows, t.place, f.F, first, root, largest,
            t.room(first, root)[1], f.units.far, f.every,
        )  # fmt: skip
        return left_over

    def trunk(self, node: int, left_over: dict[int, Labels]) -> Labels:
        """Eliminate one front, its blocks of rows side by side; `left_over` is that of its children."""
        t, loops, f = self.tree, self.loops, self.factor
        rows = t.rows[t.pointer[node] : t.pointer[node + 1]]
        width = int(t.widths[node])
        m = width + len(rows)
        M = aligned((m, loops.padded(m, f.F.itemsize)), f.F.dtype)
        where = np.empty(len(t.order), np.int32)
        loops.assemble(*self.graph, t.start[node], t.stop[node], rows, where, f.units.far, M)
        for child, rest in left_over.items():
            loops.extend_min(rest, t.rows[t.pointer[child] : t.pointer[child + 1]], where, M)
        for first in range(0, width, loops.PIVOTS):
            last = min(first + loops.PIVOTS, width)
            loops.close_square(M, first, last)
            loops.through_pivots(M, f.every, first, last, first, last)
            others = [
                *block_slices(first, ROWS),
                *(slice(last + s.start, last + s.stop) for s in block_slices(m - last, ROWS)),
            ]

            def through(i: int, first: int = first, last: int = last, others: list[slice] = others) -> None:
                loops.through_pivots(M, f.every, first, last, others[i].start, others[i].stop)

            run_blocks(through, len(others), n_jobs=self.n_jobs)
        loops.store(M, width, f.F[t.place[node] : t.place[node + 1]])
        return np.ascontiguousarray(M[width:, width:m])


def aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> Labels:
    """An empty array that starts at a cache line: a row of lanes then never touches a line too many."""
    size = shape[0] * shape[1] * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


__all__ = ["GROUPS", "PathFactor", "Work", "aligned", "count_work", "factor_bytes", "factorise", "worthwhile"]
