"""Shortest paths from many vertices at once: the geodesic distances of Isomap.

Graphs come as plain compressed rows: row v holds the edges that leave v; an undirected graph stores every edge in
both rows. A length of zero is an edge; an absent entry or a length of inf is none.

Sources that lie close together are solved as one batch. One Dijkstra search from all of them gives the order in which
the batch visits the vertices; nearly every vertex then needs one visit for all sources of the batch, carried in the
lanes of the vector unit. A batch whose sources lie too far apart for that is handed to Dijkstra, source by source.
Labels are added up from the source on, whichever way is taken, so method, batches and threads never change a bit of
the result.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress, block_slices, run_blocks
from lowfold._core.types import AnyFloats, Ints
from lowfold.graph._dijkstra import checked_vertices

Method = Literal["auto", "sweep", "dijkstra"]

N_LANDMARKS = 8
FEW = 64  # below this many rows far apart, preparing batches costs more than it saves
DIJKSTRA_PER_BLOCK = 32
HOPELESS = 3  # batches given up before all the rest goes to Dijkstra


class _Rows(NamedTuple):
    """Compressed rows in the types that the loops are compiled for.

    As edges: row v holds the heads and lengths of the edges that leave v. As seeds: row r of the result starts from
    these vertices at these initial distances.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    lengths: AnyFloats


class _Task(NamedTuple):
    """What one call asks for."""

    edges: _Rows
    seeds: _Rows
    columns: NDArray[np.int32] | None
    limit: float
    method: Method
    n_jobs: int | None
    progress: Progress | None


