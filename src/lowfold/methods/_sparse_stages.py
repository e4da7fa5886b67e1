"""The stages of methods that begin with a graph: Laplacians and walks, fields, alignments, geodesics, their solvers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array, kron

from lowfold._core.memory import fits, pretty_bytes
from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import resolve_jobs
from lowfold._core.run import Run
from lowfold._cuda._minplus import padded
from lowfold._cuda._patches import MOST, PATCH_BYTES
from lowfold._cuda._paths import BATCH_BYTES
from lowfold.graph._geodesic_gram import pass_bytes
from lowfold.graph._geodesics import geodesic_dtype, most_additions
from lowfold.graph._minplus import count_work, factor_bytes, worthwhile
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._on_device import PANEL_BYTES
from lowfold.graph._search import nearest
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._connection import local_dimensions, local_pca
from lowfold.kernels._on_device import BLOCK_BYTES
from lowfold.methods._fit import Connected, Data
from lowfold.methods._stages import EDGE, FLOAT, Stage, columns, degree, leading_stage, read_stage, search_stage
from lowfold.methods._walk_kernel import WalkKernel
from lowfold.spectral._doors import select_solver
from lowfold.spectral._factor import count_fill

COUNTED = 100_000  # up to so many points the graph is built and the factor counted; beyond, the plan would take minutes


def walk_stages(model: Any, data: Data, widen: Callable[[Neighbors], Graph] | None = None) -> list[Stage]:
    """Neighbours, a sparse Laplacian (or the walk that it generates), its bottom; `widen` joins further pairs."""
    found = found_neighbors(model, data)
    if found is None:
        entries = (JOINED if widen is None else JOINED_WIDELY) * data.n * degree(model, data)
        return [
            read_stage(data),
            search_stage(model, data),
            _weights(data, entries),
            _uncounted(model, data, factored=False),
        ]
    graph = found.union() if widen is None else widen(found)
    kernel = _weights(data, float(len(graph.indices)))
    pattern = csr_array(graph.to_scipy(np.ones(len(graph.indices))) + eye_array(data.n, format="csr"))
    return [
        read_stage(data),
        search_stage(model, data),
        kernel,
        _bottom(model, pattern, columns(model), laplacian=True),
    ]


def _weights(data: Data, entries: float) -> Stage:
    size = WEIGHING * EDGE * entries
    return Stage("kernel", f"sparse, {entries + data.n:.0f} entries", size, 3 * EDGE * entries, size)


JOINED = 1.6  # entries of the graph over n k, for what is not counted
JOINED_WIDELY = 2.7  # where all within one reach are joined, of an evenly sampled surface; up to 12 where it is uneven
WEIGHING = 6.0  # copies of the edges where weights are made: graph, lengths, weights, Laplacian and its transpose


def diffusion_stages(model: Any, data: Data) -> list[Stage]:
    """The walk of all pairs, or of a sparse graph."""
    kernel = WalkKernel.of(model)
    if not kernel.is_complete(data.source):
        widen = partial(_widely, kernel, data, model._run()) if kernel.joins == "reach" else None
        return walk_stages(model, data, widen)
    n = data.n
    size = FLOAT * float(n) * n
    walk = Stage("walk", f"{n} x {n} weights", COMPLETE * size, 2 * size)
    return [read_stage(data), walk, leading_stage(model, n)]


def _widely(kernel: WalkKernel, data: Data, run: Run, found: Neighbors) -> Graph:
    """The graph of all pairs within the reach, as the fit makes it."""
    return kernel.within_reach(Connected(data.source, found), run) or found.union()


COMPLETE = 5.0  # of n x n: distances, their squares, the exponent, the weights, and their product with the density


def field_stages(model: Any, data: Data) -> list[Stage]:
    """Blocks of d x d along every edge: transports, the walk and its weights; fields at the bottom."""
    n, k = float(data.n), degree(model, data)
    d, D = tangent_dimension(model, data), data.shape[1]
    bases = FLOAT * n * D * d
    tangents = Stage("tangents", f"{d} directions in {D} columns at every point", bases, bases, bases)
    blocks = FLOAT * 1.6 * n * k * d * d
    words, there = f"blocks of {d} x {d} along the edges", BLOCK_BYTES * (1.6 * n * k + n) * d * d
    kernel = Stage("connection", words, CARRYING * blocks, 3 * blocks, there)
    found = found_neighbors(model, data) if data.n * d <= COUNTED else None
    if found is None:
        scalar = _uncounted(model, data, factored=True)
        solve = replace(scalar, bytes=scalar.bytes * d * d)  # a block for every entry
    else:
        graph = found.union()
        edges = csr_array(graph.to_scipy(np.ones(len(graph.indices))) + eye_array(data.n, format="csr"))
        pattern = csr_array(kron(edges, np.ones((d, d)), format="csr"))
        solve = _bottom(model, pattern, model.n_eigenvectors or max(20, model.n_components), laplacian=False)
    return [read_stage(data), search_stage(model, data), tangents, kernel, solve]


def tangent_dimension(model: Any, data: Data) -> int:
    """As asked, or as some points show it."""
    if isinstance(model.tangent_dim, int):
        return int(model.tangent_dim)
    source = data.points()
    X, rows = source.features(), np.linspace(0, data.n - 1, min(data.n, SHOWN)).astype(np.int64)
    near = nearest(source, min(int(degree(model, data)) + 1, data.n), queries=source.X[rows], run=model._run())
    squared = near.distances[near.distances > 0] ** 2
    scale = float(squared.mean()) / 2 if len(squared) else 1.0
    dims = local_dimensions(local_pca(X, near, scale, 1, queries=X[rows], run=model._run()).spectra, model.variance)
    return int(np.median(dims)) if model.tangent_dim == "median" else round(float(dims.mean()))


SHOWN = 200  # points whose neighbourhoods show the dimension of all
CARRYING = 8.0  # copies of the blocks while they are made: bases at both ends, products, transports, weights, rows


def alignment_stages(model: Any, data: Data) -> list[Stage]:
    """Neighbours, a local problem at every point, the sparse kernel that aligns them, its bottom."""
    n, k = float(data.n), degree(model, data)
    found = found_neighbors(model, data)
    patches = FLOAT * n * (k + 1) * (columns(model) + 3)
    there = PATCH_BYTES * n * (k + 1) ** 2 if k < MOST else None
    if found is None or not fits(EDGE * n * (k + 1) ** 2):
        entries = n * SPREAD * (k + 1)
        size, words = EDGE * entries, f"sparse, about {entries:.2g} entries"
        kernel = Stage("kernel", words, size + patches, size, there)
        return [read_stage(data), search_stage(model, data), kernel, _uncounted(model, data, factored=True)]
    rows = csr_array((np.ones(len(found.indices)), found.indices, found.indptr), shape=(data.n, data.n))
    rows = csr_array(rows + eye_array(data.n, format="csr"))
    pattern = csr_array(rows.T @ rows)  # i and j meet where one neighbourhood holds both
    size = EDGE * pattern.nnz
    kernel = Stage("kernel", f"sparse, {pattern.nnz} entries", size + patches, size, there)
    return [
        read_stage(data),
        search_stage(model, data),
        kernel,
        _bottom(model, pattern, columns(model), laplacian=False),
    ]


SPREAD = 4.0  # points that meet a point in some patch, over the size of a patch: on surfaces


def found_neighbors(model: Any, data: Data) -> Neighbors | None:
    """The neighbourhoods themselves where building them is quick, for counting."""
    if data.neighbors is not None:
        return data.neighbors
    if data.graph is not None:
        return data.graph.neighbors()
    if data.n > COUNTED or data.source is None:
        return None
    if model._asked().takes_all(data.source):
        return data.source.pairs  # type: ignore[union-attr] # a sparse matrix is used whole
    k = model._asked().k(data.n, model._needs().least)
    return neighborhoods(data.source, n_neighbors=k, radius=model.radius, search=model.search, run=model._run())


def _bottom(model: Any, pattern: csr_array, count: int, *, laplacian: bool) -> Stage:
    """The solver at the bottom of a sparse kernel of this pattern, with the counted fill of its factor."""
    n = int(pattern.shape[0])
    d = min(count, n - 1)
    solver = getattr(model, "solver", "auto")
    if solver == "auto":
        op = SparseOperator(pattern, psd=True, laplacian=laplacian)
        solver = select_solver(op, d, end="smallest", null=np.ones((n, 1)))[0]
    if solver == "dense":
        return Stage("eigenvectors", f"{d} from the bottom, solver dense", 3 * FLOAT * n * n, there=0.0)
    fill = count_fill(pattern)
    counted = "its factor would fill up"
    if np.isfinite(fill.bytes):
        counted = f"its factor would have at most {fill.entries:.2g} entries, {pretty_bytes(fill.bytes)}"
    basis = FLOAT * n * (d + 2) * 12
    if solver == "levels":
        return Stage("eigenvectors", f"{d} from the bottom, solver levels; {counted}", LEVELS * n + COARSE + 3 * basis)
    size = fill.bytes + 2 * basis if solver == "shift_invert" else 3 * basis
    there = FRONTED * fill.bytes + 2 * basis if fill.tree is not None else None
    return Stage("eigenvectors", f"{d} from the bottom, solver {solver}; {counted}", size, there=there)


def _uncounted(model: Any, data: Data, *, factored: bool) -> Stage:
    """Beyond what is counted: vectors alone, or a factor as a surface of that many points has it."""
    basis = FLOAT * data.n * (columns(model) + 2) * 12
    factor = FLOAT * FILL * data.n * np.log2(data.n)
    there = FRONTED * factor + 2 * basis
    if not factored:
        return Stage("eigenvectors", "from the bottom, vectors alone", 3 * basis, there=there)
    words = f"from the bottom; factor of a surface, not counted beyond {COUNTED}"
    return Stage("eigenvectors", words, factor + basis, there=there)


FRONTED = 1.6  # bytes on a device over those of the factor: two levels of fronts are alive beside it


FILL = 19.0  # entries of the factor over n log2 n: fitted to peaks of rolls of 150,000 points, 10 neighbours
# Bytes a row: of the prolongation, thrice, and of a strip of what the coarse kernel is made of; 50,000 x 50 has 130.
LEVELS = 3 * 130 * EDGE + 64 * EDGE
COARSE = FLOAT * 4_000**2  # of the dense coarse kernel: fitted to the peaks of two fits; it has at most 8,000 rows


# Geodesics ------------------------------------------------------------------------------------------------------------


def geodesic_stages(model: Any, data: Data) -> list[Stage]:
    """Neighbours, shortest paths between all points (or from the landmarks), classical MDS."""
    n = data.n
    asked = model.default_landmarks if model.landmarks is None else model.landmarks
    rows = n if asked is None else min(n, int(asked) if np.ndim(asked) == 0 else len(np.ravel(asked)))
    fronts = _fronts(model, data) if rows == n else None
    if fronts is None:
        dtype = np.dtype(geodesic_dtype(n))
        size = dtype.itemsize * float(rows) * n
        copies = 1.05 if rows == n else 2.1  # rows of landmarks are squared and centred on the way to the coordinates
        paths = Stage("geodesics", f"{rows} x {n} shortest paths, {dtype}", copies * size, size if rows == n else 0.0)
    else:
        free = fronts + pass_bytes(n, columns(model) + 5, resolve_jobs(model.n_jobs))
        paths = Stage("geodesics", "fronts alone; panels of the matrix are made in each pass", free, free)
    there, streamed = _geodesics_there(n) if rows == n else (BATCH_BYTES + FLOAT * rows * n, None)
    paths = replace(paths, there=there, streamed=streamed, words=f"{rows} x {n} shortest paths, whole numbers")
    return [read_stage(data), search_stage(model, data), paths, leading_stage(model, rows)]


def _geodesics_there(n: int) -> tuple[float, float]:
    """On a device: the matrix beside the fronts of a surface, or panels of it."""
    fronts = 2 * FRONTS * n * math.sqrt(n)
    return 4.0 * n * padded(n) + fronts, PANEL_BYTES + fronts


def _fronts(model: Any, data: Data) -> float | None:
    """Bytes of the fronts where every product makes the geodesics again; None where their matrix is held."""
    most = most_additions(data.n, few_products=few_products(model))
    if model.paths not in ("auto", "eliminate") or most == 0:
        return None
    found = found_neighbors(model, data)
    if found is None:
        return FRONTS * data.n * math.sqrt(data.n)
    graph, itemsize = found.union(), geodesic_dtype(data.n)(0).itemsize
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    tree = worthwhile(indptr, indices, data.n, itemsize, any_cost=True)
    return None if tree is None or count_work(tree).row > most else factor_bytes(tree, itemsize)


def few_products(model: Any) -> bool:
    """Whether three or four products end the solve: the guess from landmarks holds what two coordinates need.

    More of them take ten; the search for a constant takes one for every step.
    """
    return bool(model.n_components <= FEW and not isinstance(model.shift, str))


FEW = 2
FRONTS = 2.2  # bytes over n^1.5 of the fronts of a surface, for what is not counted
