"""Exact nearest neighbours on a device: the same indices and squared distances, bit for bit, as the CPU's search.

Up to 3 columns: cells. More: 32 candidates a row (as many as are asked for, and some) from products, first in half
precision (up to 61 columns and 24 neighbours), then in single precision, then all points by direct differences; each
only for the rows that the one before could not prove.
A row is proven when its k-th distance, by direct differences in float64, is below what the error of a product leaves
possible for everything that is not among the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._core.rounding import ROUNDING
from lowfold._cuda._device import Array, Device

MARGIN = 8  # candidates beyond the neighbours: what the proof needs
FEW_IN_CELLS = 32  # neighbours that a thread keeps to itself
CELL_COLUMNS, HALF_COLUMNS = 3, 61
MOST_CELLS = 2**27
THINNEST = 1e-6  # of the longest side, the smallest cell: repeated points have neighbourhoods of size 0
SAMPLE = 64  # rows that show the size of a neighbourhood
WIDTH = 32  # candidates that a warp selects in one round
PRODUCT_BYTES = 2**31  # of one tile of products
HALF_SHARED = 4 * 8192 + 131072 + 1024
FARTHEST = 16.0  # largest coordinate in half precision: |y|^2 / 2 of 61 columns stays below 65504


def candidates(k: int) -> int:
    """How many are proven among for k neighbours: whole rounds."""
    return WIDTH * -(-(k + MARGIN) // WIDTH)


def search_bytes(n: int, columns: int, k: int) -> float:
    """Held at once by a search among n points: copies of the rows, candidates, and what is found, sorted and not."""
    found = 24.0 * n * k
    if columns <= CELL_COLUMNS:
        return found + 120.0 * n
    return found + n * (32.0 * columns + 4.0 * 64 + 16.0 * candidates(k)) + min(PRODUCT_BYTES, 4.0 * n * n)


def nearest(device: Device, F: Array, Q: Array | None, k: int) -> tuple[Array, Array]:
    """Squared distances (float64) and indices (int32) of the k nearest rows of F, for its own rows (Q None) or Q's."""
    if F.shape[1] <= CELL_COLUMNS:
        return _in_cells(device, F, Q, k)
    m = len(F) if Q is None else len(Q)
    xp = device.xp
    squared, index = xp.empty((m, k)), xp.empty((m, k), np.int32)
    rows = xp.arange(m, dtype=np.int32)
    halves = F.shape[1] <= HALF_COLUMNS and candidates(k) == WIDTH and device.shared_bytes >= HALF_SHARED
    ways = [_halves] if halves else []
    for way in [*ways, _products]:
        if len(rows) == 0:
            return squared, index
        items, floor = way(device, F, Q, rows, candidates(k))
        found, names, certain = settle(device, F, Q, rows, items, floor, k)
        squared[rows], index[rows] = found, names
        rows = rows[~certain]
    if len(rows):
        squared[rows], index[rows] = search_all(device, F, Q, rows, k)
    return squared, index


