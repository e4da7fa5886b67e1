"""Shortest paths from many vertices at once: the geodesic distances of Isomap.

Graphs come as plain compressed rows: row v holds the edges that leave v; an undirected graph stores every edge in
both rows. A length of zero is an edge; an absent entry or a length of inf is none.

Three ways. Dijkstra, source by source. Sweeps: sources that lie close together are solved as one batch; one Dijkstra
search from all of them gives the order in which the batch visits the vertices, and nearly every vertex then needs one
visit for all sources of the batch, carried in the lanes of the vector unit; a batch whose sources lie too far apart for
that is handed to Dijkstra. Elimination (`_minplus`): an undirected graph of low intrinsic dimension is factored once,
and each batch is a solve with the factor.

Lengths are rounded to whole units first (`_units`), so sums are exact: method, batches and threads never change a bit
of the result, and distances along undirected edges are symmetric.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as csgraph_dijkstra

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import spares
from lowfold._core.parallel import Progress, block_slices, run_blocks
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._dijkstra import checked_vertices
from lowfold.graph._minplus import PathFactor, count_work, factorise, worthwhile
from lowfold.graph._path_task import FEW, Method, Rows, Task, is_undirected, make_task, transpose, units_of
from lowfold.graph._sweeps import dijkstra_each, local, sweep

# The longest edge that float32 refuses as too short: it has its full digits above 1.2e-38 only, and edges may be
# shorter than the longest by many digits. The user is told to rescale before one of them vanishes.
VANISHING = 1e-25
SUMS = 2**15  # paths through one seed that are compared at a time: with ten seeds 2.6 MB, which a cache holds
RENUMBERED = 8  # searches from which it pays to renumber the vertices for them, which takes as long as two
# Sources that fill fewer than four batches lie far apart, and along a graph of many steps they see the vertices in
# different orders: on a Swiss roll 64 took twice as long in sweeps, in a cube of four dimensions a third.
SCATTERED, LONG = 256, 50
SMALL = 2_000  # vertices for which SciPy's Dijkstra takes less time than compiling
QUICK = 2  # graphs of half as many by SciPy, 0.1 s each: then loading compiled loops, 0.3 s, pays


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
        the targets.
    dtype
        float64: lengths rounded to 2^-53 of n times the longest edge. float32: to 2e-9 of the longest distance, summed
        in int32; in float64 for directed graphs and where this would change the shortest tenth of the edges by more
        than 1e-4.
    out
        Where to write, (n_sources, n_targets) of `dtype`; made when None. Beside it the forward search needs 256 bytes
        per vertex and thread, the backward search an array of the same size.
    n_jobs
        Threads; None is all cores allowed. The result does not depend on it.
    method
        "sweep" solves batches of neighbouring sources and hands a batch that would be slow to Dijkstra; "dijkstra" runs
        one search per source, which ends once all targets are reached; "eliminate" factors an undirected graph in the
        (min, +) algebra. "auto": Dijkstra for fewer than 64 sources, and for fewer than 256 on a graph of more than 50
        steps; elimination where its counted work is less than the sweeps'. All give the same bits.
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
    result = _result(out, (len(rows), n_columns), np.dtype(dtype))
    limit = _checked_limit(limit)
    ask = (limit, _known(method), n_jobs, progress)
    if columns is not None and n_columns < len(rows):
        backwards = make_task(transpose(edges), _single(columns), rows, result.dtype, *ask)
        result[:] = _solve(backwards, np.empty((n_columns, len(rows)), result.dtype)).T
        return result
    return _solve(make_task(edges, _single(rows), columns, result.dtype, *ask), result)


def seeded_paths(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    seed_indptr: ArrayLike,
    seed_indices: ArrayLike,
    seed_lengths: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    dtype: DTypeLike = np.float64,
    out: AnyFloats | None = None,
    n_jobs: int | None = None,
    method: Method = "auto",
    progress: Progress | None = None,
    limit: float = math.inf,
) -> AnyFloats:
    """Distances from points outside the graph that are attached to it through some of its vertices.

    Row r of the result is min over its seeds (v, c) of c + d_G(v, t), for the vertices t in `targets` (None: all); the
    seeds of row r are seed_indices[seed_indptr[r]:seed_indptr[r + 1]] at the initial distances c in seed_lengths. A row
    without seeds is inf. Targets that are fewer than the rows are searched from, with the same bits. The other
    parameters are those of `shortest_paths`.

    Examples
    --------
    A point at distance 1 from both ends of the path 0 - 1 - 2:

    >>> seeded_paths([0, 1, 3, 4], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0], [0, 2], [0, 2], [1.0, 1.0])
    array([[1., 2., 1.]])
    """
    edges = _checked_edges(indptr, indices, lengths, dtype)
    n = len(edges.indptr) - 1
    seeds = Rows(*_checked_rows(seed_indptr, seed_indices, seed_lengths, n, np.dtype(dtype), "seed_"))
    columns = None if targets is None else checked_vertices(targets, n, "targets").astype(np.int32)
    result = _result(out, (len(seeds.indptr) - 1, n if columns is None else len(columns)), np.dtype(dtype))
    ask = (_checked_limit(limit), _known(method), n_jobs, progress)
    task = make_task(edges, seeds, columns, result.dtype, *ask)
    if columns is None or len(columns) >= len(result) or limit < math.inf:
        return _solve(task, result)
    ends: NDArray[np.int32] = np.unique(seeds.indices)
    known = np.ascontiguousarray(_backwards(task, columns, ends).T)
    place = np.searchsorted(ends, seeds.indices)
    return through_seeds(seeds.indptr, place, _starts(task), known, result, n_jobs=n_jobs)


class Table(NamedTuple):
    """Distances from every vertex (rows) to some targets (columns), whole multiples of `unit`: what all points outside
    of the graph have in common.
    """

    known: AnyFloats
    unit: float

    def seeded(
        self, indptr: NDArray[Any], seeds: NDArray[np.integer], lengths: Floats, *, dtype: DTypeLike, n_jobs: int | None
    ) -> AnyFloats:
        """`seeded_paths` to the targets, with the same bits unless a seed is so far off that it needs other units."""
        starts = np.rint(lengths / self.unit) * self.unit
        out = np.empty((len(indptr) - 1, self.known.shape[1]), dtype)
        return through_seeds(indptr, seeds, starts, self.known, out, n_jobs=n_jobs)


def path_table(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    targets: Ints,
    *,
    dtype: DTypeLike,
    n_jobs: int | None = None,
) -> Table:
    """Paths from everywhere to the targets, in the units of distances of `dtype`."""
    edges = _checked_edges(indptr, indices, lengths, dtype)
    columns = checked_vertices(targets, len(edges.indptr) - 1, "targets").astype(np.int32)
    task = make_task(edges, _single(columns), None, np.dtype(dtype), math.inf, "auto", n_jobs, None)
    return Table(np.ascontiguousarray(_backwards(task, columns, None).T), task.units.unit)


def _backwards(task: Task, targets: NDArray[np.int32], ends: NDArray[np.int32] | None) -> AnyFloats:
    """Distances to the targets (rows) from `ends` (columns; None: every vertex), searched from the targets."""
    n = len(task.edges.indptr) - 1
    turned = task.edges if task.undirected else transpose(task.edges)
    first = _single(targets)
    first = first._replace(lengths=first.lengths.astype(task.units.dtype))
    out = np.empty((len(targets), n if ends is None else len(ends)))
    return _solve(task._replace(edges=turned, seeds=first, columns=ends), out)


def through_seeds(
    indptr: NDArray[Any],
    seeds: NDArray[np.integer],
    starts: Floats,
    known: AnyFloats,
    out: AnyFloats,
    *,
    n_jobs: int | None = None,
) -> AnyFloats:
    """out[r, t] = min over the seeds of r of their start + known[seed, t]. In whole units, so that sums are exact."""
    held = np.flatnonzero(np.diff(indptr))
    out[np.diff(indptr) == 0] = np.inf
    parts = block_slices(len(held), max(1, SUMS // max(known.shape[1], 1)))

    def work(i: int) -> None:
        rows = held[parts[i]]
        mine = slice(indptr[rows[0]], indptr[rows[-1] + 1])
        sums = known[seeds[mine]]
        sums += starts[mine, None]
        out[rows] = np.minimum.reduceat(sums, indptr[rows] - indptr[rows[0]], axis=0)

    run_blocks(work, len(parts), n_jobs=n_jobs)
    return out


# --- The three ways to an answer ------------------------------------------------------------------------------------


def _solve(task: Task, out: AnyFloats) -> AnyFloats:
    if out.size == 0 or _by_scipy(task, out):
        return out
    n_rows = len(task.seeds.indptr) - 1
    if task.method == "dijkstra" or (task.method == "auto" and n_rows < FEW):
        dijkstra_each(task if n_rows < RENUMBERED else local(task)[0], np.arange(n_rows), out)
        return out
    tree = None
    if task.undirected and task.method != "sweep":
        always = task.method == "eliminate"
        tree = worthwhile(task.edges.indptr, task.edges.indices, n_rows, task.units.dtype.itemsize, any_cost=always)
    if tree is not None:
        factor = factorise(tree, task.edges, task.units, n_jobs=task.n_jobs)
        factor.solve(task.seeds, task.columns, task.limit, out, n_jobs=task.n_jobs, progress=task.progress)
    else:
        task, steps = local(task)
        if task.method == "auto" and n_rows < SCATTERED and steps > LONG:
            dijkstra_each(task, np.arange(n_rows), out)
        else:
            sweep(task, out)
    return out


def _by_scipy(task: Task, out: AnyFloats) -> bool:
    """A small graph by SciPy's Dijkstra, where our loops would have to be loaded or compiled; whether it was done.

    Lengths are whole numbers, so that its sums are exact and have the same bits.
    """
    n = len(task.edges.indptr) - 1
    seeds, lengths = task.seeds, task.edges.lengths
    plain = task.method == "auto" and task.units.dtype.kind == "f" and task.limit == np.inf
    if n > SMALL or not plain or not len(lengths) or not (lengths.min() > 0 and lengths.max() < np.inf):
        return False
    if not spares("lowfold.graph._heap_loops", QUICK if n <= SMALL // 2 else 0):
        return False
    matrix = csr_array((lengths, task.edges.indices, task.edges.indptr), shape=(n, n))
    ends, place = np.unique(seeds.indices, return_inverse=True)
    known = csgraph_dijkstra(matrix, indices=ends) * task.units.unit
    known = known if task.columns is None else known[:, task.columns]
    through_seeds(seeds.indptr, place, _starts(task), known, out, n_jobs=task.n_jobs)
    return True


def _starts(task: Task) -> Floats:
    """How far the seeds are, in whole units; inf for those that cannot be reached."""
    return np.where(task.seeds.lengths < task.units.far, task.seeds.lengths * task.units.unit, np.inf)


def path_factor(
    indptr: ArrayLike,
    indices: ArrayLike,
    lengths: ArrayLike,
    *,
    dtype: DTypeLike,
    n_rows: int | None = None,
    most_additions: float = np.inf,
    n_jobs: int | None = None,
) -> PathFactor | None:
    """An undirected graph eliminated, for distances of `dtype`; None where `n_rows` rows cost less by sweeps.

    n_rows=None: at any cost of time; None where the fronts do not fit. None also where a row of distances would take
    more than `most_additions`.
    """
    edges = _checked_edges(indptr, indices, lengths, dtype)
    if not is_undirected(edges):
        return None
    units = units_of(edges, np.zeros(0), np.dtype(dtype), True)
    n = len(edges.indptr) - 1
    rows, any_cost = (n, True) if n_rows is None else (n_rows, False)
    tree = worthwhile(edges.indptr, edges.indices, rows, units.dtype.itemsize, any_cost=any_cost)
    if tree is None or count_work(tree).row > most_additions:
        return None
    return factorise(tree, edges._replace(lengths=units.of(edges.lengths)), units, n_jobs=n_jobs)


# --- Plain arrays in, kernel arrays out -----------------------------------------------------------------------------


def _single(vertices: NDArray[np.int32]) -> Rows:
    """One seed per row, at distance 0."""
    return Rows(np.arange(len(vertices) + 1), vertices, np.zeros(len(vertices)))


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
    if method not in ("auto", "eliminate", "sweep", "dijkstra"):
        raise InvalidInput(f'method must be "auto", "eliminate", "sweep" or "dijkstra"; got {method!r}')
    return method  # type: ignore[return-value]


def _checked_limit(limit: float) -> float:
    if not limit >= 0:
        raise InvalidInput(f"limit must be a distance >= 0, or inf for none; got {limit!r}")
    return float(limit)


def _checked_edges(indptr: ArrayLike, indices: ArrayLike, lengths: ArrayLike, dtype: DTypeLike) -> Rows:
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InvalidInput(f"dtype must be float32 or float64; got {kind}")
    n = np.size(indptr) - 1
    return Rows(*_checked_rows(indptr, indices, lengths, n, kind, ""))


def _checked_rows(
    indptr: ArrayLike, indices: ArrayLike, lengths: ArrayLike, n: int, dtype: np.dtype[Any], name: str
) -> tuple[Ints, NDArray[np.int32], AnyFloats]:
    """The loops read without bounds: everything they rely on is checked here.

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
    return pointers, heads, np.array(values, dtype=np.float64)


def _check_float32_range(values: AnyFloats, n: int, name: str) -> None:
    """A path has at most n edges; their sum must neither overflow to "no path" nor vanish."""
    finite = values[np.isfinite(values)]
    largest = float(finite.max()) if len(finite) else 0.0
    if largest * max(n, 1) > float(np.finfo(np.float32).max) or 0 < largest < VANISHING:
        raise InvalidInput(
            f"{name}lengths up to {largest:.3g} on {n} vertices do not fit float32; "
            "use dtype=float64 or rescale the data"
        )
