"""The one door to neighbours.

An exact search takes a few candidates more than k, recomputes their distances by direct differences in float64, sorts
by (distance, index), and proves that nothing left out can be nearer; rows where it cannot are searched again by brute
force. So every exact backend gives the same neighbours and the same distances to the last bit, ties included, and a
search by radius, which computes them in the same loop, finds whatever lies at exactly that distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import loops_for
from lowfold._core.parallel import TABLED, Progress, block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.stages import stage_key
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._device import without_twin
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Sheet, Source
from lowfold.graph._types import Neighbors
from lowfold.metrics._table import METRICS

Found = tuple[Floats, Ints, float]  # squared distances, indices, recall

TREE_COLUMNS = 12  # up to here a k-d tree beats blocked matrix products on data that fill their space
FEW = 1_000  # points and queries up to which products take some ms more than a tree, whose package takes 60 to load
# Candidates beyond k: ties and rounding are settled among them, and rows they do not settle are searched again.
SPARE = 8
ROWS_OF_TREE = 2048  # queries that a thread looks up at a time: some ms, between which Ctrl-C is answered
LOOPS = "lowfold.graph._search_loops"
_TILE = 4096  # columns of a product: with 1,024 rows, 32 MB that are read again while they are in the cache
RECALL = 0.95  # what the approximate search aims at on its sample
SEARCHES = ("auto", "kdtree", "brute", "faiss")


def select_search(n: int, n_features: int, *, mapped: bool = True) -> str:
    """What `search="auto"` uses for n points, or queries where those are more.

    "kdtree" for more than 1,000 of up to 12 columns, "brute" (blocked products) for others or without a map.
    """
    return "kdtree" if mapped and n_features <= TREE_COLUMNS and n > FEW else "brute"


def nearest(
    source: Source,
    k: int,
    *,
    queries: NDArray[np.floating] | Pairs | Measured | None = None,
    search: str = "auto",
    run: Run | None = None,
) -> Neighbors:
    """The k nearest points of every point (never itself), or of every query. Fewer only where fewer were measured."""
    run = run or Run()
    room = source.n if queries is not None else source.n - 1
    if not 1 <= k <= room:
        raise InvalidInput(f"n_neighbors must lie in 1..{room} for {source.n} points; got {k}")
    if search not in SEARCHES:
        raise InvalidInput(f"search must be one of {', '.join(SEARCHES)}; got {search!r}")
    if isinstance(source, Sheet) and queries is None:
        return _along(source, k, run)
    if queries is None and run.stages is not None and isinstance(source, Points) and source.metric.name in METRICS:
        key = stage_key("neighbours", source.X, source.metric.name, source.metric.params, k, search)
        afresh = replace(run, stages=None)
        return run.stages.get(key, lambda: nearest(source, k, search=search, run=afresh))
    with run.stage("neighbours") as progress:
        if isinstance(source, Blocks):
            return _in_blocks(source, queries, k, search, run)
        if isinstance(source, Measured):
            measured = queries.pairs if isinstance(queries, Measured) else source.pairs
            return trim(measured, np.full(measured.n, k))
        if isinstance(source, Pairs):
            D = queries.distances if isinstance(queries, Pairs) else source.distances
            return _select_rows(D, k, own=queries is None, run=run)
        assert not isinstance(queries, (Pairs, Measured))
        if source.metric.feature_map is None:
            without_twin(run, "the search for neighbours", f"metric {source.metric.name!r} is not Euclidean")
            return _unmapped(source, queries, k, run)
        F = source.features()
        F, Q, exponent = safe_range(F, F if queries is None else source.features(queries))
        found = _on_device(F, None if queries is None else Q, k, exponent, run) if search == "auto" else None
        if found is None:
            backend = select_search(max(len(F), len(Q)), F.shape[1]) if search == "auto" else search
            squared, near, recall = FINDERS[backend](F, Q, k, queries is None, run, progress)
            distances, index = finished(squared, near, exponent, source.metric.finish)
        else:
            distances, index = settled(found[0], found[1], source.metric.finish, found[2])
            recall = 1.0
    m = len(index)
    columns = index.astype(np.int32, copy=False).ravel()
    return Neighbors(np.arange(0, m * k + 1, k), columns, distances.ravel(), source.n, recall)


Finish = Callable[[AnyFloats], AnyFloats]


def finished(squared: Floats, index: Ints, exponent: int, finish: Finish | None) -> tuple[Floats, NDArray[Any]]:
    """Distances from squared ones over 2^(2 exponent), and their points; equal ones go by index."""
    return settled(np.ldexp(np.sqrt(squared), exponent), index, finish, None)


def settled(
    distances: Floats, index: NDArray[Any], finish: Finish | None, tied: Ints | None
) -> tuple[Floats, NDArray[Any]]:
    """Distances by the metric; rows where the root or `finish` made equal what was not (`tied`, if known) by index."""
    if finish is not None:
        distances, tied = np.asarray(finish(distances), dtype=np.float64), None
    if tied is None:
        wrong = (distances[:, 1:] == distances[:, :-1]) & (index[:, 1:] < index[:, :-1])
        tied = np.flatnonzero(wrong.any(axis=1))
    if len(tied):
        distances, index = distances.copy(), index.copy()
        distances[tied], index[tied] = sorted_rows(distances[tied], index[tied].astype(np.int64))
    return distances, index


def _in_blocks(source: Blocks, queries: Any, k: int, search: str, run: Run) -> Neighbors:
    """The same search where the rows stay in blocks."""
    from lowfold.graph._block_search import nearest_in_blocks

    return nearest_in_blocks(source, queries, k, search, run)


def _along(source: Sheet, k: int, run: Run) -> Neighbors:
    """The same search along a surface; fewer only where fewer are linked."""
    from lowfold.graph._sheet import nearest_along

    return nearest_along(source, k, run)


def _on_device(
    F: AnyFloats, Q: AnyFloats | None, k: int, exponent: int, run: Run
) -> tuple[Floats, NDArray[np.int32], Ints | None] | None:
    """The same search on the run's device, which remembers its result, and rows with ties to sort; None on the CPU."""
    if run.device == "cpu":
        return None
    from lowfold.graph._on_device import search_on

    return search_on(F, Q, k, exponent, run)


