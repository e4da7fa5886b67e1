"""The symmetric graph of directed neighbourhoods, on the device that found them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._cuda._device import Device
from lowfold._cuda._tree import row_of_entry

UNION_BYTES = 96.0  # of an arc: both its directions as keys, sorted, with their order, lengths and masks


def union_rows(
    device: Device, indptr: NDArray[Any], indices: NDArray[Any], distances: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows (indptr, indices, lengths) of i ~ j when either is a neighbour of the other; the shorter length counts.

    They come to the host, and the device remembers them.
    """
    xp, n = device.xp, len(indptr) - 1
    j, d = device.put(indices).astype(np.int64), device.put(distances)
    i = row_of_entry(xp, device.put(indptr), len(j))
    keys = xp.concatenate([i * n + j, j * n + i])
    order = xp.argsort(keys)
    keys, lengths = keys[order], xp.concatenate([d, d])[order]
    first = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]]))
    last = xp.concatenate([first[1:] - 1, xp.asarray([len(keys) - 1])])  # an edge has at most both its directions
    keys, lengths = keys[first], xp.minimum(lengths[first], lengths[last])
    rows = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    return device.remembered(rows), device.remembered((keys % n).astype(np.int32)), device.remembered(lengths)
