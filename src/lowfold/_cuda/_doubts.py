"""Edges of a graph that may be shortcuts, ranked on a device by what their ends share of their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._cuda._device import Array, Device
from lowfold._cuda._tree import row_of_entry, stable_order


def doubts(
    device: Device, indptr: Array, indices: Array, lengths: Array, *, near: int, spared: int, shared: float, part: float
) -> tuple[Array, Array, Array]:
    """Whether each entry is beyond doubt; the others, an edge once, those that share least first; and their rows.

    Entries beyond doubt are among the `near` shortest of an end (0: all entries are), and their ends share more of
    their near neighbours than `shared`, and than `part` of the others do; the `spared` shortest are beyond doubt.
    """
    xp = device.xp
    rows = row_of_entry(xp, indptr, len(indices)).astype(np.int32)
    close = lengths <= _within(device, indptr, indices, rows, lengths, near) if near else xp.ones(len(indices), bool)
    kept = lengths <= _within(device, indptr, indices, rows, lengths, spared)
    share = xp.where(kept, 1.0, _shares(device, indptr, indices, rows, shared))
    among = share
    if near and not bool(close.all()):
        pointers = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(close)])[indptr]
        among = xp.where(kept[close], 1.0, _shares(device, pointers, indices[close], rows[close], shared))
    limit = min(shared, float(xp.sort(among)[int(part * len(among))]))
    sure = close.copy()
    sure[close] = among > limit
    doubtful = xp.flatnonzero(~sure & (rows < indices))
    doubtful = doubtful[stable_order(xp, share[doubtful])]
    return sure, doubtful, rows[doubtful]


def _within(device: Device, indptr: Array, indices: Array, rows: Array, lengths: Array, m: int) -> Any:
    """For every entry the m-th smallest length of that end where it is more."""
    xp, n = device.xp, len(indptr) - 1
    reach = xp.empty(n)
    device.launch("pieces", "mth_length", (-(-n // 256),), 256, indptr, lengths, n, m, reach)
    return xp.maximum(reach[rows], reach[indices])


def _shares(device: Device, indptr: Array, indices: Array, rows: Array, enough: float) -> Array:
    share = device.xp.empty(len(indices))
    grid = (max(1, -(-len(indices) // 256)),)
    device.launch("pieces", "shared_neighbors", grid, 256, indptr, indices, rows, len(indices), enough, share)
    return share
