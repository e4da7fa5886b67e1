"""Shortest paths by relaxation: batches of neighbouring sources in sweeps, and Dijkstra source by source.

Sources that lie close together are solved as one batch. One Dijkstra search from all of them gives the order in which
the batch visits the vertices; nearly every vertex then needs one visit for all sources of the batch, carried in the
lanes of the vector unit. A batch whose sources lie too far apart for that is handed to Dijkstra.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.types import AnyFloats, Ints
from lowfold.graph._minplus import aligned
from lowfold.graph._path_task import Rows, Task, anchors, columns_of, is_undirected, transpose

N_LANDMARKS = 8  # coordinates by which sources are put together: they need to be near, not exactly placed
DIJKSTRA_PER_BLOCK = 32  # searches of a block at most: enough to hide the start of a thread
# Roughly the seconds in which a batch looks at an edge, and the edges whose time a vertex takes; seconds of a block of
# batches, so that Ctrl-C and progress are heard; blocks at least, so that threads end together.
EDGE_SECONDS, VERTEX_EDGES, BLOCK_SECONDS, BLOCKS = 1.5e-8, 4, 0.1, 8
HOPELESS = 3  # batches given up before all the rest goes to Dijkstra


def dijkstra_each(task: Task, rows: Ints, out: AnyFloats) -> None:
    """One search per row."""
    loops = compiled("lowfold.graph._heap_loops")
    columns, limit, far, unit = columns_of(task), task.limit, task.units.far, task.units.unit
    blocks = block_slices(len(rows), min(max(int(BLOCK_SECONDS / _seconds(task.edges)), 1), DIJKSTRA_PER_BLOCK))

    def work(i: int) -> None:
        loops.dijkstra_rows(
            tuple(task.edges),
            tuple(task.seeds),
            rows[blocks[i]],
            columns,
            limit,
            far,
            unit,
            len(columns) < len(task.edges.indptr) - 1,
            out,
        )

    run_blocks(work, len(blocks), n_jobs=task.n_jobs, progress=task.progress)


def sweep(task: Task, out: AnyFloats) -> None:
    """Batches of neighbouring rows of a task made `local`; what they leave over goes to `dijkstra_each`."""
    loops = compiled("lowfold.graph._path_loops")
    n = len(task.edges.indptr) - 1
    dtype = task.units.dtype
    lanes = loops.lanes_of(dtype)
    n_rows = len(task.seeds.indptr) - 1
    coordinates = _landmark_distances(task.edges, task.units.far, min(N_LANDMARKS, -(-n_rows // lanes)))
    batches = _batches(coordinates[:, anchors(task.seeds)], lanes)
    in_edges = task.edges if is_undirected(task.edges) else transpose(task.edges)
    rows = tuple(task.edges), tuple(in_edges), tuple(task.seeds)
    ask = columns_of(task), task.limit, task.units.far, task.units.unit
    blocks = block_slices(len(batches), _batches_per_block(task.edges, len(batches)))
    left: list[Ints] = []
    solved: list[int] = []

    def work(i: int) -> None:
        block = batches[blocks[i]]
        labels = aligned((n, lanes), dtype)
        while len(block) and len(left) < HOPELESS:
            done = loops.sweep_batches(*rows, block, *ask, labels, out)
            solved.append(done)
            left.extend(block[done : done + 1])
            block = block[done + 1 :]
        left.extend(block)

    def progress(_: float) -> None:
        if task.progress is not None:
            task.progress(sum(solved) / len(batches))

    def progress_after(share: float) -> None:
        if task.progress is not None:
            task.progress(1 - (1 - share) * len(left) / len(batches))

    run_blocks(work, len(blocks), n_jobs=task.n_jobs, progress=progress)
    if left:
        again = np.sort(np.concatenate(left))
        dijkstra_each(task._replace(progress=progress_after), again[again >= 0], out)


def local(task: Task) -> tuple[Task, int]:
    """The task with vertices renumbered: what is close along the graph lies close in memory; and how many steps it is
    long.

    In the order of a breadth-first search a search looks at most lines of the memory once: at 1,000,000 vertices in
    random order it took 2.4 times as long. A curve that fills the plane won no more.
    """
    order, steps = compiled("lowfold.graph._heap_loops").broad_order(task.edges.indptr, task.edges.indices)
    label = np.empty(len(order), dtype=np.int32)
    label[order] = np.arange(len(order), dtype=np.int32)
    here = task._replace(
        edges=_relabelled(task.edges, order, label),
        seeds=task.seeds._replace(indices=label[task.seeds.indices]),
        columns=label[columns_of(task)],
    )
    return here, int(steps)


def _batches_per_block(edges: Rows, n_batches: int) -> int:
    """About a tenth of a second of work, and at least eight blocks so that threads end together."""
    return max(1, min(int(BLOCK_SECONDS / _seconds(edges)), n_batches // BLOCKS))


def _seconds(edges: Rows) -> float:
    """Of one look at every edge."""
    return EDGE_SECONDS * (len(edges.indices) + VERTEX_EDGES * len(edges.indptr))


# --- Which sources go together --------------------------------------------------------------------------------------


def _landmark_distances(edges: Rows, far: Any, n_landmarks: int) -> NDArray[Any]:
    """Distances (n_landmarks, n) from vertices far from each other: coordinates in which neighbours are close."""
    loops = compiled("lowfold.graph._heap_loops")
    n = len(edges.indptr) - 1
    dtype = edges.lengths.dtype
    heap = loops.new_heap(n, edges.lengths)
    order = np.empty(n, np.int32)
    wanted = np.zeros(1, np.bool_)
    coordinates = np.empty((n_landmarks + 1, n), dtype)
    zero = np.zeros(1, dtype)
    nearest = np.full(n, far, dtype)
    landmark = 0
    for i in range(n_landmarks + 1):
        start = np.array([landmark], np.int32)
        loops.settle(*edges, start, zero, far, far, wanted, -1, coordinates[i], order, heap)
        if i > 0:  # the first search only finds a vertex at the rim
            nearest = np.minimum(nearest, coordinates[i])
        landmark = int(np.argmax(nearest if i > 0 else coordinates[0]))
    coordinates = coordinates[1:]
    reached = coordinates < far
    coordinates[~reached] = -coordinates[reached].max()  # apart from all that can be reached
    return coordinates


def _batches(coordinates: AnyFloats, lanes: int) -> Ints:
    """Groups of `lanes` columns that are close together, as rows of column numbers; the last is padded with -1.

    Recursive halving along the coordinate of largest extent, at multiples of `lanes`, so that only one group is not
    full.
    """
    n = coordinates.shape[1]
    groups: list[Ints] = []
    waiting = [np.arange(n)]
    while waiting:
        members = waiting.pop()
        if len(members) <= lanes:
            groups.append(members)
            continue
        here = coordinates[:, members]
        widest = here[np.argmax(np.ptp(here, axis=1))]
        half = lanes * -(-len(members) // (2 * lanes))
        parted = members[np.argpartition(widest, half - 1)]
        waiting += [parted[half:], parted[:half]]
    batches = np.full((len(groups), lanes), -1, dtype=np.int64)
    for batch, members in zip(batches, groups, strict=True):
        batch[: len(members)] = members
    return batches


def _relabelled(edges: Rows, order: Ints, label: NDArray[np.int32]) -> Rows:
    """The graph whose vertex i is the old vertex order[i]."""
    degrees = np.diff(edges.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    take = np.arange(len(edges.indices)) + np.repeat(edges.indptr[:-1][order] - indptr[:-1], degrees)
    return Rows(indptr, label[edges.indices[take]], edges.lengths[take])