def trim(neighbors: Neighbors, keep: Ints, radius: float | None = None) -> Neighbors:
    """At most keep[i] neighbours in row i, none farther than `radius` (closed: d <= radius)."""
    place = np.arange(len(neighbors.indices)) - np.repeat(neighbors.indptr[:-1], neighbors.counts)
    kept = place < np.repeat(keep, neighbors.counts)
    if radius is not None:
        kept &= neighbors.distances <= radius
    counts = np.bincount(neighbors.rows()[kept], minlength=neighbors.n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, neighbors.indices[kept], neighbors.distances[kept], neighbors.n_points, neighbors.recall)


def safe_range(F: AnyFloats, Q: AnyFloats) -> tuple[AnyFloats, AnyFloats, int]:
    """F and Q divided by a power of two, and its exponent, where squares would overflow or vanish; else as they are."""
    exponent = int(np.frexp(max(_largest(F), 0.0 if Q is F else _largest(Q)))[1])
    if abs(exponent) <= (50 if F.dtype == np.float32 else 400):
        return F, Q, 0
    scaled = np.ldexp(F, -exponent)
    return scaled, scaled if Q is F else np.ldexp(Q, -exponent), exponent


def _largest(F: AnyFloats) -> float:
    return float(max(F.max(initial=0.0), -F.min(initial=0.0)))


def own_rows(n: int, m: int, itself: bool) -> Ints:
    return np.arange(n) if itself else np.full(m, -1)


def sorted_rows(squared: Floats, index: Ints) -> tuple[Floats, Ints]:
    """Sort each row by (distance, index)."""
    order = np.argsort(index, axis=1, kind="stable")
    squared, index = np.take_along_axis(squared, order, 1), np.take_along_axis(index, order, 1)
    order = np.argsort(squared, axis=1, kind="stable")
    return np.take_along_axis(squared, order, 1), np.take_along_axis(index, order, 1)


def _rounding(F: AnyFloats) -> float:
    """A bound c: squared distances by products, or in another order of summation, err by c (|x|^2 + |y|^2) at most."""
    return float(2.0 * (F.shape[1] + 8) * float(np.finfo(F.dtype).eps))


def _tree(F: AnyFloats, Q: AnyFloats, k: int, itself: bool, run: Run, progress: Progress) -> Found:
    """k-d tree. One candidate beyond k shows whether a tie runs over the edge; such rows are searched wider."""
    n = len(F)
    from scipy.spatial import cKDTree

    tree = cKDTree(F.astype(np.float64, copy=False), balanced_tree=False, compact_nodes=False)
    own = own_rows(n, len(Q), itself)
    squared, index = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
    rows = np.arange(len(Q))
    width = min(n, k + 1 + itself)
    for _ in range(3):
        if len(rows) == 0:
            break
        open_rows = []
        for part in block_slices(len(rows), 200_000):
            now = rows[part]
            distance, found = _in_tree(tree, Q[now], width, run)
            certain, exact, items = _settle(F, Q[now], distance, found, own[now], k)
            squared[now[certain]], index[now[certain]] = exact, items
            open_rows.append(now[~certain])
            progress(part.stop / len(rows))
        rows, width = np.concatenate(open_rows), min(n, 4 * width)
    if len(rows):
        squared[rows], index[rows] = exact_rows(F, Q, rows, own, k, run)
    return squared, index, 1.0


