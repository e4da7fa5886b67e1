"""Pairs of points within reach on a device: by cells up to 3 columns, by products whose error is allowed for beyond."""

from __future__ import annotations

import numpy as np

from lowfold._cuda._device import Array, Device
from lowfold._cuda._search import CELL_COLUMNS, PRODUCT_BYTES, sorted_cells, three_columns
from lowfold._cuda._tree import row_of_entry

PAIR_BYTES = 64.0  # of a pair: its numbers, its distance, and their sorted copies
WAY_OUT = "use a smaller radius or n_neighbors"


def within(device: Device, F: Array, Q: Array | None, reach: Array) -> tuple[Array, Array, Array]:
    """Pairs (i, j) of a query i and a point j, i != j among the points themselves (Q None), and squared distances.

    All with d(i, j) <= reach[j] are there, and few others; those of one query come by j. Squared distances have the
    bits of the CPU's.
    """
    if F.shape[1] <= CELL_COLUMNS:
        return _in_cells(device, F, Q, reach)
    rows, columns = _by_products(device, F, Q, reach)
    squared = device.xp.empty(len(rows))
    device.launch(
        "search", f"pair_distances_f{8 * F.dtype.itemsize}", (max(1, -(-len(rows) // 256)),), 256,
        F if Q is None else Q, F, F.shape[1], rows, columns, len(rows), squared,
    )  # fmt: skip
    return rows, columns, squared


def _in_cells(device: Device, F: Array, Q: Array | None, reach: Array) -> tuple[Array, Array, Array]:
    xp, m = device.xp, len(F)
    cells = sorted_cells(xp, F if Q is None else Q, float(xp.median(reach)))
    who = cells.order if Q is None else xp.arange(m, dtype=np.int32)  # neighbours in space share a block of threads
    count, first = xp.empty(m, np.int64), xp.zeros(m + 1, np.int64)
    rows, squared = xp.empty(1, np.int32), xp.empty(1)
    asked = (three_columns(xp, F), who, reach, m, Q is None, *cells.arguments)
    for fill in (False, True):
        device.launch("search", "within_in_cells", (-(-m // 128),), 128, *asked, fill, count, first, rows, squared)
        if not fill:
            first[1:] = xp.cumsum(count)
            total = int(first[-1])
            device.require(PAIR_BYTES * total, "the list of pairs within the radius", WAY_OUT)
            rows, squared = xp.empty(max(total, 1), np.int32), xp.empty(max(total, 1))
    columns = row_of_entry(xp, first, total).astype(np.int32)
    return rows[:total], columns, squared[:total]


def _by_products(device: Device, F: Array, Q: Array | None, reach: Array) -> tuple[Array, Array]:
    """The same pairs and some more: a product errs by at most c (|x|^2 + |y|^2), see `graph._radius`."""
    xp, n = device.xp, len(F)
    centre = F.mean(axis=0, dtype=np.float64)
    Z, Y = ((A - centre).astype(F.dtype) for A in (F, F if Q is None else Q))
    norms, query_norms = ((A.astype(np.float64) ** 2).sum(axis=1) for A in (Z, Y))
    c = 2.0 * (F.shape[1] + 8) * float(np.finfo(F.dtype).eps)
    limit = reach**2 + c * (norms + query_norms.max()) - norms
    step = max(1, min(len(Y), PRODUCT_BYTES // (4 * F.dtype.itemsize * n)))
    found, total = [], 0
    for start in range(0, len(Y), step):
        part = slice(start, min(start + step, len(Y)))
        near = Y[part] @ Z.T * -2.0 <= limit[None, :] - query_norms[part, None]
        if Q is None:
            near[xp.arange(part.stop - start), xp.arange(start, part.stop)] = False
        i, j = xp.nonzero(near)
        total += len(i)
        device.require(PAIR_BYTES * total, "the list of pairs within the radius", WAY_OUT)
        found.append(((i + start).astype(np.int32), j.astype(np.int32)))
    return xp.concatenate([i for i, _ in found]), xp.concatenate([j for _, j in found])
