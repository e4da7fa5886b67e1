"""Sparse Cholesky factors on a device, on the tree of a nested dissection; solving gathers, so bits never vary.

Factored from the leaves up, a level at a time; two levels of fronts are alive. Each node's own columns are kept, with
the inverses of their diagonal blocks above the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lowfold._core.errors import SolverFailed
from lowfold._core.rounding import PIVOT
from lowfold._cuda._device import Array, Device
from lowfold._cuda._sparse import WIDTH, DeviceSparse, padded_block
from lowfold._cuda._tree import Tree, front_places, graph_coordinates, plan

BLOCK = 128  # columns of a diagonal block, as in the kernels
LEAF = 48
PANEL_SHARED = 8 * 32 * (68 + BLOCK + 4)
PIVOT_SHARED = 8 * BLOCK * (BLOCK + 1)


@dataclass(frozen=True, eq=False)
class Factor:
    """L of A + shift I: per level the kept columns, where each node's begin, and where its rows of work begin."""

    device: Device
    tree: Tree
    kept: list[Array]
    kept_off: Array
    work_off: Array
    rows: list[int]  # rows of work of a level

    def solve(self, B: Any) -> Any:
        """(A + shift I)^-1 B."""
        xp, host = self.device.xp, isinstance(B, np.ndarray)
        B = xp.asarray(B)
        out = xp.empty(B.shape)
        for c in range(0, B.shape[1], WIDTH):
            b = padded_block(xp, B[:, c : c + WIDTH][self.tree.order])
            self._forward(b)
            self._backward(b)
            out[self.tree.order, c : c + WIDTH] = b[:, : B.shape[1] - c]
        return self.device.get(out) if host else out

    def _forward(self, b: Array) -> None:
        tree, launch = self.tree, self.device.launch
        below: Array = None
        for level in range(tree.levels, -1, -1):
            nodes, count, first, spread = self._level(level)
            work = self._load(b, level, boundary=False)
            if below is not None:
                for parity in (0, 1):
                    launch(
                        "cholesky", "extend_rows", (count, spread), 256, below, work, self.work_off, self.work_off,
                        tree.nx, tree.ns, tree.bptr, tree.pos, 2 * first + 1, parity,
                    )  # fmt: skip
            x, s = tree.host_nx[nodes], tree.host_ns[nodes]
            where = (self.kept[level], self.kept_off, self.work_off, tree.nx)
            for k0 in range(0, int(x.max()), BLOCK):
                launch("cholesky", "solve_pivots", (count,), 256, *where, first, k0, 0, work)
                grid = (count, max(1, -(-int((x + s).max() - k0) // 32)))
                launch("cholesky", "solve_up", grid, 256, *where, tree.ns, first, k0, work)
            self._store(b, level, work)
            below = work

    def _backward(self, b: Array) -> None:
        tree, launch = self.tree, self.device.launch
        for level in range(tree.levels + 1):
            nodes, count, first, _ = self._level(level)
            work = self._load(b, level, boundary=True)
            where = (self.kept[level], self.kept_off, self.work_off, tree.nx)
            widest = int(tree.host_nx[nodes].max())
            for k0 in range((widest - 1) // BLOCK * BLOCK, -1, -BLOCK):
                launch("cholesky", "solve_down", (count, BLOCK // 32), 256, *where, tree.ns, first, k0, work)
                launch("cholesky", "solve_pivots", (count,), 256, *where, first, k0, 1, work)
            self._store(b, level, work)

    @cached_property
    def _levels(self) -> list[tuple[slice, int, int, int]]:
        out = []
        for level in range(self.tree.levels + 1):
            nodes = self.tree.level(level)
            largest = int((self.tree.host_nx[nodes] + self.tree.host_ns[nodes]).max())
            out.append((nodes, nodes.stop - nodes.start, nodes.start, max(1, min(64, largest // 64))))
        return out

    def _level(self, level: int) -> tuple[slice, int, int, int]:
        """Its nodes, their number, the first, and blocks of threads for the rows of one."""
        return self._levels[level]

    def _load(self, b: Array, level: int, *, boundary: bool) -> Array:
        tree, (_, count, first, spread) = self.tree, self._level(level)
        work = self.device.xp.empty((max(1, self.rows[level]), WIDTH))
        self.device.launch(
            "cholesky", "load_rows", (count, spread), 256, b, self.work_off, tree.start, tree.nx, tree.ns, tree.bptr,
            tree.bidx, first, boundary, work,
        )  # fmt: skip
        return work

    def _store(self, b: Array, level: int, work: Array) -> None:
        tree, (_, count, first, spread) = self.tree, self._level(level)
        self.device.launch(
            "cholesky", "store_rows", (count, spread), 256, work, self.work_off, tree.start, tree.nx, first, b
        )  # fmt: skip


def factor_tree(matrix: DeviceSparse, coordinates: Array | None = None) -> tuple[Tree, DeviceSparse]:
    """The dissection of a matrix's pattern, and the matrix without its diagonal."""
    off = matrix.off_diagonal()
    if coordinates is None:
        coordinates = graph_coordinates(matrix.device, off.indptr, off.indices)
    return plan(matrix.device, off.indptr, off.indices, coordinates, leaf=LEAF), off


def factor_bytes(tree: Tree) -> float:
    """Of the factor and the two levels of fronts that are alive together."""
    x, s = tree.host_nx.astype(np.float64), tree.host_ns.astype(np.float64)
    fronts = [float(((x + s) ** 2)[tree.level(level)].sum()) for level in range(tree.levels + 1)]
    alive = max(a + b for a, b in zip(fronts, [*fronts[1:], 0.0], strict=True))
    return 8 * (float((x * (x + s)).sum()) + alive)


def factorise(matrix: DeviceSparse, off: DeviceSparse, shift: float, tree: Tree) -> Factor:
    """The factor of A + shift I for a symmetric positive semidefinite A; `off` is A without its diagonal."""
    device, xp = matrix.device, matrix.device.xp
    if device.shared_bytes < PIVOT_SHARED:
        raise SolverFailed(f"the factor needs blocks of {PIVOT_SHARED} bytes of shared memory; {device.name} has fewer")
    device.require(factor_bytes(tree), f"a Cholesky factor of {matrix.n} points", "use another solver")
    diagonal = matrix.own_entries
    least = PIVOT * (float(xp.abs(diagonal).max()) + shift)
    chosen, node, row, column = front_places(xp, tree, off.indptr, off.indices)
    lower = row > column
    inside = column < tree.nx[node]
    # Inside a node both directions of an entry are listed; of them the lower one is taken. Outside, the row is X's and
    # stands above the boundary's: it is mirrored.
    taken = xp.flatnonzero(~inside | lower)
    chosen, node, row, column = chosen[taken], node[taken], row[taken], column[taken]
    size = (tree.nx + tree.ns).astype(np.int64)
    local_off, kept_off, work_off, rows, sizes = _offsets(xp, tree)
    at = local_off[node] + xp.maximum(row, column) * size[node] + xp.minimum(row, column)
    value = off.values[chosen]
    by_node = xp.argsort(node, kind="stable") if xp is np else xp.argsort(node)
    at, value, node = at[by_node], value[by_node], node[by_node]
    edges = xp.searchsorted(node, xp.asarray(2 ** np.arange(tree.levels + 2) - 1))
    bounds = [int(v) for v in edges]
    kept: list[Array] = [None] * (tree.levels + 1)
    front: Array = None
    for level in range(tree.levels, -1, -1):
        nodes = tree.level(level)
        parent = front
        front = xp.zeros(sizes[level]) if parent is None else parent
        part = slice(bounds[level], bounds[level + 1])
        front[at[part]] += value[part]
        places = slice(int(tree.host_start[nodes.start]), int(tree.host_start[nodes.stop]))
        owner = tree.node[places]
        step = xp.arange(places.start, places.stop) - tree.start[owner]
        front[local_off[owner] + step * (size[owner] + 1)] += diagonal[tree.order[places]] + shift
        _eliminate(device, tree, level, front, local_off, least)
        kept[level] = _keep(device, tree, level, front, local_off, kept_off)
        front = _extend(device, tree, level, front, local_off, sizes) if level else None
    return Factor(device, tree, kept, kept_off, work_off, rows)


def _offsets(xp: Any, tree: Tree) -> tuple[Array, Array, Array, list[int], list[int]]:
    """Where each node begins among the fronts, the kept columns and the rows of work of its level; their sizes."""
    x, s = tree.host_nx, tree.host_ns
    out = []
    for sizes in ((x + s) ** 2, x * (x + s), x + s):
        starts = np.zeros(len(x), np.int64)
        for level in range(tree.levels + 1):
            part = tree.level(level)
            starts[part] = np.cumsum(sizes[part]) - sizes[part]
        out.append(xp.asarray(starts))
    rows = [int((x + s)[tree.level(level)].sum()) for level in range(tree.levels + 1)]
    fronts = [int(((x + s) ** 2)[tree.level(level)].sum()) for level in range(tree.levels + 1)]
    return out[0], out[1], out[2], rows, fronts


def _eliminate(device: Device, tree: Tree, level: int, front: Array, off: Array, least: float) -> None:
    nodes = tree.level(level)
    x, s = tree.host_nx[nodes], tree.host_ns[nodes]
    f, count, first = x + s, len(x), nodes.start
    most = int(np.sqrt(device.shared_bytes / 8)) - 1
    small = (f <= most) & (x <= BLOCK) & (x > 0)
    args = (front, off, tree.nx, tree.ns, first)
    if small.any():
        widest = int(f[small].max())
        shared = 8 * widest * (widest | 1)
        block = 512 if widest > 90 else 256
        device.launch("cholesky", "factor_small", (count,), block, *args, most, least, shared=shared)
    large = ~small & (x > 0)
    if large.any():
        widest = int(f[large].max())
        for k0 in range(0, int(x[large].max()), BLOCK):
            device.launch("cholesky", "factor_pivots", (count,), 512, *args, k0, most, least, shared=PIVOT_SHARED)
            tiles = -(-max(widest - k0, 1) // 64)
            device.launch(
                "cholesky", "factor_panel", (count, tiles), 2 * BLOCK, *args, k0, most, shared=PANEL_SHARED
            )  # fmt: skip
            device.launch("cholesky", "factor_rest", (count, tiles, tiles), 256, *args, k0, most)


def _keep(device: Device, tree: Tree, level: int, front: Array, off: Array, kept_off: Array) -> Array:
    nodes = tree.level(level)
    x, s = tree.host_nx[nodes], tree.host_ns[nodes]
    kept = device.xp.empty(max(1, int((x * (x + s)).sum())))
    grid = (len(x), max(1, min(64, int((x + s).max()) // 32)))
    device.launch(
        "cholesky", "keep_columns", grid, 256, front, off, tree.nx, tree.ns, kept_off, nodes.start, kept
    )  # fmt: skip
    return kept


def _extend(device: Device, tree: Tree, level: int, front: Array, off: Array, sizes: list[int]) -> Array:
    """The parents' fronts with what this level leaves over."""
    nodes = tree.level(level)
    above = device.xp.zeros(sizes[level - 1])
    most = int(tree.host_ns[nodes].max())
    grid = ((nodes.stop - nodes.start) // 2, max(1, min(256, most // 8)))
    for parity in (0, 1):
        device.launch(
            "cholesky", "extend_add", grid, 256, front, above, off, off, tree.nx, tree.ns, tree.bptr, tree.pos,
            nodes.start, parity,
        )  # fmt: skip
    return above