def _in_tree(tree: Any, Q: AnyFloats, width: int, run: Run) -> tuple[Floats, Ints]:
    """The nearest `width` of every query, on own threads: SciPy's go on writing after Ctrl-C, into freed memory."""
    distance, found = np.empty((len(Q), width)), np.empty((len(Q), width), dtype=np.int64)
    parts, wanted = block_slices(len(Q), ROWS_OF_TREE), np.arange(1, width + 1)

    def work(i: int) -> None:
        distance[parts[i]], found[parts[i]] = tree.query(Q[parts[i]], wanted)

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return distance, found


def _settle(
    F: AnyFloats, Q: AnyFloats, distance: Floats, found: Ints, own: Ints, k: int
) -> tuple[NDArray[np.bool_], Floats, Ints]:
    """Rows whose k nearest are certain, with squared distances by direct differences and indices, ties by index."""
    m, width = found.shape
    complete = width >= len(F)
    beyond = distance[:, -1] ** 2 * (1 - _rounding(F.astype(np.float64, copy=False)))  # nothing left out is nearer
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] &= own[keep.all(axis=1)] < 0  # the point itself lost in a crowd of duplicates
    if (own >= 0).all():
        found = found[keep].reshape(m, width - 1)
    exact = np.empty(found.shape)
    loops_for(LOOPS, max(F.shape)).candidate_distances(Q, F, found, exact)
    exact, found = sorted_rows(exact, found)
    certain = np.full(m, True) if complete else exact[:, k - 1] < beyond
    return certain, exact[certain, :k], found[certain, :k]


def _brute(F: AnyFloats, Q: AnyFloats, k: int, itself: bool, run: Run, progress: Progress) -> Found:
    """Blocked matrix products on centred data, then candidates recomputed and checked against the rounding error."""
    n = len(F)
    loops = loops_for(LOOPS, max(F.shape))
    centre = F.mean(axis=0, dtype=np.float64).astype(F.dtype)
    Fc, Qc = F - centre, Q - centre
    norms, query_norms = np.einsum("ij,ij->i", Fc, Fc), np.einsum("ij,ij->i", Qc, Qc)
    own = own_rows(n, len(Q), itself)
    width = min(n - itself, k + SPARE)
    squared, index = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
    certain = np.empty(len(Q), dtype=bool)
    # A product in this precision errs by at most c (|x|^2 + |y|^2), and |y|^2 <= 2 |x|^2 + 2 d^2: so a point left out
    # at computed distance t is truly at least (t - 3 c |x|^2) / (1 + 2 c) away, whatever its own norm.
    c = _rounding(F)
    parts = block_slices(len(Q), 1024)
    among = _nearest_among(Fc, norms, width, run, progress) if itself else None

    def work(i: int) -> None:
        rows = parts[i]
        if among is not None:
            keys, items = among[0][rows], among[1][rows]
        else:
            keys = np.full((rows.stop - rows.start, width), np.inf, dtype=F.dtype)
            items = np.full(keys.shape, n, dtype=np.int64)
            for columns in block_slices(n, _TILE):
                block = Qc[rows] @ Fc[columns].T
                block *= -2
                block += query_norms[rows, None]
                block += norms[None, columns]
                loops.keep_nearest(block, columns.start, own[rows], keys, items)
        exact = np.empty(items.shape)
        loops.candidate_distances(Q[rows], F, items, exact)
        exact, items = sorted_rows(exact, items)
        squared[rows], index[rows] = exact[:, :k], items[:, :k]
        left_out = (keys.max(axis=1).astype(np.float64) - 3 * c * query_norms[rows]) / (1 + 2 * c)
        certain[rows] = (exact[:, k - 1] < left_out) | (width >= n - itself)

    run_blocks(work, len(parts), n_jobs=run.n_jobs, progress=progress)
    if not certain.all():
        rows = np.flatnonzero(~certain)
        squared[rows], index[rows] = exact_rows(F, Q, rows, own, k, run)
    return squared, index, 1.0


