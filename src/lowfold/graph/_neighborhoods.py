"""`neighborhoods`: k, one k per point, radius, or both, from any source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold.graph._radius import within_radius
from lowfold.graph._search import nearest, trim
from lowfold.graph._source import Measured, Pairs, Source
from lowfold.graph._types import Neighbors

DEFAULT_NEIGHBORS = 10  # hold a surface together and span its planes, and on most data reach no other sheet


def default_neighbors(n: int) -> int:
    """What `n_neighbors=None` means: min(10, n - 1)."""
    return min(DEFAULT_NEIGHBORS, n - 1)


def neighborhoods(
    source: Source,
    *,
    n_neighbors: int | NDArray[np.int64] | None = None,
    radius: float | None = None,
    search: str = "auto",
    run: Run | None = None,
) -> Neighbors:
    """Neighbourhoods of all points.

    Only n_neighbors: that many, or one number per point. Only radius: all within it. Both: at most n_neighbors, none
    beyond the radius. Neither: min(10, n - 1).

    The ball is closed. Wang (2012) defines an open one and prints code for a closed one; other libraries have it closed
    too, and `np.nextafter(radius, 0)` is the open one. His code lets the radius win over k; here it wins by leaving k
    out, for both together are what keeps an outlier from getting far neighbours.
    """
    n = source.n
    if n_neighbors is None and radius is not None:
        return within_radius(source, radius, run=run)
    k = np.asarray(default_neighbors(n) if n_neighbors is None else n_neighbors)
    if k.ndim == 1 and len(k) != n:
        raise InvalidInput(f"n_neighbors must be one number or one per point; got {len(k)} numbers for {n} points")
    if k.max() > n - 1:
        raise InvalidInput(
            f"n_neighbors must be at most {n - 1}, because {n} points have only {n - 1} others; got {k.max()}"
        )
    found = nearest(source, int(k.max()), search=search, run=run)
    if k.ndim == 0 and radius is None:
        return found
    return trim(found, np.broadcast_to(k, (n,)), radius)


def query_neighborhoods(
    source: Source,
    queries: NDArray[np.floating] | Pairs | Measured,
    *,
    n_neighbors: int | None = None,
    radius: float | None = None,
    search: str = "auto",
    run: Run | None = None,
) -> Neighbors:
    """Neighbourhoods of new points among the old ones, by the same rules. A query without any is an error by row."""
    if n_neighbors is None and radius is not None:
        found = within_radius(source, radius, queries=queries, run=run)
    else:
        k = min(n_neighbors or default_neighbors(source.n), source.n)
        found = nearest(source, k, queries=queries, search=search, run=run)
        if radius is not None:
            found = trim(found, np.full(found.n, k), radius)
    lonely = np.flatnonzero(found.counts == 0)
    if len(lonely):
        reach = "" if radius is None else f" within radius {radius:g}"
        raise InvalidInput(
            f"row {lonely[0]} of the new points has no neighbour{reach} among the training points"
            f" ({len(lonely)} such rows); use a larger radius, or leave these rows out"
        )
    return found