def search_all(device: Device, F: Array, Q: Array | None, rows: Array, k: int) -> tuple[Array, Array]:
    """Some rows, by direct differences over all points."""
    xp, m = device.xp, len(rows)
    squared, index = xp.empty((m, k)), xp.empty((m, k), np.int32)
    device.launch(
        "search", f"search_all_f{8 * F.dtype.itemsize}", (-(-m // 8),), 256,
        F if Q is None else Q, F, rows, m, len(F), F.shape[1], Q is None, k, squared, index,
    )  # fmt: skip
    return squared, index


def settle(
    device: Device, F: Array, Q: Array | None, rows: Array, items: Array, floor: Array, k: int
) -> tuple[Array, Array, Array]:
    """The k best of each row's candidates, and whether nothing at or beyond `floor` can be among them."""
    xp, m = device.xp, len(rows)
    squared, index, certain = xp.empty((m, k)), xp.empty((m, k), np.int32), xp.empty(m, np.int8)
    kept = xp.empty(items.shape if k > WIDTH else (1, 1))
    device.launch(
        "search", f"settle_f{8 * F.dtype.itemsize}", (-(-m // 8),), 256, F if Q is None else Q, F, rows, m, F.shape[1],
        Q is None, k, items.shape[1], items, floor, kept, squared, index, certain,
    )  # fmt: skip
    return squared, index, certain.astype(bool)


def _in_cells(device: Device, F: Array, Q: Array | None, k: int) -> tuple[Array, Array]:
    xp = device.xp
    cells = sorted_cells(xp, F, _neighborhood_size(device, F, k))
    if Q is None:  # neighbours in space share a block of threads
        queries, own = cells.points, cells.order
    else:
        queries, own = three_columns(xp, Q), xp.full(len(Q), -1, np.int32)
    m = len(queries)
    squared, index = xp.empty((m, k)), xp.empty((m, k), np.int32)
    kernel = "nearest_in_cells" if k <= FEW_IN_CELLS else "nearest_in_cells_wide"
    device.launch(
        "search", kernel, (-(-m // 128),), 128, queries, *cells.arguments[:3], own, m,
        *cells.arguments[3:], k, squared, index,
    )  # fmt: skip
    if Q is not None:
        return squared, index
    back, names = xp.empty_like(squared), xp.empty_like(index)
    back[cells.order], names[cells.order] = squared, index
    return back, names


@dataclass(frozen=True, eq=False)
class Cells:
    """Points of up to three columns sorted by the cells of a grid, and `arguments` that say it to a kernel."""

    points: Array
    order: Array
    arguments: tuple[Any, ...]  # points, order, first of each cell, corner, side, cells along each axis


def sorted_cells(xp: Any, F: Array, size: float) -> Cells:
    """Cells of about this size; larger where they would be too many."""
    n, P = len(F), three_columns(xp, F)
    low, high = P.min(axis=0), P.max(axis=0)
    span = [float(v) for v in high - low]
    side = max(size, THINNEST * max(span), np.finfo(float).tiny)
    while np.prod([s / side + 1 for s in span]) > min(MOST_CELLS, 64.0 * n + 1000):
        side *= 1.1
    grid = [min(int(s / side) + 1, 2**20) for s in span]
    cell = xp.minimum(((P - low) / side).astype(np.int64), xp.asarray(np.array(grid) - 1))
    key = (cell[:, 0] * grid[1] + cell[:, 1]) * grid[2] + cell[:, 2]
    order = xp.argsort(key * n + xp.arange(n))  # points of a cell by index, so that the order is the same every time
    first = xp.zeros(grid[0] * grid[1] * grid[2] + 1, np.int32)
    first[1:] = xp.cumsum(xp.bincount(key, minlength=len(first) - 1))
    points, order = P[order], order.astype(np.int32)
    return Cells(points, order, (points, order, first, low, side, *grid))


def three_columns(xp: Any, F: Array) -> Array:
    """Rows filled up with zeros, in float64."""
    P = xp.zeros((len(F), 3))
    P[:, : F.shape[1]] = F
    return P


def _neighborhood_size(device: Device, F: Array, k: int) -> float:
    """Of most neighbourhoods, seen on a sample."""
    xp, n = device.xp, len(F)
    rows = xp.asarray(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int32))
    reach = np.sqrt(device.get(search_all(device, F, None, rows, min(k, n - 1))[0])[:, -1])
    return float(np.quantile(reach, 0.9))


def _scaled(device: Device, F: Array, Q: Array | None) -> tuple[Array, Array, float]:
    """Points and queries about their centre in float64, by a power of two no larger than `FARTHEST`; that power."""
    xp = device.xp
    centre = F.mean(axis=0, dtype=np.float64)
    Z = F - centre
    Y = Z if Q is None else Q - centre
    size = max(float(xp.abs(Z).max()), float(xp.abs(Y).max()), np.finfo(float).tiny)
    scale = float(2.0 ** np.floor(np.log2(FARTHEST / size)))
    Z = Z * scale
    return Z, Z if Q is None else Y * scale, scale


def _floor(xp: Any, keys: Array, Y: Array, H: Array, Z: Array, Hz: Array, scale: float, extra: float) -> Array:
    """What a point left out is at least away, squared: keys[:, -1] less the error of a key.

    With y ~ h and z ~ h' (what rounding loses is measured), <y, z> - <h, h'> is at most |y - h| |z| + |h| |z - h'|; the
    sum of products errs by (columns + 8) 2^-22 |h| |h'| in single precision, twice what rounding to nearest would.
    """
    size, lost = _lengths(xp, Y), _lengths(xp, Y - H)
    most, most_lost = float(_lengths(xp, Z).max()), float(_lengths(xp, Z - Hz).max())
    rounding = (Y.shape[1] + 8) * 2.0**-22
    error = lost * most + (size + lost) * most_lost
    error += rounding * ((size + lost) * (most + most_lost) + 0.5 * most**2) + extra
    least = 2.0 * (0.5 * size**2 + keys - error)
    return xp.where(xp.isfinite(keys), least * (1 - ROUNDING) / scale**2, np.inf)


def _lengths(xp: Any, A: Array) -> Array:
    return xp.sqrt((A.astype(np.float64) ** 2).sum(axis=1))


def _halves(device: Device, F: Array, Q: Array | None, rows: Array, width: int) -> tuple[Array, Array]:
    """`width` = 32 candidates of all rows (`rows` is all of them), by products of halves on tensor cores."""
    xp, (n, columns) = device.xp, F.shape
    Z, Y, scale = _scaled(device, F, Q)
    H, Hy = Z.astype(np.float16), Y.astype(np.float16)
    m = len(Y)
    A, B = xp.zeros((m, 64), np.float16), xp.zeros((n, 64), np.float16)
    A[:, :columns], A[:, columns : columns + 3] = -Hy, 1
    B[:, :columns] = H
    rest = 0.5 * (Z**2).sum(axis=1)
    for t in range(3):
        B[:, columns + t] = rest
        rest = rest - B[:, columns + t].astype(np.float64)
    blocks = -(-m // 256)
    keys, items = (
        xp.full((256 * blocks, width), np.inf, np.float32),
        xp.full((256 * blocks, width), 2**31 - 1, np.int32),
    )
    device.launch("search", "select_halves", (blocks,), 256, A, B, m, n, keys, items, shared=HALF_SHARED)
    lost = float(xp.abs(rest).max())
    floor = _floor(xp, keys[:m, -1].astype(np.float64), Y, Hy.astype(np.float64), Z, H.astype(np.float64), scale, lost)
    return items[:m], floor


def _products(device: Device, F: Array, Q: Array | None, rows: Array, width: int) -> tuple[Array, Array]:
    """`width` candidates of some rows by products in single precision, a tile of rows at a time."""
    xp, n = device.xp, len(F)
    Z, Y, scale = _scaled(device, F, Q)
    Y = Y[rows]
    H, Hy = Z.astype(np.float32), Y.astype(np.float32)
    norms = (0.5 * (Z**2).sum(axis=1)).astype(np.float32)
    m = len(rows)
    keys, items = xp.empty((m, width), np.float32), xp.empty((m, width), np.int32)
    step = max(1, min(m, PRODUCT_BYTES // (4 * n)))
    for start in range(0, m, step):
        part = slice(start, min(start + step, m))
        G = Hy[part] @ H.T
        count, found = len(G), (keys[part], items[part])
        for first in range(0, width, WIDTH):
            device.launch("search", "select_keys", (-(-count // 8),), 256, G, n, norms, count, n, first, width, *found)
    return items, _floor(xp, keys[:, -1].astype(np.float64), Y, Hy, Z, H, scale, 0.0)