def _nearest_among(
    F: AnyFloats, norms: NDArray[np.floating], width: int, run: Run, progress: Progress
) -> tuple[NDArray[np.floating], Ints]:
    """Squared distances and indices, in no order, of the `width` nearest others of every point.

    Each product serves both of its points. Tiles of points meet in rounds, as in a tournament: in one round no tile
    meets two others, so that threads never touch the same rows.
    """
    loops = loops_for(LOOPS, max(F.shape))
    keys = np.full((len(F), width), np.inf, dtype=F.dtype)
    items = np.full(keys.shape, len(F), dtype=np.int64)
    tiles = block_slices(len(F), 512)
    scaled = -2 * F
    rounds = _tournament(len(tiles))

    for turn, meetings in enumerate(rounds):

        def work(i: int, meetings: list[tuple[int, int]] = meetings) -> None:
            a, b = (tiles[t] for t in meetings[i])
            loops.keep_nearest_both(scaled[a] @ F[b].T, norms, a.start, b.start, keys, items)

        run_blocks(work, len(meetings), n_jobs=run.n_jobs)
        progress((turn + 1) / len(rounds))
    return keys, items


def _tournament(m: int) -> list[list[tuple[int, int]]]:
    """Rounds in which each of m players meets every other once, and at last itself (the circle method).

    >>> _tournament(4)
    [[(0, 3), (1, 2)], [(0, 2), (1, 3)], [(0, 1), (2, 3)], [(0, 0), (1, 1), (2, 2), (3, 3)]]
    """
    even = m + m % 2
    circle = list(range(1, even))
    rounds = []
    for turn in range(even - 1):
        seats = [0, *circle[even - 1 - turn :], *circle[: even - 1 - turn]]
        pairs = [(seats[i], seats[even - 1 - i]) for i in range(even // 2)]
        rounds.append(sorted((min(p), max(p)) for p in pairs if max(p) < m))
    return [*rounds, [(i, i) for i in range(m)]]


def exact_rows(F: AnyFloats, Q: AnyFloats, rows: Ints, own: Ints, k: int, run: Run) -> tuple[Floats, Ints]:
    """Rows searched by direct differences over all points."""
    loops = loops_for(LOOPS, max(F.shape))
    squared, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
    parts = block_slices(len(rows), 64)

    def work(i: int) -> None:
        part = parts[i]
        loops.exact_rows(Q, F, rows[part], own, k, squared[part], index[part])

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return sorted_rows(squared, index)


def _faiss(F: AnyFloats, Q: AnyFloats, k: int, itself: bool, run: Run, progress: Progress) -> Found:
    from lowfold.graph._inverted import approximate

    return approximate(F, Q, k, itself, run, progress)


FINDERS: dict[str, Callable[[AnyFloats, AnyFloats, int, bool, Run, Progress], Found]] = {
    "kdtree": _tree,
    "brute": _brute,
    "faiss": _faiss,
}


def _unmapped(source: Points, queries: NDArray[np.floating] | None, k: int, run: Run) -> Neighbors:
    """A metric without a feature map: full rows of distances, block by block."""
    Q = source.X if queries is None else queries
    rows_at_once = max(1, TABLED // source.n)
    parts = block_slices(len(Q), rows_at_once)
    found: list[Neighbors] = [None] * len(parts)  # type: ignore[list-item]

    def work(i: int) -> None:
        D = source.rows(Q[parts[i]])
        own = np.arange(parts[i].start, parts[i].stop) if queries is None else np.full(len(D), -1)
        found[i] = _pick(D, k, own)

    run_blocks(work, len(parts), n_jobs=1 if source.metric.name == "callable" else run.n_jobs)
    return _stack(found, source.n)


def _select_rows(D: NDArray[np.floating], k: int, *, own: bool, run: Run) -> Neighbors:
    """The k smallest measured entries of every row of a matrix; rows may come out shorter."""
    parts = block_slices(len(D), max(1, TABLED // max(1, D.shape[1])))
    found: list[Neighbors] = [None] * len(parts)  # type: ignore[list-item]

    def work(i: int) -> None:
        itself = np.arange(parts[i].start, parts[i].stop)
        found[i] = _pick(D[parts[i]], k, itself if own else np.full(len(itself), -1))

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return _stack(found, int(D.shape[1]))


def _pick(D: NDArray[np.floating], k: int, own: Ints) -> Neighbors:
    n = D.shape[1]
    loops = loops_for(LOOPS, n)
    keys = np.full((len(D), k), np.inf)
    items = np.full((len(D), k), n, dtype=np.int64)
    loops.keep_nearest(np.ascontiguousarray(D, dtype=np.float64), 0, own, keys, items)
    keys, items = sorted_rows(keys, items)
    kept = np.isfinite(keys) & (items < n)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return Neighbors(indptr, items[kept], keys[kept], n)


def _stack(parts: list[Neighbors], n_points: int) -> Neighbors:
    counts = np.concatenate([part.counts for part in parts])
    return Neighbors(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.distances for part in parts]),
        n_points,
    )
