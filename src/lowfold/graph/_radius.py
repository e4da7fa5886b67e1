"""Neighbours within a distance: of points among themselves, of queries, and the reverse neighbours of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import loops_for
from lowfold._core.memory import require
from lowfold._core.parallel import TABLED, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._device import on_cpu
from lowfold.graph._search import ROWS_OF_TREE, nearest, safe_range, select_search
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Neighbors

# Share by which a radius is widened for candidates, many times what a tree or a product errs by in float64; the exact
# test of distances computed by direct differences comes after.
WIDENED = 1e-9
PAIR_BYTES = 40.0  # of a pair in SciPy's lists: a pointer of 8 and a number of Python's, 32
_LOOPS = "lowfold.graph._search_loops"


def refuse_empty(source: Source, radius: float, run: Run) -> NoReturn:
    """A radius that joins no two points, with those that would."""
    apart = nearest(source, 1, run=replace(run, verbose=False)).distances
    raise InvalidInput(
        f"radius = {radius:g} joins no two points: the nearest are {apart.min():.3g} apart, and half of all have "
        f"another within {np.median(apart):.3g}; use a larger radius, or n_neighbors"
    )


def within_radius(
    source: Source,
    radius: float | Floats,
    *,
    queries: NDArray[np.floating] | Pairs | Measured | None = None,
    run: Run | None = None,
) -> Neighbors:
    """All points at distance <= radius of every point (never itself), or of every query.

    `radius` may hold one value per POINT j: then row i lists every j with d(i, j) <= radius[j], which are the reverse
    neighbours when radius[j] is j's distance to its k-th neighbour.
    """
    run = run or Run()
    limit = np.broadcast_to(np.asarray(radius, dtype=np.float64), (source.n,))
    with run.stage("neighbours within radius"):
        if isinstance(source, Blocks):
            from lowfold.graph._block_search import within_radius_in_blocks

            return within_radius_in_blocks(source, limit, queries, run)
        if isinstance(source, Measured):
            pairs = queries.pairs if isinstance(queries, Measured) else source.pairs
            return _filtered(pairs.rows(), pairs.indices.astype(np.int64), pairs.distances, limit, pairs.n, source.n)
        if isinstance(source, Pairs):
            D = queries.distances if isinstance(queries, Pairs) else source.distances
            return _from_rows(lambda part: D[part], len(D), limit, queries is None)
        assert not isinstance(queries, (Pairs, Measured))
        Q = source.X if queries is None else queries
        if source.metric.feature_map is None:
            return _from_rows(lambda part: source.rows(Q[part]), len(Q), limit, queries is None)
        return _mapped(source, Q, limit, queries is None, run)


def _filtered(rows: Ints, columns: Ints, distances: Floats, limit: Floats, m: int, n: int) -> Neighbors:
    kept = distances <= limit[columns]
    rows, columns, distances = rows[kept], columns[kept], distances[kept]
    order = np.lexsort((columns, distances, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=m))])
    return Neighbors(indptr, columns[order].astype(np.int32), distances[order], n)


def _from_rows(rows_of: Callable[[slice], AnyFloats], m: int, limit: Floats, itself: bool) -> Neighbors:
    """Full rows of distances, block by block."""
    n = len(limit)
    parts = block_slices(m, max(1, TABLED // max(1, n)))
    found: list[tuple[Ints, Ints, Floats]] = []
    for part in parts:
        D = np.asarray(rows_of(part), dtype=np.float64)
        hit = limit[None, :] >= D  # NaN is never a hit
        if itself:
            hit[np.arange(len(D)), np.arange(part.start, part.stop)] = False
        i, j = np.nonzero(hit)
        found.append((i + part.start, j, D[i, j]))
    rows, columns, distances = (np.concatenate(x) for x in zip(*found, strict=True))
    return _filtered(rows, columns, distances, limit, m, n)


def _mapped(source: Points, Q: NDArray[np.floating], limit: Floats, itself: bool, run: Run) -> Neighbors:
    F = source.features()
    F, G, exponent = safe_range(F, F if itself else source.features(Q))
    unfinish, finish = source.metric.unfinish, source.metric.finish
    with np.errstate(over="ignore"):  # a radius beyond float64 reaches all points
        reach = np.ldexp(limit if unfinish is None else np.asarray(unfinish(limit), dtype=np.float64), -exponent)
    if run.device != "cpu":
        from lowfold.graph._on_device import within_on

        found = within_on(F, None if itself else G, reach, limit, exponent, run) if finish is None else None
        if found is not None:
            return Neighbors(*found, source.n)
        if finish is not None:
            on_cpu("a search by radius", f"the last step of metric {source.metric.name!r} has no twin on the device")
    if select_search(max(len(F), len(G)), F.shape[1]) == "kdtree":
        rows, columns = _tree_candidates(F, G, reach, run)
    else:
        rows, columns = _product_candidates(F, G, reach, run)
    if itself:
        kept = rows != columns
        rows, columns = rows[kept], columns[kept]
    squared = np.empty(len(rows))
    loops_for(_LOOPS, max(F.shape)).pair_distances(G, F, rows, columns, squared)
    distances = np.ldexp(np.sqrt(squared), exponent)
    distances = distances if finish is None else np.asarray(finish(distances), dtype=np.float64)
    return _filtered(rows, columns, distances, limit, len(G), source.n)


def _tree_candidates(F: AnyFloats, G: AnyFloats, reach: Floats, run: Run) -> tuple[Ints, Ints]:
    """Queries in the balls around the points: the tree is on the queries, because the radius belongs to the point."""
    from scipy.spatial import cKDTree

    tree = cKDTree(G.astype(np.float64, copy=False), balanced_tree=False, compact_nodes=False)
    wide = reach * (1 + WIDENED)
    counts, parts = np.empty(len(F), dtype=np.int64), block_slices(len(F), ROWS_OF_TREE)  # on threads of our own

    def count(i: int) -> None:
        counts[parts[i]] = tree.query_ball_point(F[parts[i]], wide[parts[i]], return_length=True)

    run_blocks(count, len(parts), n_jobs=run.n_jobs)
    require(PAIR_BYTES * counts.sum(), "the list of pairs within the radius", "use a smaller radius or n_neighbors")
    ends = np.concatenate([[0], np.cumsum(counts)])
    rows = np.empty(ends[-1], dtype=np.int64)

    def gather(i: int) -> None:
        part = parts[i]
        lists = tree.query_ball_point(F[part], wide[part], return_sorted=False)
        size = int(counts[part].sum())
        rows[ends[part.start] : ends[part.stop]] = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=size)

    run_blocks(gather, len(parts), n_jobs=run.n_jobs)
    return rows, np.repeat(np.arange(len(F)), counts)


def _product_candidates(F: AnyFloats, G: AnyFloats, reach: Floats, run: Run) -> tuple[Ints, Ints]:
    """Blocked matrix products; the limit is widened by the rounding error, the exact test comes after."""
    loops = loops_for(_LOOPS, max(F.shape))
    centre = F.mean(axis=0, dtype=np.float64).astype(F.dtype)
    Fc, Gc = F - centre, G - centre
    norms, query_norms = np.einsum("ij,ij->i", Fc, Fc), np.einsum("ij,ij->i", Gc, Gc)
    c = 2.0 * (F.shape[1] + 8) * float(np.finfo(F.dtype).eps)
    with np.errstate(over="ignore"):  # as above
        squared = reach**2
    limit = squared * (1 + WIDENED) + c * (norms + np.max(query_norms, initial=0.0))
    parts = block_slices(len(G), 1024)
    found: list[tuple[Ints, Ints]] = [None] * len(parts)  # type: ignore[list-item]

    def work(i: int) -> None:
        rows, columns = [], []
        own = np.full(parts[i].stop - parts[i].start, -1)
        for tile in block_slices(len(F), 4096):
            block = Gc[parts[i]] @ Fc[tile].T
            block *= -2
            block += query_norms[parts[i], None]
            block += norms[None, tile]
            room = 4096
            while True:
                r, q = np.empty(room, np.int64), np.empty(room, np.int64)
                count = loops.within(block, limit, tile.start, own, r, q)
                if count <= room:
                    break
                room = count
            rows.append(r[:count] + parts[i].start)
            columns.append(q[:count])
        found[i] = np.concatenate(rows), np.concatenate(columns)

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
