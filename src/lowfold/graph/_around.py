"""Points around a point along the edges of its neighbourhood: on a rolled sheet the nearest ones may lie on another."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import AnyInts, Floats, Ints
from lowfold.graph._types import Neighbors


def around(near: Neighbors, rows: Ints, k: int) -> Ints:
    """(rows, k) indices: a row itself and the nearest of its neighbours and theirs, by lengths along the edges.

    Where few have k of them, as many as half of the rows have; rows with fewer are left out.
    """
    owner, first = _entries(near, rows, k)
    through, second = _entries(near, near.indices[first], k)  # k others are nearer than what a neighbour has beyond
    length = near.distances[first][through] + near.distances[second]
    close = length <= _known_within(near, rows, k)[owner[through]]
    through, second, length = through[close], second[close], length[close]
    row = np.concatenate([np.arange(len(rows)), owner, owner[through]])
    point = np.concatenate([rows, near.indices[first], near.indices[second]])
    length = np.concatenate([np.zeros(len(rows)), near.distances[first], length])
    place = row * np.int64(near.n_points) + point
    order = np.lexsort((length, place))
    place, row, point, length = place[order], row[order], point[order], length[order]
    shortest = np.r_[True, place[1:] != place[:-1]]
    row, point, length = row[shortest], point[shortest], length[shortest]
    counts = np.bincount(row, minlength=len(rows))
    k = min(k, int(np.median(counts)))
    starts = (np.cumsum(counts) - counts)[counts >= k]
    return np.asarray(point[np.lexsort((length, row))][starts[:, None] + np.arange(k)], dtype=np.int64)


def _known_within(near: Neighbors, rows: Ints, k: int) -> Floats:
    """The distance within which a row and its neighbours are k points; inf where these are fewer."""
    enough = near.counts[rows] >= k - 1
    within = np.full(len(rows), np.inf)
    within[enough] = near.distances[near.indptr[rows[enough]] + k - 2]
    return within


def _entries(near: Neighbors, rows: AnyInts, most: int) -> tuple[Ints, Ints]:
    """The place in `rows` and the entry of every one of the `most` nearest neighbours of these rows."""
    counts = np.minimum(near.counts[rows], most)
    owner = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.asarray(near.indptr[rows][owner] + within, dtype=np.int64)
