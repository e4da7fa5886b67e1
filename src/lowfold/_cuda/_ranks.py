"""Ranks of all pairs in two spaces of points, compared on a device, some rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.types import Floats, Ints
from lowfold._cuda._device import SHARE, Array, Device
from lowfold._cuda._tree import stable_order

BLOCK = 2**27  # distances of one block of rows
PAIR_BYTES = 160.0  # of a distance in both spaces: itself, sorted, its order and rank, and what is counted of them
SIDE = 64  # of a tile of distances, as in the kernel


def rank_step(device: Device, n: int) -> int:
    """Rows that are compared together; 0 where the device has not the room for one."""
    return int(min(max(1, BLOCK // n), SHARE * device.free_bytes() // (PAIR_BYTES * n)))


def compare_ranks(device: Device, X: Array, Y: Array, rows: Ints, k: int, weights: Floats) -> tuple[Array, ...]:
    """What `quality._rank_loops.compare_rows` and `pair_sums_of_rows` say of some rows of points X and Y.

    (of_embedding, of_data, kept, area, spearman, sums) as arrays of the host.
    """
    xp, n = device.xp, len(X)
    sizes = np.arange(1, n - 1)
    others = n - 1
    shares = device.put(weights * others / (sizes * (others - sizes)))
    less = float((weights * sizes / (others - sizes)).sum())
    kept, found = xp.zeros(n - 2, np.int64), []
    step = rank_step(device, n)
    for start in range(0, len(rows), step):
        part = xp.asarray(rows[start : start + step])
        D, E = row_distances(device, X, part), row_distances(device, Y, part)
        (first, a), (second, b) = _ranks(xp, D, part), _ranks(xp, E, part)
        m = len(part)
        at = xp.maximum(a, b).astype(np.int64) + xp.arange(m)[:, None] * n
        shared = xp.cumsum(xp.bincount(at.ravel(), minlength=m * n).reshape(m, n)[:, 1 : n - 1], axis=1)
        kept += shared.sum(axis=0)
        apart = ((a - b).astype(np.float64) ** 2).sum(axis=1)
        spearman = 1.0 - 6.0 * apart / (others * (float(others) * others - 1.0))
        sums = xp.stack([t.sum(axis=1) for t in (D, E, D * D, E * E, D * E, (D - E) ** 2)])
        across = xp.take_along_axis(a, second[:, 1 : k + 1], axis=1), xp.take_along_axis(b, first[:, 1 : k + 1], axis=1)
        found.append([device.get(v) for v in (*across, shared @ shares - less, spearman, sums)])
    ranks_e, ranks_d, area, spearman, sums = (list(v) for v in zip(*found, strict=True))
    whole = np.concatenate
    return whole(ranks_e), whole(ranks_d), device.get(kept), whole(area), whole(spearman), whole(sums, axis=1)


def row_distances(device: Device, X: Array, part: Array) -> Array:
    """From some points to all, by direct differences."""
    return distances_between(device, X[part], X)


def distances_between(device: Device, Q: Array, X: Array) -> Array:
    """From rows Q to rows X."""
    (n, columns), m = X.shape, len(Q)
    out = device.xp.empty((m, n))
    grid = -(-n // SIDE), -(-m // SIDE)
    device.launch("ranks", "row_distances", grid, 256, Q, X, m, n, columns, out)
    return out


def _ranks(xp: Any, D: Array, own: Array) -> tuple[Array, Array]:
    """The points of each row by (distance, index), the row's own first, and the rank of every point."""
    m, n = D.shape
    keys, rows = D.copy(), xp.arange(m)
    keys[rows, own] = -1.0
    order = stable_order(xp, keys.ravel())
    order = order[stable_order(xp, (order // n).astype(np.int32))]  # by row, the order inside kept
    order = (order % n).reshape(m, n)
    rank = xp.empty((m, n), np.int32)
    rank[rows[:, None], order] = xp.arange(n, dtype=np.int32)
    return order, rank
