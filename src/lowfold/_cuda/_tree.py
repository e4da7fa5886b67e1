"""A nested dissection made on the device: a full binary tree by heap numbers, and the fronts of its elimination.

Vertices are renumbered root first, level by level, so that what lies above a level is a range of columns. Node j has
the vertices start[j] .. start[j] + nx[j] and a boundary of ns[j] ancestors' vertices, bidx[bptr[j]:bptr[j+1]]; its
front is (nx + ns)^2 and begins at off[j]. One tree serves two algebras, as on the CPU (`graph._dissection`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.stacks import stacked_eigh
from lowfold._cuda._device import Array, Device
from lowfold._cuda._pieces import steps_from

COORDINATES = 8
PIVOTS = 32
LEAF = 48  # vertices of a leaf
STEPPED = 100_000  # vertices up to which steps are counted on the graph itself
# Steps from a cluster's first vertex, and rounds of averages. Multiplications of an elimination, a roll of a million
# points with 12 neighbours: 1.38e11 by steps alone, 1.23e11 with one step and 8 rounds, 1.77e11 with 2 and 12.
HOPS, SMOOTHED = 1, 8
SCATTER = 2654435761  # odd, so that multiples modulo 2^32 are an order of all vertices


@dataclass(frozen=True, eq=False)
class Tree:
    """See above; arrays of the device, and copies on the host (`host_*`) of what launches are sized by."""

    n: int
    levels: int
    order: Array  # which vertex of the input stands at each place
    node: Array  # heap number of each place
    start: Array
    nx: Array
    ns: Array
    bptr: Array
    bidx: Array
    pos: Array  # place of each boundary vertex in the parent's front
    off: Array
    host_start: NDArray[np.int64]
    host_nx: NDArray[np.int64]
    host_ns: NDArray[np.int64]
    host_off: NDArray[np.int64]

    def level(self, level: int) -> slice:
        """The nodes of a level."""
        return slice(2**level - 1, 2 ** (level + 1) - 1)

    def entries(self) -> int:
        """Of all fronts together."""
        return int(self.host_off[-1])

    def work(self) -> float:
        """Multiplications (or additions) of the elimination."""
        x, s = self.host_nx.astype(np.float64), self.host_ns.astype(np.float64)
        return float((x**3 / 3 + x * x * s + x * s * s).sum())

    def sweep_work(self) -> float:
        """Additions of a sweep over all pairs: every row meets its boundary in every earlier column."""
        before = self.host_start[:-1] + self.host_nx
        return float((self.host_nx.astype(np.float64) * self.host_ns * before).sum())


def graph_coordinates(device: Device, indptr: Array, indices: Array) -> Array:
    """Coordinates (n, 8) for a dissection from the graph alone: those of steps, smoothed, because many are equal.

    Of a large graph those of its clusters: a search by steps would pass over all edges hundreds of times.
    """
    if len(indptr) - 1 <= STEPPED:
        C = _step_coordinates(device, indptr, indices)
    else:
        cluster, rows = _clustered(device, indptr, indices)
        C = _step_coordinates(device, *rows)[cluster]
    for _ in range(SMOOTHED):
        C = _near(device, "average_near", (-(-len(C) // 32),), indptr, indices, C)
    return C


def _clustered(device: Device, indptr: Array, indices: Array) -> tuple[Array, tuple[Array, Array]]:
    """The cluster of every vertex, and rows (indptr, indices) of the clusters' graph.

    A cluster is what has the same vertex as the first, in a scattered order, within HOPS steps.
    """
    xp, n = device.xp, len(indptr) - 1
    first = (xp.arange(n, dtype=np.uint32) * np.uint32(SCATTER)).view(np.int32)
    for _ in range(HOPS):
        first = _near(device, "least_near", (-(-n // 256),), indptr, indices, first)
    names, cluster = xp.unique(first, return_inverse=True)
    m = len(names)
    a, b = cluster[row_of_entry(xp, indptr, len(indices))], cluster[indices]
    across = a != b
    keys = xp.unique(a[across] * m + b[across])
    return cluster, (xp.searchsorted(keys, xp.arange(m + 1, dtype=np.int64) * m), (keys % m).astype(np.int32))


def _near(device: Device, kernel: str, grid: tuple[int], indptr: Array, indices: Array, values: Array) -> Array:
    out = device.xp.empty_like(values)
    device.launch("pieces", kernel, grid, 256, indptr, indices, len(values), values, out)
    return out


def _step_coordinates(device: Device, indptr: Array, indices: Array) -> Array:
    """Landmark MDS (n, 8) of the steps from 32 vertices."""
    xp, n = device.xp, len(indptr) - 1
    sources = np.unique(np.linspace(0, n - 1, PIVOTS).astype(np.int64))
    A = steps_from(device, indptr, indices, sources)[:, : len(sources)].astype(np.float64)
    finite = xp.isfinite(A)
    A = xp.where(finite, A, 2 * xp.where(finite, A, 0.0).max()) ** 2
    A -= A.mean(axis=0)
    size = xp.abs(A).max()
    A /= xp.where(size > 0, size, 1.0)
    _, U = stacked_eigh(device.get(A.T @ A))
    C = xp.zeros((n, COORDINATES), np.float32)
    C[:, : len(sources)] = A @ xp.asarray(np.ascontiguousarray(U[:, ::-1][:, :COORDINATES]))
    return C


def dissect(device: Device, indptr: Array, indices: Array, C: Array, *, leaf: int = LEAF) -> tuple[Array, int]:
    """Heap number of every vertex, and the number of levels below the root."""
    xp, n = device.xp, len(indptr) - 1
    levels = max(0, round(np.log2(max(n, 1) / leaf)))
    C = xp.ascontiguousarray(C[:, :COORDINATES].astype(np.float32))
    node = xp.full(n, -1, np.int64)
    part, side = xp.zeros(n, np.int32), xp.full(n, 2, np.int8)
    alive, bounds = xp.arange(n, dtype=np.int32), xp.asarray(np.array([0, n], np.int32))
    for level in range(levels):
        m, count = 2**level, len(alive)
        key, edge = xp.empty(count, np.uint64), xp.empty(count, np.int8)
        blocks = (-(-count // 256),)
        device.launch("dissect", "project_parts", (m,), 512, alive, bounds, C, C.shape[1], key)
        sort = stable_order(xp, key)
        alive, key = alive[sort], key[sort]
        device.launch("dissect", "take_sides", blocks, 256, alive, key, bounds, count, part, side)
        device.launch("dissect", "find_boundary", blocks, 256, alive, count, indptr, indices, part, side, edge)
        half = 2 * part[alive] + side[alive]
        cut = xp.bincount(half[edge > 0], minlength=2 * m).reshape(m, 2)
        loser = (cut[:, 1] < cut[:, 0]).astype(np.int32)  # the side with the smaller boundary gives the separator
        separator = (edge > 0) & (side[alive] == loser[part[alive]])
        node[alive[separator]] = m - 1 + part[alive[separator]]
        side[alive[separator]] = 2
        sizes = xp.bincount(half[~separator], minlength=2 * m)
        alive = alive[~separator]
        bounds = xp.zeros(2 * m + 1, np.int32)
        bounds[1:] = xp.cumsum(sizes)
    leaf_of = xp.searchsorted(bounds, xp.arange(len(alive), dtype=np.int32), side="right") - 1
    node[alive] = 2**levels - 1 + leaf_of
    return node, levels


def stable_order(xp: Any, key: Array) -> Array:
    """Sorting order of keys; CuPy's sort is stable, NumPy's has to be asked."""
    return xp.argsort(key, kind="stable") if xp is np else xp.argsort(key)


def plan(device: Device, indptr: Array, indices: Array, C: Array, *, leaf: int = LEAF) -> Tree:
    """The tree of a symmetric pattern (rows sorted, no diagonal) and the boundary of every node."""
    xp, n = device.xp, len(indptr) - 1
    heap, levels = dissect(device, indptr, indices, C, leaf=leaf)
    nodes = 2 ** (levels + 1) - 1
    order = stable_order(xp, heap)
    place = xp.empty(n, np.int64)
    place[order] = xp.arange(n)
    node = heap[order]
    nx = xp.bincount(heap, minlength=nodes)
    start = _pointers(xp, nx)
    keys = _boundaries(xp, indptr, indices, heap, place, node)
    owner, vertex = keys // n, keys % n
    ns = xp.bincount(owner, minlength=nodes)
    bptr = _pointers(xp, ns)
    parent = xp.maximum((owner - 1) // 2, 0)
    in_parent = nx[parent] + xp.searchsorted(keys, parent * n + vertex) - bptr[parent]
    pos = xp.where(node[vertex] == parent, vertex - start[parent], in_parent)
    off = _pointers(xp, (nx + ns) ** 2)
    i32 = np.int32
    return Tree(
        n, levels, order, node, start.astype(i32), nx.astype(i32), ns.astype(i32), bptr, vertex.astype(i32),
        pos.astype(i32), off, device.get(start), device.get(nx), device.get(ns), device.get(off),
    )  # fmt: skip


def _pointers(xp: Any, sizes: Array) -> Array:
    out = xp.zeros(len(sizes) + 1, np.int64)
    out[1:] = xp.cumsum(sizes)
    return out


def _boundaries(xp: Any, indptr: Array, indices: Array, heap: Array, place: Array, node: Array) -> Array:
    """Sorted keys node * n + place of all (node, boundary vertex): neighbours above, and what climbs from below."""
    n = len(heap)
    row = row_of_entry(xp, indptr, len(indices))
    mine, other = heap[row], heap[indices]
    up = other < mine
    keys = xp.unique(mine[up] * n + place[indices[up]])
    found = [keys]
    while len(keys):  # a vertex on a node's boundary is on the boundary of the ancestors below its own node
        owner, vertex = (keys // n - 1) // 2, keys % n
        below = owner != node[vertex]
        keys = xp.unique(owner[below] * n + vertex[below])
        found.append(keys)
    return xp.unique(xp.concatenate(found))


def row_of_entry(xp: Any, indptr: Array, count: int) -> Array:
    """The row of every entry of a CSR matrix."""
    return xp.searchsorted(indptr, xp.arange(count, dtype=indptr.dtype), side="right") - 1


def front_places(xp: Any, tree: Tree, indptr: Array, indices: Array) -> tuple[Array, Array, Array, Array]:
    """Where the entries of a pattern stand in the fronts: chosen entries, their front, row and column there.

    An entry between two nodes belongs to the lower one and is chosen once; inside a node both directions are.
    """
    n = tree.n
    place = xp.empty(n, np.int64)
    place[tree.order] = xp.arange(n)
    a, b = place[row_of_entry(xp, indptr, len(indices))], place[indices]
    mine, other = tree.node[a], tree.node[b]
    chosen = xp.flatnonzero(other <= mine)
    a, b, mine, other = a[chosen], b[chosen], mine[chosen], other[chosen]
    keys = _boundary_keys(xp, tree)
    row = a - tree.start[mine]
    outside = tree.nx[mine] + xp.searchsorted(keys, mine * n + b) - tree.bptr[mine]
    column = xp.where(mine == other, b - tree.start[mine], outside)
    return chosen, mine, row, column


def _boundary_keys(xp: Any, tree: Tree) -> Array:
    owner = row_of_entry(xp, tree.bptr, len(tree.bidx))
    return owner * tree.n + tree.bidx
