"""The search for neighbours where rows stay in blocks: every pair of blocks is searched by itself, and what was found
is merged by (distance, index).

A search inside a block proves its answer as the one in memory does, and distances are computed by the same loop; so the
exact search has the bits of that in memory. The approximate one has inverted lists for every block, all with the same
centres, trained on a sample.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.memory import fits, require
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._inverted import (
    MEASURED,
    TRAINED,
    Lists,
    found_in_lists,
    ladder,
    nearest_lists,
    shared_part,
    trained_lists,
)
from lowfold.graph._radius import within_radius
from lowfold.graph._search import FINDERS, RECALL, finished, nearest, own_rows, select_search, sorted_rows
from lowfold.graph._source import Blocks, Points
from lowfold.graph._types import Neighbors
from lowfold.metrics._metric import Metric

Near = tuple[Floats, Ints]  # squared distances (distances of a metric without a map), and indices among all rows


class Task(NamedTuple):
    """What every pair of blocks has to know: how near is measured, how many are wanted, and how they are searched."""

    metric: Metric
    k: int
    backend: str
    exponent: int  # features are divided by 2 to this power, where their squares would leave the range
    run: Run
    lists: Lists | None = None

    def features(self, block: AnyFloats) -> AnyFloats:
        """Rows among which distances are Euclidean."""
        assert self.metric.feature_map is not None
        F = np.ascontiguousarray(self.metric.feature_map(block))
        return F if self.exponent == 0 else np.ldexp(F, -self.exponent)


def plain_run(run: Run, jobs: int | None) -> Run:
    """A run that can be sent to another process: nobody watches it there."""
    return Run(solver=run.solver, tol=run.tol, n_jobs=run.n_jobs if jobs is None else jobs, device="cpu", stages=None)


def nearest_in_blocks(source: Blocks, queries: Any, k: int, search: str, run: Run) -> Neighbors:
    """The k nearest of every row, or of every query, by (distance, index)."""
    m = source.n if queries is None else len(queries)
    require(24.0 * m * k, f"{k} neighbours of {m} points", "use fewer n_neighbors, or landmarks")
    task = _task(source, queries, k, search, run)
    recall = 1.0
    if search == "faiss" and queries is None:
        task, recall = _calibrated(source, task, run)
    if queries is not None:
        found = iter([source.rows.fold(_near_queries, partial(_merged, k), queries, task)])
    else:
        found = source.rows.pairs(_near_pair, partial(_merged, k), task)
    distances, index = np.empty((m, k)), np.empty((m, k), dtype=np.int32)
    done = 0
    for squared, items in found:
        part = slice(done, done + len(items))
        squared, items = _completed(source, squared, items, queries, part, task, run)
        done = part.stop
        distances[part] = squared
        if source.metric.feature_map is not None:
            distances[part], items = finished(squared, items, task.exponent, source.metric.finish)
        index[part] = items
    return Neighbors(np.arange(0, m * k + 1, k), index.ravel(), distances.ravel(), source.n, recall)


def _task(source: Blocks, queries: Any, k: int, search: str, run: Run) -> Task:
    """The backend for all pairs: the number of columns decides as it does in memory."""
    metric, plain = source.metric, plain_run(run, source.rows.jobs)
    if metric.feature_map is None:
        return Task(metric, k, "unmapped", 0, plain)
    width = int(metric.feature_map(source.rows.take(np.arange(1))).shape[1])
    size = _largest(source, queries)
    exponent = int(np.frexp(size)[1])
    within = abs(exponent) <= (50 if source.rows.dtype == np.float32 else 400)
    backend = select_search(source.n, width) if search == "auto" else search
    return Task(metric, k, backend, 0 if within else exponent, plain)


def _largest(source: Blocks, queries: Any) -> float:
    """The largest size of a feature; of Euclidean rows the first pass knows it."""
    if source.metric.name == "euclidean":
        size = max(float(source.extent.high.max()), -float(source.extent.low.min()))
    else:
        size = float(source.rows.fold(_block_size, max, source.metric))
    if queries is None or len(queries) == 0:
        return size
    return max(size, _block_size(np.asarray(queries), 0, source.metric))


def _block_size(block: AnyFloats, start: int, metric: Metric) -> float:
    assert metric.feature_map is not None
    return float(np.abs(metric.feature_map(block)).max(initial=0.0))


def _merged(k: int, a: Near, b: Near) -> Near:
    squared, index = sorted_rows(np.hstack([a[0], b[0]]), np.hstack([a[1], b[1]]))
    return np.ascontiguousarray(squared[:, :k]), np.ascontiguousarray(index[:, :k])


def _near_pair(A: AnyFloats, a: int, B: AnyFloats, b: int, task: Task) -> tuple[Near, Near]:
    """The nearest of B for every row of A, and of A for every row of B."""
    if a == b:
        found = _near(A, a, A, a, task)
        return found, found
    return _near(B, b, A, a, task), _near(A, a, B, b, task)


def _near_queries(block: AnyFloats, start: int, queries: AnyFloats, task: Task) -> Near:
    return _near(block, start, queries, None, task)


def _near(block: AnyFloats, start: int, queries: AnyFloats, asking: int | None, task: Task) -> Near:
    """The k nearest rows of a block, as numbered among all; fewer where it has fewer.

    asking  the first row of the queries, where they are a block too
    """
    itself = asking == start
    k = min(task.k, len(block) - itself)
    if k == 0:
        return np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int32)
    if task.backend == "unmapped":
        found = nearest(Points(block, task.metric), k, queries=None if itself else queries, run=task.run)
        return found.distances.reshape(-1, k), (found.indices.reshape(-1, k) + start).astype(np.int32)
    F = task.features(block)
    Q = F if itself else task.features(queries)
    if task.lists is not None and asking is not None:
        own = own_rows(len(F), len(Q), itself)
        look = found_in_lists(task.lists, F, start, Q, task.lists.of(asking, Q), own, k, task.run)
        squared, index = look(task.lists.probes)
    else:
        backend = "brute" if task.backend == "faiss" else task.backend
        squared, index, _ = FINDERS[backend](F, Q, k, itself, task.run, _unheard)
    return squared, (index + start).astype(np.int32)


def _unheard(share: float) -> None:
    """Tasks elsewhere have nobody to tell."""


# The approximate search -----------------------------------------------------------------------------------------------


def _calibrated(source: Blocks, task: Task, run: Run) -> tuple[Task, float]:
    """Lists trained on a sample, as many of them looked at as the recall on measured rows takes, and that recall."""
    n = source.n
    rng = np.random.default_rng(0)
    wanted = min(n, TRAINED * max(1, int(np.sqrt(n))))
    sample = np.sort(rng.choice(n, wanted, replace=False))
    lists = trained_lists(task.features(source.rows.take(sample)), n, run)
    measured = np.sort(rng.choice(n, min(MEASURED, n), replace=False))
    steps = ladder(len(lists.centroids))
    Q = source.rows.take(measured)
    found = source.rows.fold(_tried, partial(_merged_all, task.k), Q, measured, task._replace(lists=lists), steps)
    recalls = [shared_part(index, found[0][1]) for _, index in found[1:]]
    chosen = next((i for i, recall in enumerate(recalls) if recall >= RECALL), len(steps) - 1)
    task = task._replace(lists=lists._replace(probes=steps[chosen]))
    return _with_lists_of_rows(source, task), recalls[chosen]


def _with_lists_of_rows(source: Blocks, task: Task) -> Task:
    """The lists of every row found once, not again for every pair; on a cluster they would have to be sent around."""
    assert task.lists is not None
    if source.rows.jobs is not None or not fits(4.0 * source.n * task.lists.probes):
        return task
    near = np.concatenate(list(source.rows.map(_lists_of_block, task)))
    return task._replace(lists=task.lists._replace(near=near))


def _lists_of_block(block: AnyFloats, start: int, task: Task) -> NDArray[np.int32]:
    assert task.lists is not None
    return nearest_lists(task.features(block), task.lists)


def _tried(
    block: AnyFloats, start: int, Q: AnyFloats, measured: Ints, task: Task, steps: tuple[int, ...]
) -> list[Near]:
    """What an exact search finds for the measured rows, and what every step of the ladder does."""
    assert task.lists is not None
    F, G = task.features(block), task.features(Q)
    own = np.where((measured >= start) & (measured < start + len(F)), measured - start, -1)
    k = min(task.k, len(F) - 1) or 1
    squared, index, _ = FINDERS["brute"](F, G, min(k + 1, len(F)), False, task.run, _unheard)
    squared[index == own[:, None]] = np.inf
    near = nearest_lists(G, task.lists._replace(probes=steps[-1]))
    look = found_in_lists(task.lists, F, start, G, near, own, k, task.run)
    found = [sorted_rows(squared, index), *map(look, steps)]
    return [(squared, (index + start).astype(np.int32)) for squared, index in found]


def _merged_all(k: int, a: list[Near], b: list[Near]) -> list[Near]:
    return [_merged(k, *pair) for pair in zip(a, b)]


def _completed(
    source: Blocks, squared: Floats, index: Ints, queries: Any, part: slice, task: Task, run: Run
) -> tuple[Floats, Ints]:
    """Rows for which the lists held fewer than k are searched exactly."""
    short = np.flatnonzero(~np.isfinite(squared).all(axis=1)) if task.lists is not None else np.empty(0, np.int64)
    if len(short) == 0:
        return squared, index
    rows = short + part.start
    exact = task._replace(lists=None, k=task.k + 1)
    found, items = source.rows.fold(_near_queries, partial(_merged, task.k + 1), source.rows.take(rows), exact)
    found[items == rows[:, None]] = np.inf
    found, items = sorted_rows(found, items)
    squared[short], index[short] = found[:, : task.k], items[:, : task.k]
    return squared, index


# Within a radius, and outside a piece ---------------------------------------------------------------------------------


def within_radius_in_blocks(source: Blocks, limit: Floats, queries: Any, run: Run) -> Neighbors:
    """All rows within the radius of every row, or of every query; rows sorted by (distance, index)."""
    plain = plain_run(run, source.rows.jobs)
    shared = (source.metric, limit, source.n, plain)
    if queries is not None:
        joined: Neighbors = source.rows.fold(_within_queries, _merged_lists, queries, *shared)
        return joined
    parts = list(source.rows.pairs(_within_pair, _merged_lists, *shared))
    counts = np.concatenate([part.counts for part in parts])
    return Neighbors(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.distances for part in parts]),
        source.n,
    )


def _within(block: AnyFloats, start: int, queries: AnyFloats | None, shared: tuple[Any, ...]) -> Neighbors:
    metric, limit, n, run = shared
    found = within_radius(Points(block, metric), limit[start : start + len(block)], queries=queries, run=run)
    return replace(found, indices=found.indices + np.int32(start), n_points=n)


def _within_queries(block: AnyFloats, start: int, queries: AnyFloats, *shared: Any) -> Neighbors:
    return _within(block, start, queries, shared)


def _within_pair(A: AnyFloats, a: int, B: AnyFloats, b: int, *shared: Any) -> tuple[Neighbors, Neighbors]:
    if a == b:
        found = _within(A, a, None, shared)
        return found, found
    return _within(B, b, A, shared), _within(A, a, B, shared)


def _merged_lists(a: Neighbors, b: Neighbors) -> Neighbors:
    rows = np.concatenate([a.rows(), b.rows()])
    indices, distances = np.concatenate([a.indices, b.indices]), np.concatenate([a.distances, b.distances])
    order = np.lexsort((indices, distances, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=a.n))])
    return Neighbors(indptr, indices[order], distances[order], a.n_points)


def nearest_outside_in_blocks(source: Blocks, members: Ints, labels: Ints, run: Run) -> tuple[Ints, Ints, Floats]:
    """The shortest pair of a member of a piece and a row outside of it."""
    require(
        8.0 * len(members) * source.rows.shape[1],
        f"a piece of {len(members)} points",
        "use on_disconnected='largest' or 'separate'",
    )
    queries = source.rows.take(members)
    task = Task(source.metric, 1, "", 0, plain_run(run, source.rows.jobs))
    found = source.rows.fold(_outside, _shorter, queries, labels, int(labels[members[0]]), task)
    i, j, d = found
    return members[[i]], np.array([j]), np.array([d])


def _outside(
    block: AnyFloats, start: int, queries: AnyFloats, labels: Ints, piece: int, task: Task
) -> tuple[int, int, float]:
    others = np.flatnonzero(labels[start : start + len(block)] != piece)
    if len(others) == 0:
        return 0, 0, np.inf
    found = nearest(Points(block[others], task.metric), 1, queries=queries, run=task.run)
    best = int(np.argmin(found.distances))
    return best, int(start + others[found.indices[best]]), float(found.distances[best])


def _shorter(a: tuple[int, int, float], b: tuple[int, int, float]) -> tuple[int, int, float]:
    """By (distance, member, row)."""
    return a if (a[2], a[0], a[1]) <= (b[2], b[0], b[1]) else b
