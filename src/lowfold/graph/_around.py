"""Points around a point along the edges of its neighbourhood: on a rolled sheet the nearest ones may lie on another."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import AnyInts, Ints
from lowfold.graph._types import Neighbors


def around(near: Neighbors, rows: Ints, k: int) -> Ints:
    """(rows, k) indices: a row itself and the nearest of its neighbours and theirs, by lengths along the edges.

    Where few have k of them, as many as half of the rows have; rows with fewer are left out.
    """
    owner, first = _entries(near, rows)
    through, second = _entries(near, near.indices[first])
    row = np.concatenate([np.arange(len(rows)), owner, owner[through]])
    point = np.concatenate([rows, near.indices[first], near.indices[second]])
    length = np.concatenate([np.zeros(len(rows)), near.distances[first], near.distances[first][through]])
    length[len(rows) + len(first) :] += near.distances[second]
    order = np.lexsort((length, point, row))
    row, point, length = row[order], point[order], length[order]
    shortest = np.r_[True, (row[1:] != row[:-1]) | (point[1:] != point[:-1])]
    row, point, length = row[shortest], point[shortest], length[shortest]
    counts = np.bincount(row, minlength=len(rows))
    k = min(k, int(np.median(counts)))
    starts = (np.cumsum(counts) - counts)[counts >= k]
    return np.asarray(point[np.lexsort((length, row))][starts[:, None] + np.arange(k)], dtype=np.int64)


def _entries(near: Neighbors, rows: AnyInts) -> tuple[Ints, Ints]:
    """The place in `rows` and the entry of every neighbour of these rows."""
    counts = near.counts[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.asarray(near.indptr[rows][owner] + within, dtype=np.int64)
