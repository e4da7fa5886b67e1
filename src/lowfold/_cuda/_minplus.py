"""All geodesic distances on a device: elimination of a dissection's fronts by min-plus products, then a sweep down.

Labels are int32, whole numbers of a unit: no order of the work changes a bit. The matrix stands in the tree's order and
stays on the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._cuda._device import Array, Device
from lowfold._cuda._tree import Tree, front_places

PIVOTS = 32
COLUMNS = 512  # rows of the matrix are multiples of the widest tile
L2_BYTES = 24e6  # of the rows that a group of tiles reads again and again


def padded(n: int) -> int:
    """Columns that a matrix of n has room for."""
    return -(-n // COLUMNS) * COLUMNS


def _shared(wr: int) -> int:
    """Bytes of a sweep's block: three stages of both operands, and the transposed tile."""
    return 4 * (3 * 8 * 128 * (4 // wr) + 3 * 8 * 16 * wr + 4 * 64 * 17)


@dataclass(frozen=True, eq=False)
class Fronts:
    """Eliminated fronts, and their rows packed in tiles of 16 `wr[level]` for the sweep."""

    tree: Tree
    front: Array
    packed: Array
    tile_node: Array
    tile_row: Array
    tile_at: Array
    first_tile: NDArray[np.int64]  # of every node, and the end
    wr: list[int]

    @property
    def nbytes(self) -> int:
        return int(self.front.nbytes + self.packed.nbytes)


def eliminate(device: Device, tree: Tree, indptr: Array, indices: Array, labels: Array) -> Fronts:
    """Fronts whose boundary labels are shortest paths through everything below; `labels` are int32 edge lengths."""
    xp = device.xp
    front = xp.empty(tree.entries(), np.int32)
    args = (front, tree.off, tree.nx, tree.ns)
    device.launch("minplus", "clear_fronts", (len(tree.host_nx), 4), 256, *args)
    chosen, node, row, column = front_places(xp, tree, indptr, indices)
    size = (tree.nx + tree.ns).astype(np.int64)[node]
    value = labels[chosen]
    front[tree.off[node] + row * size + column] = value
    front[tree.off[node] + column * size + row] = value
    small = int(np.sqrt(device.shared_bytes / 4)) - 1
    for level in range(tree.levels, -1, -1):
        nodes = tree.level(level)
        x, s = tree.host_nx[nodes], tree.host_ns[nodes]
        count, widest, pivots = len(x), int((x + s).max()), int(x.max())
        first = nodes.start
        if widest <= small:
            block = 512 if widest > 100 else 256
            device.launch("minplus", "eliminate_small", (count,), block, *args, first, shared=4 * widest * (widest | 1))
        else:
            tiles = -(-widest // 64)
            for k0 in range(0, pivots, PIVOTS):
                device.launch("minplus", "eliminate_pivots", (count,), 256, *args, first, k0)
                device.launch("minplus", "eliminate_panel", (count, tiles), 256, *args, first, k0)
                device.launch("minplus", "eliminate_rest", (count, tiles, tiles), 256, *args, first, k0)
        if level and s.max() > 0:
            grid = (count // 2, max(1, min(64, int(s.max()) // 16)))
            for parity in (0, 1):
                device.launch("minplus", "extend_min", grid, 256, *args, tree.bptr, tree.pos, first, parity)
    return _pack(device, tree, front)


def _pack(device: Device, tree: Tree, front: Array) -> Fronts:
    xp = device.xp
    nodes, rows, places, wr, total, counts = [], [], [], [], 0, []
    for level in range(tree.levels + 1):
        part = tree.level(level)
        x, s = tree.host_nx[part], tree.host_ns[part]
        typical = float((x.astype(np.float64) ** 2).sum() / max(1, x.sum()))
        wr.append(1 if typical <= 16 else 2 if typical <= 40 else 4)
        height = 16 * wr[-1]
        tiles = -(-x // height)
        own = np.repeat(np.arange(len(x)), tiles)
        need = -(-s[own] // 8) * 8 * height
        nodes.append(own + part.start)
        rows.append(height * (np.arange(len(own)) - np.repeat(np.cumsum(tiles) - tiles, tiles)))
        places.append(total + np.cumsum(need) - need)
        total += int(need.sum())
        counts.append(tiles)
    first_tile = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    packed = xp.empty(max(total, 1), np.int32)
    tile_node, tile_row = (xp.asarray(np.concatenate(v).astype(np.int32)) for v in (nodes, rows))
    tile_at = xp.asarray(np.concatenate(places).astype(np.int64))
    for level in range(tree.levels + 1):
        part = tree.level(level)
        a, b = int(first_tile[part.start]), int(first_tile[part.stop])
        if b > a:
            device.launch(
                "minplus", "pack_rows", (b - a,), 256, front, tree.off, tree.nx, tree.ns,
                tile_node[a:b], tile_row[a:b], tile_at[a:b], 16 * wr[level], packed,
            )  # fmt: skip
    return Fronts(tree, front, packed, tile_node, tile_row, tile_at, first_tile, wr)


def _sweep(
    device: Device, F: Fronts, kernel: str, level: int, tiles: tuple[int, int], D: Array, start: Array, bidx: Array,
    columns: tuple[int, int], group: int,
) -> None:  # fmt: skip
    """Launch `sweep` or `spread` for some tiles of a level and a range of columns."""
    (a, b), (lo, hi), tree, wr = tiles, columns, F.tree, F.wr[level]
    if b <= a or hi <= lo:
        return
    wide = 128 * (4 // wr)
    q0 = lo // wide * wide
    groups = -(-(hi - q0) // (wide * group))
    device.launch(
        "minplus", f"{kernel}{wr}", (b - a, groups), 128, D, D.shape[1], F.front, tree.off, start, tree.nx, tree.ns,
        tree.bptr, bidx, F.tile_node[a:b], F.tile_row[a:b], F.tile_at[a:b], F.packed, lo, hi, q0, group,
        shared=_shared(wr),
    )  # fmt: skip


def sweep_level(
    device: Device, F: Fronts, level: int, tiles: tuple[int, int], D: Array, start: Array, bidx: Array, lo: int, hi: int
) -> None:
    """Rows of a level's tiles: the columns above it, then those of the level itself below the diagonal."""
    wide = 128 * (4 // F.wr[level])
    for columns in ((0, lo), (lo, hi)):
        count = -(-(columns[1] - columns[0]) // wide) * max(1, tiles[1] - tiles[0])
        group = int(max(1, min(8, L2_BYTES // max(1, lo * wide * 4), count // 2000)))
        _sweep(device, F, "sweep", level, tiles, D, start, bidx, columns, group)


def sweep(device: Device, F: Fronts, D: Array, levels: int | None = None) -> Array:
    """Fill D (n, padded(n)) with all distances among the vertices of the first `levels` levels (all by default)."""
    tree = F.tree
    for level in range(tree.levels + 1 if levels is None else levels):
        nodes = tree.level(level)
        tiles = int(F.first_tile[nodes.start]), int(F.first_tile[nodes.stop])
        lo, hi = int(tree.host_start[nodes.start]), int(tree.host_start[nodes.stop])
        sweep_level(device, F, level, tiles, D, tree.start, tree.bidx, lo, hi)
    return D


def all_distances(device: Device, F: Fronts) -> Array:
    """The whole matrix, in the tree's order, (n, padded(n)); columns beyond n are undefined."""
    n = F.tree.n
    return sweep(device, F, device.xp.empty((n, padded(n)), np.int32))


class Panels:
    """Columns of the matrix of distances without the matrix: those of one subtree of level `top` at a time.

    The distances among the vertices above are kept; a panel's own rows come from a sweep inside its subtree, all others
    from the boundary downwards.
    """

    def __init__(self, device: Device, F: Fronts, top: int) -> None:
        xp, tree = device.xp, F.tree
        self.device, self.F, self.top = device, F, top
        self.above = int(tree.host_start[2**top - 1])
        self.head = sweep(device, F, xp.empty((self.above, padded(self.above)), np.int32), top)
        self.host_bptr = np.concatenate([[0], np.cumsum(tree.host_ns)])
        self.place = xp.zeros(tree.n, np.int32)
        self.start, self.bidx = tree.start.copy(), xp.empty_like(tree.bidx)
        widest = max(sum(b - a for a, b in self._ranges(q)[1]) for q in range(2**top))
        self.width = padded(widest)
        self.panel = xp.empty((tree.n, self.width), np.int32)

    def __iter__(self):  # type: ignore[no-untyped-def]
        """(panel, vertices): panel[:, :len(vertices)] are the distances of all vertices to those."""
        for q in range(2**self.top):
            yield self.panel, self._columns(q)
        for a in range(0, self.above, self.width):
            b = min(a + self.width, self.above)
            self.panel[: self.above, : b - a] = self.head[:, a:b]
            self._spread(None)
            yield self.panel, self.device.xp.arange(a, b)

    def _ranges(self, q: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Places of the ancestors of subtree q, root first, and of its own levels."""
        start, above, j = self.F.tree.host_start, [], 2**self.top - 1 + q
        while j > 0:
            j = (j - 1) // 2
            above.append((int(start[j]), int(start[j + 1])))
        own = []
        for i in range(self.F.tree.levels - self.top + 1):
            a = 2 ** (self.top + i) - 1 + (q << i)
            own.append((int(start[a]), int(start[a + 2**i])))
        return above[::-1], own

    def _columns(self, q: int) -> Array:
        xp, tree, F = self.device.xp, self.F.tree, self.F
        above, own = self._ranges(q)
        A = xp.concatenate([xp.arange(a, b) for a, b in above]) if above else xp.arange(0)
        Q = xp.concatenate([xp.arange(a, b) for a, b in own])
        na, m = len(A), len(Q)
        self.place[A] = xp.arange(na, dtype=np.int32)
        self.place[Q] = xp.arange(na, na + m, dtype=np.int32)
        local = xp.empty((na + m, padded(na + m)), np.int32)
        local[:na, :na] = self.head[A[:, None], A[None]]
        at = na
        for i, (a, b) in enumerate(own):
            j0 = 2 ** (self.top + i) - 1 + (q << i)
            j1 = j0 + 2**i
            self.start[j0:j1] = tree.start[j0:j1] - a + at
            e = slice(int(self.host_bptr[j0]), int(self.host_bptr[j1]))
            self.bidx[e] = self.place[tree.bidx[e]]
            tiles = int(F.first_tile[j0]), int(F.first_tile[j1])
            sweep_level(self.device, F, self.top + i, tiles, local, self.start, self.bidx, at, at + b - a)
            at += b - a
        self.panel[A, :m] = local[:na, na : na + m]
        self.panel[Q, :m] = local[na:, na : na + m]
        self._spread(q)
        return Q

    def _spread(self, q: int | None) -> None:
        """Rows of every node that is neither above subtree q nor in it, from the root to the leaves."""
        F, tree = self.F, self.F.tree
        for level in range(0 if q is not None else self.top, tree.levels + 1):
            nodes = tree.level(level)
            j0 = j1 = nodes.start
            if q is not None:
                j0 = nodes.start + (q >> (self.top - level) if level < self.top else q << (level - self.top))
                j1 = j0 + (1 if level < self.top else 2 ** (level - self.top))
            wide = 128 * (4 // F.wr[level])
            for first, last in ((nodes.start, j0), (j1, nodes.stop)):
                tiles = int(F.first_tile[first]), int(F.first_tile[last])
                count = -(-self.width // wide) * (tiles[1] - tiles[0])
                group = min(4, max(1, count // 4000))
                _sweep(
                    self.device, F, "spread", level, tiles, self.panel, tree.start, tree.bidx, (0, self.width), group
                )
