"""The loops of `_shortcut_loops` in NumPy and SciPy, for few points: the same results without loading Numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats, Ints

SOURCES = 256  # ways of one call: a row of distances to all points each
ENTRIES = 500_000  # of rows that are compared at once, 10 MB


def _rows(indptr: Ints) -> Ints:
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def mth_lengths(indptr: Ints, lengths: Floats, m: Ints, out: Floats) -> None:
    """out[a, i] = the m[a]-th smallest length in row i, inf where there are fewer."""
    rows = _rows(indptr)
    order = np.lexsort((lengths, rows))  # rows stay where they are
    place = np.arange(len(lengths)) - indptr[rows]
    out[:] = np.inf
    for a in range(len(m)):
        there = place == m[a] - 1
        out[a, rows[there]] = lengths[order[there]]


def mirror(indptr: Ints, indices: Ints, values: Floats) -> None:
    """Give the entries (i, j) and (j, i) the larger of their values."""
    values[:] = np.maximum(values, values[_opposite(indptr, indices)])


def _opposite(indptr: Ints, indices: Ints) -> Ints:
    """Where (j, i) stands, for every entry (i, j) of a symmetric pattern."""
    return np.lexsort((_rows(indptr), indices))


def low_entries(
    indptr: Ints, indices: Ints, share: Floats, limit: float, entries: Ints, others: Ints, tails: Ints
) -> int:
    """How many entries (i, j), i < j, have a share of at most the limit: where they stand, where (j, i) does, and i."""
    rows = _rows(indptr)
    found = np.flatnonzero((rows < indices) & (share <= limit))
    n = len(found)
    entries[:n], others[:n], tails[:n] = found, _opposite(indptr, indices)[found], rows[found]
    return n


def shared_neighbors(
    indptr: Ints, indices: Ints, lengths: Floats, first: int, last: int, enough: float, spared: Floats, share: Floats
) -> None:
    """share[e] = |N(i) and N(j)| / min(|N(i)|, |N(j)|) for the entries (i, j), i < j, of rows first..last - 1; 1 for
    those of at most the length spared[i] or spared[j]. The count ends where the share is more than `enough`.
    """
    n, rows, degrees = len(indptr) - 1, _rows(indptr), np.diff(indptr)
    asked = (rows >= first) & (rows < last) & (indices >= rows)
    short = lengths <= np.maximum(spared[rows], spared[indices])
    share[asked & short] = 1.0
    open_ = np.flatnonzero(asked & ~short)
    A = csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    looked_at = np.cumsum(degrees[rows[open_]] + degrees[indices[open_]])  # entries of both rows: hubs have many
    for part in np.split(open_, np.searchsorted(looked_at, np.arange(ENTRIES, looked_at[-1:].sum(), ENTRIES))):
        i, j = rows[part], indices[part]
        common: Floats = np.asarray((A[i] * A[j]).sum(axis=1), dtype=np.float64).ravel()
        least = np.minimum(degrees[i], degrees[j])
        share[part] = np.minimum(common, np.floor(enough * least) + 1) / least


def labels(indptr: Ints, indices: Ints, kept: NDArray[np.bool_], out: Ints) -> None:
    """out[i] = the smallest vertex that the kept entries join with i; entries are kept in both rows or in none."""
    n = len(indptr) - 1
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    _, piece = connected_components(csr_array((np.ones(ends[-1]), indices[kept], ends), shape=(n, n)), directed=False)
    out[:] = np.unique(piece, return_index=True)[1][piece]


def places(indptr: Ints, indices: Ints, rows: Ints, columns: Ints, out: Ints) -> None:
    """out[s] = where the entry (rows[s], columns[s]) stands: rows are sorted."""
    n = len(indptr) - 1
    out[:] = np.searchsorted(_rows(indptr) * n + indices, rows.astype(np.int64) * n + columns)


def mean_lengths(indptr: Ints, lengths: Floats, vertices: Ints, out: Floats) -> None:
    """out[s, c] = the mean length of the entries in the row of vertices[s, c]."""
    total = np.bincount(_rows(indptr), lengths, minlength=len(indptr) - 1)  # added up in their order
    out[:] = (total / np.maximum(np.diff(indptr), 1))[vertices]


def long_edges(
    indptr: Ints, indices: Ints, lengths: Floats, middle: Floats, step: int, factor: float, edges: Ints, times: Floats
) -> int:
    """How many entries (i, j), i < j, of every `step`-th row are more than `factor` times as long as the smaller of
    middle[i] and middle[j]; edges and times get them, and how many times.
    """
    rows = _rows(indptr)
    usual = np.minimum(middle[rows], middle[indices])
    found = np.flatnonzero((rows % step == 0) & (rows < indices) & (lengths > factor * usual))
    edges[: len(found)], times[: len(found)] = found, lengths[found] / np.maximum(usual[found], NO_DIVISOR)
    return len(found)


def short_ways(
    indptr: Ints,
    indices: Ints,
    lengths: Floats,
    kept: NDArray[np.bool_],
    tails: Ints,
    heads: Ints,
    reach: Floats,
    out: NDArray[np.bool_],
) -> None:
    """No way is looked for twice here: `detours` finds the short ones too."""
    out[:] = False


def detours(
    indptr: Ints,
    indices: Ints,
    lengths: Floats,
    kept: NDArray[np.bool_],
    tails: Ints,
    heads: Ints,
    reach: Floats,
    most: int,
    out: NDArray[np.bool_],
) -> None:
    """out[s] = whether the way from tails[s] to heads[s] over the kept entries is longer than reach[s], or there is
    none. With fewer than `most` points all of them can be settled.
    """
    n = len(indptr) - 1
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    ways = csr_array((lengths[kept], indices[kept], ends), shape=(n, n))
    sources, at = np.unique(tails, return_inverse=True)
    limit = float(reach.max(initial=0.0))
    for first in range(0, len(sources), SOURCES):
        found = dijkstra(ways, indices=sources[first : first + SOURCES], limit=limit)
        now = np.flatnonzero((at >= first) & (at < first + SOURCES))
        out[now] = found[at[now] - first, heads[now]] > reach[now]