def shortest_paths(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    sources: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.float64,
    out: AnyFloats | None = None,
    n_jobs: int | None = None,
    method: Method = "auto",
    progress: Progress | None = None,
    limit: float = math.inf,
) -> AnyFloats:
    """Lengths of the shortest paths from each source (rows) to each target (columns); inf where there is no path.

    d_G(s, t) = min over paths s = v_0, ..., v_m = t of sum_i length(v_{i-1}, v_i), Wang (2012), Definition 8.1,
    doi:10.1007/978-3-642-27497-8.

    Parameters
    ----------
    indptr, indices, lengths
        Compressed rows of out-edges, lengths >= 0. An undirected graph stores each edge in both rows.
    sources, targets
        Vertices, repeats allowed; None is all of them. With fewer targets than sources the search runs backwards from
        the targets, which adds the same lengths in the opposite order (equal up to rounding).
    dtype
        float64: the sums that Dijkstra's algorithm computes, bit for bit. float32: lengths and sums in float32,
        relative error about 1e-7 times the root of the number of edges on the path (at most that number times 6e-8).
    out
        Where to write, (n_sources, n_targets) of `dtype`; made when None. Beside it the forward search needs 256 bytes
        per vertex and thread, the backward search an array of the same size.
    n_jobs
        Threads; None is all cores allowed. The result does not depend on it.
    method
        "sweep" solves batches of neighbouring sources and hands a batch that would be slow to Dijkstra; "dijkstra" runs
        one search per source, which ends once all targets are reached; "auto" does so for fewer than 64 sources.
    progress
        Called with the finished share between blocks of work.
    limit
        Distances beyond it are reported as inf, and the search does not go there.

    Examples
    --------
    A path 0 - 1 - 2 with edges of length 1 and 2:

    >>> shortest_paths([0, 1, 3, 4], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0])
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    edges = _checked_edges(indptr, indices, lengths, dtype)
    n = len(edges.indptr) - 1
    rows = np.arange(n, dtype=np.int32) if sources is None else checked_vertices(sources, n, "sources").astype(np.int32)
    columns = None if targets is None else checked_vertices(targets, n, "targets").astype(np.int32)
    n_columns = n if columns is None else len(columns)
    result = _result(out, (len(rows), n_columns), edges.lengths.dtype)
    limit = _checked_limit(limit)
    if columns is not None and n_columns < len(rows):
        backwards = _Task(_transpose(edges), _single(columns, edges), rows, limit, _known(method), n_jobs, progress)
        result[:] = _solve(backwards, np.empty((n_columns, len(rows)), edges.lengths.dtype)).T
        return result
    return _solve(_Task(edges, _single(rows, edges), columns, limit, _known(method), n_jobs, progress), result)


def seeded_paths(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    seed_indptr: ArrayLike,
    seed_indices: ArrayLike,
    seed_lengths: ArrayLike,
    *,
    dtype: DTypeLike = np.float64,
    out: AnyFloats | None = None,
    n_jobs: int | None = None,
    method: Method = "auto",
    progress: Progress | None = None,
    limit: float = math.inf,
) -> AnyFloats:
    """Distances from points outside the graph that are attached to it through some of its vertices.

    Row r of the result is min over its seeds (v, c) of c + d_G(v, t), for all vertices t; the seeds of row r are
    seed_indices[seed_indptr[r]:seed_indptr[r + 1]] at the initial distances c in seed_lengths. A row without seeds is
    inf. The other parameters are those of `shortest_paths`.

    Examples
    --------
    A point at distance 1 from both ends of the path 0 - 1 - 2:

    >>> seeded_paths([0, 1, 3, 4], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0], [0, 2], [0, 2], [1.0, 1.0])
    array([[1., 2., 1.]])
    """
    edges = _checked_edges(indptr, indices, lengths, dtype)
    n = len(edges.indptr) - 1
    seeds = _Rows(*_checked_rows(seed_indptr, seed_indices, seed_lengths, n, edges.lengths.dtype, "seed_"))
    result = _result(out, (len(seeds.indptr) - 1, n), edges.lengths.dtype)
    return _solve(_Task(edges, seeds, None, _checked_limit(limit), _known(method), n_jobs, progress), result)


# --- The two ways to an answer --------------------------------------------------------------------------------------


def _solve(task: _Task, out: AnyFloats) -> AnyFloats:
    if out.size == 0:
        return out
    n_rows = len(task.seeds.indptr) - 1
    if task.method == "dijkstra" or (task.method == "auto" and n_rows < FEW):
        _dijkstra(task, np.arange(n_rows), out)
    else:
        _sweep(task, out)
    return out


def _columns(task: _Task) -> NDArray[np.int32]:
    return np.arange(len(task.edges.indptr) - 1, dtype=np.int32) if task.columns is None else task.columns


def _limit(task: _Task) -> Any:
    """The limit as a number of the labels' type; beyond its range it is none."""
    dtype = task.edges.lengths.dtype
    return dtype.type(task.limit if task.limit <= np.finfo(dtype).max else np.inf)


def _dijkstra(task: _Task, rows: Ints, out: AnyFloats) -> None:
    """One search per row."""
    loops = compiled("lowfold.graph._path_loops")
    columns, limit = _columns(task), _limit(task)
    blocks = block_slices(len(rows), DIJKSTRA_PER_BLOCK)

    def work(i: int) -> None:
        loops.dijkstra_rows(
            tuple(task.edges), tuple(task.seeds), rows[blocks[i]], columns, limit, task.columns is not None, out
        )

    run_blocks(work, len(blocks), n_jobs=task.n_jobs, progress=task.progress)


def _sweep(task: _Task, out: AnyFloats) -> None:
    """Batches of neighbouring rows; what they leave over goes to `_dijkstra`."""
    loops = compiled("lowfold.graph._path_loops")
    n = len(task.edges.indptr) - 1
    dtype = task.edges.lengths.dtype
    lanes = loops.lanes_of(dtype)
    n_rows = len(task.seeds.indptr) - 1
    coordinates = _landmark_distances(task.edges, min(N_LANDMARKS, -(-n_rows // lanes)))
    batches = _batches(coordinates[:, _anchors(task.seeds)], lanes)
    task = _local(task, np.argsort(coordinates[0], kind="stable"))
    edges, in_edges, seeds = tuple(task.edges), tuple(_in_edges(task.edges)), tuple(task.seeds)
    columns, limit = _columns(task), _limit(task)
    blocks = block_slices(len(batches), _batches_per_block(task.edges, len(batches)))
    left: list[Ints] = []
    solved: list[int] = []

    def work(i: int) -> None:
        block = batches[blocks[i]]
        labels = _aligned((n, lanes), dtype)
        while len(block) and len(left) < HOPELESS:
            done = loops.sweep_batches(edges, in_edges, seeds, block, columns, limit, labels, out)
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
        rows = np.sort(np.concatenate(left))
        _dijkstra(task._replace(progress=progress_after), rows[rows >= 0], out)


def _local(task: _Task, order: Ints) -> _Task:
    """The task with vertices renumbered by `order`: what is close along the graph lies close in memory."""
    label = np.empty(len(order), dtype=np.int32)
    label[order] = np.arange(len(order), dtype=np.int32)
    return task._replace(
        edges=_relabelled(task.edges, order, label),
        seeds=task.seeds._replace(indices=label[task.seeds.indices]),
        columns=label[_columns(task)],
    )


def _batches_per_block(edges: _Rows, n_batches: int) -> int:
    """About a tenth of a second of work, and at least eight blocks so that threads end together."""
    seconds = 1.5e-8 * (len(edges.indices) + 4 * len(edges.indptr))
    return max(1, min(int(0.1 / seconds), n_batches // 8))


# --- Which sources go together --------------------------------------------------------------------------------------


def _landmark_distances(edges: _Rows, n_landmarks: int) -> AnyFloats:
    """Distances (n_landmarks, n) from vertices far from each other: coordinates in which neighbours are close."""
    loops = compiled("lowfold.graph._path_loops")
    n = len(edges.indptr) - 1
    dtype = edges.lengths.dtype
    heap = loops.new_heap(n, edges.lengths)
    order = np.empty(n, np.int32)
    wanted = np.zeros(1, np.bool_)
    coordinates = np.empty((n_landmarks + 1, n), dtype)
    zero, limit = np.zeros(1, dtype), dtype.type(np.inf)
    nearest = np.full(n, np.inf, dtype)
    landmark = 0
    for i in range(n_landmarks + 1):
        start = np.array([landmark], np.int32)
        loops.settle(*edges, start, zero, limit, wanted, -1, coordinates[i], order, heap)
        if i > 0:  # the first search only finds a vertex at the rim
            nearest = np.minimum(nearest, coordinates[i])
        landmark = int(np.argmax(nearest if i > 0 else coordinates[0]))
    coordinates = coordinates[1:]
    reached = np.isfinite(coordinates)
    coordinates[~reached] = -coordinates[reached].max()  # apart from all that can be reached
    return coordinates


def _anchors(seeds: _Rows) -> Ints:
    """For each row the seed at the smallest initial distance; vertex 0 for a row without seeds."""
    counts = np.diff(seeds.indptr)
    nearest_first = np.lexsort((seeds.lengths, np.repeat(np.arange(len(counts)), counts)))
    anchors = np.zeros(len(counts), np.int64)
    anchors[counts > 0] = seeds.indices[nearest_first[seeds.indptr[:-1][counts > 0]]]
    return anchors


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


# --- Plain arrays in, kernel arrays out -----------------------------------------------------------------------------


def _relabelled(edges: _Rows, order: Ints, label: NDArray[np.int32]) -> _Rows:
    """The graph whose vertex i is the old vertex order[i]."""
    degrees = np.diff(edges.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    take = np.arange(len(edges.indices)) + np.repeat(edges.indptr[:-1][order] - indptr[:-1], degrees)
    return _Rows(indptr, label[edges.indices[take]], edges.lengths[take])


def _transpose(edges: _Rows) -> _Rows:
    """In-edges as compressed rows, sorted; duplicates and zero lengths are kept."""
    n = len(edges.indptr) - 1
    matrix = csr_array((edges.lengths, edges.indices, edges.indptr), shape=(n, n)).tocsc()
    lengths = np.asarray(matrix.data, dtype=edges.lengths.dtype)
    return _Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), lengths)


def _in_edges(edges: _Rows) -> _Rows:
    """In-edges; for a symmetric graph these are the out-edges, which then need no second place in the cache."""
    turned = _transpose(edges)
    ordered = _transpose(turned)
    same_pattern = np.array_equal(turned.indptr, ordered.indptr) and np.array_equal(turned.indices, ordered.indices)
    symmetric = same_pattern and np.array_equal(turned.lengths, ordered.lengths)
    return edges if symmetric else turned


def _single(vertices: NDArray[np.int32], edges: _Rows) -> _Rows:
    """One seed per row, at distance 0."""
    return _Rows(np.arange(len(vertices) + 1), vertices, np.zeros(len(vertices), edges.lengths.dtype))


def _aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> AnyFloats:
    """An empty array that starts at a cache line: a row of lanes then never touches a line too many."""
    size = shape[0] * shape[1] * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def _result(out: AnyFloats | None, shape: tuple[int, int], dtype: np.dtype[Any]) -> AnyFloats:
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
        raise InvalidInput(
            f"out must be a writable C-contiguous array of shape {shape} and dtype {dtype}; got shape {out.shape}, "
            f"dtype {out.dtype}; leave it out to have it made"
        )
    return np.asarray(out)


def _known(method: str) -> Method:
    if method not in ("auto", "sweep", "dijkstra"):
        raise InvalidInput(f'method must be "auto", "sweep" or "dijkstra"; got {method!r}')
    return method  # type: ignore[return-value]


def _checked_limit(limit: float) -> float:
    if not limit >= 0:
        raise InvalidInput(f"limit must be a distance >= 0, or inf for none; got {limit!r}")
    return float(limit)


def _checked_edges(indptr: ArrayLike, indices: ArrayLike, lengths: ArrayLike, dtype: DTypeLike) -> _Rows:
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InvalidInput(f"dtype must be float32 or float64; got {kind}")
    n = np.size(indptr) - 1
    return _Rows(*_checked_rows(indptr, indices, lengths, n, kind, ""))


def _checked_rows(
    indptr: ArrayLike, indices: ArrayLike, lengths: ArrayLike, n: int, dtype: np.dtype[Any], name: str
) -> tuple[Ints, NDArray[np.int32], AnyFloats]:
    """The kernels read without bounds: everything they rely on is checked here.

    Copies, because Numba compiles every loop once more for read-only arrays.
    """
    pointers = np.array(indptr, dtype=np.int64)
    columns = np.asarray(indices)
    values = np.asarray(lengths)
    if not 0 <= n < 2**31 - 1:
        raise InvalidInput(
            f"a graph must have fewer than 2**31 vertices and indptr at least one entry; got {n} vertices"
        )
    if pointers.ndim != 1 or not len(pointers) or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise InvalidInput(f"{name}indptr must be one row of numbers that starts at 0 and never falls")
    if columns.shape != (pointers[-1],) or values.shape != (pointers[-1],):
        raise InvalidInput(
            f"{name}indices and {name}lengths must have {name}indptr[-1] = {pointers[-1]} entries; "
            f"got shapes {columns.shape} and {values.shape}"
        )
    heads = checked_vertices(columns, n, f"{name}indices").astype(np.int32)
    if len(values) and not values.min() >= 0:
        raise InvalidInput(
            f"{name}lengths must be >= 0 and not NaN; the smallest is {values.min()}; "
            "for negative lengths on a graph without cycles use the reference function dijkstra"
        )
    if dtype == np.float32:
        _check_float32_range(values, n, name)
    return pointers, heads, np.array(values, dtype=dtype)


def _check_float32_range(values: AnyFloats, n: int, name: str) -> None:
    """A path has at most n edges; their sum must neither overflow to "no path" nor vanish."""
    finite = values[np.isfinite(values)]
    largest = float(finite.max()) if len(finite) else 0.0
    if largest * max(n, 1) > float(np.finfo(np.float32).max) or 0 < largest < 1e-30:
        raise InvalidInput(
            f"{name}lengths up to {largest:.3g} on {n} vertices do not fit float32; "
            "use dtype=float64 or rescale the data"
        )
